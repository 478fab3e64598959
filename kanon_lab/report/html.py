"""The page of a report: what a notebook shows, in one HTML file that needs no network."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from kanon_lab.errors import MissingPackageError
from kanon_lab.show import page as figures

# The browser itself refuses whatever is not in the file; Vega makes functions out of its expressions.
_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"
# Inside the page, so that no browser asks for a file that is not there.
_ICON = "data:image/svg+xml,%3Csvg xmlns=%27http://www.w3.org/2000/svg%27/%3E"
_HTML = "text/html"

# Characters that turn the direction of what follows stand as their codes: no name or title commands how a page is read.
_TURNING = {code: f"[U+{code:04X}]" for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}


def report_page(executed: str | Path, *, title: str, language: str, banner: str = "") -> str:
    """Return the page of an executed notebook: its figures, tables and texts, none of its code.

    Parameters
    ----------
    executed : str or Path
        The notebook.
    title : str
        Of the page; its sections bring their own headings.
    language : str
        Code of the language, such as ``"es"``.
    banner : str
        What stands on every screen of it, and on every sheet of paper.

    Raises
    ------
    NotebookError
        The file is no notebook.
    MissingPackageError
        nbconvert is not installed.
    """
    from kanon_lab.notebooks.reading import read_notebook

    try:
        from nbconvert import HTMLExporter
    except ModuleNotFoundError:
        raise MissingPackageError("a report needs nbconvert: pip install 'kanon-lab[report]'") from None
    exporter = HTMLExporter(template_name="basic", exclude_input=True, exclude_output_prompt=True)
    body, _ = exporter.from_notebook_node(_shown(read_notebook(executed)))
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


def _shown(notebook: Any) -> Any:
    """The notebook with what a page can show: HTML and figures; no words of warnings, no errors, no plain text."""
    for cell in notebook.cells:
        cell.outputs = [output for output in map(_as_html, cell.get("outputs", [])) if output is not None]
    notebook.cells = [cell for cell in notebook.cells if cell.outputs]
    return notebook


def _as_html(output: Any) -> Any:
    from nbformat.v4 import new_output

    data = output.get("data", {})
    if figures.VEGALITE_MIME in data:
        data = {_HTML: figures.output_html(data, output.metadata)}
    return new_output("display_data", {_HTML: data[_HTML]}) if _HTML in data else None


def _inside_script(code: str) -> str:
    """Code that cannot end the element which it stands in: texts of it with ``</script`` and ``<!--`` are escaped."""
    return re.sub(r"<(/script|!--)", r"<\\\1", code, flags=re.IGNORECASE)
