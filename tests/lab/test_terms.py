"""The table of terms: complete, and labels in three languages."""

import dataclasses

import pytest
from cases import in_one_test

from kanon_lab.terms import LANGUAGES, TERMS


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
