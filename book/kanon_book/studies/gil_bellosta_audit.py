"""The audit of Gil Bellosta (2011): Cuadros 1 to 4 and the claims of the text, recomputed.

Cuadro 1 is a simulation over the nation; Cuadros 2 to 4 are expectations for 20 municipalities, rounded for every
single k and then added up to ranges. What is compared with what, and how closely it must agree, is fixed in the
tolerances below.

Without a row in ``gil-bellosta-2011.csv`` are

- the marks of Figura 1, which are not in the text, and their colours;
- definitions (k-anonymity, l-diversity by name) and what follows from them by their words alone (that somebody whose k
  is 1 is not anonymous at all), examples (the man of Ólvega, very high incomes), the steps of the proof and of the
  simulation, which state no result, and what is said of the code, which is not at hand (that the plain algorithm is
  inefficient, that the program is true to it and takes short cuts);
- that the number printed in Cuadro 1 is a median (it differs from the expectation by less than is printed), headings
  that say what a range is, and headings and cross-references that are right;
- judgements of value and of law, in sections 1 to 4, and what follows from a figure that has a row;
- the bibliography, addresses and dates, and what is said of cited works beyond their figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import comb

import numpy as np
import pandas as pd

from kanon_book.studies import gil_bellosta as study
from kanon_book.studies.figures import Answer, judged, printed_step
from kanon_book.studies.gil_bellosta import BENALMADENA, COLUMNS, CUADROS, PLACES
from kanon_lab.data.counts import load_counts
from kanon_lab.digits import percent
from kanon_lab.population import PERIODS, anonymity, persons_by_k
from kanon_lab.population.law import CUADRO_1_RANGES, CUADRO_2_RANGES

#: A file with fewer municipalities than this is not the nation (Spain had 8,114 on 1 January 2010).
_NATION = 8000
#: Percentages from a fitted population: percentage points, fixed before the fit.
_TOLERANCE_SHARE = 0.10
# Bounded cells from reconstructed cells: persons.
_TOLERANCE = 1.0
_PERSONS = 1e4
_OPEN = ">100"
# The municipality whose ages are at hand.
_REAL = "Benalmádena"
#: Million persons of the United States, of them alone by sex, date of birth and ZIP code, or place (census of 1990), in
#: the abstract of Sweeney (2000); and what that of Golle (2006) has by ZIP code in the census of 2000, per cent.
_UNITED_STATES = {"population": 248, "zip": 216, "place": 132}
_SWEENEY_CENSUS, _GOLLE_CENSUS, _GOLLE_ZIP = 1990, 2000, 63
# The same order of magnitude: neither is as much as this times the other.
_ORDER = 10
_ONE_NUMBER = (
    "this number and the percentage beside it, from which we compute ours, are one number in two units: the test is "
    "only whether INE's inhabitants turn the percentage into it. The percentage is rounded"
)
_PICKED = (
    "The printed cell shows which of the two rules was used, so it is fitted: no rule that we know gives "
    "the whole column"
)


class _Inputs:
    """What the figures are recomputed from: a counts frame, and what is printed, by table, column and row.

    The counts are `embedded` where they were fitted to these very tables, and else of anybody. Where they are the
    nation's, `nation` is what `anonymity` gives for them in the ranges of Cuadro 1, under its dates and rows, `alone`
    its rows of k = 1 under their dates, and `widths` its `half_widths`.
    """

    def __init__(self, counts: pd.DataFrame, figures: pd.DataFrame) -> None:
        self.counts, self.embedded = counts, "kind" in counts
        self.published = figures.set_index(["table", "column", "row"])["published"]
        #: The columns of a percentage that the population was fitted to.
        self.fitted = {"tolerance": _TOLERANCE_SHARE, "kind": "fitted"} if self.embedded else {}
        self.is_nation = counts["place"].nunique() >= _NATION
        if self.is_nation:
            nation = anonymity(counts, dates=PERIODS, ranges=CUADRO_1_RANGES)
            self.widths = study.compare_half_widths(nation)
            self.alone = nation[(nation["k_from"] == 1) & (nation["k_to"] == 1)].set_index("dates")
            nation["row"] = [study.printed_range(a, b) for a, b in zip(nation["k_from"], nation["k_to"], strict=True)]
            self.nation = nation.set_index(["dates", "row"])


def recompute(figures: pd.DataFrame, *, counts: pd.DataFrame | None = None) -> pd.DataFrame:
    """Every figure of the study (rows of `published_figures`) from a counts frame, as `judged`.

    `counts` (by default the embedded ``spain-2010``) are of the nation, or of the municipalities of Cuadros 2-4 that
    are at hand. With a column ``kind`` they are an embedded population, which was fitted to these very tables: then
    figures are set against facts of INE where there are any, and marked as fitted where there are none.
    """
    inputs = _Inputs(load_counts("spain-2010") if counts is None else counts, figures)
    computed: dict[str, object] = {}
    for table, rows in figures.groupby("table", sort=False):
        if table in CUADROS:
            computed |= zip(rows["figure_id"], _cuadro(inputs, rows, CUADROS[table]), strict=True)
        elif not inputs.is_nation:
            here = f"the population has {inputs.counts['place'].nunique()} municipalities, not the nation"
            computed |= dict.fromkeys(rows["figure_id"], _not_recomputed(here))
        elif table == "Cuadro 1":
            computed |= zip(rows["figure_id"], map(_cuadro_1(inputs), rows["column"], rows["row"]), strict=True)
        else:
            claimed = claims(inputs)
            computed |= {figure_id: claimed.get(figure_id.rpartition("/")[2]) for figure_id in rows["figure_id"]}
    return judged(figures, map(computed.get, figures["figure_id"]))


def printed_totals(figures: pd.DataFrame) -> list[tuple[str, str, float, float]]:
    """Table, row, total and sum of printed rows of Cuadros 2-4, and of printed columns of Cuadro 1."""
    results = []
    for (table, row), cells in figures[figures["table"].isin(CUADROS)].groupby(["table", "row"], sort=False):
        values = cells.set_index("column")["published"]
        results.append((table, row, values["total"], values.drop("total").sum()))
    shares = figures[(figures["table"] == "Cuadro 1") & (figures["unit"] == "per cent")]
    for column, cells in shares.groupby("column", sort=False):
        results.append(("Cuadro 1", f"column {column}", 100.0, cells["published"].sum().round(2)))
    return results


def _not_recomputed(why: str) -> Answer:
    return Answer(np.nan, {"kind": "recomputed", "verdict": "", "reason": f"not recomputed: {why}"})


def _cuadro_1(inputs: _Inputs) -> Callable[[str, str], Answer]:
    """What gives a figure of Cuadro 1 by its column and row.

    Where the nation was fitted to the percentages these are marked so, and the counts are computed from the printed
    percentages and INE's population.
    """
    # Ten thousand persons of INE's 47 million; the percentage is printed to .01, the count to 1.
    scale = study.population() / _PERSONS / 100

    def figure(column: str, row: str) -> Answer:
        dates, what = column.split(" ")
        here, width = inputs.nation.loc[(dates, row)], inputs.widths.loc[(dates, row)]
        # The study's is the median of simulations: its interval tells how far that may lie off.
        noise = width["printed"] + study.HALF_WIDTH_STEP
        if what == "±":
            return Answer(width["computed"], {"noise": width["noise"] + study.HALF_WIDTH_STEP / 2, "printing": "cut"})
        if what == "%":
            noise_share = 100 * noise * _PERSONS / here["population"] + printed_step("0.01") / 2
            return Answer(100 * here["share"], inputs.fitted or {"noise": noise_share})
        if inputs.embedded:
            columns = {"tolerance": 0.005 * scale + 0.5, "reason": _ONE_NUMBER}
            return Answer(inputs.published["Cuadro 1", f"{dates} %", row] * scale, columns)
        return Answer(here["persons"] / _PERSONS, {"noise": noise + 0.5})

    return figure


def _cuadro(inputs: _Inputs, rows: pd.DataFrame, dates: str) -> Iterator[Answer]:
    """The figures of one of Cuadros 2 to 4, row by row."""
    table = _persons_by_range(inputs, dates)
    for place, cells in rows.groupby("row", sort=False):
        if PLACES[place] in table.index:
            printed = cells.set_index("column")["published"]
            fitted = inputs.embedded and place != _REAL
            yield from _row_of_cuadro(
                printed, table.loc[PLACES[place]], int(study.totals()[PLACES[place]]), dates, fitted
            )
        else:
            yield from [_not_recomputed(f"the population has no cells for {place}")] * len(cells)


def _persons_by_range(inputs: _Inputs, dates: str) -> pd.DataFrame:
    """Ranges (columns as printed, ``total`` and ``expected``, unrounded persons of the open range) by place."""
    here = inputs.counts[inputs.counts["place"].isin(PLACES.values())]
    if not len(here):
        return pd.DataFrame()
    if inputs.embedded:
        cells = pd.MultiIndex.from_frame(here[["sex", "age_group"]])
        real = study.real_place(BENALMADENA).reindex(cells).to_numpy()
        here = here.assign(persons=np.where(here["place"] == BENALMADENA, real, here["persons"]).astype(np.int64))
    result = anonymity(here, dates=[dates], ranges=CUADRO_2_RANGES, by="municipality", round_each_k=True, spread=False)
    table = result.pivot(index="place", columns="k_from", values="persons").set_axis(list(COLUMNS), axis=1)
    table["total"] = result.groupby("place")["population"].first()
    plain = anonymity(here, dates=[dates], ranges=[COLUMNS[_OPEN]], by="municipality", spread=False)
    table["expected"] = plain.set_index("place")["persons"]
    if inputs.embedded:
        table["total"] = study.totals().reindex(table.index)
    return table


def _row_of_cuadro(printed: pd.Series, ours: pd.Series, total: int, dates: str, fitted: bool) -> Iterator[Answer]:
    """The figures of a printed row; where our cells were `fitted` to it, INE's total is set against what it can be."""
    bounded = printed.drop([_OPEN, "total"])
    for column, value in printed.items():
        computed, columns = ours[column], {}
        if fitted and column in bounded:
            columns = {"tolerance": _TOLERANCE, "kind": "fitted"}
        if fitted and column == _OPEN:
            computed = max(total - bounded.sum(), 0)
        if fitted and value == 0 and column in COLUMNS and study.always_zero(total, PERIODS[dates], COLUMNS[column]):
            computed, columns = 0.0, {"reason": f"no ages of {total:,} inhabitants give another figure"}
        if column == _OPEN:
            computed, columns = _open_range(computed, value, printed["total"] - bounded.sum(), ours["expected"])
        yield Answer(computed, columns)


