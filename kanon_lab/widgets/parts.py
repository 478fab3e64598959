"""What the explorers share: a sentence that screen readers speak, a table, a drawing that is swapped in place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from kanon_lab.errors import MissingPackageError

STYLE = {"description_width": "7.5em"}
WIDTH = {"max_width": "100%", "width": "32em"}
# For controls whose labels are longer.
WORDY = {"style": {"description_width": "14em"}, "layout": {"max_width": "100%", "width": "38em"}}


def ipywidgets() -> Any:
    """The ipywidgets package.

    Raises
    ------
    MissingPackageError
        Where it is not installed.
    """
    try:
        import ipywidgets
    except ImportError:
        raise MissingPackageError("the explorers need the package ipywidgets: pip install 'kanon-lab[book]'") from None
    return ipywidgets


def template(chart: Any) -> dict:
    """The specification of a chart, as JupyterLab draws it."""
    from kanon_lab.page.figures import lite5

    return lite5(chart.to_dict())


def drawing(spec: dict) -> tuple[dict, ...]:
    """What a widgets.Output shows.

    One assignment to its ``outputs`` swaps the old drawing for the new one; clearing and displaying would flicker and
    could pile up.
    """
    from kanon_lab.page.figures import VEGALITE_MIME

    data = {VEGALITE_MIME: spec, "text/plain": spec["description"]}
    return ({"output_type": "display_data", "data": data, "metadata": {}},)


def status(html: str) -> str:
    """A sentence that screen readers speak when it changes."""
    return f'<p role="status" style="font-size: 1.15em; line-height: 1.4; margin: 0.5em 0">{html}</p>'


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], *, chosen: int) -> str:
    """A table of texts, whose first cells name the rows; the chosen row is bold."""
    head = "".join(
        f'<th scope="col" style="text-align: right; padding: 0.2em 0.8em">{escape(text)}</th>' for text in heads
    )
    body = "".join(_row(cells, current=number == chosen) for number, cells in enumerate(rows))
    caption = f"<caption>{escape(caption)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row(cells: Sequence[str], *, current: bool) -> str:
    style, mark = ("font-weight: bold", ' aria-current="true"') if current else ("", "")
    name, *rest = map(escape, cells)
    values = "".join(f'<td style="text-align: right; padding: 0.2em 0.8em">{text}</td>' for text in rest)
    return f'<tr style="{style}"{mark}><th scope="row" style="padding: 0.2em 0.8em">{name}</th>{values}</tr>'
