"""The words of a report: complete in both languages, escaped, with numbers as people there write them."""

import dataclasses
import json
import re
from functools import cache
from html.parser import HTMLParser
from string import Formatter

import numpy as np
import pandas as pd
import pytest

from kanon_lab.errors import OptionError
from kanon_lab.measures.registry import LIMITS
from kanon_lab.recipes import as_recipe
from kanon_lab.recipes.settings import LimitSettings
from kanon_lab.recipes.verdict import Caution
from kanon_lab.report.analysis import analyse
from kanon_lab.report.config import as_config
from kanon_lab.report.measured import leading_measures, losses
from kanon_lab.report.sections import SECTIONS, section
from kanon_lab.report.words import Words, texts
from kanon_lab.terms import Note, wordings
from kanon_lab.workbench.parts import Speech

FRAME = pd.DataFrame(
    {
        "rut": [f"R{i:05}" for i in range(400)],
        "region": [f"<b>r{i % 4}</b>" for i in range(400)],
        "age": [i * 7 % 90 for i in range(400)],
        "home": [i // 4 for i in range(400)],
        "income": [1000 + i * 37 % 5000 for i in range(400)],
        "ill": ["yes" if i % 3 else "no" for i in range(400)],
    }
)
SETTINGS = {
    "key_variables": ["region", "age"],
    "household": "home",
    "direct_identifiers": ["rut"],
    "sensitive_variables": ["ill"],
    "numeric_variables": ["income"],
    "limits": {"k": 3, "global_risk": 0.0001, "household_risk": 0.0001},
    "indicators": {"rates": ["ill"], "means": ["income"], "by": ["region"]},
    "steps": [
        {"recode": {"variable": "age", "width": 30}},
        {"add_noise": {"variables": ["income"], "strength": 0.1}},
        {"suppress": {"importance": {"region": 1, "age": 2}}},
        {"shuffle_members": {}},
    ],
    "map": {"grid": {"w": [10, 30]}, "steps": [{"recode": {"variable": "age", "width": "$w"}}]},
}


@pytest.fixture(scope="module")
def found():
    return analyse(FRAME, as_config(SETTINGS), name="survey.csv")


class Text(HTMLParser):
    """The text of a page, its tags checked for being closed."""

    def __init__(self, html):
        super().__init__()
        self.parts, self.open = [], []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.parts.append(data)


def text_of(found, language, names=SECTIONS):
    parts = [part for name in names for part in section(found, name, language)]
    return " ".join(" ".join(Text(part.html).parts) for part in parts)


def holes(text):
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name)


def test_every_wording_has_both_languages_with_the_same_parts():
    for key, row in texts().items():
        assert row["en"].strip() and row["es"].strip(), key
        assert set(holes(row["en"])) == set(holes(row["es"])), key


def test_every_note_is_worded_in_both_languages_with_the_parts_it_has():
    for key, row in wordings("note").items():
        page = row["en_page"] or row["en"]
        assert row["en"].strip() and row["es"].strip(), key
        assert set(holes(page)) == set(holes(row["es"])), key


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_section_is_shown_with_a_heading_tables_and_charts(found, language):
    pictures = 0
    assert list(section(found, "internal", language)) == []
    for name in SECTIONS[:-1]:
        first, *rest = section(found, name, language)
        assert f'id="{name}"' in first.html and rest
        drawn = "".join(part.html for part in rest)
        pictures += len(re.findall('class="kanon-(?:bars|columns|plane|numbers)', drawn))
        assert drawn.count("<table class") <= drawn.count("<details")  # every table of numbers is folded
    assert pictures >= 15
    text = text_of(found, language)
    assert "<b>r1</b>" in text  # escaped, so that it is read as text
    assert not re.search(r"\{\w+\}|\bNone\b|\bnan\b", text)


