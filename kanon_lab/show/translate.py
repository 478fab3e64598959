"""A chart in another language: its specification of Vega-Lite with the texts that people read translated."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

# Characters in a line of a title that a telephone shows; translations are often longer than English.
_TITLE, _SUBTITLE = 33, 46
# Keys of a specification whose strings are only read.
_READ = {"title", "subtitle", "text", "description", "labels"}
# Keys whose strings are read, and compared with values of the data too.
_VALUES = {"domain", "sort", "options", "value", "values", "equal", "oneOf"}
# Columns of data that say how something is drawn, or that only name it.
_DRAWN = {"fill", "ink", "stroke", "shape", "weight", "align", "node", "state", "town", "baseline", "opacity"}
# Values of a channel that are keywords of Vega.
_KEYWORDS = {"width", "height"}
_EXPRESSIONS = {"calculate", "expr", "filter", "test", "labelExpr", "signal", "update", "init"}
_LITERAL = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""")
# Before a literal that is a name: of a column, as in datum['share'], of data, or of what is plucked from data.
_BEFORE_NAME = re.compile(r"(?:[\w)]\[|data\(|'\), )$")
_FORMAT = re.compile(r"[,.~$+\d]*[a-z%]?")
_LETTERS = re.compile(r"[^\W\d_]{2}|[^\W\d_] ")
# A share that a label names; a format alone is none.
_SHARE = re.compile(r"\d%")


def translate_chart(spec: dict[str, Any], say: Callable[[str], str]) -> dict[str, Any]:
    """Return a copy of a specification in which every text that people read is translated.

    Names of columns, formats and the code of expressions stay as they are.

    Parameters
    ----------
    spec : dict
        A specification of Vega-Lite, its data inside.
    say : callable
        From a text to its translation, or to the same text where it has none.

    Examples
    --------
    >>> spec = {"title": "risk", "encoding": {"x": {"field": "risk"}}}
    >>> translate_chart(spec, {"risk": "riesgo"}.get)
    {'title': 'riesgo', 'encoding': {'x': {'field': 'risk'}}}
    """
    return _Translator(spec, say).walk(spec)


class _Translator:
    def __init__(self, spec: dict[str, Any], say: Callable[[str], str]) -> None:
        self._say = say
        self._fixed = _KEYWORDS | {*_folded_columns(spec)}
        # Controls that choose a column: the name of the control -> an expression of what its columns are called.
        self._called = {
            param["name"]: json.dumps({name: say(name) for name in options}, ensure_ascii=False)
            for param in spec.get("params", [])
            if (options := self._fixed & {*map(str, param.get("bind", {}).get("options", []))})
        }

    def walk(self, value: Any, key: str = "", in_data: bool = False) -> Any:
        if isinstance(value, dict):
            return self._name_legend({name: self._walk_member(part, name, in_data) for name, part in value.items()})
        if isinstance(value, list):
            if key in ("title", "subtitle", "text") and value and all(isinstance(line, str) for line in value):
                return self._wrap(value, _SUBTITLE if key == "subtitle" else _TITLE)
            return [self.walk(part, key, in_data) for part in value]
        if not isinstance(value, str):
            return value
        if key in _EXPRESSIONS:
            return self._translate_expression(value)
        if in_data and key == "key":  # what was chosen in each control, between blanks
            return " ".join(map(self._say_lines, value.split(" ")))
        if in_data:
            stays = key in _DRAWN
            return value if stays or value in self._fixed else self._say_lines(value)
        if key == "subtitle":
            return self._wrap([value], _SUBTITLE)
        return self._say_lines(value) if key in _READ or (key in _VALUES and value not in self._fixed) else value

    def _walk_member(self, value: Any, name: str, in_data: bool) -> Any:
        if name == "bind" and isinstance(value, dict):
            return self._translate_control(value)
        if name == "labels" and isinstance(value, dict):  # of the places of sliders, by the name of the slider
            return {slider: [*map(self._say_lines, labels)] for slider, labels in value.items()}
        rows = name == "values" and isinstance(value, list) and any(isinstance(row, dict) for row in value)
        return self.walk(value, name, in_data or rows or name == "datasets")

    def _name_legend(self, channel: dict[str, Any]) -> dict[str, Any]:
        """Add labels to the legend of a channel whose values are names of columns."""
        domain = channel.get("scale", {}).get("domain") if isinstance(channel.get("scale"), dict) else None
        domain = domain if isinstance(domain, list) else []
        names = [name for name in domain if isinstance(name, str) and name in self._fixed]
        if not names or channel.get("legend", {}) is None:
            return channel
        called = json.dumps({name: self._say(name) for name in names}, ensure_ascii=False)
        label = {"labelExpr": f"{called}[datum.label] || datum.label"}
        return {**channel, "legend": {**channel.get("legend", {}), **label}}

    def _translate_control(self, bind: dict[str, Any]) -> dict[str, Any]:
        """Translate the name of a control and what it offers, which stays the same for expressions as a `label`."""
        control = {**bind, "name": self._say(bind["name"])} if "name" in bind else dict(bind)
        if (offered := bind.get("labels", bind.get("options"))) is not None:
            control["labels"] = [self._say(text) if isinstance(text, str) else str(text) for text in offered]
        if "options" in bind:
            control["options"] = [
                self._say_lines(option) if isinstance(option, str) and option not in self._fixed else option
                for option in bind["options"]
            ]
        return control

    def _translate_expression(self, text: str) -> str:
        def literal(match: re.Match[str]) -> str:
            words = match[1] if match[1] is not None else match[2]
            named = _BEFORE_NAME.search(text[: match.start()]) or words in self._fixed
            # A label such as "<1%" is written as in the domain of its scale, though it has no letters.
            if named or _FORMAT.fullmatch(words) or not (_LETTERS.search(words) or _SHARE.search(words)):
                return match[0]
            words = self._say_lines(words.replace("\\n", "\n").replace("\\'", "'"))
            return json.dumps(words, ensure_ascii=False) if "'" in words else "'" + words.replace("\n", "\\n") + "'"

        expression = _LITERAL.sub(literal, text)
        # A chosen column is called by its translation where it is part of a sentence.
        for name, called in self._called.items():
            part = f"({called})[{name}]"
            expression = re.sub(rf"(?<=\+ ){name}(?= \+)", part.replace("\\", r"\\"), expression)
        return expression

    def _say_lines(self, text: str) -> str:
        """Translate line by line."""
        return "\n".join(map(self._say, text.split("\n")))

    def _wrap(self, lines: list[str], width: int) -> list[str]:
        """Translate a text that was cut in lines, and cut it anew."""
        return textwrap.wrap(self._say(" ".join(lines)), width) or lines


def _folded_columns(spec: Any) -> Iterator[str]:
    """Yield the columns that a transformation folds into values: they must stay the same as names and as values."""
    if isinstance(spec, dict):
        yield from spec.get("fold", ())
    for part in spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ():
        yield from _folded_columns(part)
