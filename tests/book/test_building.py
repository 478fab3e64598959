"""How the book is made: which notebooks run, what `jupyter-book build .` is told, and what it says where one fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from sphinx.errors import ExtensionError
from warm_kernels import warm_kernels

from kanon_book import places
from kanon_book.building import book, notebooks, stamps
from kanon_lab.errors import KanonLabError
from kanon_lab.notebooks import find_notebooks, recorded

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
READS = """import sys
from pathlib import Path
sys.path.insert(0, "../..")
import mine
rows = Path("../../data/rows.csv").read_text()
listed = [*Path("../../book/exercises").iterdir()]
there = Path("../../absent.csv").exists() and open("../../absent.csv")
"""
FILES = {
    "mine/__init__.py": "from mine import used\n",
    "mine/used.py": "number = 1\n",
    "data/rows.csv": "a\n1\n",
    "book/exercises/first.yml": "",
    "constraints.txt": "numpy==2\n",
}
READ = [name for name in FILES if not name.startswith("book")]
#: What a book is made of too, and no notebook reads.
OTHERS = ["mine/other.py", "mine/page.css", "mine/words.csv", "data/other.csv", "book/chapter.md", "locale/es.po"]


def write(path, code: str) -> None:
    path.parent.mkdir(exist_ok=True)
    nbformat.write(new_notebook(cells=[new_code_cell(code)], metadata=KERNEL), path)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of one notebook, which is the only one that there is."""
    for name in [*FILES, *OTHERS]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(FILES.get(name, "first"), "utf-8")
    write(tmp_path / "notebooks" / "small.ipynb", READS)
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(notebooks, "STAMPS", tmp_path / "_build" / "stamps")
    monkeypatch.setattr(notebooks, "EXECUTED", tmp_path / "_build" / "notebooks")
    monkeypatch.setattr(notebooks, "find_notebooks", lambda: {"small": tmp_path / "notebooks" / "small.ipynb"})
    # Where the patches hold, instead of new processes.
    monkeypatch.setattr(notebooks, "ProcessPoolExecutor", lambda number, context: ThreadPoolExecutor(1))
    for name in ("KANON_LAB_TRACE", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, "")  # so that they are as before when it ends
    with warm_kernels():
        yield tmp_path


def test_a_notebook_runs_again_where_a_file_that_it_read_has_changed(project, capsys):
    source = project / "notebooks" / "small.ipynb"
    notebooks.run_notebooks()
    assert capsys.readouterr().out.startswith("1 of 1 notebooks are run\n[1/1] notebooks/small.ipynb: ")
    stamp = json.loads((project / "_build" / "stamps" / "small.json").read_text("utf-8"))
    assert {*READ, "book/exercises", "notebooks/small.ipynb"} <= stamp["made_from"].keys()
    assert not {*OTHERS} & stamp["made_from"].keys()
    for name in OTHERS:
        (project / name).write_text("second", "utf-8")
        assert notebooks.is_stamped("small", source), name
    notebooks.run_notebooks()
    assert capsys.readouterr().out == ""
    for name in [*READ, "notebooks/small.ipynb"]:
        path = project / name
        before = path.read_bytes()
        for change in (lambda path=path: path.write_bytes(b"# second\n"), path.unlink):
            change()
            assert not notebooks.is_stamped("small", source), name
            path.write_bytes(before)
            assert notebooks.is_stamped("small", source), name
    (project / "book" / "exercises" / "second.yml").touch()
    assert not notebooks.is_stamped("small", source)
    (project / "book" / "exercises" / "second.yml").unlink()
    for path in (project / "_build").rglob("small.*"):
        before = path.read_bytes()
        path.unlink()
        assert not notebooks.is_stamped("small", source), path
        path.write_bytes(before)
    assert notebooks.is_stamped("small", source)


def test_a_notebook_that_fails_is_one_line_and_runs_again(project, capsys):
    source, executed = project / "notebooks" / "small.ipynb", project / "_build" / "notebooks"
    write(source, "assert False, 'no'")
    executed.mkdir(parents=True)
    (executed / "gone.ipynb").touch()
    for _ in range(2):
        with pytest.raises(
            KanonLabError, match=r"^small\.ipynb, cell 1 \(.*\): AssertionError: no; traceback in [^\n]*$"
        ):
            notebooks.run_notebooks()
        assert not notebooks.is_stamped("small", source)
    assert [path.name for path in executed.iterdir()] == ["small.failed.ipynb"]
    write(source, "x = 1")
    notebooks.run_notebooks()
    assert [path.name for path in executed.iterdir()] == ["small.ipynb"]
    assert notebooks.is_stamped("small", source)