def test_the_first_screen_says_what_is_not_met_and_what_to_do(found):
    english, spanish = (text_of(found, language, ["summary"]) for language in ("en", "es"))
    verdict = found.judged.verdict.set_index("name")["met"]
    unmet, limits = (~verdict).sum(), len(verdict)
    assert f"does NOT meet {unmet} of the {limits} limits" in english
    assert f"NO cumple {unmet} de los {limits} límites" in spanish
    assert not verdict["global_risk"] and not verdict["household_risk"]
    for name in verdict.index[~verdict]:
        start = LIMITS[name].advice("es").split("{")[0]
        assert start in spanish
    assert "NOT met" in english and "at most 0.01%" in english and "como máximo 0,01\xa0%" in spanish


def test_met_limits_and_no_limits_are_said():
    for limits, key in (({"k": 2}, "all_met"), ({}, "no_limit")):
        config = as_config({"key_variables": ["region"], "limits": limits})
        found = analyse(FRAME[["region"]], config, name="x")
        assert texts()[key]["en"] in text_of(found, "en", ["summary"])
        assert list(section(found, "map")) == []


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_first_screen_says_who_set_the_limits_and_what_is_not_said(language):
    say = Words(language).say
    decision = {"source": "<i>rules</i>", "by": "methods unit", "date": "2026-11-27", "release": "scientific"}
    config = {"key_variables": ["region"], "limits": {"k": 2, "global_risk": 0.9}}
    for said, missing in ((decision, []), ({"by": "us"}, ["release", "date"]), (None, ["by", "release", "date"])):
        found = analyse(FRAME[["region"]], as_config({**config, "decision": said}), name="x")
        text = text_of(found, language, ["summary"])
        assert say("report_of", date=found.date) in text
        assert [
            name for name in ("by", "release", "date") if say(f"not_{name}") in text.split(found.date)[0]
        ] == missing
        if said == decision:
            assert say("for_scientific") in text and "2026-11-27" in text and "<i>rules</i>" in text
    added = len(found.judged.limits) - 2
    assert say("limits_added", set=2, added=added) in text


def test_the_tightest_limit_is_named_where_all_are_met():
    settings = {"key_variables": ["region"], "limits": {"k": 2, "global_risk": 0.9, "exposed_by_columns": 0}}
    found = analyse(FRAME[["region"]], as_config(settings), name="x", internal=True)
    rows = found.judged.verdict[found.judged.verdict["limit"].astype(float) > 0]
    distances = {row.name: abs(row.found / row.limit - 1) for row in rows.itertuples(index=False)}
    text = text_of(found, "en", ["summary"])
    title = Words("en").plain(LIMITS[min(distances, key=distances.get)])
    assert f"Tightest limit: {title}. Found " in " ".join(text.split())
    unmet = analyse(FRAME[["region"]], as_config({**settings, "limits": {"k": 200}}), name="x")
    assert "Tightest" not in text_of(unmet, "en", ["summary"])


def test_the_first_screen_shows_the_dearest_loss(found):
    """Indicators lost or moved; where none is, the largest share lost. Where nothing is done, nothing is lost."""
    gone = found.indicators_lost + int((~found.indicators["covered"].astype(bool)).sum())
    removed = [*SETTINGS["steps"][:1], {"remove_variables": {"variables": ["region"]}}]
    lost = analyse(FRAME, as_config({**SETTINGS, "steps": removed, "map": None}), name="x", internal=True)
    assert lost.indicators_lost > 0
    (title, _, number) = leading_measures(lost, Words("en"))[2]
    assert title.startswith("indicators lost") and int(number) >= lost.indicators_lost
    if not gone:
        (title, before, after) = leading_measures(found, Words("en"))[2]
        costs = [row.cost(value) for row, value in losses(found) if row.kind == "loss" and row.share]
        assert (before, after) == ("0%", Words("en").percent(max(costs)))
    limit = {"key_variables": ["region"], "limits": {"k": 9}, "steps": [{"suppress": {"claim": "true_key"}}]}
    claimed = analyse(FRAME, as_config(limit), name="x", internal=True)
    below = claimed.claims.set_index("claim")["records"][claimed.summary["claim"]]
    assert leading_measures(claimed, Words("en"))[0][2] == str(below)


