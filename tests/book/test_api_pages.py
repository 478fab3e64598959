"""The reference of functions: each room that exports something has a page, and every name of it stands there."""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import kanon_book
import kanon_lab
from kanon_book.building.api_pages import module_of, page, public_names, rooms
from kanon_book.pages.charts import join_descriptions

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"


def test_every_room_that_exports_has_a_page():
    modules = [
        f"{package.__name__}.{each.name}"
        for package in (kanon_lab, kanon_book)
        for each in pkgutil.iter_modules(package.__path__)
    ]
    exporting = {name.partition(".")[2] for name in modules if getattr(import_module(name), "__all__", ())}
    assert {*rooms()} == exporting | {"roles", "errors"}
    assert len({*rooms()}) == len(rooms())


def test_what_the_package_itself_exports_stands_on_a_page():
    shown = {name for room in rooms() for name in public_names(room)}
    own = {name for name in kanon_lab.__all__ if not inspect.ismodule(getattr(kanon_lab, name))}
    assert own - {"__version__"} <= shown


@pytest.mark.parametrize("room", rooms())
def test_every_name_stands_on_the_page_once_and_as_what_it_is(room):
    made = page(room)
    entries = {name: kind for kind, name in re.findall(r"^\.\. (auto\w+|py:data):: (\w+)$", made, flags=re.MULTILINE)}
    assert sorted(entries) == sorted(public_names(room))
    for name, kind in entries.items():
        each = getattr(module_of(room), name)
        assert (kind in ("autoclass", "autoexception")) == inspect.isclass(each), name


def test_a_constant_is_told_by_its_names():
    assert "   ``benedetti-franconi``, ``exact``, ``inverse``" in page("measures")


@pytest.mark.parametrize("room", rooms())
def test_the_index_and_the_search_of_the_book_have_every_name(room):
    if not (HTML / "genindex.html").is_file():
        pytest.skip("the book is not built: run make book")
    index, search = ((HTML / name).read_text("utf-8") for name in ("genindex.html", "searchindex.js"))
    made = (HTML / "book" / "api" / f"{room}.html").read_text("utf-8")
    for name in public_names(room):
        anchor = f"{module_of(room).__name__}.{name}"
        assert f'id="{anchor}"' in made
        assert f"book/api/{room}.html#{anchor}" in index
        assert f'"", "{name}"]' in search, f"the search does not find {name}"


def test_what_is_said_of_a_parameter_is_one_paragraph():
    lines = [
        "data : a frame with one row a record; or its",
        "    class table",
        "k : int",
        "    From 2 on.",
        "seed : of what is random",
    ]
    join_descriptions(None, "function", "f", None, None, lines)
    said = ["data", "    a frame with one row a record; or its", "    class table"]
    assert lines == [*said, "k : int", "    From 2 on.", "seed", "    of what is random"]
