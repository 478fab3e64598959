"""The table of terms: complete, and labels in three languages."""

import dataclasses

import pytest

from kanon_lab.errors import OptionError
from kanon_lab.terms import LANGUAGES, TERMS, label, term


@pytest.mark.parametrize("entry", TERMS.values(), ids=TERMS)
def test_every_term_is_complete(entry):
    assert entry.key.isidentifier()
    assert all(entry.label(language).strip() for language in LANGUAGES)
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
    assert label(key, language) == expected


def test_symbols():
    assert term("sample_frequency").symbol == "f_k"
    assert term("population_frequency").symbol == "F_k"
    assert (term("tau_1").symbol, term("tau_1").plain_symbol) == ("\\tau_1", "τ_1")
    assert term("average_class_size").plain_symbol == "C_AVG"
    assert not any("\\" in entry.plain_symbol for entry in TERMS.values())


def test_a_term_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        term("cell").en = "box"


def test_unknown_key_and_language_are_refused():
    with pytest.raises(OptionError, match="'k_map' is not a term"):
        term("k_map")
    with pytest.raises(OptionError, match="one of en, es, ca, not 'fr'"):
        label("cell", "fr")
