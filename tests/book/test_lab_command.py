"""``kanon-lab lab`` and ``kanon-lab book``: what is copied and opened, and what is said where it is not there."""

import importlib.util
import json
import webbrowser

import pytest

from kanon_book.commands import lab
from kanon_book.course import learner
from kanon_lab.cli import run


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """Copying as it may go, without the ten seconds that it takes."""
    asked = []
    done = {
        "21-spain.ipynb": "new",
        "exercises/21-spain.ipynb": "kept",
        "exercises/10-rare.ipynb": "10-rare-until-1.ipynb",
        "exercises/11-recoding.ipynb": "was recoding.ipynb",
    }
    monkeypatch.setattr(learner, "working_copy", lambda folder, language: asked.append(language) or done)
    monkeypatch.chdir(tmp_path)
    return done, asked


def test_lab_says_what_it_kept_and_opens_jupyterlab_there(copied, tmp_path, monkeypatch, capsys):
    from jupyterlab.labapp import LabApp

    started = []
    monkeypatch.setattr(LabApp, "launch_instance", started.append)
    assert run(["lab", "mine", "--", "--port", "9000"]) == 0
    first = "--LabApp.default_url=/lab/tree/00-start-here.ipynb"
    assert started == [[f"--ServerApp.root_dir={tmp_path / 'mine'}", first, "--port", "9000"]]
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == f"{tmp_path / 'mine'}: 1 new, 1 kept"
    assert rest == [
        "  exercises/21-spain.ipynb: kept as you changed it",
        "  exercises/10-rare.ipynb: has changed here too; your copy is now 10-rare-until-1.ipynb",
        "  exercises/11-recoding.ipynb: kept as you changed it; it was recoding.ipynb until now",
    ]
    done, asked = copied
    assert run(["lab", "--no-open", "--json"]) == 0
    result = {"folder": str(tmp_path / "workspace"), "first": "00-start-here.ipynb", "files": done}
    assert json.loads(capsys.readouterr().out) == result
    assert len(started) == 1
    assert run(["lab", "--language", "es"]) == 0
    assert started[-1][-1] == "--LabApp.default_url=/lab/tree/00-empiece-aqui.ipynb"
    assert asked == ["en", "en", "es"]


def test_without_jupyterlab_one_line_says_what_to_install(copied, monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(learner, "working_copy", lambda folder, language: pytest.fail("copied all the same"))
    assert run(["lab"]) == 2
    assert capsys.readouterr().err == "kanon-lab: JupyterLab is not installed: pip install 'kanon-lab[lab]'\n"


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """A copy of the project in which the English pages were built."""
    monkeypatch.chdir(tmp_path)
    built = tmp_path / "copy" / "_build" / "html"
    (built / "_static").mkdir(parents=True)
    (built / "index.html").write_text("")
    monkeypatch.setattr(lab, "ROOT", tmp_path / "copy")
    return built


def test_book_opens_where_it_was_built_or_says_where_it_is(pages, tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(webbrowser, "open", asked.append)  # which returns None: no browser
    address = (pages / "index.html").as_uri()
    assert run(["book"]) == 0
    printed = capsys.readouterr()
    assert asked == [address] and printed.out == f"{address}\n" and "no browser" in printed.err
    # The bundle has it in another folder.
    bundle = tmp_path / "bundle"
    (bundle / "book" / "es").mkdir(parents=True)
    (bundle / "book" / "_static").mkdir()
    (bundle / "book" / "es" / "index.html").write_text("")
    assert run(["book", "bundle", "--language", "es", "--no-open", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["page"] == str(bundle / "book" / "es" / "index.html")
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (["--language", "es"], "has no pages in this language; build it again with make book"),
        (["."], "no book in this folder: build it with make book in a copy of the project, or unpack"),
        (["--language", "ca"], "'ca' is not one of 'en', 'es'"),
    ],
)
def test_where_there_is_no_book_one_line_says_what_to_do(pages, capsys, args, line):
    assert run(["book", *args]) == 2
    error = capsys.readouterr().err
    assert line in error and error.count("\n") == 1


def test_an_installed_package_has_no_book(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lab, "ROOT", tmp_path / "site-packages")
    assert run(["book"]) == 2
    assert "no book where kanon_lab is installed, or in the working folder" in capsys.readouterr().err


def test_a_file_is_no_folder_to_work_in_and_a_name_may_be_too_long(copied, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(learner, "working_copy", lambda folder, language: pytest.fail("copied all the same"))
    (tmp_path / "taken").write_text("")
    assert run(["lab", "taken", "--no-open"]) == 2 and run(["book", "x" * 300, "--no-open"]) == 2
    assert [line[:12] for line in capsys.readouterr().err.splitlines()] == ["kanon-lab: t", "kanon-lab: x"]
