"""Make the built pages lighter: what no page asks for goes, and both editions share what is the same in both."""

from __future__ import annotations

import filecmp
import logging
import os
import posixpath
import re
import shutil
from pathlib import Path

from kanon_book.words import wordings
from kanon_lab.show.notices import licences

# What the theme and MathJax bring and nothing loads: tests ask every page for its files.
UNUSED = ("**/*.map", "_static/*macros.html", "_static/images/*", "_static/locales/**/*", "_static/scripts/fonta*.js")
# Of MathJax what the configuration in book/kanon_book/pages/charts.py names, and what that loads.
MATHJAX = re.compile(
    r"(core|loader|startup|input/tex|output/chtml|a11y/assistive-mml)\.js|input/tex/ext|output/chtml/f|LICENSE"
)
FONTS = Path("_static/vendor/fontawesome/webfonts")
THEME = Path("_static/styles/pydata-sphinx-theme.css")
_ADDRESS = re.compile(r'(\s(?:href|src|content)=")([^"#?:]+)')
_ICON = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"[^"]*"\}')


def lighten(html: Path, other: str = "es") -> None:
    """Leave out of the pages of both editions what is not used, and of the second what is in the first."""
    # Of an edition that was not made again, the icons are thin already: those of the other one are whole.
    shutil.copytree(html / other / FONTS, html / FONTS, dirs_exist_ok=True)
    shutil.copyfile(html / other / THEME, html / THEME)
    for folder in (html, html / other):
        keep_notices(folder / "_static")
        remove(*(path for pattern in UNUSED for path in folder.glob(pattern)))
        mathjax = folder / "_static" / "mathjax"
        remove(*(path for path in mathjax.rglob("*") if not MATHJAX.match(path.relative_to(mathjax).as_posix())))
    share(html, html / other)
    say_in(other, html / other)
    thin_icons(html)
    for folder in sorted((path for path in html.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def keep_notices(static: Path) -> None:
    """Put the notices of MathJax and of the theme's font of icons beside them: neither brings its own there."""
    if (mathjax := static / "mathjax").is_dir():
        text = f"MathJax and its fonts: Copyright (c) The MathJax Consortium\n\n{licences()['mathjax-full']}\n"
        (mathjax / "LICENSE").write_text(text, "utf-8")
    icons = static / "scripts" / "fontawesome.js.LICENSE.txt"
    if icons.is_file():
        shutil.move(icons, static / FONTS.relative_to("_static").parent / "LICENSE.txt")


def share(html: Path, other: Path) -> None:
    """Delete what the second edition has from the first, and let its pages name that."""
    same = {
        path.relative_to(other).as_posix()
        for path in other.rglob("*")
        if path.is_file() and path.suffix != ".html" and (twin := html / path.relative_to(other)).is_file()
        if filecmp.cmp(path, twin, shallow=False)
    }
    for page in other.rglob("*.html"):
        here = page.parent.relative_to(other).as_posix()
        up = os.path.relpath(html, page.parent)

        def named(match: re.Match[str], here: str = here, up: str = up) -> str:
            path = posixpath.normpath(posixpath.join(here, match[2]))
            return f"{match[1]}{Path(up).as_posix()}/{path}" if path in same else match[0]

        page.write_text(_ADDRESS.sub(named, page.read_text("utf-8")), "utf-8")
    remove(*(other / path for path in same))


def say_in(language: str, html: Path) -> None:
    """Translate what the theme and Sphinx say in no catalogue of theirs: names of buttons, links and bars."""
    translations = {row["en"]: row[language] for row in wordings("theme").values()}
    for page in [*html.rglob("*.html"), *html.rglob("translations.js")]:
        text = page.read_text("utf-8")
        for english, own in translations.items():
            text = text.replace(english, own)
        page.write_text(text, "utf-8")


def thin_icons(html: Path) -> None:
    """Keep of the theme's font of icons, and of its rules for them, what pages show: twenty of some two thousand."""
    from fontTools import subset

    logging.getLogger("fontTools").setLevel(logging.WARNING)  # else it writes a line on each table of the font
    asking = [*html.rglob("*.html"), *(html / "_static" / "scripts").glob("*.js")]
    used = {name for path in asking for name in re.findall(r"\bfa-[\w-]+", path.read_text("utf-8"))}
    sheet = html / THEME
    rules = sheet.read_text("utf-8")
    rules = _ICON.sub(lambda rule: rule[0] if used & set(re.findall(r"fa-[\w-]+", rule[1])) else "", rules)
    solid = html / FONTS / "fa-solid-900.ttf"
    options = subset.Options(flavor="woff", layout_features=[])
    font = subset.load_font(solid, options)
    thin = subset.Subsetter(options)
    # An icon stands in a rule as itself, or as its number.
    written = {int(code, 16) for code in re.findall(r'"\\([\da-f]{4})"', rules)} | set(map(ord, rules))
    thin.populate(unicodes=[code for code in written if 0xE000 <= code <= 0xF8FF])
    thin.subset(font)
    subset.save_font(font, solid.with_suffix(".woff"), options)
    faces = r"@font-face\{[^{}]*/(fa-\w+-\d+)\.woff2[^{}]*\}"
    rules = re.sub(faces, lambda face: face[0] if face[1] == solid.stem else "", rules)
    address = f"url(../vendor/fontawesome/webfonts/{solid.stem}.woff)"
    rules = re.sub(r"src:url\([^{}]*(?=\})", f'src:{address} format("woff")', rules)
    sheet.write_text(re.sub(r"/\*# sourceMappingURL=.*?\*/", "", rules), "utf-8")
    remove(*(path for path in (html / FONTS).iterdir() if path.suffix != ".woff"))


def remove(*paths: Path) -> None:
    for path in paths:
        if path.is_file():
            path.unlink()
