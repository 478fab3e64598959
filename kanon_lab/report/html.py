"""The page of a report: what a notebook shows, in one HTML file that needs no network."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from kanon_lab.notebooks.reading import read_notebook
from kanon_lab.show import page as figures

# The browser itself refuses whatever is not in the file; Vega makes functions out of its expressions.
_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"
# Inside the page, so that no browser asks for a file that is not there.
_ICON = "data:image/svg+xml,%3Csvg xmlns=%27http://www.w3.org/2000/svg%27/%3E"
# What stands around a cell, and around each thing that it shows.
_CELL, _ENDS = 'class="cell border-box-sizing code_cell rendered"', "</div>\n</div>\n</div>\n"
_AREA = '<div class="output_html rendered_html output_subarea">'

# Characters that turn the direction of what follows stand as their codes: no name or title commands how a page is read.
_TURNING = {code: f"[U+{code:04X}]" for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}


def report_page(executed: str | Path, *, title: str, language: str, banner: str = "") -> str:
    """The page of an executed notebook: figures, tables and texts, none of its code; with a banner on every screen."""
    body = _body(read_notebook(executed))
    style = f"{figures.style()}\n{(files(__package__) / 'report.css').read_text('utf-8')}"
    page = f"""<!DOCTYPE html>
<html lang="{escape(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(title)}</title>
<link rel="icon" href="{_ICON}">
<style>
{style}</style>
</head>
<body{' class="kanon-marked"' if banner else ""}>
{f'<p class="kanon-banner" role="note">{escape(banner)}</p>' if banner else ""}
<main>
<h1>{escape(title)}</h1>
{_contents(body)}
{body}
</main>
<script>
{_inside_script(figures.script())}</script>
</body>
</html>
"""
    return page.translate(_TURNING)


def _contents(body: str) -> str:
    """Links to the sections."""
    heads = re.findall(r'<h2 id="(\w+)">(.*?)</h2>', body)
    links = "\n".join(f'<li><a href="#{name}">{text}</a></li>' for name, text in heads)
    return f"<nav><ul>\n{links}\n</ul></nav>" if links else ""


def _body(notebook: Any) -> str:
    """What the cells of a notebook show: HTML and figures; no words of warnings, no errors, no plain text.

    The same bytes as from nbconvert and its template "basic", which take longer than all the rest of a page.
    """
    from bs4 import BeautifulSoup  # attributes in the order of their names, and the fewest entities

    cells = [(cell.id, [*filter(None, map(_html_of, cell.get("outputs", [])))]) for cell in notebook.cells]
    return str(BeautifulSoup("".join(_cell(name, shown) for name, shown in cells if shown), "html.parser"))


def _html_of(output: Any) -> str | None:
    data = output.get("data", {})
    return figures.output_html(data, output.metadata) if figures.VEGALITE_MIME in data else data.get("text/html")


def _cell(name: str, shown: list[str]) -> str:
    areas = "".join(f'<div class="output_area">\n{_AREA}{html}</div>\n</div>\n' for html in shown)
    return f'<div {_CELL} id="cell-id={name}">\n<div class="output_wrapper">\n<div class="output">\n{areas}{_ENDS}'


def _inside_script(code: str) -> str:
    """Code that cannot end the element which it stands in: texts of it with ``</script`` and ``<!--`` are escaped."""
    return re.sub(r"<(/script|!--)", r"<\\\1", code, flags=re.IGNORECASE)
