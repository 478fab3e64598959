"""The glossary of the book from ``terms.csv`` and the table of measures, and links to it from the chapters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from html import escape
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from kanon_book.words import texts
from kanon_lab.terms import LANGUAGES, TERMS, Term

GLOSSARY = "book/glossary"
#: Languages that words of the sources stand in, by the role that marks them: {es}`clave`.
SOURCES = ("es", "ca")
#: Where a term is no use of it, or would stand in the way: another link, code, a heading, the line under the title.
_CLOSED = (nodes.reference, addnodes.pending_xref, nodes.title, nodes.rubric, nodes.caption, nodes.literal, nodes.raw)
_CLOSED += (nodes.literal_block, nodes.math, nodes.math_block, nodes.target)
CLOSED_CLASSES = {"kanon-line", "kanon-exercises", "kanon-exercise", *(f"language-{source}" for source in SOURCES)}
# Words that hold a term and mean something else.
_OTHERWISE = ("data protection", "protección de datos")
# In Spanish what follows these describes the noun before them, and stays as it is in the plural.
_AFTER = re.compile(r"\s(?=(?:de|del|en|a|al|por|con|entre|sin|sobre|según|y|para)\s)")
# Ordinary words: a chapter means the term where it brings it, or builds on one that does.
_ORDINARY = {"cell", "fitted", "frontier", "importance", "indicator", "interaction", "pattern", "periods", "protection"}

GLOSSED = {key: term for key, term in TERMS.items() if term.in_glossary}


def entries() -> dict[str, Term]:
    """Every entry of the glossary by its key: the terms, and each measure that is none, by the title of its row."""
    from kanon_lab.measures.registry import measures  # which loads pandas

    called = {term.en for term in TERMS.values()}
    rows = [row for row in measures(missing="") if row.name not in TERMS and row.called() not in called]
    titles = {row.name: [row.called(language).replace("#", "…") for language in ("en", "es")] for row in rows}
    return {name: Term(name, english, spanish, "", "") for name, (english, spanish) in titles.items()} | GLOSSED


def anchor_of(key: str) -> str:
    """Where the glossary has a term.

    Examples
    --------
    >>> from kanon_book.pages.glossary import anchor_of
    >>> anchor_of("sample_unique")
    'term-sample-unique'
    """
    return f"term-{key.replace('_', '-').replace('#', 'n')}"


def forms(name: str) -> set[str]:
    """A term as it stands in a text, in the singular and in the plural.

    Examples
    --------
    >>> from kanon_book.pages.glossary import forms
    >>> sorted(forms("equivalence class"))
    ['equivalence class', 'equivalence classes']
    >>> sorted(forms("key variables"))
    ['key variable', 'key variables']
    """
    name = name.lower()
    if re.search(r"[^su]s$", name):
        return {name, name[:-1]}
    if re.search(r"(s|x|ch|sh)$", name):
        return {name, f"{name}es"}
    if re.search(r"[^aeiou]y$", name):
        return {name, f"{name[:-1]}ies"}
    return {name, f"{name}s"}


def spanish_forms(name: str) -> set[str]:
    """A Spanish term as it stands in a text, singular and plural; another word for it stands in parentheses.

    Examples
    --------
    >>> from kanon_book.pages.glossary import spanish_forms
    >>> sorted(spanish_forms("clase de equivalencia"))
    ['clase de equivalencia', 'clases de equivalencia']
    >>> "variable clave" in spanish_forms("variables clave")
    True
    """
    name = name.lower()
    if other := re.fullmatch(r"(\w[^()]*) \((?:o )?([^()]*)\)", name):
        return spanish_forms(other[1]) | (spanish_forms(other[2]) if " " in other[2] else set())
    noun, *rest = _AFTER.split(name, maxsplit=1)
    words = noun.split()
    counted = [[*map(_plural, words)], [_plural(words[0]), *words[1:]], [*map(_singular, words)]]
    counted += [[_singular(words[0]), *words[1:]], words]
    return {" ".join([*form, *rest]) for form in counted}


def _plural(word: str) -> str:
    if word[-1] in "aeiouéá":
        return f"{word}s"
    if word.endswith("ión"):
        return f"{word[:-2]}ones"
    return word if word[-1] in "sx" else f"{word}es"


def _singular(word: str) -> str:
    if word.endswith("ores"):
        return word[:-2]
    return word[:-1] if re.search(r"[aeo]s$", word) else word


@cache
def _keys(language: str) -> dict[str, str]:
    """Form -> key of its term; none where the words mean something else."""
    forms_of = spanish_forms if language == "es" else forms
    by_form = {form: key for key, term in GLOSSED.items() for form in forms_of(term.name(language))}
    named = {term.name(language).lower(): key for key, term in GLOSSED.items()}
    return by_form | named | dict.fromkeys(_OTHERWISE, "")


@cache
def _pattern(language: str) -> re.Pattern[str]:
    longest_first = sorted(_keys(language), key=len, reverse=True)
    words = "|".join(map(re.escape, longest_first)).replace("'", "['\u2019]")
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)


def _plain(text: str) -> str:
    """As a term is written in the table: Sphinx has made apostrophes round."""
    return text.lower().replace("\u2019", "'")


@cache
def _foreign() -> dict[str, str]:
    """Name of a term in a language of the sources -> that language."""
    english = {term.en.lower() for term in TERMS.values()}
    names: dict[str, str] = {}
    for language in reversed(SOURCES):
        for name in (getattr(term, language).lower() for term in TERMS.values()):
            first, *rest = name.split()
            # The plural of the noun, which stands first, or of every word: únics a la mostra, variables sensibles.
            plurals = [" ".join([f"{first}s", *rest]), " ".join(f"{word}s" for word in (first, *rest))]
            names |= dict.fromkeys([name, *plurals], language)
    return {name: language for name, language in names.items() if name not in english}


class Terms(SphinxDirective):
    """All entries in their order, each with an anchor, its symbol, its meaning and its names in the other languages."""

    def run(self) -> list[nodes.Node]:
        language = self.config.language
        terms = sorted(entries().values(), key=lambda term: _sorted_by(term.name(language)))
        items = [self._item(term, language) for term in terms]
        # For the index of the book.
        index = addnodes.index(
            entries=[("single", term.name(language), anchor_of(term.key), "", None) for term in terms]
        )
        return [index, nodes.definition_list("", *items, classes=["kanon-terms"])]

    @staticmethod
    def _item(term: Term, language: str) -> nodes.definition_list_item:
        from kanon_lab.measures.registry import measures

        words = texts("page", language)
        head = nodes.term("", term.name(language), ids=[anchor_of(term.key)], translatable=False)
        if term.symbol:
            head += [nodes.Text(" "), nodes.math(term.symbol, term.symbol)]
        names = nodes.paragraph(translatable=False)
        others = [other for other in LANGUAGES if other != language and term.name(other)]
        for number, other in enumerate(others):
            names += nodes.Text(f"{'; ' if number else ''}{words[LANGUAGES[other].lower()]}: ")
            names += nodes.emphasis("", term.name(other), classes=[f"language-{other}"])
        meaning = nodes.paragraph("", term.meaning_in(language), translatable=False)
        if meaning.astext() == term.meaning and language != "en":
            meaning["classes"] = ["language-en"]
        definition = nodes.definition("", *([meaning] if term.meaning else []), names)
        for row in measures(missing=""):
            if term.key == row.name or term.en == row.called():
                words_before = nodes.Text(f"{words['measure']} ")
                definition += nodes.paragraph("", "", words_before, nodes.literal("", row.name), translatable=False)
        return nodes.definition_list_item("", head, definition)


def _sorted_by(name: str) -> str:
    """Without capitals, accents and what opens a parenthesis."""
    plain = unicodedata.normalize("NFD", name.lower().lstrip("("))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


class LinkTerms(SphinxPostTransform):
    """Link the first use of each term in each chapter; give emphasised Spanish and Catalan names their language."""

    # Once all other links are made, and what notebooks record is there.
    default_priority = 700

    def run(self, **kwargs: Any) -> None:
        for node in self.document.findall(nodes.emphasis):
            language = _foreign().get(_plain(node.astext()))
            if language and not node["classes"]:
                node["classes"].append(f"language-{language}")
        chapters = getattr(self.env, "kanon_about", {})
        if here := chapters.get(self.env.docname):
            brought = {*here.terms}.union(
                *(chapter.terms for chapter in chapters.values() if chapter.chapter.name in here.needs)
            )
            glossary = self.app.builder.get_relative_uri(self.env.docname, GLOSSARY)
            met = _ORDINARY - brought
            for text in [*self._open(self.document)]:
                if (pieces := [*_linked(text, glossary, met, self.config.language)]) and any(
                    isinstance(piece, nodes.raw) for piece in pieces
                ):
                    text.parent.replace(text, pieces)

    def _open(self, node: nodes.Node) -> Iterator[nodes.Text]:
        """Texts in which a term may be linked, in their order."""
        for child in node.children:
            if isinstance(child, nodes.Text):
                yield child
            # Nor what a chapter promises at its beginning (a tip): it says there what it will explain.
            elif not isinstance(child, _CLOSED) and not (CLOSED_CLASSES | {"tip"}) & {*child.get("classes", ())}:
                yield from self._open(child)


def _linked(text: nodes.Text, glossary: str, met: set[str], language: str) -> Iterator[nodes.Node]:
    """The pieces of a text, with links for the terms that are not `met` yet."""
    start = 0
    for match in _pattern(language).finditer(text):
        key = _keys(language)[_plain(match[0])]
        if not key or key in met:
            continue
        met.add(key)
        if match.start() > start:
            yield nodes.Text(text[start : match.start()])
        # What it means is an attribute, which a search in the book does not read: frame.js shows it.
        attributes = f'class="kanon-term" href="{glossary}#{anchor_of(key)}"'
        meaning = escape(GLOSSED[key].meaning_in(language))
        yield nodes.raw("", f'<a {attributes} data-definition="{meaning}">{escape(match[0])}</a>', format="html")
        start = match.end()
    if start < len(text):
        yield nodes.Text(text[start:])
