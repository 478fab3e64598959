"""Make the shapes of the book's maps from es-atlas 0.6.0, a package of npm, which has them from Spain's IGN.

Get it with ``npm pack es-atlas@0.6.0`` and unpack it. Writes, to book/kanon_book/figures, as TopoJSON on
a grid of 0.03 degrees (the municipalities: 0.005):

spain.json
    The 52 provinces by INE's codes of two digits. The Canary Islands are moved into an inset, whose frame is ``inset``;
    Ceuta and Melilla, too small to see, are drawn larger. Without Gibraltar.
malaga.json
    The 100 municipalities that Málaga had in INE's table of 1 January 2010, by their codes of five digits. Those that
    had no counts of their own then are merged with what they were part of.

Run: python scripts/make_maps.py PATH/TO/package/es
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

FIGURES = Path(__file__).resolve().parents[1] / "book" / "kanon_book" / "figures"
SOURCE = {
    "source": "Instituto Geográfico Nacional (ign.es), through es-atlas 0.6.0; simplified, parts moved or merged",
    "licence": "CC BY 4.0 (IGN); es-atlas: MIT, Copyright (c) 2016-2018 Martín González",
}
CANARIES, MOVED = ("35", "38"), np.array([6.3, 7.5])
INSET = [[-12.1, 34.95], [-12.1, 37.1], [-6.85, 37.1], [-6.85, 34.95], [-12.1, 34.95]]
#: Where the centre is drawn, and how much larger.
ENLARGED = {"51": (np.array([-5.25, 35.45]), 5), "52": (np.array([-2.95, 35.35]), 5)}
#: Municipalities of later years, and those that they were part of.
MERGED = {"29902": "29015", "29903": "29084", "29904": "29084"}
Ring, Arcs = list[int], list[np.ndarray]


def main(folder: Path) -> None:
    """Write both and say how large they are."""
    for name, topology in {"spain": provinces(folder), "malaga": municipalities(folder)}.items():
        path = FIGURES / f"{name}.json"
        path.write_text(json.dumps(topology, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")
        areas = len(topology["objects"]["areas"]["geometries"])
        print(f"{path.name}: {areas} areas, {path.stat().st_size / 1000:.1f} kB")


def provinces(folder: Path) -> dict:
    """The provinces as drawn."""
    shapes, arcs = read(folder / "provinces.json", "provinces")
    del shapes["54"]
    for code in CANARIES:
        move(arcs, shapes[code], lambda points: points + MOVED)
    for code, (centre, times) in ENLARGED.items():
        middle = np.concatenate([arcs[place] for place in used(shapes[code])]).mean(axis=0)
        move(arcs, shapes[code], lambda points, c=centre, t=times, m=middle: c + t * (points - m))
    return {**topology(shapes, arcs, 3 / 100), "inset": INSET}


def municipalities(folder: Path) -> dict:
    """Málaga's municipalities of 2010."""
    shapes, arcs = read(folder / "municipalities.json", "municipalities")
    shapes = {code: rings for code, rings in sorted(shapes.items()) if code.startswith("29")}
    for code, whole in MERGED.items():
        shapes[whole] = merged([*shapes[whole], *shapes.pop(code)], arcs)
    return topology(shapes, arcs, 1 / 200)


def read(path: Path, name: str) -> tuple[dict[str, list[list[Ring]]], Arcs]:
    """Polygons (rings of arcs) by code, and the arcs in degrees."""
    whole = json.loads(path.read_text("utf-8"))
    scale, start = (np.array(whole["transform"][part]) for part in ("scale", "translate"))
    shapes = {
        shape["id"]: shape["arcs"] if shape["type"] == "MultiPolygon" else [shape["arcs"]]
        for shape in whole["objects"][name]["geometries"]
    }
    return dict(sorted(shapes.items())), [np.cumsum(arc, axis=0) * scale + start for arc in whole["arcs"]]


def used(polygons: list[list[Ring]]) -> set[int]:
    """The places of the arcs of polygons, whichever way they run."""
    return {arc if arc >= 0 else ~arc for rings in polygons for ring in rings for arc in ring}


def move(arcs: Arcs, polygons: list[list[Ring]], to: Callable[[np.ndarray], np.ndarray]) -> None:
    """Move the arcs of polygons that share none with others."""
    for place in used(polygons):
        arcs[place] = to(arcs[place])


def merged(polygons: list[list[Ring]], arcs: Arcs) -> list[list[Ring]]:
    """Polygons as one: without the arcs between them, the others joined to rings."""
    runs = [arc for rings in polygons for ring in rings for arc in ring]
    left = [arc for arc in runs if ~arc not in runs]
    rings = []
    while left:
        ring = [left.pop(0)]
        while (here := ends(ring[-1], arcs)[1]) != ends(ring[0], arcs)[0]:
            ring.append(left.pop([ends(arc, arcs)[0] for arc in left].index(here)))
        rings.append(ring)
    outer, *others = sorted(rings, key=lambda ring: -abs(area(ring, arcs)))
    holes = [ring for ring in others if area(ring, arcs) * area(outer, arcs) < 0]
    return [[outer, *holes], *([ring] for ring in others if ring not in holes)]


def ends(arc: int, arcs: Arcs) -> tuple[tuple, tuple]:
    """Where an arc begins and ends."""
    points = arcs[arc] if arc >= 0 else arcs[~arc][::-1]
    return tuple(points[0]), tuple(points[-1])


def topology(shapes: dict[str, list[list[Ring]]], arcs: Arcs, step: float) -> dict:
    """Polygons on a grid, without islands that vanish on it."""
    start = np.floor(np.concatenate([arcs[i] for polygons in shapes.values() for i in used(polygons)]).min(axis=0))
    grid = [on_grid((arc - start) / step) for arc in arcs]
    kept = {
        code: [
            [ring for ring in rings if abs(area(ring, grid)) > 1] for rings in polygons if abs(area(rings[0], grid)) > 1
        ]
        for code, polygons in shapes.items()
    }
    places: dict[int, int] = {}

    def renumbered(ring: Ring) -> Iterator[int]:
        for arc in ring:
            place = places.setdefault(arc if arc >= 0 else ~arc, len(places))
            yield place if arc >= 0 else ~place

    areas = [
        {"type": "MultiPolygon", "id": code, "arcs": [[[*renumbered(ring)] for ring in rings] for rings in polygons]}
        for code, polygons in kept.items()
    ]
    objects = {"areas": {"type": "GeometryCollection", "geometries": areas}}
    steps = [np.diff(grid[place], axis=0, prepend=np.zeros((1, 2), int)).tolist() for place in places]
    transform = {"scale": [step, step], "translate": start.tolist()}
    return {**SOURCE, "type": "Topology", "transform": transform, "objects": objects, "arcs": steps}


def on_grid(points: np.ndarray) -> np.ndarray:
    """Whole places, each once in a row."""
    whole = np.rint(points).astype(int)
    return whole[np.r_[True, (np.diff(whole, axis=0) != 0).any(axis=1)]]


def area(ring: Ring, grid: Arcs) -> float:
    """The area of a ring in squares, below zero where it runs the other way round."""
    x, y = np.concatenate([grid[arc] if arc >= 0 else grid[~arc][::-1] for arc in ring]).T
    return (np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder es of the unpacked package")
    main(parser.parse_args().folder)
