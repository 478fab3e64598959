"""The book's side of drawing: a Sphinx extension, and a plugin that myst-nb finds by its entry point."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from markupsafe import Markup
from myst_nb.ext.glue.crossref import ReplacePendingGlueReferences, generate_text_nodes, read_glue_cache
from myst_nb.ext.glue.utils import PendingGlueReference
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

from kanon_book.pages import listing
from kanon_book.words import texts
from kanon_lab import __version__
from kanon_lab.digits import local
from kanon_lab.show import page

if TYPE_CHECKING:
    from myst_nb.core.render import MimeData, NbElementRenderer
    from sphinx.application import Sphinx
    from sphinx.config import Config

SCRIPT = "kanon-charts.js"
LIST_SCRIPT = "kanon-list.js"
STYLE = "kanon-charts.css"
# Inside the page, so that no browser asks for a file that is not there: three bars, as of a histogram of k.
ICON = (
    '<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns=%27http://www.w3.org/2000/svg%27 viewBox=%270 0 16 16%27%3E'
    '%3Cpath fill=%27%230072b2%27 d=%27M1 1h4v14H1zM6 6h4v9H6zM11 11h4v4h-4z%27/%3E%3C/svg%3E">'
)
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"


# sphinx-togglebutton calls all its buttons "Toggle hidden content": each gets its hint and the title of its box. And
# the theme lets the keyboard reach what is wider than its place, but does not look again when a box is opened.
FOLDED = """const reach = (box) => {
  for (const wide of box.querySelectorAll("pre, .pst-scrollable-table-container"))
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
};
addEventListener("toggle", (event) => reach(event.target), true);
addEventListener("load", () => {
  for (const button of document.querySelectorAll(".admonition-title > .toggle-button")) {
    const title = button.parentElement.textContent.trim();
    const name = () => {
      button.setAttribute("aria-label", `${button.dataset.toggleHint}: ${title}`);
      reach(button.closest(".admonition"));
    };
    new MutationObserver(name).observe(button, { attributeFilter: ["data-toggle-hint"] });
    name();
  }
});
// On paper what is folded stands at the end of the page.
addEventListener("beforeprint", () => {
  const end = document.createElement("section");
  end.className = "kanon-unfolded";
  for (const box of document.querySelectorAll(".admonition.toggle-hidden")) {
    const copy = box.cloneNode(true);
    copy.classList.remove("toggle", "toggle-hidden");
    copy.querySelector(".toggle-button")?.remove();
    end.append(copy);
  }
  if (end.children.length) document.querySelector("article").append(end);
});
addEventListener("afterprint", () => document.querySelector(".kanon-unfolded")?.remove());"""

# What the theme loads on every page, and none of ours needs: all icons of Font Awesome as a script, beside the font
# that shows them too, and the index of the search, which is done on its own page.
_UNUSED = re.compile(
    r'<script[^>]* src="[^"]*(?:/fontawesome|/searchtools|/language_data|searchindex)\.js[^>]*></script>'
)

# What a screen reader would find without a name, or with a wrong one, in the theme's page: buttons that unfold a part
# of the side bar (named as the link beside them), the side bar, the boxes that it and the search open in on a
# telephone, the field of the search, and the list of citations.
_NAMES = (
    (r'(<a class="[^"]*reference internal"[^>]*>)([^<]+)(</a><details[^>]*><summary)>', r'\1\2\3 aria-label="\2">'),
    (r'<div id="pst-primary-sidebar"', r'\g<0> role="region" aria-label="{book}"'),
    (r'<dialog id="pst-primary-sidebar-modal"', r'\g<0> aria-label="{book}"'),
    (r'<dialog id="pst-secondary-sidebar-modal"', r'\g<0> aria-label="{contents}"'),
    (r'<dialog id="pst-search-dialog"', r'\g<0> aria-label="{search}"'),
    (r'role="doc-biblioentry"', 'role="listitem"'),
)


_SPANISH = ("Español", "es", "Esta página en español")


class ChartMime:
    """Render charts, and what stands for live controls, in the pages of notebooks."""

    mime_priority_overrides = (("*", page.VEGALITE_MIME, 5),)

    @staticmethod
    def handle_mime(renderer: NbElementRenderer, data: MimeData, inline: bool) -> list[nodes.Element] | None:
        if data.mime_type == WIDGET_MIME:
            note = texts("page", _language(renderer))["widget"]
            return [nodes.paragraph(text=note, classes=["kanon-widget-note"], translatable=False)]
        if data.mime_type != page.VEGALITE_MIME:
            return None
        if not data.content.get("description"):
            renderer.logger.warning("a chart has no alternative text: show it with page.figure", line=data.line)
        return [figure_node({data.mime_type: data.content}, data.output_metadata, _language(renderer))]


def _language(renderer: NbElementRenderer) -> str:
    return renderer.renderer.sphinx_env.config.language


class InsertFigures(SphinxPostTransform):
    """Insert what notebooks recorded into chapters, as myst-nb's glue does not: figures, and numbers of a language."""

    default_priority = ReplacePendingGlueReferences.default_priority - 1

    def run(self, **kwargs: Any) -> None:
        folder = self.env.mystnb_config.output_folder
        for node in list(self.document.findall(PendingGlueReference)):
            output = read_glue_cache(folder, node.refdoc).get(node.key, {"data": {}})
            if page.VEGALITE_MIME in output["data"]:
                node.replace_self([figure_node(output["data"], output["metadata"], self.config.language)])
            # A number, which Python writes as in English; a text that was recorded is in its language already.
            elif (
                self.config.language == "es"
                and node.gtype == "text"
                and "text/plain" in output["data"]
                and not output.get("metadata", {}).get("kanon_lab", {}).get("said")
            ):
                inserted = generate_text_nodes(node, output)
                node.replace_self(
                    [nodes.inline("", local(part.astext()), classes=part["classes"]) for part in inserted]
                )


