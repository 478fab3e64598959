"""Every figure says where it is printed, what it is computed from, how, by which code, and which chapter argues it."""

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from cases import in_one_test

from kanon_book.studies import SOURCES, audit, published_figures
from kanon_book.studies.figures import _table, explanation

pytestmark = pytest.mark.usefixtures("audited_once")

BOOK = Path(__file__).resolve().parents[3] / "book"


@cache
def figures(source):
    audited = audit(source).figures.drop(columns=["place", "chapter"])
    return audited.join(pd.DataFrame(map(explanation, audited["figure_id"])))


def named(rows):
    """What fails, by the pattern of the explanation: a few names tell more than hundreds."""
    return sorted(rows["figures"].unique())


@pytest.mark.parametrize("source", SOURCES)
def test_every_figure_of_a_table_has_a_place(source):
    every = figures(source)
    assert named(every[(every["place"] == "") & (every["table"] != "text")]) == []


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("what", ["inputs", "formula", "code"])
def test_what_is_computed_says_from_what_how_and_where(source, what):
    every = figures(source)
    assert named(every[every["kind"].isin(["recomputed", "fitted"]) & (every[what] == "")]) == []


@pytest.mark.parametrize("source", SOURCES)
def test_every_figure_is_argued_in_a_chapter(source):
    every = figures(source)
    there = {path.stem for path in BOOK.glob("*.md")}
    assert named(every[~every["chapter"].isin(there)]) == []


def meanings(code):
    """All that a dotted name may mean: a function and the module that it comes from may have one name."""
    first, *names = code.split(".")
    found, path = [import_module(first)], first
    for name in names:
        path += f".{name}"
        found = [getattr(each, name) for each in found if hasattr(each, name)]
        try:
            found.append(import_module(path))
        except ModuleNotFoundError:
            continue
    return found


@in_one_test("code", sorted({row["code"] for row in _table("explained.csv").rows} - {""}))
def test_the_code_that_is_named_exists(code):
    assert [found for found in meanings(code) if not isinstance(found, ModuleType)]


@pytest.mark.parametrize("source", SOURCES)
def test_every_explanation_is_of_some_figure(source):
    """A pattern that nothing meets, or only figures that a row above it has taken, is a slip."""
    patterns = [row["figures"] for row in _table("explained.csv").rows if row["figures"].startswith(f"{source}/")]
    assert {*patterns} - {*figures(source)["figures"]} <= {f"{source}/*"}
    assert len(patterns) == len({*patterns})


def test_what_nobody_explains_is_empty():
    assert set(explanation("golle-2006/table-1").values()) == {""}


def test_a_statement_that_may_fail_is_computed():
    """Where the table has words for either outcome, code must tell which: else it would always hold."""
    claims = {source: import_module(SOURCES[source]).claims() for source in ("aepd", "garin-1996", "ine-chile-2023")}
    may_fail = [row["figures"].split("/", 2) for row in _table("evidence.csv").rows if row["otherwise"]]
    assert len(may_fail) > 50
    assert [rest for source, _, rest in may_fail if rest not in claims[source]] == []


def test_a_figure_that_is_the_same_elsewhere_names_a_number():
    pairs = [(row["figures"], row["same"]) for row in _table("evidence.csv").rows if row["same"]]
    assert len(pairs) > 10
    for figure_id, same in pairs:
        published = published_figures(figure_id.split("/")[0]).set_index("figure_id")["published"]
        assert figure_id in published.index
        assert published[same] == published[same], same
