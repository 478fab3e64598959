"""Notebooks as programs: they take parameters, run or say why not, and record results."""

from __future__ import annotations

import os
import re
import signal
import tempfile
import threading

import nbformat
import numpy as np
import pandas as pd
import pytest
from cases import in_one_test
from nbformat.v4 import new_code_cell, new_notebook

from kanon_book.course.notebooks import notebook_faults
from kanon_book.pages.listing import Listing
from kanon_lab.errors import DataError, OptionError, StorageError
from kanon_lab.notebooks import NotebookError, check_parameters, find_notebooks, record, recorded, run_notebook, running

NOTEBOOKS = find_notebooks()
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}

PARAMETERS = 'place = "29025"\nrepeats = 10\nshare = 0.5\nshow = True\nk = [1,\n     2]\nyear = None'
ACCEPTED = "a number, text, true or false, or a list or dict of these"
RECORDS = """
import numpy as np
import pandas as pd
import altair as alt
from kanon_book.pages.listing import Listing
from kanon_lab.notebooks import record
from kanon_lab.show import page

page.enable()
frame = pd.DataFrame({"place": ["29025", None], "persons": [1, 2], "share": [0.1, np.nan], "alone": [True, False]})
record("repeats", repeats)
record("third", np.float64(1) / 3, text="a third")
record("persons", np.int64(46951532))
record("by-place", {"29025": [1, None]})
record("frame", frame, caption="Persons by place")
chart = alt.Chart(frame).mark_bar().encode(x="place", y="persons")
record("figure", page.figure(chart, table=frame, alt="Two bars </script> & one 'name'"))
listed = frame.astype(str)
record("list", Listing(listed, {"Place": ["place"]}, ["alone"], label="All", rows="places", fallback=listed))
"""


