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


def test_the_demo_runs_and_keeps_the_model(tmp_path):
    run = CliRunner().invoke(weald, ["demo", "--output", str(tmp_path / "new" / "folder")])
    assert run.exit_code == 0, run.output
    assert "344 rows" in run.output
    assert "├──" in run.output
    assert "same predictions: yes; saved again, same bytes: yes" in run.output
    saved = list((tmp_path / "new" / "folder").iterdir())
    assert [path.name for path in saved] == ["penguins.weald"]
    assert package.load(saved[0]).classes_.tolist() == ["Adelie", "Chinstrap", "Gentoo"]


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
