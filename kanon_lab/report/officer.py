"""The section for the data protection officer: the three questions of WP 216, answered from a report's numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab.columns import named_rows
from kanon_lab.measures.registry import LIMITS, MEASURES
from kanon_lab.report.words import Words
from kanon_lab.show.parts import Bullets, Group, Part

if TYPE_CHECKING:
    from kanon_lab.report.analysis import Analysis

# A row of the table: key of the question, title of the measure, value as text.
_Row = tuple[str, str, str]
_HEADS = ["question", "measure", "value"]
# The sentence, its rows, and keys of what was not examined.
_Answer = tuple[str, list[_Row], list[str]]


def officer(a: Analysis, w: Words) -> list[Part]:
    """A sentence for each of the three questions, what was not examined and what to add, and a table; folded."""
    sentences, rows, missing = [], [], []
    for answer in (_singling_out, _linking, _inference):
        sentence, measured, lacking = answer(a, w)
        sentences += [sentence] if sentence else []
        rows += measured
        missing += lacking
    if missing:
        sentences.append(w.say("officer_missing", parts="; ".join(map(w.say, missing))))
    if cautions := len(a.judged.cautions):
        sentences.append(w.say("officer_cautions", count=cautions, title=w.say("h_cautions")))
    if not a.internal and len(a.diversity):
        sentences.append(w.say("officer_rounded"))
    frame = pd.DataFrame([(w.say(key), *row) for key, *row in rows], columns=_HEADS)
    tables = [w.table(frame, "officer_caption")] if rows else []
    parts = [w.text("officer_text"), Bullets(sentences), *tables, w.text("officer_advice", "kanon-note")]
    return [Group(parts, summary=w.say("officer_summary"))]


def _singling_out(a: Analysis, w: Words) -> _Answer:
    """Unique records, k, the records below k by the claim that decides on it, and the persons who share a key."""
    summary, after = a.summary, a.summary["after"]
    if not summary["keys"]:
        return "", [], ["officer_no_keys"]
    k, claim, unique = summary["k"], summary["claim"], after[f"violations_2_{summary['policy']}"]
    below = a.claims.set_index("claim")["records"][claim]
    rows = [
        ("officer_singling", w.say("m_unique"), w.number(unique)),
        ("officer_singling", MEASURES["k_achieved"].called(w.language), w.number(after["k_achieved"])),
        ("officer_singling", w.say("officer_below", claim=w.say(f"claim_{claim}", k=k)), w.number(below)),
    ]
    counts = {"unique": unique, "k": after["k_achieved"], "level": k, "below": below, "records": summary["records"]}
    key = "officer_true_key" if claim == "true_key" else "officer_classes"
    of_k = a.judged.verdict.loc[a.judged.verdict["name"] == "k", "found"].dropna()
    sentence = w.say(key, **counts)
    if claim == "true_key" and len(of_k):
        sentence += f" {w.say('officer_least', least=of_k.iloc[0])}"
    persons = after.get("k_map")
    if persons is None or pd.isna(persons):
        return sentence, rows, ["officer_no_k_map"]
    # Whoever is one of k persons of a population can be linked to all of them, and is not singled out.
    rows.append(("officer_singling", MEASURES["k_map"].called(w.language), w.number(int(persons))))
    return f"{sentence} {w.say('officer_k_map', value=w.number(int(persons)))}", rows, []


def _linking(a: Analysis, w: Words) -> _Answer:
    """Links by keys and quantities to the true values, and to an earlier release."""
    after, verdict = a.summary["after"], a.judged.verdict
    earlier = verdict.loc[verdict["name"] == "k_with", "found"].dropna()
    numbers: dict[str, Any] = {
        "key_linkage": after.get("key_linkage") if a.summary["keys"] else None,
        "numeric_linkage": after.get("numeric_linkage"),
        "k_with": earlier.iloc[0] if len(earlier) else None,
    }
    known = {name: value for name, value in numbers.items() if value is not None and not pd.isna(value)}
    texts = {name: w.percent(v) if LIMITS[name].share else w.number(int(v)) for name, v in known.items()}
    parts = "; ".join(w.say(f"officer_{name}", value=text) for name, text in texts.items())
    rows = [("officer_linking", MEASURES[name].called(w.language), text) for name, text in texts.items()]
    return w.say("officer_links", parts=parts) if parts else "", rows, [*_unlinked(a, known)]


def _unlinked(a: Analysis, known: dict[str, Any]) -> Iterator[str]:
    """Keys of what was not linked to, each with what to add."""
    if "key_linkage" not in known and a.summary["keys"]:
        yield "officer_counted" if a.left_out else "officer_perturbed"
    if "numeric_linkage" not in known and not a.parameters.get("numeric_variables"):
        yield "officer_no_quantities"
    if "k_with" not in known:
        yield "officer_no_k_with"


def _inference(a: Analysis, w: Words) -> _Answer:
    """Records that match only records of one value, and right guesses by the class, of each sensitive variable."""
    if not len(a.diversity):
        return "", [], ["officer_no_sensitive"]
    rows, answers = [], []
    for row in named_rows(a.diversity):
        title, guesses = LIMITS["inferred"].limit_called(w.language, variable=row.variable), ""
        rows.append(("officer_inference", f"{row.variable}: {w.say('c_homogeneous')}", w.number(row.homogeneous)))
        if row.inferred is not None and not pd.isna(row.inferred):
            share = w.percent(row.inferred)  # on a page for everybody in tenths
            guesses = share if a.internal else w.say("officer_about", value=share)
            rows.append(("officer_inference", title, guesses))
        answers.append((row.homogeneous, row.inferred or 0, row.variable, guesses))
    records, _, variable, guesses = max(answers, key=lambda answer: answer[:2])
    key = "officer_guessed" if guesses else "officer_alike"
    return w.say(key, variable=variable, records=records, share=guesses, count=len(answers)), rows, []
