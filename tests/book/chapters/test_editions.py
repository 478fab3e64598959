"""The Spanish edition: nothing is left untranslated, terms are those of the list, numbers those of the English."""

import copy
import json
import re
from collections import Counter

import pytest
from babel.messages.pofile import read_po
from cases import in_one_test

from kanon_book.building import editions, recorded_words, same_numbers
from kanon_book.pages.glossary import GLOSSED, forms, spanish_forms
from kanon_book.places import EXECUTED
from kanon_lab.errors import KanonLabError
from kanon_lab.show.page import VEGALITE_MIME
from kanon_lab.terms import TERMS, rows

CATALOGUES = {
    str(path.relative_to(editions.MESSAGES).with_suffix("")): path for path in sorted(editions.MESSAGES.rglob("*.po"))
}
PAGES = {name: (english, spanish) for name, english, spanish in same_numbers.pages()}
# Pages without a text of their own.
ALONE = {
    name: [same_numbers.HTML / folder / f"{name}.html" for folder in ("", "es")] for name in ("genindex", "search")
}
# What a translation says without the noun of the list: a verb in its place, the noun once for two adjectives, or words
# that a source is quoted with.
VERBS = {
    "fitted": ("ajust", "encaj"),
    "rounding": ("redond",),
    "outlier": ("atípic",),
    "protection": ("proteg",),
    "interval_overlap": ("solapamiento",),
    "own_class": ("propias",),
    "key_variables": ("clave",),
    "global_risk": ("global",),
    "household_risk": ("hogar",),
    "sensitive_variable": ("sensible",),
    "rank_swapping": ("rank swapping",),
    "microaggregation": ("micro agregación",),
}
_TOKENS = re.compile(r"\{(?!es\}|ca\})[a-z:]+\}`[^`]*`|(?<![`}])`[^`]+`|(?<!\\)\$[^$]+\$|\]\([^)]*\)|\{\d+\}")
_TARGET = re.compile(r"(\{\w+\})`[^`<]*<([^>]*)>`")
_IN_FORMULA = re.compile(r"\\text\{[^}]*\}")


def messages(name):
    with CATALOGUES[name].open("rb") as file:
        return [each for each in read_po(file, locale="es") if each.id]


def tokens(text):
    """What stands in a message and must stand in its translation too: inserted values, links, code and formulas."""
    text = re.sub(r"\{(?:es|ca)\}`[^`]*`", " ", _TARGET.sub(r"\1`\2`", text))
    return Counter(_IN_FORMULA.sub("", each) for each in _TOKENS.findall(text))


@in_one_test("name", CATALOGUES)
def test_every_message_is_translated(name):
    found = messages(name)
    assert found
    assert [each.id for each in found if not each.string or each.fuzzy] == []


@in_one_test("name", CATALOGUES)
def test_what_is_inserted_agrees(name):
    differ = [(m.id, m.string) for m in messages(name) if m.string and tokens(m.id) != tokens(m.string)]
    assert differ == []
    emphasis = [(m.id, m.string) for m in messages(name) if m.string and m.id.count("**") != m.string.count("**")]
    assert emphasis == []


def stems(text):
    words = re.findall(r"\w+(?:-\w+)*", text.lower())
    return f" {' '.join(re.sub(r'(os|as|es|o|a|e|s)$', '', word) for word in words)} "


