"""Maps of Spain and Málaga: the share of persons in small groups, by what is known of date and place."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.show import style
from kanon_lab.show.anonymity import UNIT
from kanon_lab.show.colors import GREY, RAMP
from kanon_lab.show.controls import Explorer, Shown, bound, drawn, show_state, table
from kanon_lab.show.style import alt

if TYPE_CHECKING:
    import pandas as pd

#: The maps there are, and what their areas are called.
SHAPES = {"spain": "provinces of Spain", "malaga": "municipalities of Málaga"}
# Shares at which the colour changes.
_CUTS = (0.01, 0.05, 0.2, 0.4, 0.6, 0.8)
_BANDS = ["<1%", "1–5%", "5–20%", "20–40%", "40–60%", "60–80%", "≥80%"]
_GROUP = ["Group: same sex, birth date and place, as known.", "Outlines: ign.es, CC BY 4.0"]
_WORDS = {
    "row": "data('areas')[indexof(pluck(data('areas'), 'key'), known + ' ' + dates)]",
    "share": style.share_expression(f"(row.units[step] * {UNIT})"),
    "words": (
        "[row.name + ', ' + dates + ' and ' + known + ' known:',"
        " k == 1 ? share + ' are alone (k = 1)' : share + ' in a group of ' + k + ' or fewer']"
    ),
}


def area_map(
    frame: pd.DataFrame, shapes: str, *, k: int = 1, dates: str = "day", known: str = "municipality", height: int = 380
) -> alt.LayerChart:
    """A map of the share of persons in a group of k or fewer, with controls for k, the date of birth and the place.

    Parameters
    ----------
    frame : DataFrame
        From `kanon_book.studies.shares_by_area`; there is a control for k and the place where there is a choice.
    shapes : {"spain", "malaga"}
        The map: its areas are those of the frame.
    k, dates, known
        What is shown first.
    height : int
        Of the map, in pixels.
    """
    style.check_columns(frame, ("place", "name", "population", "known", "dates"), "shares_by_area(counts)")
    ks, names, places = _ks(frame), style.check_dates(frame["dates"]), list(dict.fromkeys(frame["known"]))
    topology = _topology(shapes)
    if strange := {*frame["place"]} - {area["id"] for area in topology["objects"]["areas"]["geometries"]} - {"all"}:
        raise OptionError(f"the map of {SHAPES[shapes]} has no area {min(strange)!r}")
    for value, offered in ((k, ks), (dates, names), (known, places)):
        if value not in offered:
            raise OptionError(f"the map has {', '.join(map(str, offered))}, not {value!r}")
    bindings: dict[str, Any] = {
        "step": alt.binding_range(min=0, max=len(ks) - 1, step=1, name="group of at most (k): "),
        "dates": alt.binding_radio(options=names, name="Date of birth known to the: "),
        "known": alt.binding_radio(options=places, name="Place known to the: "),
    }
    choices = {"step": ks, "dates": names, "known": places}
    bindings = {name: binding for name, binding in bindings.items() if len(choices[name]) > 1}
    start = {"step": ks.index(k), "dates": dates, "known": known}
    words = {"k": f"{ks}[step]", **_WORDS}
    if "known" not in bindings:  # a telephone has no room for it
        words["words"] = words["words"].replace(" + ' and ' + known", "")
    parameters = style.params(start, bindings, words)
    chart = style.live(
        style.layered(_layers(topology), "areas", _compact(frame, ks), parameters),
        title=alt.TitleParams(alt.ExprRef("words"), subtitle=_GROUP),
        subject=(
            f"Map of the {SHAPES[shapes]}: the share of persons who share sex, date of birth and place, as far as "
            "these are known, with few others or with nobody."
        ),
        state=_describe(frame, k, dates, known),
        height=height,
        signal="words",
    )
    return chart.properties(
        usermeta=chart.usermeta | {"labels": {"step": [f"{k:,}" for k in ks]} if len(ks) > 1 else {}}
    )


def explore_areas(frame: pd.DataFrame, shapes: str) -> Explorer:
    """The same for JupyterLab, with a table of the areas."""
    template = drawn(area_map(frame, shapes))
    bindings, ks = bound(template), _ks(frame)
    start = {param["name"]: param["value"] for param in template["params"] if "value" in param}
    if "step" in bindings:
        slider = {"input": "range", "options": ks, "name": bindings.pop("step")["name"], "value": ks[0]}
        bindings = {"k": slider, **bindings}

    def tell(values: dict[str, Any]) -> Shown:
        k = values.get("k", ks[0])
        now = start | {"step": ks.index(k)} | {name: value for name, value in values.items() if name != "k"}
        here = frame[frame["known"] == now["known"]]
        wide = here.pivot(index="place", columns="dates", values=k).loc[here["place"].unique()]
        called = here.drop_duplicates("place").set_index("place")["name"]
        rows = [(called[place], *(percent(share) for share in row)) for place, *row in wide[[*names]].itertuples()]
        shown = table(f"Share of persons in a group of {k} or fewer", ("Area", *names), rows, chosen=0)
        return show_state(template, now, _describe(frame, k, now["dates"], now["known"]), shown)

    names = style.check_dates(frame["dates"])
    return Explorer(bindings, tell)


def _ks(frame: pd.DataFrame) -> list[int]:
    return [int(column) for column in frame.columns if not isinstance(column, str)]


def _topology(shapes: str) -> dict[str, Any]:
    if shapes not in SHAPES:
        raise OptionError(f"there are maps of {', '.join(SHAPES)}, not {shapes!r}")
    whole = json.loads((files(__package__) / f"{shapes}.json").read_text("utf-8"))
    return {name: part for name, part in whole.items() if name not in ("source", "licence")}


def _describe(frame: pd.DataFrame, k: int, dates: str, known: str) -> str:
    """Say what it shows in one state: the whole, and the areas with most and fewest."""
    here = frame[(frame["dates"] == dates) & (frame["known"] == known)]
    areas = here[here["place"] != "all"].sort_values(k)

    def name_share(row: pd.Series) -> str:
        return f"{row['name']} {percent(round(row[k] / UNIT) * UNIT)}"

    whole, least, most = map(name_share, (here.iloc[0], areas.iloc[0], areas.iloc[-1]))
    return f"At k = {k}, {dates} and {known} known: {whole}; least {least}, most {most}."


def _compact(frame: pd.DataFrame, ks: list[int]) -> list[dict]:
    rows = frame[["place", "name", "population", "dates", "known"]].copy()
    rows["key"] = rows["known"] + " " + rows["dates"]
    rows["units"] = np.rint(frame[ks].to_numpy(dtype=float) / UNIT).astype(int).tolist()
    return rows.to_dict("records")


def _layers(topology: dict[str, Any]) -> list:
    """The areas in the colour of their share, and the frame of an inset."""
    inset = topology.pop("inset", None)
    shapes = alt.InlineData(name="shapes", values=topology, format=alt.TopoDataFormat(feature="areas", type="topojson"))
    areas = (
        alt.Chart()
        .transform_filter("datum.place != 'all' && datum.dates == dates && datum.known == known")
        .transform_calculate(share=f"datum.units[step] * {UNIT}")
        .transform_calculate(band=f"{_BANDS}[{' + '.join(f'(datum.share >= {cut})' for cut in _CUTS)}]")
        .transform_lookup(lookup="place", from_=alt.LookupData(data=shapes, key="id"), as_="shape")
        .mark_geoshape(stroke=GREY, strokeWidth=0.5)
        .encode(
            shape="shape:G",
            description="name:N",
            color=alt.Color(
                "band:N",
                scale=style.by_name(_BANDS, RAMP),
                legend=alt.Legend(title=None, symbolType="square", symbolSize=180, symbolStrokeColor=GREY, columns=4),
            ),
            tooltip=style.tooltips(
                ("name:N", "place"), ("population:Q", "population", style.COUNT), ("share:Q", "share", style.SHARE)
            ),
        )
        .project("mercator")
    )
    if inset is None:
        return [areas]
    frame = alt.Chart(alt.InlineData(name="inset", values={"type": "LineString", "coordinates": inset}))
    return [areas, frame.mark_geoshape(filled=False, stroke=GREY, strokeWidth=0.5, aria=False).project("mercator")]
