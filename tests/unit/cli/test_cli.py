import subprocess
import sys

import pytest
from click.testing import CliRunner

import weald as package
from weald import cli
from weald.cli import main as main_module
from weald.cli.commands import weald


def test_version_and_help():
    run = CliRunner().invoke(weald, ["--version"])
    assert run.exit_code == 0
    assert package.__version__ in run.output
    assert "demo" in CliRunner().invoke(weald, ["--help"]).output


def test_the_demo_compares_fits_and_reports(tmp_path):
    folder = tmp_path / "new" / "folder"
    run = CliRunner().invoke(weald, ["demo", "--output", str(folder)])
    assert run.exit_code == 0, run.output
    assert "accuracy by 3 folds of 344 rows" in run.output
    assert run.output.splitlines()[-1] == str(folder / "penguins.html")
    assert sorted(path.name for path in folder.iterdir()) == [
        "penguins.csv",
        "penguins.html",
        "penguins.weald",
    ]
    assert package.load(folder / "penguins.weald").classes_.tolist() == ["Adelie", "Chinstrap", "Gentoo"]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    run = CliRunner().invoke(weald, ["demo", "--output", str(tmp_path / "file" / "below")])
    assert run.exit_code == 74
    assert "Not a directory" in run.output
    assert "Traceback" not in run.output


def test_without_click_the_way_out_is_named(monkeypatch):
    monkeypatch.setattr(main_module, "_NEEDED", ("click_that_is_absent", "rich"))
    with pytest.raises(SystemExit, match=r"click_that_is_absent.*pip install weald\[cli\]"):
        main_module.main()


def test_the_module_is_the_command():
    run = subprocess.run(
        [sys.executable, "-m", "weald", "--version"], capture_output=True, text=True, check=True
    )
    assert run.stdout.startswith("weald, version")


def test_the_package_says_what_it_needs():
    assert "weald[cli]" in cli.__doc__
