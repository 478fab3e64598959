"""Settings in YAML: reading and writing them, the likely cause of their faults, and the files that they name."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from kanon_lab import files
from kanon_lab.data.sets import DATA_SETS
from kanon_lab.errors import AbsentFileError, DataError, encodable, shortened

_MOST_BYTES = 1_000_000


def read_yaml(path: str | Path) -> dict:
    """The mapping in a YAML file.

    Numbers are written as 12, -0.5 or 1.0e+3, and truth values as true or false. Everything else that YAML may take for
    one of them is text: codes such as 010, 0x1F, 1_000 and 12:30, the words yes, no, on and off, dates, and .nan.
    Letters with accents are composed (NFC), as in the names of columns. Anchors are refused, since copies of copies may
    be endless.
    """
    files.check_file(path)
    with files.reading_errors(path), Path(path).open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise DataError(f"{path}: is larger than {_MOST_BYTES:,} bytes, too large to be settings; check the path")
    try:
        text = unicodedata.normalize("NFC", content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not text in UTF-8; save it as UTF-8, or check the path") from None
    settings = parse_yaml(text, path)
    if isinstance(settings, dict):
        return settings
    fault = "is empty; write" if settings is None else "does not hold"
    fault += " settings such as key_variables: [region, sex, age]"
    raise DataError(f"{path}: {isinstance(settings, str) and _missing_space(text.lstrip()) or fault}")


def parse_yaml(text: str, place: str | Path) -> Any:
    """The value of a text of YAML by the rules of `read_yaml`; errors begin with `place`."""
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        fault = _reworded(error, text)
    except yaml.reader.ReaderError as error:
        fault = f"line {len(text[: error.position + 1].splitlines())}: a control character; remove it"
    except ValueError:  # thousands of digits
        fault = "holds a number that is too long; put it in quotes if it is text"
    except RecursionError:
        fault = "is nested too deeply to be settings; make it plainer"
    raise DataError(f"{place}: {fault}")


def dump_yaml(settings: dict) -> str:
    """Settings of plain types as YAML that `read_yaml` reads, in their order."""
    return yaml.dump(settings, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def yaml_line(value: Any) -> str:
    """A value of plain types in one line of YAML, as it may be written after a name."""
    options: dict[str, Any] = {"default_flow_style": True, "sort_keys": False, "allow_unicode": True, "width": 10**9}
    return yaml.dump({"x": value}, Dumper=_Dumper, **options)[4:-2]


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}

    def compose_node(self, parent, index):
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent):
            raise _fault(
                "a reference to an anchor; write out what it stands for, or put a text with * in quotes", event
            )
        if getattr(event, "tag", None) is not None:
            raise _fault("a ! that means a type here; put it in quotes", event)
        if not encodable(getattr(event, "value", "")):
            raise _fault("a text has half a character (a surrogate); write it again", event)
        return super().compose_node(parent, index)

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key_node, value_node in node.value if isinstance(node, yaml.MappingNode) else ():
            key = self.construct_object(key_node, deep=True)
            _check_key(key, key_node, value_node)
            if key in seen:
                raise _fault("a name that is already there; keep one of the two", key_node)
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


# Less than YAML 1.1 takes for numbers and truth: what may be a code stays text. No more than that, so that the texts
# that are written without quotes are texts again.
for _tag, _first, _pattern in (
    ("null", "~nN", r"~|null|Null|NULL"),
    ("bool", "tTfF", r"true|True|TRUE|false|False|FALSE"),
    ("int", "-0123456789", r"0|-?[1-9][0-9]*"),
    ("float", "-.0123456789", r"-?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][-+][0-9]+)?|-?\.(?:inf|Inf|INF)|\.[0-9]+"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})$"), list(_first))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("$"), [""])


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data):
        return True


def _check_key(key: object, key_node: yaml.Node, value_node: yaml.Node) -> None:
    """Raise a fault for a key that is most likely a mistake."""
    if isinstance(key, bool):
        raise _fault("a key that is a truth value; put it in quotes", key_node)
    if not isinstance(key, (str, int, float)):
        raise _fault("a key that is neither text nor a number; put it in quotes", key_node)
    if isinstance(key, float) and (key.is_integer() or str(key) != key_node.value):  # a label would be another one
        raise _fault("a number that is written otherwise; put it in quotes if it is text", key_node)
    empty = isinstance(value_node, yaml.ScalarNode) and not value_node.value and value_node.style is None
    if empty and isinstance(key, str) and getattr(key_node, "style", None) is None and (fault := _missing_space(key)):
        raise _fault(fault, key_node)


def _fault(problem: str, at: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(None, None, problem, at.start_mark)


def beside(settings: dict, recipe: str | Path) -> dict:
    """Settings in which the files of hierarchies, named as seen from the recipe, are named as seen from here."""
    folder = Path(recipe).parent

    def here(name: str, kind: str) -> str:
        path = folder / name
        if files.status(path) is None:
            looked = "" if Path(name).is_absolute() else f"; it was looked for in {folder.absolute()}"
            raise AbsentFileError(f"{recipe}: {kind} {shortened(name)} is not there{looked}; correct its path")
        return str(path)

    return _renamed(settings, here)


def seen_from(settings: dict, recipe: str | Path) -> dict:
    """The reverse of `beside`, for a recipe to be written; absolute paths stay."""
    folder = Path(recipe).absolute().parent
    return _renamed(settings, lambda name, kind: name if Path(name).is_absolute() else os.path.relpath(name, folder))


def named_files(settings: Any) -> dict[str, str]:
    """The files that settings name, and what each is: a hierarchy file, an earlier release or a population."""
    names: dict[str, str] = {}

    def keep(name: str, kind: str) -> str:
        names.setdefault(name, kind)
        return name

    _renamed(settings, keep)
    return names


def without_folders(settings: dict) -> dict:
    """Settings in which the files of hierarchies are called by their names, to be shown to others."""
    return _renamed(settings, lambda name, kind: Path(name).name)


# Settings with a file, and what it is.
_KINDS = {"hierarchy": "hierarchy file", "earlier_release": "earlier release", "population": "population"}


def _renamed(settings: Any, rename: Callable[[str, str], str], *, inside: bool = False) -> Any:
    """The same settings with the file of every ``hierarchy: {file: ...}``, earlier release and population renamed."""
    if isinstance(settings, list):
        return [_renamed(part, rename, inside=True) for part in settings]
    if not isinstance(settings, Mapping):
        return settings
    renamed = {name: _renamed(value, rename, inside=True) for name, value in settings.items()}
    for name in _KINDS.keys() & renamed.keys():
        value = renamed[name]
        if isinstance(value, Mapping) and isinstance(value.get("file"), str) and value["file"] not in DATA_SETS:
            renamed[name] = {**value, "file": rename(value["file"], _KINDS[name])}
        elif name == "population" and isinstance(value, str) and value and not inside and value not in DATA_SETS:
            renamed[name] = rename(value, _KINDS[name])
    return renamed


# A name whose colon has no space after it, at the beginning of a line or of an entry; no address and no path.
_CLOSE_COLON = re.compile(r"\s*(?:-\s+)*([^\s:'\"#\[\]{},&*!|>%@`]+):(?=[^\s:/\\])")
_REFERENCE = "a * or & that means a reference here; put it in quotes"
_OPEN = (
    "a [ or { is never closed, or lacks a comma, or holds a text with ? or #; close it, put commas between its parts, "
    "and such a text in quotes"
)
_INDENT = "is not indented as the lines that it goes with; indent them alike"
_COLON, _NO_COLON = "mapping values", "could not find expected ':'"
# By how the parser's words on the context or on the problem begin: where the fault is by its marks, and our words.
_WORDS = {
    "while scanning an alias": _REFERENCE,
    "while scanning an anchor": _REFERENCE,
    "while parsing a flow": _OPEN,
    _COLON: "a colon where none can be; put a text that holds one in quotes, and indent names alike",
    _NO_COLON: "a name without a colon after it; write name: value",
    "expected <block end>, but found '<block": _INDENT,
    "expected <block end>, but found '-'": _INDENT,
    "expected <block end>, but found '?'": _INDENT,
    "expected <block end>, but found ']'": "] closes a bracket that was never opened; remove it",
    "expected <block end>, but found '}'": "} closes a brace that was never opened; remove it",
    "expected <block end>": "there is more text after the end of a value; put the whole text in quotes, "
    "and double a quotation mark inside it",
    "found unexpected end of stream": "a quotation mark is never closed; close it",
    "found character '\\t'": "a tab; indent with spaces",
    "found character": "a text that begins with a sign that YAML keeps for itself; put it in quotes",
    "found unknown escape": "a backslash in double quotes; use single quotes",
    "but found another document": "--- begins another document; keep one",
    "sequence entries": "a - in the middle of a line; begin a line with it",
}
# Faults that are where what the parser was reading begins.
_AT_CONTEXT = (_NO_COLON, "while parsing a flow", "found unexpected end of stream")


def _missing_space(text: str) -> str | None:
    """The fault of a text that begins with a name and a colon without a space after it; None for others."""
    name = _CLOSE_COLON.match(text)
    return "a space is missing after a colon; write it there" if name else None


def _reworded(error: yaml.MarkedYAMLError, text: str) -> str:
    """The parser's fault in words that say what to do, with the parser's line and column."""
    problem, context = error.problem or "is no YAML", error.context or ""
    kind = next((kind for kind in _WORDS if context.startswith(kind) or problem.startswith(kind)), None)
    mark: Any = error.context_mark if kind in _AT_CONTEXT else error.problem_mark or error.context_mark
    if kind in (_COLON, _NO_COLON):  # the usual cause, which may be in the line before
        for number, line in enumerate(text.splitlines()[: mark.line + 1]):
            if number >= mark.line - 1 and (fault := _missing_space(line)):
                return f"line {number + 1}: {fault}"
    fault = _WORDS.get(kind or "") or (problem if ";" in problem else f"{shortened(problem, 100)}; correct the line")
    return f"line {mark.line + 1}, column {mark.column + 1}: {fault}"
