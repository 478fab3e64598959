"""Notices of what others wrote and the book's pages carry: beside it, or in it."""

from kanon_book.building import lighten
from kanon_book.pages import your_file
from kanon_lab.show import page
from kanon_lab.show.notices import CHARTS, licences, notices


def test_scripts_begin_with_their_notices():
    assert page.script().startswith("/*!\n")
    head = page.script().partition("*/")[0]
    for name in ("vega", "vega-lite", "vega-embed", "d3", "d3-scale", "topojson-client"):
        assert f"\n{name}: Copyright" in head, name
    assert "d3-dsv: Copyright 2013-2021 Mike Bostock" in your_file.script()


def test_each_licence_stands_once():
    text = notices(*CHARTS)
    assert text.count("Redistributions of source code must retain") == 1
    assert {name for name in licences() if name.startswith(("vega", "d3"))} <= {
        line.partition(": ")[0] for line in text.splitlines()
    }


def test_mathjax_and_icons_keep_their_licences(tmp_path):
    for edition in (tmp_path, tmp_path / "es"):
        for name in ("mathjax/startup.js", "mathjax/sre/speech.js", "scripts/fontawesome.js"):
            path = edition / "_static" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
        (edition / "_static" / "scripts" / "fontawesome.js.LICENSE.txt").write_text("Font Awesome Free (SIL OFL 1.1)")
        (edition / lighten.FONTS).mkdir(parents=True)
        lighten.keep_notices(edition / "_static")
    static = tmp_path / "_static"
    assert lighten.MATHJAX.match("LICENSE")
    text = (static / "mathjax" / "LICENSE").read_text("utf-8")
    assert "The MathJax Consortium" in text
    assert "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in text
    assert (static / "vendor" / "fontawesome" / "LICENSE.txt").read_text("utf-8").startswith("Font Awesome Free")
