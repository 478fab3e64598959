"""The one script and the one style sheet that draw every figure of a page."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

# The version that JupyterLab draws too, so that a chart looks the same in both.
VEGALITE_VERSION = "5.20"


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
    return f"(() => {{\n{bundle}\n}})();\n"


def style() -> str:
    """Return the style sheet for figures."""
    return (files(__package__) / "page.css").read_text("utf-8")