def _open_range(rest: float, printed: float, left: float, expected: float) -> tuple[float, dict]:
    """The open range: most rows print what the others leave of the total; ten print the expectation, which is 0.

    No rule is known that gives all of them. Where the two differ, the printed cell tells which is taken: it is fitted.
    """
    here = "" if left == rest else f", here {left:.0f} and so 0"
    rule = f"what the other ranges leave of the total{here}"
    if rest == printed != round(expected):
        return rest, {"kind": "fitted", "reason": f"{rule}; {expected:,.2f} are expected here. {_PICKED}"}
    if rest != printed == round(expected):
        reason = (
            "the expected persons of this range. Other rows print what the other ranges leave of the total, here "
            f"{rest:.0f}: either is a fair reading. {_PICKED}"
        )
        return round(expected), {"kind": "fitted", "reason": reason}
    if rest == printed:
        return rest, {"reason": f"both rules give it: {rule}, and the expected persons"}
    return rest, {}


def claims(inputs: _Inputs) -> dict[str, object]:
    """What is computed for the claims of the text, by the last part of their figure_id."""
    widest = (inputs.nation["half_width"] / inputs.nation["persons"]).max()
    return {
        "over-100000": _threshold(inputs, 0.2, 100_000),
        "under-10000": _threshold(inputs, 0.8, 10_000),
        "confidence": 100 * study.confidence_level(inputs.widths),
        "narrow": Answer(widest < 0.01, widest=percent(widest)),
        **(_shares(inputs) | _cited(inputs) | _population(inputs) | _ages(inputs)),
        **(_simplifications(inputs) | _formulas()),
    }


