"""The comparisons of benchmarks/compare, run once with some of their jobs on small tables."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from smoke.comparisons import COMPARE, TOY, run
from threadpoolctl import threadpool_limits

needs_intelex = pytest.mark.skipif(
    find_spec("sklearnex") is None, reason="scikit-learn-intelex is not installed (extra: bench)"
)
needs_lightgbm = pytest.mark.skipif(
    find_spec("lightgbm") is None, reason="lightgbm is not installed (extra: bench)"
)


def here(script: str, *arguments: str) -> str:
    """What a script prints in this process: the libraries are loaded already, which is most of its work."""
    with (
        _as_program(COMPARE / script, arguments),
        contextlib.redirect_stdout(io.StringIO()) as printed,
        pytest.raises(SystemExit) as ended,
    ):
        runpy.run_path(str(COMPARE / script), run_name="__main__")
    assert not ended.value.code, printed.getvalue()
    return printed.getvalue()


@contextlib.contextmanager
def _as_program(script: Path, arguments: tuple[str, ...]) -> Iterator[None]:
    """As in a process of its own: arguments, the folder's modules by name, warnings that are no errors.

    One thread, as in every quick run: OpenMP's threads wait by spinning.
    """
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        patch.setattr(sys, "argv", [str(script), *arguments])
        patch.syspath_prepend(COMPARE)
        before = set(sys.modules)
        try:
            yield
        finally:
            for name in set(sys.modules) - before:
                if str(getattr(sys.modules[name], "__file__", None)).startswith(str(COMPARE)):
                    del sys.modules[name]


def quick(*jobs: str, script: str = "trees.py") -> str:
    done = run(COMPARE / script, "--quick", "--jobs", *jobs)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def smoke(*jobs: str, script: str) -> str:
    return here(script, "--smoke", "--jobs", *jobs)


@pytest.mark.lengthy
def test_tree_option_jobs_run() -> None:
    """The one of our scripts whose contenders get processes of their own, as the toys above do."""
    assert "1 results" in quick("pruning", script="tree_options.py")


@pytest.mark.lengthy
@needs_lightgbm
def test_coding_job_runs() -> None:
    assert "1 results" in quick("coding")


@pytest.mark.lengthy
@needs_lightgbm
def test_boosting_jobs_run() -> None:
    jobs = ("leaves", "1k-depth", "a9a", "categories", "predict-depth")
    printed = quick(*jobs, script="boosting.py")
    assert "5 results" in printed
    for opponent in ("LightGBM quantized", "LightGBM", "xgboost"):
        assert f"weald against {opponent}: ratio" in printed


@pytest.mark.lengthy
@needs_lightgbm
def test_boosting_accuracy_runs(tmp_path: Path) -> None:
    kept, page = tmp_path / "kept.json", tmp_path / "results.md"
    options = ("--quick", "--keep", str(kept), "--markdown", str(page))
    done = run(COMPARE / "boosting_accuracy.py", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "of 5 tables are not worse" in done.stdout
    first = page.read_text(encoding="utf-8")
    assert "| sparse | 150 × 30 | AUC |" in first
    assert run(COMPARE / "boosting_accuracy.py", *options).returncode == 0
    assert page.read_text(encoding="utf-8") == first  # the finished tables are read again


@pytest.mark.lengthy
def test_categories_run(tmp_path: Path) -> None:
    """With those of the libraries that are installed; a contender can join the kept others later."""
    kept, page = tmp_path / "kept.json", tmp_path / "results.md"
    options = ("--quick", "--keep", str(kept), "--markdown", str(page))
    first = here("categories.py", *options, "--contenders", "weald", "xgboost", "LightGBM", "CatBoost")
    for name, library in (("LightGBM", "lightgbm"), ("CatBoost", "catboost")):
        learnt, skipped = f"counts · {name} · deviance", f"{name}: skipped, not installed"
        assert (skipped if find_spec(library) is None else learnt) in first
    given = '{"cat_smooth": 10, "cat_l2": 10}'
    joined = here("categories.py", *options, "--add", "weald-10", given, "--contenders", "weald-10")
    assert "two classes · weald-10 · AUC" in joined
    assert "· xgboost ·" not in joined  # known from the first run
    assert "| two classes | 150 × 3 | 1, up to 3 levels | AUC |" in page.read_text(encoding="utf-8")
    again = here("categories.py", *options, "--parts", "noise", "--contenders", "weald", "--again", "weald")
    assert again.count("two classes · weald · ") == 1
    assert "With a column of noise against without it" in again


@pytest.mark.lengthy
@needs_lightgbm
def test_boosting_scaling_runs(tmp_path: Path) -> None:
    page, picture = tmp_path / "results.md", tmp_path / "growth.svg"
    options = ("--quick", "--jobs", "rows", "entries", "--plot", str(picture), "--markdown", str(page))
    done = run(COMPARE / "boosting_scaling.py", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "![Time against rows, columns and entries](growth.svg)" in page.read_text(encoding="utf-8")
    assert picture.read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("script", "job", "told"),
    [
        ("adaboost.py", "stumps", "last error within 1e-06: yes"),
        ("linear_svm.py", "text-squared", "objective within 0.1 %: yes"),
        ("trees.py", "small", "ratio"),
        ("boosting.py", "exact", "weald against xgboost: ratio"),
        ("logistic.py", "five", "objective"),
        ("gradient_boosting.py", "binned-regression", "ratio"),
        ("neighbors.py", "texts", "mean row within 0.0001 %: yes"),
        ("explain.py", "pairs", "mean size within 0.01 %: yes"),
        ("dependence.py", "probabilities", "spread within 1e-09: yes"),
    ],
)
def test_one_job_runs(script: str, job: str, told: str) -> None:
    printed = smoke(job, script=script)
    assert "1 results" in printed
    assert told in printed


@pytest.mark.lengthy
@needs_intelex
def test_svm_jobs_run() -> None:
    printed = quick("svc", "svr", "predict", script="svm.py")
    assert "3 results" in printed
    assert "objective within 0.01 %: yes" in printed


def test_forest_jobs_run() -> None:
    printed = smoke("file", script="forests.py")
    assert "1 results" in printed
    assert "bytes per node at most 20: " in printed
    assert "file MB at most 0 higher than 0.25 of the other: yes" in printed


@pytest.mark.lengthy
@needs_intelex
def test_forest_jobs_against_intelex_run() -> None:
    assert "3 results" in quick("exact-intelex", "binned", "predict", script="forests.py")


def test_forest_proximity_job_runs() -> None:
    printed = smoke("proximity", script="forests.py")
    assert "weald nearest rows against weald fit: ratio" in printed
    assert "fit MB at most 1000: yes" in printed


@pytest.mark.lengthy
def test_forests_accuracy_runs(tmp_path: Path) -> None:
    kept, page = tmp_path / "kept.json", tmp_path / "results.md"
    options = ("--quick", "--keep", str(kept), "--markdown", str(page))
    printed = here("forests_accuracy.py", *options)
    assert "of 5 tables are not worse than scikit-learn's forest" in printed
    assert "Of 4 tables with categories or missing values" in printed
    first = page.read_text(encoding="utf-8")
    assert "| two classes | 150 × 3 | categories, missing | AUC |" in first
    here("forests_accuracy.py", *options)
    assert page.read_text(encoding="utf-8") == first  # the finished tables are read again


@pytest.mark.lengthy
@pytest.mark.parametrize(
    ("script", "opponent"),
    [("gradient_boosting_accuracy.py", "HistGradientBoosting"), ("adaboost_accuracy.py", "AdaBoost")],
)
def test_accuracy_of_boosting_by_classics_runs(tmp_path: Path, script: str, opponent: str) -> None:
    printed = here(script, "--quick", "--keep", str(tmp_path / "kept.json"))
    assert f"of 5 tables are not worse than scikit-learn's {opponent}" in printed


@pytest.mark.lengthy
def test_imputation_runs(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    page = tmp_path / "results.md"
    printed = here("imputation.py", "--quick", "--check", "--markdown", str(page))
    assert "ProximityImputer errs less than median and mode on 1 of 1 tables." in printed
    assert "| made up | 120 × 3 | IterativeImputer |" in page.read_text(encoding="utf-8")


@pytest.mark.lengthy
def test_prediction_intervals_run(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    page = tmp_path / "results.md"
    printed = here("prediction_intervals.py", "--quick", "--check", "--markdown", str(page))
    assert "of 18 cells" in printed
    text = page.read_text(encoding="utf-8")
    assert "| method | linear | categorical | seconds |" in text
    shares = [float(share) for share in re.findall(r"([\d.]+) % ±", text)]
    assert len(shares) == 18
    assert min(shares) > 60


def test_bootstrap_jobs_run() -> None:
    printed = smoke("mean", script="bootstrap.py")
    assert "1 results" in printed
    assert "weald against SciPy: ratio" in printed


def test_coverage_runs(tmp_path: Path) -> None:
    page = tmp_path / "results.md"
    assert "95 % intervals of 20 samples of 100 rows" in here(
        "coverage.py", "--quick", "--markdown", str(page)
    )
    assert "| AUC | normal scores | delong |" in page.read_text(encoding="utf-8")


@pytest.mark.lengthy
def test_resampling_jobs_run() -> None:
    pytest.importorskip("imblearn")
    printed = smoke("smote", "enn", script="resampling.py")
    assert "2 results" in printed
    assert "rare rows within 0: yes" in printed


@pytest.mark.lengthy
def test_two_versions_are_compared_in_turn(tmp_path):
    """The old package takes a tenth of a second longer: a gain; the other way round it is told as a loss."""
    (tmp_path / "toys.py").write_text(
        TOY.replace("lambda: time.sleep(seconds)", "lambda: time.sleep(__import__('weald').PACE)").replace(
            "sys.exit(main(", "if __name__ == '__main__': sys.exit(main("
        )
    )
    for version, pace in (("old", 0.2), ("new", 0.1)):
        package = tmp_path / version / "weald"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(f"PACE = {pace}\n")
    given = ("toys", "--jobs", "equal", "--threads", "1", "--repeats", "2", "--pause", "0")
    codes = []
    for old, new in (("old", "new"), ("new", "old")):
        folders = ("--old", str(tmp_path / old), "--new", str(tmp_path / new))
        done = run(COMPARE.parent / "versions.py", *given, *folders, path=tmp_path)
        assert "1 results" in done.stdout, done.stderr
        codes.append(done.returncode)
    assert codes == [0, 1]


needs_imblearn = pytest.mark.skipif(
    find_spec("imblearn") is None, reason="imbalanced-learn is not installed (extra: bench)"
)


@pytest.mark.lengthy
@needs_imblearn
def test_balanced_ensemble_jobs_run() -> None:
    printed = smoke("forest", "bagging", "rusboost", script="balanced_ensembles.py")
    assert "3 results" in printed
    assert "weald against imbalanced-learn: ratio" in printed


@pytest.mark.lengthy
@needs_imblearn
def test_rare_classes_are_told(tmp_path: Path) -> None:
    page = tmp_path / "results.md"
    page.write_text(
        "# Results\n\n<!-- rare-classes: begin -->\n<!-- rare-classes: end -->\n", encoding="utf-8"
    )
    assert "1 tables" in here("rare_classes.py", "--quick", "--markdown", str(page))
    assert "| balanced forest, not corrected |" in page.read_text(encoding="utf-8")