def test_terms_are_those_of_the_list():
    keys = {form: key for key, term in GLOSSED.items() for form in forms(term.en)}
    longest = "|".join(map(re.escape, sorted(keys, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w-])(?:{longest})(?![\w-])", re.IGNORECASE)
    said = {key: {stems(form) for form in spanish_forms(term.es)} for key, term in GLOSSED.items()}
    otherwise, uses = [], 0
    for name in CATALOGUES:
        for message in (each for each in messages(name) if each.string != each.id):  # code, and what is quoted
            text = stems(re.sub(r"`[^`]*`", " ", message.string))
            for key in {keys[found.lower()] for found in pattern.findall(re.sub(r"`[^`]*`", " ", message.id))}:
                uses += 1
                plain = any(verb in message.string.lower() for verb in VERBS.get(key, ()))
                if message.string and not plain and not any(form in text for form in said[key]):
                    otherwise.append((name, GLOSSED[key].en, GLOSSED[key].es, message.string))
    assert otherwise == []
    assert uses > 1000


def test_no_text_says_what_the_list_forbids():
    forbidden = [word for term in TERMS.values() for word in term.not_es.split(";") if word]
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forbidden))})(?!\w)", re.IGNORECASE)
    said = [(name, message.string) for name in CATALOGUES for message in messages(name)]
    said += [(row["key"], row["es"]) for package in ("kanon_lab", "kanon_book") for row in rows("words.csv", package)]
    said += [(term.key, term.meaning_es) for term in TERMS.values()]
    # Quoted from a law, a third party is one, and nobody who looks for persons.
    allowed = [("book/law", "un tercero")]
    found = [(name, word) for name, text in said if text for word in pattern.findall(text)]
    assert found == allowed
    assert len(forbidden) > 12 and len(said) > 5000


def test_terms_are_explained_in_spanish():
    assert [key for key, term in GLOSSED.items() if not term.meaning_es.strip().endswith(".")] == []


@pytest.fixture(scope="module")
def built():
    if not (same_numbers.HTML / "es" / "index.html").exists():
        pytest.skip("the book is not built: run make book")


def test_words_of_results_are_translated(built, tmp_path):
    said = editions.prepare(tmp_path / "es")
    assert len(said.met) > 3000
    assert {place: text for text, place in said.met.items() if not editions.translation(editions.RECORDED, text)} == {}
    # A word that the package has in both languages stands in its own table alone.
    assert [m.id for m in messages(editions.RECORDED) if said.known(m.id)] == []


@pytest.mark.parametrize(
    "name",
    [
        # What a notebook shows has its words in test_words_of_results_are_translated.
        pytest.param(name, marks=[pytest.mark.slow] if name.startswith("notebooks/") else [])
        for name in [*PAGES, *ALONE]
    ],
)
def test_a_page_is_the_same_in_both_languages(built, name):
    """Each edition names the other; the Spanish one is in Spanish, and has the same sections and numbers."""
    paths = PAGES.get(name) or ALONE[name]
    english, spanish = map(same_numbers.read, paths)
    for page, language, here, there in ((english, "es", *paths), (spanish, "en", *paths[::-1])):
        link = page.select_one("a.kanon-language")
        assert (here.parent / link["href"]).resolve() == there
        assert link["lang"] == link["hreflang"] == language
    assert spanish.html["lang"] == "es"
    if name in ALONE:
        return
    # What is not translated is marked as English, by which it is found here.
    assert [each.get_text()[:80] for each in spanish.select("article [lang=en]:not(a, em, .citation *)")] == []
    assert {each["id"] for each in spanish.select("article section[id]")} == {
        each["id"] for each in english.select("article section[id]")
    }
    counts, faults = same_numbers.compared(english, spanish)
    assert faults == []
    assert counts.total() or "bibliography" in name


def test_charts_are_the_same_whatever_their_words(built):
    """With every message in other words all that is no text stays, and what stands for itself stays the same."""
    words = recorded_words.Words(lambda message: f"«{message}»")
    charts = 0
    for path in sorted(EXECUTED.glob("*.ipynb")):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            for spec in (
                o["data"][VEGALITE_MIME] for o in cell.get("outputs", []) if VEGALITE_MIME in o.get("data", {})
            ):
                said = words.chart(copy.deepcopy(spec))
                assert Counter(same_numbers.numbers_of(said)) == Counter(same_numbers.numbers_of(spec))
                charts += 1
    assert charts > 70