def _bound(holds: bool) -> dict[str, object]:
    """The columns of a bound that holds, or does not."""
    return {"holds": holds, "verdict": "exact"} if holds else {"holds": holds}


def _shares(inputs: _Inputs) -> dict[str, Answer]:
    """Shares alone: those of Cuadro 1 again, and what is said of them."""
    alone, embedded = inputs.alone, inputs.embedded
    share, million = 100 * alone["share"], alone["persons"]["day"] / 1e6
    if embedded:
        million = inputs.published["Cuadro 1", "day %", "1"] / 100 * study.population() / 1e6
    # Almost a round number: below it, and no farther than it rounds.
    almost = bool(round(20.0) - 0.5 <= million < 20.0)
    outcome = ("holds" if almost else "fails") + ", by the printed percentage of INE's population" * embedded
    half = bool((1 / 3 + 1 / 2) / 2 < share["day"] / 100 < 1 / 2)
    verdict = {"verdict": "" if not half else "approximate" if embedded else "exact"}
    return {
        **{f"{dates}-share": Answer(share[dates], inputs.fitted) for dates in PERIODS},
        "identifiable-share": Answer(share["day"], inputs.fitted),
        "day-half-width": Answer(100 * alone["half_width"]["day"] / alone["population"]["day"]),
        "almost-twenty-million": Answer(million, _bound(almost), outcome=outcome),
        "almost-half": Answer(half, {"kind": "fitted" if embedded else "recomputed"} | verdict, share=share["day"]),
    }


