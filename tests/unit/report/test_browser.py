"""The report in a browser: a silent console, every chart drawn, axe content, keys that open trees."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald

selenium = pytest.importorskip("selenium", reason="selenium drives the browser")
axe = pytest.importorskip("axe_core_python", reason="axe-core-python carries axe.min.js")
from selenium.webdriver import Chrome, ChromeOptions, Keys  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="Chromium and its driver are not installed (see .ci/run)"
)
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
    ),
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """One session for all tests."""
    options = ChromeOptions()
    options.binary_location = CHROMIUM
    for each in QUIET:
        options.add_argument(each)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('browser')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(DRIVER))
    driver.command_executor.client_config.timeout = 600  # of machines that do much else
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report of two labels, one of numbers, one of a leaderboard; names of columns are hostile."""
    rng = np.random.default_rng(0)
    n = 240
    X = {
        "<script>document.title='stolen'</script>": rng.normal(size=n),
        "a & b": rng.normal(size=n),
        "town": rng.choice(["Bern", "<img src=x onerror=alert(1)>"], n).tolist(),
    }
    score = X["a & b"] + (np.array(X["town"]) == "Bern") + 0.5 * rng.normal(size=n)
    folder = tmp_path_factory.mktemp("reports")
    first, last = (
        {name: values[part] for name, values in X.items()} for part in (slice(160), slice(160, None))
    )
    labels = np.where(score > 0.5, "yes", "no")
    found = {}
    for name, model, y in (
        ("labels", weald.RandomForestClassifier(10, random_state=0), labels),
        ("numbers", weald.XGBRegressor(n_estimators=20), score),
    ):
        model.fit(first, y[:160])
        path = folder / f"{name}.html"
        weald.report(model, last, y[160:], train=(first, y[:160]), path=path, target="out <b>")
        found[name] = path
    board = weald.compare(first, labels[:160], methods=["tree", "knn"], folds=3)
    found["board"] = folder / "board.html"
    weald.report(board, path=found["board"])
    return found


@pytest.fixture(params=["labels", "numbers", "board"])
def page(request: pytest.FixtureRequest, browser: Chrome, pages: dict[str, Path]) -> Chrome:
    browser.set_window_size(1280, 900)
    browser.get(pages[request.param].as_uri())
    return browser


def test_no_message_and_every_chart_drawn(page: Chrome) -> None:
    assert page.get_log("browser") == []
    assert page.title != "stolen"
    sizes = page.execute_script(
        "return [...document.querySelectorAll('svg.chart')].map(svg => {"
        "const box = svg.getBBox(), place = svg.getBoundingClientRect();"
        "const marks = svg.querySelectorAll('path, rect, circle').length;"
        "return [box.width, box.height, place.width, place.height, marks]"
        "})"
    )
    assert len(sizes) >= 1
    assert all(min(each[:4]) > 30 and each[4] > 2 for each in sizes)
    assert page.execute_script("return document.documentElement.scrollWidth") <= 1280


def test_axe_finds_nothing(page: Chrome) -> None:
    source = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    # one table of numbers is as the others
    page.execute_script(
        "document.querySelectorAll('details:not(.numbers), figure:first-of-type > .numbers')"
        ".forEach(each => { each.open = true })"
    )
    page.set_script_timeout(300)
    page.execute_script(source)
    run = "const done = arguments[0]; axe.run(document, {}).then(done, done)"
    found = page.execute_async_script(run)
    assert _told(found) == []
    assert len(found["passes"]) > 15
    if not page.find_elements(By.CLASS_NAME, "slider"):  # the colours of one page are those of all
        return
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        found = page.execute_async_script(run.replace("{}", "{runOnly: ['color-contrast']}"))
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert _told(found) == []
    assert len(found["passes"]) == 1


def _told(found: dict[str, list[dict[str, Any]]]) -> list[tuple[str, list[str]]]:
    return [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in found["violations"]]


def test_it_fits_a_phone(page: Chrome) -> None:
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 375, "height": 800, "deviceScaleFactor": 1, "mobile": True},
    )
    try:
        assert page.execute_script("return document.documentElement.scrollWidth") <= 375
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_trees_open_by_keyboard(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.get(pages["labels"].as_uri())
    tree = browser.find_element(By.CSS_SELECTOR, ".tree")

    def line() -> str:
        return browser.execute_script("return document.activeElement.querySelector('.when')?.textContent")

    def n_open() -> int:
        return len(tree.find_elements(By.CSS_SELECTOR, "details[open]"))

    def press(*keys: str) -> None:
        for key in keys:
            browser.switch_to.active_element.send_keys(key)

    browser.execute_script("arguments[0].focus()", tree.find_element(By.TAG_NAME, "summary"))
    assert line() == "all rows"
    press(Keys.ARROW_LEFT)
    assert n_open() == len(tree.find_elements(By.CSS_SELECTOR, "details details[open]"))
    press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    first = line()
    assert first != "all rows"
    press(Keys.END)
    last = line()
    press(Keys.HOME, Keys.ARROW_DOWN)
    assert line() == first != last
    before = n_open()
    press(Keys.ARROW_LEFT)
    assert n_open() == before - 1
    press(Keys.ENTER)  # as browsers do by themselves
    assert n_open() == before
    press(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert line() == "all rows"
    more = browser.find_element(By.CSS_SELECTOR, "button[data-level='1']")
    browser.execute_script("arguments[0].focus()", more)
    start = n_open()
    press(Keys.ENTER)
    assert n_open() > start


def test_the_threshold_and_the_order_of_a_table(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.get(pages["labels"].as_uri())
    slider = browser.find_element(By.ID, "threshold")
    said = browser.find_element(By.ID, "threshold-says")
    before = said.text
    browser.execute_script("arguments[0].focus()", slider)
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert before.startswith("At 0.5:")
    assert said.text.startswith("At 0.52:")
    table = browser.find_element(By.CSS_SELECTOR, "table.sortable")
    button = table.find_elements(By.CSS_SELECTOR, "thead button")[3]
    browser.execute_script("arguments[0].focus()", button)
    button.send_keys(Keys.ENTER)
    n_distinct = [
        int(each.text.replace(",", ""))
        for each in table.find_elements(By.CSS_SELECTOR, "tbody td:nth-child(4)")
    ]
    assert n_distinct == sorted(n_distinct)
    assert table.find_elements(By.CSS_SELECTOR, "thead th")[3].get_attribute("aria-sort") == "ascending"
    assert browser.get_log("browser") == []


def test_nothing_is_asked_of_any_network(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.get(pages["labels"].as_uri())
    said = browser.execute_async_script(
        "const done = arguments[0];"
        "fetch('https://example.org/').then(() => done('went'), () => done('refused'))"
    )
    assert said == "refused"
    assert any("Content Security Policy" in each["message"] for each in browser.get_log("browser"))
