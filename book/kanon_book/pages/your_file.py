"""The page on which a reader's own csv file is counted, and that may not connect to anything: a Sphinx extension.

``counting.js`` reads the file as `kanon_lab.data` does and counts as `kanon_lab.class_table`; ``your_file.js`` is what
shows it.
"""

from __future__ import annotations

from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from kanon_book.pages.charts import write_static
from kanon_book.pages.exercises import asset
from kanon_book.words import texts
from kanon_lab import __version__
from kanon_lab.files import kept_text
from kanon_lab.show.notices import comment
from kanon_lab.show.page import embedded_json

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SCRIPT, STYLE = "kanon-your-file.js", "kanon-your-file.css"
_MARK = 'class="kanon-own"'
# What the page loads at its beginning: its own files (on a disk these are file:), and nothing by a connection. When it
# has loaded, your_file.js takes the rest away too. (Sphinx makes its rule for plurals of a text, in Spanish.)
META = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; connect-src 'none'; "
    "script-src 'self' file: 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' file: 'unsafe-inline'; "
    "font-src 'self' file: data:; img-src data:; worker-src blob:; form-action 'none'; base-uri 'none'\">"
)
_LATER = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline' blob:; "
    "style-src 'unsafe-inline'; font-src 'self' file:; worker-src blob:\">"
)
# The parser of csv, by the name that it has inside vl-convert: nothing is asked of that address.
_PARSER = 'import {dsvFormat} from "https://cdn.jsdelivr.net/npm/d3-dsv@3.0.1/+esm"; globalThis.dsvFormat = dsvFormat;'

_PAGE = """<div class="kanon-own">
<noscript><p>{no_script}</p></noscript>
<template class="kanon-own-policy">{policy}</template>
<template class="kanon-own-row"><tr><td><label><input type="checkbox" name="key"> <span></span></label></td>
<td><select aria-label="{change}"><option value="same">{same}</option><option value="drop">{drop}</option>
<option value="width">{width}</option><option value="first">{first}</option></select>
<input type="number" min="1" step="1" aria-label="{size}" hidden></td></tr></template>
<template class="kanon-own-set"><tr><th scope="row"></th><td class="number"></td></tr></template>
<form hidden>
<p class="kanon-own-drop"><label>{choose} <input type="file" name="file" accept=".csv,.gz"></label></p>
<p><label>{na} <input name="na" autocomplete="off" size="12"></label></p>
<p><button type="button" class="kanon-own-try">{try}</button>
<button type="button" class="kanon-own-cancel">{cancel}</button>
<progress class="kanon-own-progress" max="1" aria-label="{counting}"></progress></p>
<p class="kanon-own-status" role="status"></p>
<div class="kanon-own-proof" hidden>{proof}</div>
<fieldset class="kanon-own-roles" hidden><legend>{roles}</legend>
<div class="kanon-scroll" tabindex="0" role="region" aria-label="{roles}"><table class="kanon-table">
<thead><tr><th scope="col">{key}</th><th scope="col">{change}</th></tr></thead>
<tbody class="kanon-own-columns"></tbody></table></div>
<p><label>{weight} <select name="weight"></select></label></p>
<p><label>{missing} <select name="missing"><option value="wildcard">{wildcard}</option>
<option value="category">{category}</option></select></label></p>
<p><button type="submit">{count}</button></p>
</fieldset>
</form>
<div class="kanon-own-result" hidden>
<p class="kanon-own-words"></p>
{summary_table}
<p class="rubric">{distribution}</p>
{distribution_table}
<p class="rubric">{singles}</p>
<p>{few_keys}</p>
{set_2_table}
{set_3_table}
<p class="rubric">{same_here}</p>
<p>{command}</p>
<div class="highlight"><pre class="kanon-own-command"></pre></div>
<p>{recipe}</p>
<div class="highlight"><pre class="kanon-own-recipe"></pre></div>
</div>
</div>"""
_WAYS = ("here", "fetch", "socket", "beacon", "picture", "worker")
_MEASURES = ("k", "uniques", "classes", "below_3", "below_5", "least", "sum")
# Where bins of f_k begin.
_BINS = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1000)