@pytest.mark.parametrize("language", ["en", "es"])
def test_each_caution_stands_once_and_says_whether_it_is_a_danger(language):
    limits = {"k": 2, "exposed_by_columns": None, "unassigned_columns": None}
    for k in (2, 300):
        settings = {**ATTACKED, "sensitive_variables": ["ill"], "limits": {**limits, "k": k}}
        frame = FRAME.assign(ill=FRAME["region"], sex=1)[["region", "sex", "ill", "income"]]
        found = analyse(frame, as_config(settings), name="x", internal=True)
        text = text_of(found, language, ["summary"])
        dangers = [caution for caution in found.judged.cautions if caution.is_danger]
        assert dangers and found.judged.met == (k == 2)
        for caution in found.judged.cautions:
            assert text.count(Words(language).note(caution.text)) == 1
        sign = Words(language).say("danger", text="|").split("|")[0]
        assert text.count(sign) == len(dangers)
        assert (Words(language).say("all_met_open", count=len(dangers)) in text) == (k == 2)


def test_what_only_says_how_something_was_counted_is_no_danger():
    for key in ("own_class", "perturbed", "homogeneous", "identifier"):
        caution = Caution(key, 3, ("a",), Note(f"caution_{key}", names=("a",), records=3, k=3, cells=3, content="x"))
        assert caution.is_danger == (key in ("homogeneous", "identifier"))


@pytest.mark.parametrize("name", ["key_linkage", "numeric_linkage", "joint_linkage"])
def test_links_that_cannot_be_measured_are_advised_on_by_the_table_of_measures(name):
    for language in ("en", "es"):
        assert LIMITS[name].unset(language).format(name="N").startswith(("“N”", "«N»"))


def test_numbers_are_written_as_in_the_language():
    english, spanish = Words("en"), Words("es")
    assert (english.number(25000.5, 1), spanish.number(25000.5, 1)) == ("25,000.5", "25.000,5")
    assert (english.percent(0.0525), spanish.percent(0.0525)) == ("5.25%", "5,25\xa0%")
    assert english.percent(0.00001234) == "0.00123%" and english.percent(None) == "–"
    table = pd.DataFrame({"a, b": ["1,234.5"], "n": [1234.5]})
    assert (
        "1.234,5" in spanish.table(table, "map_caption").html and "1,234.5" in spanish.table(table, "map_caption").html
    )


def test_every_note_of_a_protection_is_known_in_spanish():
    frame = FRAME.assign(
        code=FRAME["region"].str.upper(), date=[f"d{i}" for i in range(400)], size=FRAME["home"].map(str), whole=3
    )
    recipe = {
        "key_variables": ["region", "age"],
        "household": "home",
        "numeric_variables": ["income"],
        "ghost_variables": {"age": ["date"]},
    }
    chains = [
        [
            {"recode": {"variable": "age", "width": 30}},
            {"suppress": {"k_required": 9}},
            {"shuffle_members": {"seed": 3}},
        ],
        [{"remove_variables": {"variables": ["home", "region"]}}, {"pram": {"variables": "age", "keep": 0.5}}],
        [{"add_noise": {"variables": ["income", "age"], "strength": 0.9}}],
        [{"shuffle_members": {"seed": 3}}],
        [{"recode": {"variable": "age", "bands": [0, 200]}}],
    ]
    spanish = Words("es")
    notes = [note for steps in chains for note in as_recipe({**recipe, "steps": steps}).apply(frame).notes]
    assert len({note.split(":")[-1] for note in notes}) >= 8
    for note in notes:
        told = spanish.note(note)
        assert told != note and "{" not in told and not re.search(r"\b(the|records|and|values)\b", told), note
        assert "up to" not in spanish.note(note) + Words("en").note(note)


