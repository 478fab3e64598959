"""The one script and the one style sheet that draw every figure of a page."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

# The version that JupyterLab draws too, so that a chart looks the same in both.
VEGALITE_VERSION = "5.20"
# The bundle's Vega is newer than the one that Vega-Lite 5 names; it draws the same, but would say so at every chart.
_CONSOLE = """{
  __proto__: console,
  warn: (...words) => String(words[0]).startsWith("The compiled spec uses Vega") || console.warn(...words),
}"""


@cache
def script() -> str:
    """Return JavaScript that draws all figures of a page: Vega, Vega-Lite, Vega-Embed and our few lines (about 0.9 MB).

    It comes out of the vl-convert package: nothing is downloaded, and no library is committed.
    """
    import vl_convert

    draw = (files(__package__) / "draw.js").read_text("utf-8")
    bundle = vl_convert.javascript_bundle(draw, vl_version=VEGALITE_VERSION)
    # A function of its own: the bundle's short names would clash with those of other scripts in the page. (A module
    # would do it too, but a browser does not load one from a file.)
    return f"((console) => {{\n{bundle}\n}})({_CONSOLE});\n"


def list_script() -> str:
    """Return JavaScript that fills every `kanon_lab.page.Listing` of a page."""
    return (files(__package__) / "list.js").read_text("utf-8")


def style() -> str:
    """Return the style sheet for figures; where the theme is dark, it swaps the colours of `kanon_lab.charts`."""
    from kanon_lab.charts.style import DARK  # with it come all charts, which the script needs not

    swaps = "\n".join(
        f'  html[data-theme="dark"] .kanon-drawing [{part}="{light}"] {{ {part}: {dark}; }}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    )
    return f"{(files(__package__) / 'page.css').read_text('utf-8')}@media screen {{\n{swaps}\n}}\n"
