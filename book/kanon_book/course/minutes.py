"""How long a chapter takes: one rule, from what stands on its page and how many exercises of each depth it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docutils import nodes

#: Seconds that one of each takes a reader, line by line for code: rounded from the fit of `fit_minutes`.
READING = {"word": 0.75, "formula": 50, "table": 30, "figure": 180, "code": 5}
#: Seconds that one question in words took the same reader.
QUESTION = 60
#: Minutes that an exercise takes, by its depth: an estimate, tested on what a second reader took (`fit_minutes`).
PRACTICE = {"compute": 5, "explain": 3, "decide": 3, "predict": 1}


def reading_minutes(counts: Mapping[str, int]) -> float:
    """Minutes to read what was counted by `count`.

    Examples
    --------
    >>> from kanon_book.course.minutes import reading_minutes
    >>> reading_minutes({}) == 0 < reading_minutes({"word": 200}) < reading_minutes({"word": 200, "table": 1})
    True
    """
    return sum(READING[kind] * number for kind, number in counts.items()) / 60


def practice_minutes(depths: Iterable[str]) -> int:
    """Minutes that exercises of these depths take.

    Examples
    --------
    >>> from kanon_book.course.minutes import practice_minutes
    >>> practice_minutes(["compute", "predict"]) > practice_minutes(["compute"]) > practice_minutes([]) == 0
    True
    """
    return sum(PRACTICE[depth] for depth in depths)


def count(document: nodes.document, kind_of: Callable[[nodes.Element], str], passed: Collection[str] = ()) -> Counter:
    """Words, displayed formulas, tables, figures and lines of code of a page.

    Parameters
    ----------
    document : docutils.nodes.Element
        A page or a part of one as it was read; what notebooks insert is not there yet.
    kind_of : callable
        Of what a notebook inserts: ``word``, ``table`` or ``figure``.
    passed : collection of str
        Classes of what is no reading, such as exercises.
    """
    from docutils import nodes

    counts: Counter = Counter()

    def walk(node: nodes.Node) -> None:
        if isinstance(node, nodes.Text):
            counts["word"] += len(node.split())
        elif isinstance(node, nodes.literal_block):
            counts["code"] += len(node.astext().splitlines())
        elif isinstance(node, nodes.math_block | nodes.table | nodes.figure):
            counts[{"math_block": "formula"}.get(node.tagname, node.tagname)] += 1
        elif isinstance(node, nodes.math):
            counts["word"] += 1
        elif type(node).__name__ == "PendingGlueReference":
            counts[kind_of(node)] += 1
        elif not isinstance(node, nodes.Invisible | nodes.raw) and not {*passed} & {*node.get("classes", ())}:
            for child in node.children:
                walk(child)

    walk(document)
    return counts