class KeepFormulas(SphinxTransform):
    """Leave displayed formulas out of what is translated: Sphinx would take them for text."""

    default_priority = 19  # before Sphinx's own for translation

    def apply(self, **kwargs: Any) -> None:
        for node in self.document.findall(nodes.math_block):
            node["translatable"] = False


class MarkEnglish(SphinxPostTransform):
    """Say of what is not translated, in an edition that is, that it is English: for screen readers, and for tests."""

    default_priority = 960

    def run(self, **kwargs: Any) -> None:
        for node in self.document.findall(nodes.Element):
            if "untranslated" in node.get("classes", ()):
                # Of a picture Sphinx translates the alternative text, and says that it did not.
                marks = [] if isinstance(node, nodes.image) else ["language-en"]
                node["classes"] = [*(name for name in node["classes"] if name != "untranslated"), *marks]


def figure_node(data: dict[str, Any], metadata: dict[str, Any], language: str) -> nodes.raw:
    return nodes.raw(text=page.output_html(data, metadata, language), format="html", classes=["output", "text_html"])


def add_assets(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document) -> None:
    """Load the icon and the style sheet everywhere and a script only where there is something for it to do."""
    context["metatags"] = context.get("metatags", "") + ICON
    context["lighter"] = lambda head: Markup(_UNUSED.sub("", head))
    context["named"] = named
    # Sphinx takes a page for one with formulas where any part of it might have had some.
    if 'class="math' not in context.get("body", ""):
        scripts = context["script_files"]
        scripts[:] = [script for script in scripts if "mathjax" not in str(getattr(script, "filename", script))]
    app.add_css_file(STYLE)
    if re.search("dropdown admonition|<details", context.get("body", "")):
        app.add_js_file(None, body=FOLDED)
    if 'class="kanon-figure"' in context.get("body", ""):
        app.add_js_file(SCRIPT, loading_method="defer")
    if 'class="kanon-list"' in context.get("body", ""):
        app.add_js_file(LIST_SCRIPT, loading_method="defer")


def named(page: str, **names: str) -> Markup:
    """The theme's page, with names of what has none; `names` are those of the book and of what its boxes hold."""
    for part, whole in _NAMES:
        page = re.sub(part, whole.format(**{name: escape(text) for name, text in names.items()}), page)
    return Markup(page)


def name_other_language(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """The same page in the other language: the Spanish pages are in a folder of those in English."""
    if not app.config.html_context.get("two_languages"):
        return
    spanish = app.config.language == "es"
    here = app.builder.get_target_uri(pagename)
    up = "../" * (here.count("/") + spanish)
    name, language, title = ("English", "en", "This page in English") if spanish else _SPANISH
    href = up + ("" if spanish else "es/") + here
    context["elsewhere"] = {"href": href, "name": name, "language": language, "title": title}


def load_less(app: Sphinx, config: Config) -> None:
    """Our layout, which leaves out what the theme's loads for nothing; and of MathJax what sets and says formulas.

    All of MathJax in one would be half as large again: with a menu that makes each formula a stop of the Tab key.
    """
    config.templates_path = [*config.templates_path, str(Path(__file__).parent / "templates")]
    if "sphinx-mathjax-offline" in app.extensions:
        config.mathjax_path = "mathjax/startup.js"
        config.mathjax3_config = {"loader": {"load": ["input/tex", "output/chtml", "a11y/assistive-mml"]}}


def write_assets(app: Sphinx) -> None:
    """Write them all before any page is made: Sphinx puts a checksum of them into the pages."""
    files = {SCRIPT: page.script, LIST_SCRIPT: lambda: listing.script(app.config.language), STYLE: page.style}
    write_static(app, files)


def write_static(app: Sphinx, texts_of: Mapping[str, Callable[[], str]]) -> None:
    """Write files for pages of HTML, each by what makes its text."""
    if app.builder.format == "html":
        static = Path(app.outdir) / "_static"
        static.mkdir(parents=True, exist_ok=True)
        for name, text in texts_of.items():
            (static / name).write_text(text(), "utf-8")


def join_descriptions(app: Sphinx, what: str, name: str, value: object, options: Any, lines: list[str]) -> None:
    """Put what a docstring says of a parameter after its colon, and goes on saying below, in one paragraph.

    numpydoc takes what stands after the colon for a type. A type is followed by a sentence of its own.
    """
    joined: list[str] = []
    for number, line in enumerate(lines):
        names, colon, words = line.partition(" : ")
        below = lines[number + 1] if number + 1 < len(lines) else ""
        continues = below.startswith("    ") and not below[4:5].isupper()
        if (
            colon
            and re.fullmatch(r"[*\w, ]+", names)
            and names[0] != " "
            and (continues or not below.startswith("    "))
        ):
            joined += [names, f"    {words}"]
        else:
            joined.append(line)
    lines[:] = joined


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx (``kanon_book.pages.charts`` in ``_config.yml``)."""
    if "autodoc-process-docstring" in app.events.events:
        app.connect("autodoc-process-docstring", join_descriptions, priority=400)  # before numpydoc's
    app.add_transform(KeepFormulas)
    app.add_post_transform(InsertFigures)
    app.add_post_transform(MarkEnglish)
    app.connect("config-inited", load_less)
    app.connect("builder-inited", write_assets)
    app.connect("html-page-context", name_other_language, priority=100)  # before the theme leaves out what is empty
    app.connect("html-page-context", add_assets, priority=900)  # after the extension for formulas
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