def test_numbers_are_written_as_in_spanish():
    words = recorded_words.Words(
        {"{0} of {1} records ({2}%) in Tabla {3}": "{0} de {1} registros ({2} %) en la Tabla {3}"}.get
    )
    assert (
        words.say("1,234 of 56,789 records (2.17%) in Tabla 7.1")
        == "1.234 de 56.789 registros (2,17\N{NO-BREAK SPACE}%) en la Tabla 7.1"
    )
    assert words.say("0.5%") == "0,5\N{NO-BREAK SPACE}%"
    assert list(words.met) == ["{0} of {1} records ({2}%) in Tabla {3}"]


def test_what_is_numbered_last_is_a_name_too():
    said = {
        "{0} to {1}: outputs of Bloques {2} to {3}": "{0} a {1}: salidas de los Bloques {2} a {3}",
        "since version {0}, {1} times": "desde la versión {0}, {1} veces",
    }
    words = recorded_words.Words(said.get)
    assert words.say("7.5 to 7.8: outputs of Bloques 7.1 to 7.12") == "7.5 a 7.8: salidas de los Bloques 7.1 a 7.12"
    assert words.say("since version 4.0, 2.5 times") == "desde la versión 4.0, 2,5 veces"


def test_a_quotation_that_names_its_row_stays_as_printed():
    words = recorded_words.Words({"three; {0}": "tres; {0}", "printed → computed": "impreso → calculado"}.get)
    rows = "".join(
        f'<tr><th class="text" scope="row">{quoted}</th><td class="number">1.5</td></tr>'
        for quoted in ("2.500 → 2.000", "three; 0.95")
    )
    head = '<tr><th class="text">printed → computed</th><th class="number">n</th></tr>'
    said = words.html(f'<table class="kanon-table">\n<thead>{head}</thead>\n<tbody>{rows}</tbody>\n</table>')
    assert '<th class="text">impreso → calculado</th>' in said
    assert re.findall(r'row">([^<]*)<', said) == ["2.500 → 2.000", "tres; 0.95"]
    assert said.count('<td class="number">1,5</td>') == 2


def test_no_line_ends_before_a_sign_of_per_cent():
    catalogue = 'msgid "by 2 %"\nmsgstr "el 2 % y el {glue:text}`a::b:.1f` %"\n\nmsgid ""\nmsgstr ""\n"un {0} %"\n'
    assert editions._typeset(catalogue).replace("\N{NO-BREAK SPACE}", "_") == (
        'msgid "by 2 %"\nmsgstr "el 2_% y el {glue:text}`a::b:.1f`_%"\n\nmsgid ""\nmsgstr ""\n"un {0}_%"\n'
    )


def test_code_and_printed_figures_of_a_table_stay():
    words = recorded_words.Words(lambda message: "dicho")
    table = (
        '<table class="kanon-table">\n<thead><tr><th class="text">printed</th><th class="number">computed</th></tr>'
        '</thead>\n<tbody>\n<tr><td class="text">1.234</td><td class="number">1.5</td></tr>\n</tbody>\n</table>'
    )
    said = words.html(f'<p>see <code>region</code></p><p title="a word">1.5</p>{table}')
    assert said.startswith('<p>dicho <code>region</code></p><p title="dicho">1,5</p>')
    assert '<td class="text">1.234</td><td class="number">1,5</td>' in said


@pytest.mark.parametrize("content", ["<<<<<<< HEAD\n", 'msgid "a"\nmsgstr "\xe1"\n'])
def test_a_damaged_catalogue_is_named(tmp_path, monkeypatch, content):
    monkeypatch.setattr(editions, "MESSAGES", tmp_path)
    (tmp_path / "damaged.po").write_text(content, "latin-1")
    with pytest.raises(KanonLabError, match=r"damaged\.po: is not a catalogue"):
        editions.prepare(tmp_path / "es")