def _threshold(inputs: _Inputs, share: float, limit: int) -> Answer:
    """The share must be above the line in every place of up to so many inhabitants."""
    computed = study.crossing(inputs.counts.groupby(["sex", "age_group"])["persons"].sum().to_numpy(), share)
    if inputs.embedded:
        return Answer(computed, _threshold_of_real_places(share, limit))
    places = anonymity(inputs.counts, dates=["day"], ranges="1", by="municipality", spread=False)
    below = (places["population"] <= limit) & (places["population"] > 0)
    against = int((below & (places["share"] <= share)).sum())
    reason = (
        f"with national ages the share falls below {percent(share)} here; municipalities of up to {limit:,} "
        f"inhabitants that lie there or lower: {against} of {below.sum()}"
    )
    return Answer(computed, _bound(bool(computed >= limit and against == 0)) | {"reason": reason})


def _threshold_of_real_places(share: float, limit: int) -> dict[str, str]:
    """Single places of the embedded population are synthetic: what real ones say, as they are and scaled."""
    nation = study.crossing(study.national_cells(), share)
    sizes = pd.Series({name: study.crossing(cells, share) for name, cells in study.real_places().items()})
    here = {name: cells for name, cells in study.real_places(1).items() if cells.sum() < limit}
    alone = pd.Series({name: study.share_alone(cells, cells.sum(), PERIODS["day"]) for name, cells in here.items()})
    holds = bool(min(nation, sizes.min()) >= limit and alone.min() > share)
    near = bool(sizes.min() <= limit <= max(nation, sizes.max()) and alone.min() > share)
    reason = (
        f"with the ages of the nation, the share falls below {percent(share)} at {nation:,.0f} inhabitants; with the "
        f"ages of Málaga's {len(sizes)} places of 1,000 or more, each scaled to other sizes, at {sizes.min():,.0f} "
        f"({sizes.idxmin()}) to {sizes.max():,.0f} ({sizes.idxmax()}). As they are, the {len(alone)} places of Málaga "
        f"of fewer than {limit:,} have {percent(alone.min())} alone or more"
    )
    reason += ": the bound holds with real ages" if holds else ": it holds as a round number" if near else ""
    return {"verdict": "exact" if holds else "approximate" if near else "disagrees", "reason": reason}


