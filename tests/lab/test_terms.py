"""The table of terms: complete, and labels in three languages."""

import dataclasses

import pytest
from cases import in_one_test

from kanon_lab.report.words import Words
from kanon_lab.terms import LANGUAGES, TERMS, Note, agreed


@in_one_test("entry", TERMS.values())
def test_every_term_is_complete(entry):
    assert entry.key.isidentifier()
    assert all(getattr(entry, language).strip() for language in LANGUAGES)
    assert entry.meaning.endswith(".")


def test_every_text_stands_by_itself():
    assert len({entry.meaning for entry in TERMS.values()}) == len(TERMS)
    assert len({entry.en for entry in TERMS.values()}) == len(TERMS)


@pytest.mark.parametrize(
    ("key", "language", "expected"),
    [
        ("k_anonymity", "es", "k-anonimidad"),
        ("key_variables", "es", "variables clave"),
        ("equivalence_class", "ca", "classe d'equivalència"),
        ("day", "es", "día"),
        ("year", "ca", "any"),
    ],
)
def test_labels(key, language, expected):
    assert getattr(TERMS[key], language) == expected


def test_symbols():
    assert TERMS["sample_frequency"].symbol == "f_k"
    assert TERMS["population_frequency"].symbol == "F_k"
    assert TERMS["tau_1"].symbol == "\\tau_1"


def test_a_term_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        TERMS["cell"].en = "box"


def test_one_record_is_not_said_as_several():
    one = Note(
        "caution_exposed_tells", names="w", role="weight", keys="age", records=1, k=3, remedy=Note("mend_weight")
    )
    assert "knows it too, 1 record has fewer than 3 matching records" in one
    assert "1 registro tiene menos de 3" in Words("es").note(one)
    assert "1 registro es único" in Words("es").note(Note("caution_household_size", records=1, names=("hh",)))
    assert agreed("NOT MET by 1 records, and there are 1 people in row 1, 1.1 values, 2-1 keys") == (
        "NOT MET by 1 record, and there is 1 person in row 1, 1.1 values, 2-1 keys"
    )