def test_pictures_speak_spanish_and_say_in_words_what_they_draw(found):
    html = "".join(part.html for name in SECTIONS for part in section(found, name, "es"))
    names = re.findall(r'role="img" aria-label="([^"]*)"', html)
    assert len(names) >= 2 and not any(re.search(r"\b(Records|risk|of the|before)\b", name) for name in names)
    for cell in re.findall(r'<div class="kanon-cell">(.*?)</div>', html, flags=re.DOTALL):
        drawn = re.search(r'kanon-fill" style="width:([\d.]+)%', cell)
        assert drawn is None or 0 < float(drawn[1]) <= 100
    assert re.search(r"<span>\d+,\d+\xa0%</span>|<span>\d+\xa0%</span>", html)


def limits_drawn(found, language="en"):
    """By limit where what was found and the limit are on its bar (%), which side is shaded, and its verdict."""
    html = "".join(part.html for part in section(found, "summary", language))
    table = re.search(r'kanon-limits".*?</table>', html, flags=re.DOTALL)[0]
    drawn = {}
    for row in re.findall(r"<tr><th scope=\"row\">.*?</tr>", table, flags=re.DOTALL):
        place, limit = (re.search(rf'kanon-{part}" style="left:([\d.]+)%', row) for part in ("found", "limit"))
        name, says = re.search(r"<summary>(.*?)</summary><p>(.+?)</p></details></th>", row).groups()
        side = re.search(r"kanon-allowed kanon-(above|below)", row)[1]
        assert f">at {'least' if side == 'above' else 'most'} " in row and says != name
        drawn[name] = (float(place[1]), float(limit[1]), side, "kanon-unmet" in row)
    return drawn


def test_each_mark_is_on_the_side_of_its_limit_that_the_verdict_says():
    """Rounded values and `Few` too: what is drawn never contradicts what is written."""
    for k, most in ((2, 0), (5, 20), (30, 300)):
        limits = {"k": k, "above_risk": {0.2: most}, "global_risk": 0.01 * k, "household_uniques": most}
        config = as_config({**SETTINGS, "limits": limits, "map": None})
        for internal in (False, True):
            analysis = analyse(FRAME, config, name="x", internal=internal)
            drawn = limits_drawn(analysis)
            met = [*analysis.judged.verdict.sort_values("met", kind="stable")["met"]]
            assert [not unmet for *_, unmet in drawn.values()] == met
            for name, (place, limit, side, unmet) in drawn.items():
                assert (side == "above") == (name.startswith("k ") or name == "k")
                assert (place < limit if side == "above" else place > limit) == unmet, name
                assert 0 < place < 100, name  # the whole mark is seen
                assert limit in (60, 2), name  # one of 0 has no room on its allowed side


def test_every_limit_says_what_it_counts_and_against_whom():
    """In reports, in the forms of the workbench and, where it is not met, as advice; in both languages."""
    for name, measure in LIMITS.items():
        for language, against in (("en", " Against "), ("es", " Contra ")):
            says = Words(language).explained(measure).says
            assert against in says and says.endswith("."), (name, language)
            assert Speech(language).about(LimitSettings, name) == says, (name, language)
            assert measure.advice(language), (name, language)