def test_stamps_of_the_built_book_hold_what_each_notebook_reads():
    paths = {path.stem: path for path in stamps.STAMPS.glob("*.json")}
    if not find_notebooks().keys() <= paths.keys():
        pytest.skip("the book is not built: run make book")
    for name in find_notebooks():
        read = json.loads(paths[name].read_text("utf-8"))["made_from"].keys()
        assert {"constraints.txt", f"notebooks/{name}.ipynb", "kanon_lab/notebooks/recording.py"} <= read
        unread = (".md", ".po") if name == "workbench" else (".css", ".md", ".po")  # its widgets bring their style
        odd = [each for each in read if each.endswith(unread) or each.startswith(("tests", "_build"))]
        assert odd == [], name


@pytest.fixture
def app(tmp_path, monkeypatch):
    """Of Sphinx what the extension asks for; nothing is run or written outside this folder."""
    monkeypatch.setattr(book, "run_notebooks", lambda: None)
    monkeypatch.setattr(book, "write_pages", lambda folder: None)
    monkeypatch.setattr(book, "prepare", lambda folder: None)
    monkeypatch.setattr(book, "SPANISH", tmp_path / "es")
    noted = []
    return SimpleNamespace(
        config=SimpleNamespace(language="en"),
        env=SimpleNamespace(note_dependency=noted.append),
        noted=noted,
        outdir=tmp_path / "html",
    )


@pytest.mark.parametrize("error", [KanonLabError("small.ipynb: no"), PermissionError(13, "Permission denied")])
def test_what_stops_the_build_is_one_line(app, monkeypatch, error):
    def fail():
        raise error

    monkeypatch.setattr(book, "run_notebooks", fail)
    with pytest.raises(ExtensionError) as caught:
        book.Book().begin(app, app.config)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(error))


def test_a_page_of_a_notebook_is_what_it_recorded_and_a_chapter_depends_on_those_that_it_names(app, tmp_path):
    app.config.kanon_executed = str(tmp_path)
    (tmp_path / "small.ipynb").write_text("{}", "utf-8")
    text = ["source"]
    book.read(app, "notebooks/small", text)
    assert (text, app.noted) == (["{}"], [f"{tmp_path}{os.sep}small.ipynb"])
    app.noted.clear()
    text = ["{glue:}`notebooks/spain.ipynb::share` and {glue:}`notebooks/place.ipynb::share`"]
    book.read(app, "book/spain", text)
    assert app.noted == [f"{tmp_path}{os.sep}{name}.ipynb" for name in ("spain", "place")]
    text = ["as it is"]
    book.read(app, "other/page", text)
    assert text == ["as it is"]


def test_each_edition_reads_its_own_executed_notebooks(app, monkeypatch, tmp_path):
    app.config.language = "es"
    monkeypatch.setattr(book, "run_notebooks", lambda: pytest.fail("the other edition runs them"))
    book.Book().begin(app, app.config)
    assert app.config.kanon_executed == str(tmp_path / "es" / "notebooks")


def ended(code: int, text: str, folder) -> book.Book:
    """A book whose other edition has ended."""
    made = book.Book()
    made.other = SimpleNamespace(wait=lambda: code, terminate=lambda: folder.touch())
    made.log = folder.with_name("log.txt")
    made.log.write_text(text, "utf-8")
    return made


def test_the_spanish_pages_are_put_into_the_english_ones(app, tmp_path, monkeypatch):
    monkeypatch.setattr(book, "lighten", lambda folder: (folder / "lightened").touch())
    page = tmp_path / "es" / "_build" / "html" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text("hola", "utf-8")
    (app.outdir / "es").mkdir(parents=True)
    (app.outdir / "es" / "old.html").touch()
    ended(0, "", tmp_path / "stopped").end(app, None)  # no page was made: nothing is put together anew
    assert {path.name for path in app.outdir.rglob("*")} == {"es", "old.html"}
    (page.parent / "objects.inv").touch()
    ended(0, "", tmp_path / "stopped").end(app, None)
    assert {path.name for path in app.outdir.rglob("*")} == {"es", "index.html", "lightened", "objects.inv"}
    assert not (tmp_path / "stopped").exists()


def test_where_one_edition_fails_the_build_does(app, tmp_path):
    with pytest.raises(ExtensionError, match="the Spanish pages were not built:\nwhy"):
        ended(1, "why", tmp_path / "stopped").end(app, None)
    ended(0, "", tmp_path / "stopped").end(app, ValueError())
    assert (tmp_path / "stopped").exists()


@pytest.mark.slow  # `make book`, which the tests begin with, runs every notebook so
def test_papermill_itself_runs_a_notebook(tmp_path):
    command = [sys.executable, "-m", "papermill", "--no-progress-bar", "notebooks/note.ipynb", tmp_path / "out.ipynb"]
    done = subprocess.run(command, cwd=places.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert recorded(tmp_path / "out.ipynb")