def _cited(inputs: _Inputs) -> dict[str, Answer]:
    """What is said of other studies."""
    share = 100 * inputs.alone["share"]["day"]
    by_zip, by_place = (100 * _UNITED_STATES[name] / _UNITED_STATES["population"] for name in ("zip", "place"))
    alike = all(1 / _ORDER < other / share < _ORDER for other in (by_zip, by_place, _GOLLE_ZIP))
    comparable = {"verdict": "exact" if alike else "disagrees"}
    return {
        "us-zip": Answer(by_zip, **_UNITED_STATES),
        "us-zip-census": Answer(_SWEENEY_CENSUS),
        "us-place": Answer(by_place, **_UNITED_STATES),
        "us-place-census": Answer(None, census=_GOLLE_CENSUS, older=_SWEENEY_CENSUS, golle=_GOLLE_ZIP),
        "comparable": Answer(alike, comparable, share=share, zip=by_zip, place=by_place, golle=_GOLLE_ZIP),
    }


def _population(inputs: _Inputs) -> dict[str, Answer]:
    """Which population it is, and how large."""
    everywhere, without = study.municipalities() if inputs.embedded else (inputs.counts["place"].nunique(),) * 2
    printed = inputs.published["Cuadro 2"]
    sizes, codes = printed["total"][list(PLACES)], list(PLACES.values())
    equal = int((sizes.to_numpy() == study.totals()[codes].to_numpy()).sum())
    persons = inputs.published["Cuadro 1"].xs("day n").sum()
    unit = study.population() / persons
    alone = (printed["1"][list(PLACES)] / sizes).to_numpy()
    guess = np.array([study.share_alone(study.national_cells(), size, PERIODS["day"]) for size in sizes])
    explained = 1 - np.sum((alone - guess) ** 2) / np.sum((alone - alone.mean()) ** 2)
    missed = percent(np.abs(alone - guess).max())
    return {
        "municipalities": Answer(everywhere, everywhere=everywhere, without=without),
        "register-year": Answer(2010 if equal == len(PLACES) else np.nan, equal=equal, places=len(PLACES)),
        "ten-thousands": Answer(9_950 < unit < 10_050, population=study.population(), persons=persons, unit=unit),
        "determinant": Answer(explained > 0.5, explained=percent(explained), missed=missed),
    }


def _ages(inputs: _Inputs) -> dict[str, Answer]:
    """The last age group, and how many years it is taken to span: what gives the printed cells of Benalmádena."""
    equal = {age: _equal_cells(inputs.published, age, 5) for age in (85, 90, 95, 100)}
    span = {years: _equal_cells(inputs.published, 85, years) for years in (5, 10, 15)}
    (last,), (years,) = ([key for key, n in counted.items() if n == len(_bounded())] for counted in (equal, span))
    ages = ", ".join(f"{age} on: {n}" for age, n in equal.items())
    spans = ", ".join(f"{width} years: {n}" for width, n in span.items())
    cells, over_90 = len(_bounded()), study.oldest().drop("85-89", level=1).sum()
    return {
        "last-age-group": Answer(last, tried=ages, cells=cells),
        "ages-capped": Answer(last + years, tried=spans, cells=cells, oldest=over_90),
    }


def _bounded() -> list[tuple[str, str]]:
    return [(table, column) for table in CUADROS for column in COLUMNS if column != ">100"]