def test_nothing_of_two_values_is_to_be_made_coarser():
    """The key that makes most records rare has two values, as has one sensitive variable: others are named, or none."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: rng.integers(0, 2, 60) for name in ("sex", "ill")})
    frame = frame.assign(town=[*range(6)] * 10, job=["a", "b", "c"] * 20)
    patterns = {
        "en": r"(?:[Rr]ecode|[Rr]elease) (\w+) (?:more broadly|in broader)",
        "es": r"(?:ifique|ublique) (\w+) (?:en categ|con menos)",
    }
    for language, coarser in patterns.items():
        for keys, named in ((["sex", "town"], {"town", "job"}), (["sex"], {"job"})):
            limits = {"k": 40, "distinct": 4, "t_closeness": 0}
            settings = {"key_variables": keys, "sensitive_variables": ["ill", "job"], "limits": limits}
            text = text_of(analyse(frame, as_config(settings), name="x"), language, ["summary"])
            assert {*re.findall(coarser, text)} == named, text
            assert (texts()["do_nothing_broader"][language] in text) == (keys == ["sex"])


@pytest.mark.parametrize(
    ("internal", "language", "shown"),
    [
        (True, "en", "3,995 and 4,000 (0.13%)"),
        (True, "es", "3.995 y 4.000 (0,13 %)"),
        (False, "en", "3,990 and 4,000 (0.1%)"),
    ],
)
def test_the_sum_of_weights_that_a_step_changed_stands_with_what_was_lost(internal, language, shown):
    frame = FRAME.assign(weight=np.repeat([9.5, 10.475], 200)).drop(columns="rut")
    settings = {"key_variables": ["region"], "weight": "weight", "limits": {"k": 3}}
    for steps, is_shown in (([{"round": {"variable": "weight", "base": 5}}], True), ([], False)):
        found = analyse(frame, as_config({**settings, "steps": steps}), name="x", internal=internal)
        text = text_of(found, language, ["utility"])
        assert (texts()["weight_totals"][language] in text, shown in text) == (is_shown, is_shown), text


def test_an_unknown_section_is_refused(found):
    with pytest.raises(OptionError, match="no section"):
        section(found, "sumary")


def test_an_identifier_that_is_still_released_is_said_at_the_top():
    config = as_config(
        {"key_variables": ["region"], "direct_identifiers": ["rut"], "limits": {"k": 2, "unassigned_columns": None}}
    )
    found = analyse(FRAME.assign(copy=FRAME["rut"]), config, name="x")
    for internal in (False, True):
        text = text_of(dataclasses.replace(found, internal=internal), "es", ["summary"])
        assert wordings("note")["caution_held_identifier"]["es"].split(":")[0] in text and "R0000" not in text
        assert ("copy" in text) == internal  # which column it is would tell readers where to look


ATTACKED = {
    "key_variables": ["region", "sex"],
    "numeric_variables": ["income"],
    "sensitive_variables": ["ill"],
    "limits": {"k": 3},
}
EVERYBODY = {"means": ["income"], "rates": ["ill"], "by": ["region", "sex", ["region", "sex"]]}


@cache
def analysed(asked):
    """The analysis of a survey of 1,000 in which one person stands out, as a text of JSON asks, and the survey."""
    change, settings = json.loads(asked)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "region": rng.choice(["North", "South", "West"], 1000),
            "sex": rng.choice(["m", "f"], 1000),
            "income": rng.integers(1000, 5000, 1000),
            "ill": rng.choice(["none", "flu", "asthma"], 1000, p=[0.6, 0.3, 0.1]),
        }
    )
    for column, value in change.items():
        frame.loc[0, column] = value
    return analyse(frame, as_config({**ATTACKED, **settings}), name="x"), frame


def attacked(change, indicators, steps, shown_in="en", **settings):
    """The text of the report on it, figures too, and the survey."""
    found, frame = analysed(json.dumps([change, {"indicators": indicators, "steps": steps, **settings}]))
    shown = [part for name in SECTIONS for part in section(found, name, shown_in)]
    return " ".join(map(repr, shown)), frame


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize(
    ("change", "steps"),
    [
        ({"region": "West", "sex": "x", "income": 987654}, [{"suppress": {"importance": {"sex": 1, "region": 2}}}]),
        ({"income": 987654}, [{"top_code": {"variable": "income", "above": 5000, "value": 5000}}]),
        ({"region": "T1", "income": 987654}, [{"suppress": {"importance": {"sex": 1, "region": 2}}}]),
        ({"income": 987654}, []),
    ],
    ids=["before minus after", "top-coded extreme", "hidden group", "dominance"],
)
def test_no_estimate_is_told_from_which_one_value_follows(change, steps, language):
    """Attacks: means and rates before minus after, of nested or dominated groups, or of all but a hidden row."""
    text, frame = attacked(change, EVERYBODY, steps, shown_in=language)
    groups = [frame, *(part for names in ("region", "sex", ["region", "sex"]) for _, part in frame.groupby(names))]
    means = {Words(each).number(part["income"].mean(), 1) for part in groups for each in ("en", "es")}
    rates = {Words(each).percent((part["ill"] == "flu").mean()) for part in groups[1:] for each in ("en", "es")}
    words = {*text.replace("|", " ").split()}
    assert not means & words and not {each for each in rates if len(each) > 4} & words
    assert "987654" not in text and "987,654" not in text and "T1" not in text
    said = texts()["indicators_text" if steps else "indicators_same"][language].split("{compared}")[-1][:40]
    assert said in text


def test_rates_of_some_categories_tell_nothing_of_the_others():
    """Attack: one less the rates of the categories listed is that of the one left out."""
    listed = {"rates": {"ill": ["none", "flu", "asthma"]}, "by": ["region"]}
    text, frame = attacked({"ill": "plague"}, listed, [{"round": {"variable": "income", "base": 100}}])
    rates = frame.groupby("region")["ill"].value_counts(normalize=True)
    assert "ill: flu" in text and "plague" not in text
    assert not {Words("en").percent(rate) for rate in rates if rate < 1} & {*text.replace("|", " ").split()}


def test_codes_and_grids_of_groups_stay_out_of_the_page():
    """Attacks: codes that occur are values of records; groups in a grid became labels of the map."""
    steps = [{"recode": {"variable": "region", "groups": {"all": ["North", "South", "West"]}}}]
    groups = [{"ZQ": ["North", "South"], "c": ["West"]}, {"first": {"ZQ": ["North", "West"], "d": ["South"]}}]
    mapped = {"grid": {"g": groups}, "steps": [{"recode": {"variable": "region", "groups": "$g"}}]}
    for language, label in (("en", "g=setting 1"), ("es", "g=ajuste 1")):
        settings = {"missing_codes": {"income": [777123]}, "map": mapped, "language": language}
        text, _ = attacked({}, None, steps, shown_in=language, **settings)
        assert label in text and "g=first" in text
        assert "ZQ" not in text and "777123" not in text and "income: (1)" in text


def test_labels_of_groups_and_categories_are_shortened_and_made_visible():
    """Attack: a category that turns the direction of what follows, or fills the page."""
    frame = FRAME.assign(ill=["\u202eevil" if i % 2 else "L" * 10_000 for i in range(400)])
    steps = [{"round": {"variable": "income", "base": 100}}]
    settings = {"key_variables": ["region"], "sensitive_variables": ["ill"], "steps": steps}
    found = analyse(frame, as_config({**settings, "indicators": {"rates": ["ill"], "by": ["ill"]}}), name="x")
    html = "".join(
        part.html for name in ("variables", "utility") for part in section(found, name) if hasattr(part, "html")
    )
    assert "\u202e" not in html and "\\u202eevil" in html and "L" * 40 in html and "L" * 61 not in html


def test_no_count_of_values_out_of_range_is_told():
    for language in ("en", "es"):
        below = Note("strange_below", count=1)
        note = Words(language).note(Note("strange", variable="income", faults=(below,)))
        assert "1" not in note and "income: " in note and Words(language).note(below) in note


def test_quantities_that_find_persons_are_told_beside_the_verdict():
    """400 distinct incomes that nothing changes: each finds its record, and no limit counts that."""
    as_it_came = {**SETTINGS, "steps": SETTINGS["steps"][:1]}
    analysis = analyse(FRAME, as_config(as_it_came), name="survey.csv")
    for language, said in (("en", "finds the right record in 100%"), ("es", "encuentra su registro en el 100\xa0%")):
        parts = section(analysis, "summary", language)
        assert said in "".join(part._repr_html_() for part in parts if hasattr(part, "_repr_html_"))


def test_a_page_for_everybody_does_not_say_that_a_seed_can_be_guessed():
    settings = {"key_variables": ["region"], "seed": 3, "steps": [{"shuffle_records": {}}]}
    found = analyse(FRAME, as_config(settings), name="x")
    assert any("the seed is short" in note for note in found.notes)
    assert "tries seeds" not in text_of(found, "en", ["release", "summary"])
