"""Results that notebooks recorded, in another language: their words from catalogues, their numbers as written there.

Nothing is computed again. What is text in a table, a chart or a sentence is looked up, numbers in it as ``{0}``, so
that a new result leaves a translation valid; names of fields, code and numbers themselves stay what they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import partial
from html import escape, unescape
from itertools import count
from typing import Any

from kanon_lab.digits import WRITTEN, is_plain, local, typeset
from kanon_lab.show.page import VEGALITE_MIME, embedded_json, table_label
from kanon_lab.show.translate import translate_chart

# What numbers what follows: a table, a section, and the last of several. Such a number is a name.
_NAMES = re.compile(
    r"(?:Tablas?|Taula|Cuadros?|Figur[ae]s?|Bloques?|Tables?|[Ss]ections?|[Cc]hapters?|Exercises?|formula|version|"
    r"CC BY) (?:\d[\d.]* (?:to|and) )?$"
)
# A section that heads a text, or a part of one, or the last of several: "7.7: members of the household", "7.5 to 7.8:".
_PLACE = re.compile(r"(?:^|; )(?:\d[\d.]* to )?$"), re.compile(r"(?: to \d[\d.]*)?:")
# Columns with what a source prints, which stays as it is printed.
_PRINTED = re.compile(r"\bprinted\b")
_ROW, _CELL = re.compile(r"<tr>.*?</tr>", re.DOTALL), re.compile(r"(<t[dh][^>]*>)(.*?)(</t[dh]>)", re.DOTALL)
_TABLE = re.compile(r"<table class=\"kanon-table\">.*?</table>", re.DOTALL)
_LETTERS = re.compile(r"[^\W\d_]{2}|[^\W\d_] ")
#: How charts write numbers in Spanish.
LOCALE = {"decimal": ",", "thousands": ".", "grouping": [3], "percent": "\N{NO-BREAK SPACE}%", "currency": ["", ""]}
_HTML_TEXT = re.compile(
    r"(<(?:code|pre|style|math)\b.*?</(?:code|pre|style|math)>)|(?<=>)([^<>]+)(?=<)|(aria-label|title|alt)=\"([^\"]*)\"",
    re.DOTALL,
)
_LABEL = re.compile(r' aria-label="[^"]*"')
_JSON = re.compile(r'(<script type="application/json" class="(kanon-\w+)">)(.*?)(</script>)', re.DOTALL)
# Letters of a wording without what is put into it.
_LEAST = 12


def message_of(text: str) -> str:
    """A text with its numbers as ``{0}``, ``{1}`` ..."""
    places = count()
    return WRITTEN.sub(lambda _: f"{{{next(places)}}}", text.replace("{", "{{").replace("}", "}}"))


def _is_name(text: str, number: re.Match[str]) -> bool:
    """Whether a number of a text is the name of a table or a section."""
    before, after = text[: number.start()], text[number.end() :]
    return bool(_NAMES.search(before) or (_PLACE[0].search(before) and _PLACE[1].match(after)))


class Words:
    """Texts of results in a language, and which of them there are.

    Attributes
    ----------
    lookup : callable
        From a message to its translation, or None.
    wordings : iterable of tuple of str
        Those that the package has in both languages, which come first: with ``{name}`` where something is put in.
    met : dict of str to str
        Every other message that was asked for, and where it was met first.
    """

    def __init__(self, lookup: Callable[[str], str | None], wordings: Iterable[tuple[str, str]] = ()):
        self.lookup = lookup
        self.met: dict[str, str] = {}
        self.place = ""
        self._exact: dict[str, str] = {}
        self._forms: list[tuple[re.Pattern[str], str]] = []
        for text, translation in wordings:
            if "{" not in text:
                self._exact[text] = translation
            # What is little but what is put in would be found in every text.
            elif len(re.sub(r"\{\w*\}|\W", "", text)) >= _LEAST:
                parts = re.split(r"\{(\w+)(?::[^}]*)?\}", text)
                self._forms.append(
                    (re.compile(_form(parts), re.DOTALL), re.sub(r"\{(\w+):[^}]*\}", r"{\1}", translation))
                )

    def known(self, text: str) -> str | None:
        """What the package itself says for a text in the other language."""
        if (translation := self._exact.get(text)) is not None:
            return translation
        for form, translation in self._forms:
            if match := form.fullmatch(text):
                return translation.format(**{name: self._part(part) for name, part in match.groupdict().items()})
        return None

    def _part(self, text: str) -> str:
        """What is put into a wording: often a list of others, each with something in parentheses at its end."""
        return ", ".join(self.known(item) or local(item) for item in re.split(r"(?<=\)), ", text))

    def say(self, text: str, *, printed: bool = False) -> str:
        """A text; white space around it stays, a text without words only has its numbers written anew.

        Of what a source prints, only the words are said in the other language.
        """
        if not _LETTERS.search(text):
            return text if printed else local(text)
        before, after = re.match(r"\s*", text)[0], re.search(r"\s*$", text)[0]
        text = " ".join(text.split())
        if (translation := self.known(text)) is not None:
            return before + typeset(translation) + after
        message = message_of(text)
        self.met.setdefault(message, self.place)
        translation = self.lookup(message)
        if translation is None:
            return before + text + after
        numbers = WRITTEN.finditer(text)
        written = [number[0] if printed or _is_name(text, number) else local(number[0]) for number in numbers]
        return before + typeset(translation.format(*written)) + after

    def html(self, text: str) -> str:
        """What a person reads of HTML: texts, names and data of lists; code stays."""
        kept: list[str] = []

        def data(match: re.Match[str]) -> str:
            value = json.loads(match[3])
            value = self.listing(value) if match[2] == "kanon-rows" else self.chart(value)
            kept.append(f"{match[1]}{embedded_json(value)}{match[4]}")
            return f"<kept {len(kept) - 1}>"

        def part(match: re.Match[str], *, printed: bool = False) -> str:
            if match[1]:
                return match[1]
            if match[3]:
                return f'{match[3]}="{escape(self.say(unescape(match[4])))}"'
            return escape(self.say(unescape(match[2]), printed=printed), quote=False) if match[2].strip() else match[0]

        def table(match: re.Match[str]) -> str:
            head = _ROW.search(match[0])
            printed = {place for place, (_, name, _) in enumerate(_CELL.findall(head[0])) if _PRINTED.search(name)}
            return _ROW.sub(lambda row: row_of(row, head, printed), match[0]) if printed else match[0]

        def row_of(row: re.Match[str], head: re.Match[str], printed: set[int]) -> str:
            cells = []
            for place, (start, cell, end) in enumerate(_CELL.findall(row[0])):
                if place in printed and row[0] != head[0] and 'class="number"' not in start:
                    # The first cell of a row names it, often in words.
                    named = _HTML_TEXT.sub(partial(part, printed=True), f">{cell}<")[1:-1]
                    kept.append(named if start.startswith("<th") else cell)
                    cell = f"<kept {len(kept) - 1}>"
                cells.append(start + cell + end)
            return f"<tr>{''.join(cells)}</tr>"

        translated = _HTML_TEXT.sub(part, _TABLE.sub(table, _JSON.sub(data, text)))
        return re.sub(r"<kept (\d+)>", lambda match: kept[int(match[1])], translated)

    def listing(self, data: dict[str, Any]) -> dict[str, Any]:
        """A list that a page filters: what it is filtered by stays, for addresses, and is `said` where it is read."""
        fixed = {*data["codes"], *data["links"], *data["filters"]}
        values = {
            name: value if name in fixed or _PRINTED.search(name) else {**value, "of": [*map(self.say, value["of"])]}
            for name, value in data["values"].items()
        }
        read = [*data["filters"], *(text for name in data["filters"] for text in data["values"][name]["of"])]
        return {
            **data,
            "label": self.say(data["label"]),
            "rows": self.say(data["rows"]),
            "columns": [[self.say(head), parts] for head, parts in data["columns"]],
            "words": {name: self.say(text) for name, text in data["words"].items()},
            "values": values,
            "said": {text: self.say(text) for text in read},
        }

    def chart(self, spec: dict[str, Any]) -> dict[str, Any]:
        """A specification of Vega-Lite."""
        translated = translate_chart(spec, self.say)
        config = translated.get("config", {})
        # Spanish is longer: Vega would cut a title of a legend.
        legend = {**config.get("legend", {}), "titleLimit": 0, "labelLimit": 0}
        return {**translated, "config": {**config, "locale": {"number": LOCALE}, "legend": legend}}

    def notebook(self, notebook: dict[str, Any], name: str) -> dict[str, Any]:
        """An executed notebook; printed text and code stay."""
        for cell in notebook["cells"]:
            for output in cell.get("outputs", []):
                entry = output.get("metadata", {}).get("kanon_lab") or {}
                self.place = f"{name}: {entry.get('name', 'shown')}"
                data = output.get("data", {})
                for mime, content in data.items():
                    text = "".join(content) if isinstance(content, list) else content
                    if mime.endswith("text/html"):
                        data[mime] = self.html(text)
                    elif mime == VEGALITE_MIME:
                        data[mime] = self.chart(content)
                    # A number is written in its form by the chapter that inserts it.
                    elif mime.endswith("text/plain") and _is_text(entry, text):
                        data[mime] = self.say(text)
                        entry["said"] = True  # its numbers too
                drawing = output.get("metadata", {}).get(VEGALITE_MIME, {})
                if drawing.get("table"):
                    # Its name is the beginning of the description, which has just been translated.
                    label = escape(table_label(data[VEGALITE_MIME]["description"], "es"))
                    drawing["table"] = self.html(_LABEL.sub("", drawing["table"], count=1)).replace(
                        "<div ", f'<div aria-label="{label}" ', 1
                    )
        return notebook


def _is_text(entry: dict[str, Any], text: str) -> bool:
    """Whether a recorded value is shown in words; settings and the like are for programs."""
    return entry.get("kind") == "value" and not is_plain(text) and not isinstance(entry["value"], dict)


def _form(parts: list[str]) -> str:
    """A regular expression for a wording that is cut at its names."""
    pattern, names = "", set()
    for place, part in enumerate(parts):
        pattern += (rf"(?P={part})" if part in names else rf"(?P<{part}>.+?)") if place % 2 else re.escape(part)
        names |= {part} if place % 2 else set()
    return pattern