def write(path, *cells: str):
    parameters = new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]})
    nbformat.write(new_notebook(cells=[parameters, *map(new_code_cell, cells)], metadata=KERNEL), path)
    return path


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A notebook that records one of each kind, run with one parameter changed."""
    folder = tmp_path_factory.mktemp("notebooks")
    target = folder / "made" / "records.ipynb"
    run_notebook(write(folder / "records.ipynb", RECORDS), target, {"repeats": 3})
    return target


def test_what_is_recorded_can_be_read_back(executed):
    results = recorded(executed)
    assert list(results) == ["repeats", "third", "persons", "by-place", "frame", "figure", "list"]
    assert results["repeats"] == 3
    assert results["third"] == 1 / 3
    assert results["persons"] == 46951532
    assert results["by-place"] == {"29025": [1, None]}
    expected = pd.DataFrame({"persons": [1, 2], "share": [0.1, float("nan")], "alone": [True, False]})
    for name in ("frame", "figure"):
        pd.testing.assert_frame_equal(results[name].drop(columns="place"), expected)
        assert results[name]["place"][0] == "29025"
        assert pd.isna(results[name]["place"][1])
    assert results["list"]["persons"].tolist() == ["1", "2"]


def test_executed_copy_says_nothing_of_the_machine(executed):
    notebook = nbformat.read(executed, as_version=4)
    for holder in (notebook, *notebook.cells):
        assert not {"papermill", "widgets", "execution"} & holder.metadata.keys()


def test_chapters_find_the_wording(executed):
    outputs = [output for cell in nbformat.read(executed, as_version=4).cells for output in cell.get("outputs", [])]
    glued = {o.metadata["scrapbook"]["name"]: o for o in outputs if "scrapbook" in o.get("metadata", {})}
    third = glued["third"]
    assert third.data[third.metadata["scrapbook"]["mime_prefix"] + "text/plain"] == "a third"
    assert glued["figure"].data["application/vnd.vegalite.v5+json"]["$schema"].endswith("/v5.json")
    listed = glued["list"].data[glued["list"].metadata["scrapbook"]["mime_prefix"] + "text/html"]
    assert listed.startswith('<div class="kanon-list">')
    assert "<caption><span>Persons by place</span></caption>" in glued["frame"].data["text/html"]


@pytest.mark.parametrize("name", ["Upper", "two words", "a:b", "", "-x", "a--b"])
def test_record_refuses_names_that_cannot_be_inserted(name):
    with pytest.raises(OptionError, match="name"):
        record(name, 1)


@pytest.mark.parametrize("value", [object(), float("nan"), {"a": object()}, np.array([1, 2]), "\udcff"])
def test_record_refuses_values_without_a_json_form(value):
    with pytest.raises(OptionError, match="JSON"):
        record("value", value)


@pytest.mark.parametrize("columns", [["a", "a"], [1, "1"]])
def test_record_refuses_a_frame_with_two_columns_of_one_name(columns):
    with pytest.raises(OptionError, match="'frame' has two columns of one name"):
        record("frame", pd.DataFrame([[1, 2]], columns=columns))


def test_a_listing_shows_only_columns_that_there_are():
    frame = pd.DataFrame({"a": ["x"]})
    with pytest.raises(OptionError, match="a listing has no column 'b'; there are a"):
        Listing(frame, {"A": ["a"]}, ["b"], label="All", rows="rows", fallback=frame)


@pytest.mark.parametrize(("value", "text", "wanted"), [(pd.DataFrame({"a": [1]}), "x", "DataFrame"), (3, 4, "str")])
def test_record_refuses_a_text_of_another_kind(value, text, wanted):
    with pytest.raises(OptionError, match=f"the text of 'value' must be a {wanted}, not"):
        record("value", value, text=text)


@pytest.mark.parametrize(("value", "caption"), [(3, "Three"), (pd.DataFrame({"a": [1]}), " "), (pd.DataFrame(), 5)])
def test_record_refuses_a_caption_that_heads_nothing(value, caption):
    with pytest.raises(OptionError, match="the caption of 'value' must be some words, and above a frame"):
        record("value", value, caption=caption)


@pytest.mark.parametrize("entry", [5, {"name": "a"}, {"name": "a", "kind": "frame", "value": [1]}])
def test_a_result_that_record_did_not_write_is_an_error(tmp_path, entry):
    cell = new_code_cell("", outputs=[nbformat.v4.new_output("display_data", metadata={"kanon_lab": entry})])
    nbformat.write(new_notebook(cells=[cell]), tmp_path / "n.ipynb")
    with pytest.raises(DataError, match=r"n\.ipynb: holds a result that record did not write"):
        recorded(tmp_path / "n.ipynb")


def test_a_name_recorded_twice_is_an_error(tmp_path):
    output = {"kind": "value", "name": "share", "value": 1}
    cell = new_code_cell("", outputs=[nbformat.v4.new_output("display_data", metadata={"kanon_lab": output})] * 2)
    nbformat.write(new_notebook(cells=[cell]), tmp_path / "twice.ipynb")
    with pytest.raises(DataError, match=r"twice\.ipynb: 'share' is recorded twice"):
        recorded(tmp_path / "twice.ipynb")


@pytest.mark.parametrize(
    "parameters",
    [{}, {"place": "28079"}, {"share": 1}, {"share": 0.2, "repeats": 5}, {"k": [3]}, {"year": 2010}, {"year": "all"}],
)
def test_parameters_that_fit_pass(tmp_path, parameters):
    check_parameters(write(tmp_path / "n.ipynb"), parameters)


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"plce": "29025"}, "n.ipynb: unknown parameter 'plce'; it has: place, repeats, share, show, k, year"),
        ({"repeats": "10"}, "n.ipynb: parameter 'repeats' must be of type int, not str"),
        ({"repeats": True}, "n.ipynb: parameter 'repeats' must be of type int, not bool"),
        ({"place": 29025}, "n.ipynb: parameter 'place' must be of type str, not int"),
        ({"share": True}, "n.ipynb: parameter 'share' must be of type float, not bool"),
        *(
            ({name: value}, f"n.ipynb: parameter '{name}' has no JSON form ({kind}); give {ACCEPTED}")
            for name, value, kind in [
                ("year", object(), "object"),
                ("year", {1}, "set"),
                ("k", [{1}], "list"),
                ("place", "\udcff", "str"),
            ]
        ),
    ],
)
def test_parameters_that_do_not_fit_are_refused(tmp_path, parameters, line):
    with pytest.raises(OptionError) as caught:
        check_parameters(write(tmp_path / "n.ipynb"), parameters)
    assert str(caught.value) == line


def test_a_failing_cell_is_one_line_and_no_result(tmp_path):
    source = write(tmp_path / "bad.ipynb", "x = 1", "# why\nassert x == 2, 'x is not two'")
    target = tmp_path / "out" / "bad.ipynb"
    with pytest.raises(NotebookError) as caught:
        run_notebook(source, target, {"repeats": 2})
    line = str(caught.value)
    assert line.startswith(
        "bad.ipynb, cell 3 (assert x == 2, 'x is not two'): AssertionError: x is not two; traceback in"
    )
    assert "\n" not in line
    assert [path.name for path in target.parent.iterdir()] == ["bad.failed.ipynb"]

    run_notebook(write(source, "x = 1"), target)
    assert [path.name for path in target.parent.iterdir()] == ["bad.ipynb"]


def test_a_file_of_the_user_stays_where_a_failed_run_would_be_kept(tmp_path):
    own = tmp_path / "bad.failed.ipynb"
    own.write_text("my own")
    with pytest.raises(NotebookError, match=r"not kept, since .*bad\.failed\.ipynb is another file"):
        run_notebook(write(tmp_path / "source.ipynb", "1 / 0"), tmp_path / "bad.ipynb")
    assert own.read_text() == "my own"
    run_notebook(write(tmp_path / "source.ipynb", "x = 1"), tmp_path / "bad.ipynb")
    assert own.read_text() == "my own"


def test_braces_in_paths_are_letters_like_others(tmp_path, monkeypatch):
    """papermill takes paths for templates; and nothing of a kernel is left in the folder for temporary files."""
    for name in ("tm{0}", "in{}", "out{repeats}"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tm{0}"))
    target = tmp_path / "out{repeats}" / "o{}.ipynb"
    look = f"import os\nprint(os.getcwd())\nprint('there:', os.listdir({str(tmp_path / 'tm{0}')!r}))"
    run_notebook(write(tmp_path / "in{}" / "n{x}.ipynb", look), target)
    assert "/out{repeats}" in target.read_text()
    # not a file by itself, which an interruption would leave, but a folder that goes whatever happens
    assert re.search(r"there: \['kanon-lab-\w+'\]", target.read_text())
    assert [path.name for path in target.parent.iterdir()] == ["o{}.ipynb"]
    assert not list((tmp_path / "tm{0}").iterdir())


def test_an_interrupted_run_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(source, partial, parameters, progress, folder):
        partial.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "_execute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_notebook(write(tmp_path / "n.ipynb"), tmp_path / "out" / "n.ipynb")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_terminated_run_leaves_nothing(tmp_path, monkeypatch):
    def terminated(source, partial, parameters, progress, folder):
        partial.write_text("half")
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(5)

    monkeypatch.setattr(running, "_execute", terminated)
    with pytest.raises(SystemExit) as caught:
        run_notebook(write(tmp_path / "n.ipynb"), tmp_path / "out" / "n.ipynb")
    assert caught.value.code == 128 + signal.SIGTERM
    assert list((tmp_path / "out").iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        ("n.ipynb/o.ipynb", "is a file"),
        ("n.ipynb/folder/o.ipynb", "cannot be written"),
        ("folder.ipynb", "is a folder"),
        ("/proc/x/o.ipynb", "cannot be written"),
        ("o" * 300 + ".ipynb", "cannot be written"),
        ("o" * 245 + ".ipynb", "cannot be written"),
    ],
)
def test_a_target_that_cannot_be_written_is_refused_before_the_run(tmp_path, monkeypatch, target, fault):
    monkeypatch.setattr(running, "_execute", lambda *_: pytest.fail("it ran"))
    (tmp_path / "folder.ipynb").mkdir()
    with pytest.raises(StorageError, match=fault):
        run_notebook(write(tmp_path / "n.ipynb"), tmp_path / target)


def test_a_full_disk_is_one_line_and_no_result(tmp_path, monkeypatch):
    def full(source, partial, parameters, progress, folder):
        partial.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(running, "_execute", full)
    with pytest.raises(StorageError, match=r"o\.ipynb: cannot be written \(No space left on device\)"):
        run_notebook(write(tmp_path / "n.ipynb"), tmp_path / "out" / "o.ipynb")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("metadata", "tags", "fault"),
    [
        ({}, [], "names no kernel"),
        ({}, ["parameters"], "its parameters cannot be read"),
        ({"kernelspec": KERNEL["kernelspec"] | {"name": "nosuch"}}, [], "its kernel 'nosuch' is not installed"),
    ],
)
def test_a_notebook_without_a_kernel_is_one_line(tmp_path, metadata, tags, fault):
    cell = new_code_cell("a = 1", metadata={"tags": tags})
    nbformat.write(new_notebook(cells=[cell], metadata=metadata), tmp_path / "n.ipynb")
    with pytest.raises(NotebookError, match=f"{fault}; .* choose the kernel Python 3"):
        run_notebook(tmp_path / "n.ipynb", tmp_path / "o.ipynb")


UNREADABLE = [None, "", "{}", "not a notebook", "[1]", '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "\xff"]


@pytest.mark.parametrize("content", UNREADABLE)
@pytest.mark.parametrize("read", [recorded, lambda path: run_notebook(path, path.with_name("o.ipynb"))])
def test_a_file_that_is_no_notebook_is_one_line(tmp_path, read, content):
    path = tmp_path / "n.ipynb"
    if content is not None:
        path.write_bytes(content.encode("latin-1"))
    with pytest.raises(NotebookError, match=r"n\.ipynb: "):
        read(path)


@in_one_test("name", NOTEBOOKS)
def test_committed_notebook_is_clean(name):
    assert notebook_faults(NOTEBOOKS[name]) == []
    notebook = nbformat.read(NOTEBOOKS[name], as_version=4)
    for holder in (notebook, *notebook.cells):
        assert not {"papermill", "widgets", "execution"} & holder.metadata.keys()


def test_the_keys_of_a_mapping_arrive_as_they_were_given(tmp_path):
    cell = 'from kanon_lab.notebooks import record\nrecord("got", repr(mapping))'
    parameters = new_code_cell('mapping = {"a": "b"}\nfile = ""', metadata={"tags": ["parameters"]})
    nbformat.write(new_notebook(cells=[parameters, new_code_cell(cell)], metadata=KERNEL), tmp_path / "n.ipynb")
    given = {1: "*", "2": ["x", 2.5, None, {3: True}], -4: 'a "quoted" \\ text'}
    run_notebook(tmp_path / "n.ipynb", tmp_path / "o.ipynb", {"mapping": given})
    assert recorded(tmp_path / "o.ipynb")["got"] == repr(given)


@pytest.mark.parametrize(("file", "secret"), [("mine.csv", True), ("health-survey", False), ("", False)])
def test_what_is_kept_of_a_failure_on_ones_own_file_quotes_no_value(tmp_path, file, secret):
    parameters = new_code_cell('file = "enusc-synthetic"\nkeys = []', metadata={"tags": ["parameters"]})
    fails = new_code_cell('print("CANARY 1")\nraise ValueError("CANARY 2")')
    nbformat.write(new_notebook(cells=[parameters, fails], metadata=KERNEL), tmp_path / "n.ipynb")
    with pytest.raises(NotebookError) as caught:
        run_notebook(tmp_path / "n.ipynb", tmp_path / "o.ipynb", {"file": file, "keys": ["a"]})
    kept = nbformat.read(tmp_path / "o.failed.ipynb", as_version=4)
    outputs = str([cell.get("outputs") for cell in kept.cells])
    assert ("CANARY" in outputs) != secret
    assert ("ValueError: CANARY 2" in str(caught.value)) != secret
    if secret:
        assert "an unexpected ValueError; check what was given: file, keys; the cells that ran are in" in str(
            caught.value
        )


def test_the_words_of_an_error_that_passes_on_what_a_cell_raised_are_not_told():
    assert {"KanonLabError", "OptionError", "DataError", "AbsentFileError"} <= running.own_errors()
    assert running.in_one_line("OptionError", "k must\nbe 2") == "k must be 2"
    for name in ("NotebookError", "ValueError"):
        assert running.in_one_line(name, "CANARY") == f"an unexpected {name}"