def _table(label: str, heads: list[str], rows: list[str], *, body: str = "") -> str:
    top = f'<th scope="col">{heads[0]}</th>' + "".join(f'<th scope="col" {head}</th>' for head in heads[1:])
    return (
        f'<div class="kanon-scroll" tabindex="0" role="region" aria-label="{label}"><table class="kanon-table">\n'
        f'<thead><tr>{top}</tr></thead>\n<tbody class="{body}">{"".join(rows)}</tbody></table></div>'
    )


def _row(head: str, value: str, classes: str = "") -> str:
    """A row of what is counted before and after the changes."""
    cells = f'<td class="number" data-value="0 {value}"></td>'
    cells += f'<td class="number kanon-own-after" data-value="1 {value}"></td>'
    return f'<tr class="{classes}"><th scope="row">{head}</th>{cells}</tr>\n'


def _tables(words: dict[str, str]) -> dict[str, str]:
    """The tables, without the numbers that the script fills in."""
    both = [f'class="number">{words["before"]}', f'class="number kanon-own-after">{words["after"]}']
    measures = [_row(words[name], name, "kanon-own-F" if name in ("least", "sum") else "") for name in _MEASURES]
    bins = []
    for low, high in zip(_BINS, [*_BINS[1:], None]):
        value = f"share {low} {high or ''}"
        name = words["or_more"] if high is None else str(low) if high == low + 1 else f"{low}\N{EN DASH}{high - 1}"
        drawn = "".join(
            f'<span class="kanon-own-{name}" data-value="{which} bar {low} {high or ""}"></span>'
            for which, name in enumerate(("bar", "bar kanon-own-after"))
        )
        bins.append(_row(f'{name}<div class="kanon-own-bars" aria-hidden="true">{drawn}</div>', value))
    ways = [f'<tr><th scope="row">{words[way]}</th><td data-way="{way}"></td></tr>\n' for way in _WAYS]
    alone = f'class="number">{words["alone"]}'
    sets = {
        f"set_{n}_table": _table(words[f"set_{n}"], [words[f"set_{n}"], alone], [], body=f"kanon-own-set-{n}")
        for n in (2, 3)
    }
    return sets | {
        "proof": _table(words["attempts"], [words["attempt"], f">{words['answer']}"], ways),
        "summary_table": _table(words["summary"], [words["measure"], *both], measures),
        "distribution_table": _table(words["distribution"], [words["f_k"], *both], bins),
    }


def _words(language: str) -> dict[str, str]:
    return texts("your file", language)


def page(language: str = "en") -> str:
    """The page's HTML, without what is filled in for a file."""
    words = {key: escape(word) for key, word in _words(language).items()}
    return _PAGE.format_map(words | _tables(words) | {"policy": _LATER})


@cache
def engine() -> str:
    """JavaScript of what counts: a function that a worker calls, or the page where there is no worker."""
    import vl_convert

    parser = kept_text(lambda: vl_convert.javascript_bundle(_PARSER), "csv parser", vl_convert.__version__, _PARSER)
    return f"function engine(scope) {{\n{comment('d3-dsv')}{parser}\n{asset('counting.js')}}}\n"


def script(language: str = "en") -> str:
    """All JavaScript of the page, with the words it says."""
    declaration = f"const SAID = {embedded_json(_words(language))};\n"
    return f"(() => {{\n{declaration}{engine()}{asset('your_file.js')}}})();\n"


class YourFile(SphinxDirective):
    """Fields for a file and its keys, and place for what is counted."""

    def run(self) -> list[nodes.Node]:
        return [nodes.raw(text=page(self.config.language), format="html")]


def write_assets(app: Sphinx) -> None:
    """Write script and style before any page is made: Sphinx puts a checksum of them into the pages."""
    write_static(app, {SCRIPT: lambda: script(app.config.language), STYLE: lambda: asset("your_file.css")})


def add_assets(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document) -> None:
    """Forbid connections on the page before it loads anything, and load what it needs."""
    if _MARK in context.get("body", ""):
        context["metatags"] = META + context.get("metatags", "")
        app.add_css_file(STYLE)
        app.add_js_file(SCRIPT, loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx (``kanon_book.pages.your_file`` in ``_config.yml``)."""
    app.add_directive("your-file", YourFile)
    app.connect("builder-inited", write_assets)
    app.connect("html-page-context", add_assets, priority=950)  # the policy stands before what others add
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