def _equal_cells(published: pd.Series, last: int, years: int) -> int:
    """Bounded cells of Benalmádena in Cuadros 2 to 4 that its real ages give, with a last group from this age on."""
    cells = study.real_place(BENALMADENA, pool_from=None)
    is_old = cells.index.get_level_values(1).isin(study.oldest().index.get_level_values(1))
    old, younger = cells[is_old], cells[~is_old].to_numpy()
    ages = old.index.get_level_values(1).str.extract(r"(\d+)", expand=False).astype(int)
    closed, opened = old[ages < last].to_numpy(), old[ages >= last].groupby("sex").sum().to_numpy()
    equal = 0
    for table, dates in CUADROS.items():
        five = persons_by_k(np.concatenate([younger, closed]), PERIODS[dates], 100).sum(axis=0)
        by_k = np.rint(five + persons_by_k(opened, PERIODS[dates] * years // 5, 100).sum(axis=0))
        for column, k in zip(COLUMNS, CUADRO_2_RANGES, strict=True):
            if k.k_to is not None:
                equal += by_k[k.k_from - 1 : k.k_to].sum() == published[table, column, _REAL]
    return equal


def _simplifications(inputs: _Inputs) -> dict[str, Answer]:
    """What the study expects not to blur its results, and what it does to them."""
    effects = study.assumptions(inputs.counts, inputs.alone)

    def in_words(*undone: str) -> str:
        rows = effects[[name in undone for name in effects.index.get_level_values(0)]]
        return "; ".join(
            f"{dates}: {row.change:+,.0f} persons alone, {row.change / row.persons:+.1%}, {abs(row.half_widths):.1f} "
            "half-widths"
            for (_, dates), row in rows.iterrows()
        )

    old, weekend, months, years = effects.index.get_level_values(0).unique()
    holds = effects.loc[[months, years], "half_widths"].abs().max() < 1
    verdict = {"verdict": "exact" if holds else "approximate"}
    return {
        "ages-above-90": Answer(None, change=in_words(old)),
        "births-even": Answer(None, change=in_words(weekend)),
        "equal-lengths": Answer(bool(holds), verdict, change=in_words(months, years)),
    }


def _formulas() -> dict[str, Answer]:
    """Each formula against the count over all ways to be born, and whether they are equal for up to five persons."""
    even, uneven = (1 / 3, 1 / 3, 1 / 3), (1 / 2, 1 / 3, 1 / 6)

    def periods(n: int, k: int) -> float:
        return comb(n, k) * 3.0 ** (1 - n) * 2.0 ** (n - k)

    def by_chances(n: int, k: int) -> float:
        return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for p in uneven)

    # The formula, the chances of the periods, its other cell (of so many persons), and whether it counts persons.
    formulas = {
        "formula-1": (periods, even, (), False),
        "formula-unequal": (by_chances, uneven, (), False),
        "formula-binomial": (lambda n, k: 3 * comb(n, k) * (1 / 3) ** k * (1 - 1 / 3) ** (n - k), even, (), False),
        "formula-persons": (lambda n, k: k * periods(n, k), even, (), True),
        "formula-municipality": (lambda n, k: k * sum(periods(m, k) for m in (n, 2)), even, (2,), True),
    }
    outcomes = {}
    for name, (formula, chances, other, counts_persons) in formulas.items():
        right = all(
            abs(formula(n, k) - (k if counts_persons else 1) * counted) < 1e-12
            for n in range(1, 6)
            for k, counted in enumerate(_births((n, *other), chances)[:n], start=1)
        )
        outcomes[name] = Answer(None, {"verdict": "exact" if right else "published-error"})
    return outcomes


def _births(cells: tuple[int, ...], chances: tuple[float, ...]) -> np.ndarray:
    """Expected periods with 1, 2, ... births of one cell, over cells of so many, by counting every way to be born."""
    expected = np.zeros(max(cells) + 1)
    cell = np.repeat(np.arange(len(cells)), cells)
    for born in product(range(len(chances)), repeat=sum(cells)):
        by_period = np.bincount(cell * len(chances) + born, minlength=len(cells) * len(chances))
        expected += np.prod([chances[i] for i in born]) * np.bincount(by_period, minlength=max(cells) + 1)
    return expected[1:]
