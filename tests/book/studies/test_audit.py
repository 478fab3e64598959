"""The audit, and the transcription and the audit of Gil Bellosta (2011)."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kanon_book.studies import SOURCES, VERDICTS, as_printed, audit, published_figures
from kanon_book.studies.figures import parse_printed, printed_step
from kanon_book.studies.gil_bellosta import CUADROS, PLACES, crossing
from kanon_book.studies.verdicts import _verdict
from kanon_lab.data import load_counts
from kanon_lab.errors import OptionError

pytestmark = pytest.mark.usefixtures("audited_once")

#: Exact because a bound holds.
BOUNDS = {"gil-bellosta-2011/text/under-10000", "gil-bellosta-2011/text/almost-twenty-million"}


@pytest.fixture(scope="module")
def embedded_audit():
    return audit("gil-bellosta-2011")


@pytest.fixture(scope="module")
def whole_audit():
    return audit()


def test_every_figure_of_the_tables_is_transcribed():
    figures = published_figures("gil-bellosta-2011")
    per_table = figures.groupby("table").size()
    assert per_table["Cuadro 1"] == 81
    assert per_table[list(CUADROS)].sum() == 660
    assert figures["figure_id"].is_unique
    assert set(figures.loc[figures["table"].isin(CUADROS), "row"]) == set(PLACES)


def test_printed_totals_are_the_same_in_the_three_cuadros():
    figures = published_figures("gil-bellosta-2011")
    totals = figures[figures["column"] == "total"].pivot(index="row", columns="table", values="published")
    assert (totals.nunique(axis=1) == 1).all()


def test_percentages_of_cuadro_1_add_up_as_the_findings_say(embedded_audit):
    off = embedded_audit.rows_off
    assert off[off["table"] == "Cuadro 1"][["row", "sum"]].values.tolist() == [["column year %", 99.99]]
    assert (off["difference"].abs() <= 4).all()


@pytest.mark.parametrize("source", SOURCES)
def test_a_printed_number_is_written_as_it_is_printed(source):
    figures = published_figures(source)
    for figure in figures[figures["published"].notna()].itertuples():
        assert as_printed(figure.published, figure.printed, figure.unit) == figure.printed.split()[-1]


@pytest.mark.parametrize(
    ("number", "printed", "unit", "text"),
    [
        (1.58235, "0.1582%", "per cent", "1.5823%"),
        (2000, "2.500", "persons", "2.000"),
        (789.6, "793", "persons", "790"),
        (1234.5, "0,078", "probability", "1234,500"),
    ],
)
def test_another_number_is_written_as_a_figure_is_printed(number, printed, unit, text):
    assert as_printed(number, printed, unit) == text


@pytest.mark.parametrize(
    "printed,unit,value",
    [
        ("42.38", "per cent", 42.38),
        ("42,38", "per cent", 42.38),
        ("100.000", "inhabitants", 100000),
        ("casi 20", "million persons", 20),
        ("3273049", "persons", 3273049),
        ("illegible", "persons", np.nan),
        ("", "persons", np.nan),
        ("37003", "code", np.nan),
        ("40-49", "years", np.nan),
        ("40", "years", 40),
        ("0.1582%", "per cent", 0.1582),
        ("16.000", "combinations", 16000),
    ],
)
def test_printed_figures_are_read(printed, unit, value):
    assert parse_printed(printed, unit) == pytest.approx(value, nan_ok=True)


def test_step_of_the_last_printed_digit():
    assert [printed_step(p) for p in ("42.38", "42,38", "1993", "0.5")] == pytest.approx([0.01, 0.01, 1, 0.1])
    assert printed_step("100.000", "inhabitants") == 1


def test_no_figure_is_left_out_and_each_has_one_verdict(whole_audit):
    figures, summary = whole_audit.figures, whole_audit.summary()
    assert figures["source"].value_counts().to_dict() == {s: len(published_figures(s)) for s in SOURCES}
    assert set(figures["verdict"]) <= set(VERDICTS)
    assert summary["figures"].sum() == len(figures)
    assert (summary[list(VERDICTS)].sum(axis=1) == summary["figures"]).all()


def test_verdicts_of_the_spanish_study(embedded_audit):
    verdicts = embedded_audit.figures["verdict"].value_counts().to_dict()
    assert verdicts == {
        "exact": 724,
        "approximate": 31,
        "within-noise": 14,
        "in-part": 1,
        "published-error": 1,
        "not-in-text": 3,
        "disagrees": 1,
    }
    kinds = embedded_audit.figures["kind"].value_counts().to_dict()
    assert kinds == {"fitted": 543, "recomputed": 228, "unchecked": 3, "copied": 1}


def test_sources_keep_their_figures_side_by_side(whole_audit, embedded_audit):
    for here, alone in ((whole_audit.figures, embedded_audit.figures), (whole_audit.rows_off, embedded_audit.rows_off)):
        of_study = here[here["source"] == "gil-bellosta-2011"]
        pd.testing.assert_frame_equal(of_study.reset_index(drop=True), alone)


def test_a_figure_in_words_is_equal_or_disagrees():
    figure = {"verdict": "", "reason": "", "computed": np.nan, "printed": "37***"}
    verdicts = [_verdict(SimpleNamespace(**figure, computed_text=text))[0] for text in ("37***", "24***", "")]
    assert verdicts == ["exact", "disagrees", "not-in-text"]


def test_disagreements_come_first(whole_audit):
    order = whole_audit.figures["verdict"].map({verdict: i for i, verdict in enumerate(VERDICTS)})
    assert order.is_monotonic_increasing
    unsound = whole_audit.figures[~whole_audit.figures["verdict"].isin(["exact", "within-noise"])]
    assert (unsound["reason"] != "").all()


def test_an_exact_verdict_is_equal_as_printed(whole_audit):
    exact = whole_audit.figures[whole_audit.figures["verdict"] == "exact"]
    # A bound that holds is no equality; nor is a statement without a number, which is judged in words.
    exact = exact[~exact["figure_id"].isin(BOUNDS) & ~(exact["computed"].isna() & (exact["computed_text"] == ""))]
    # Half-widths are cut to their last digit.
    exact = exact[~exact["column"].str.endswith("±")]
    words = exact["computed_text"] != ""
    assert (exact.loc[words, "computed_text"] == exact.loc[words, "printed"]).all()
    steps = exact.loc[~words, "printed"].map(printed_step)
    assert (exact.loc[~words, "difference"].abs() <= steps / 2 * (1 + 1e-9)).all()


def test_bounded_cells_of_cuadros_2_to_4(embedded_audit):
    """Gil Bellosta (2011), Cuadros 2-4: all 540 bounded cells from the reconstructed cells."""
    figures = embedded_audit.figures
    bounded = figures[figures["table"].isin(CUADROS) & ~figures["column"].isin([">100", "total"])]
    assert len(bounded) == 540
    assert set(bounded["kind"]) == {"fitted", "recomputed"}
    assert (bounded["verdict"] == "exact").all()


def test_cuadro_1_within_its_tolerances(embedded_audit):
    """Gil Bellosta (2011), Cuadro 1: 27 percentages within 0.10 points, 27 half-widths within their noise."""
    cuadro_1 = embedded_audit.figures.query("table == 'Cuadro 1'")
    shares = cuadro_1[cuadro_1["unit"] == "per cent"]
    assert len(shares) == 27
    assert (shares["difference"].abs() <= 0.10).all()
    half_widths = cuadro_1[cuadro_1["column"].str.endswith("±")]
    assert len(half_widths) == 27
    assert set(half_widths["kind"]) == {"recomputed"}
    # They were cut after they were drawn: the middle of what one stands for is 0.005 above it.
    noise = 0.05 * half_widths["published"] + 0.005
    assert ((half_widths["difference"] - 0.005).abs() <= noise).all()


def test_real_counts_give_the_row_of_benalmadena(shared):
    """Gil Bellosta (2011), Cuadros 2-4, row Benalmádena, from INE table 33570 for 2010."""
    from kanon_lab.data import read_counts

    counts = read_counts(shared("ine-padron-33570-malaga.px"), year=2010, pool_from=85)
    figures = audit("gil-bellosta-2011", counts).figures
    here = figures[figures["row"] == "Benalmádena"]
    assert len(here) == 33
    assert (here["verdict"] == "exact").all()
    # The printed open cell of Cuadro 3 is what is expected, 0, where "total minus the rest" gives 2; that of Cuadro 4
    # is the rest, where 60,288 are expected: the cell itself tells the rule, which is fitted to it.
    opened = here[here["column"] == ">100"].set_index("table")
    assert opened["kind"].to_dict() == {"Cuadro 2": "recomputed", "Cuadro 3": "fitted", "Cuadro 4": "fitted"}
    assert set(here.loc[here["column"] != ">100", "kind"]) == {"recomputed"}
    assert opened["computed"].to_dict() == {"Cuadro 2": 0, "Cuadro 3": 0, "Cuadro 4": 60286}
    assert "here 2:" in opened.loc["Cuadro 3", "reason"]
    elsewhere = figures[(figures["row"] != "Benalmádena")]
    assert (elsewhere["verdict"] == "not-in-text").all()
    assert elsewhere["reason"].str.startswith("not recomputed").all()


def test_crossing_is_where_the_share_is_met():
    national = np.array([100, 200, 300, 400] * 9)
    size = crossing(national, 0.2)
    n = national / national.sum() * size
    share = (n * (1 - 1 / 1826) ** (n - 1)).sum() / n.sum()
    assert share == pytest.approx(0.2, rel=1e-9)


def test_the_embedded_population_is_fitted_however_it_is_named(embedded_audit):
    named = audit("gil-bellosta-2011", load_counts("spain-2010"))
    pd.testing.assert_frame_equal(named.figures, embedded_audit.figures)


def test_what_was_fitted_is_never_called_noise(embedded_audit):
    noise = embedded_audit.figures[embedded_audit.figures["verdict"] == "within-noise"]
    assert len(noise)
    assert not (noise["kind"] == "fitted").any()


def test_a_bound_with_an_exception_does_not_hold():
    cells = np.full(36, 2500)
    counts = pd.DataFrame(
        {
            "place": np.repeat([f"{i:05d}" for i in range(1001, 9002)], 36),
            "sex": np.tile(["men"] * 18 + ["women"] * 18, 8001),
            "age_group": np.tile([f"{5 * i}-{5 * i + 4}" for i in range(18)] * 2, 8001),
            "persons": np.tile(cells, 8001),
        }
    ).assign(name=lambda f: f["place"], province=lambda f: f["place"].str[:2])
    # Every place has 90,000 inhabitants and lies above 20 %: no exception.
    claims = audit("gil-bellosta-2011", counts).figures.set_index("column")
    large = "population of a place above which the share alone, by day of birth, falls below 20%"
    assert claims.loc[large, "verdict"] == "exact" if claims.loc[large, "computed"] >= 100_000 else "disagrees"
    # One that is smaller, and below 20 %: the bound fails.
    counts.loc[:35, "persons"] = [90_000] + [0] * 35
    assert audit("gil-bellosta-2011", counts).figures.set_index("column").loc[large, "verdict"] == "disagrees"


def test_unknown_source_is_one_line():
    with pytest.raises(OptionError) as error:
        audit("golle-2006")
    assert "\n" not in str(error.value)
    assert all(source in str(error.value) for source in SOURCES)


def test_a_population_without_the_named_places_recomputes_nothing():
    counts = pd.DataFrame(
        {"place": ["99001"], "name": ["X"], "province": ["99"], "sex": ["men"], "age_group": ["0-4"], "persons": [7]}
    )
    assert set(audit("gil-bellosta-2011", counts).figures["verdict"]) == {"not-in-text"}
