"""Notices of the JavaScript that pages carry: copyright and licence, as JupyterLab has them for these packages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

_LISTED = "jupyter/lab/static/third-party-licenses.json"
#: Packages of JavaScript in the bundle that draws charts, by how their names begin.
CHARTS = (
    "vega",
    "d3",
    "internmap",
    "topojson",
    "fast-json-stable-stringify",
    "json-stringify-pretty-compact",
    "semver",
)
# Whose licence texts JupyterLab does not bring, and the package with the same licence whose text is theirs too.
_BESIDE = {
    "d3-dsv": ("d3", "Copyright 2013-2021 Mike Bostock"),
    "d3-delaunay": ("d3", "Copyright 2018-2021 Observable, Inc.; Copyright 2021 Mapbox"),
    "d3-geo": ("d3", "Copyright 2010-2024 Mike Bostock"),
    "d3-geo, its part of GeographicLib": ("json-stringify-pretty-compact", "Copyright 2008-2012 Charles Karney"),
    "topojson-client": ("d3", "Copyright 2012-2019 Michael Bostock"),
    "vega-lite": ("vega", "Copyright (c) 2015, University of Washington Interactive Data Lab"),
    "vega-util": ("vega", "Copyright (c) 2015-2023, University of Washington Interactive Data Lab"),
}


@cache
def notices(*beginnings: str) -> str:
    """Copyright lines of the packages whose names begin so, and each licence once below those that have it."""
    known = licences()
    texts = {name: text for name, text in known.items() if name.startswith(beginnings) and text}
    for name, (like, copyright_line) in _BESIDE.items():
        if name.startswith(beginnings) and name not in texts:
            texts[name] = f"{copyright_line}\n\n{_without_copyright(known.get(like, ''))}"
    by_terms: dict[str, list[str]] = {}
    for name, text in sorted(texts.items()):
        own = "; ".join(line.strip() for line in text.splitlines() if _is_copyright(line))
        by_terms.setdefault(_without_copyright(text), []).append(f"{name}: {own}" if own else name)
    return "\n\n".join("\n".join([*names, "", terms]) for terms, names in by_terms.items())


def comment(*beginnings: str) -> str:
    """The same as a comment of JavaScript."""
    return "/*!\n" + notices(*beginnings).replace("*/", "* /") + "\n*/\n"


def licences() -> dict[str, str]:
    """Texts of licences by package; none where JupyterLab, without which no report is made, is not installed."""
    try:
        paths: Iterable = metadata.files("jupyterlab") or ()
    except metadata.PackageNotFoundError:
        paths = ()
    listed = next((Path(path.locate()) for path in paths if str(path).endswith(_LISTED)), None)
    if listed is None or not listed.is_file():
        return {}
    packages = json.loads(listed.read_text("utf-8"))["packages"]
    return {package["name"]: (package.get("extractedText") or "").strip() for package in packages}


def _is_copyright(line: str) -> bool:
    return line.strip().startswith(("Copyright ", "Copyright:"))


def _without_copyright(text: str) -> str:
    """The terms alone, without what differs from package to package: names, years and the breaks of lines."""
    lines = [line.strip() for line in text.splitlines() if not _is_copyright(line)]
    return "\n\n".join(" ".join(part.split()) for part in "\n".join(lines).split("\n\n") if part.strip())
