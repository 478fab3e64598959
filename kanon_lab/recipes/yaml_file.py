"""Settings in YAML: what is read, what a person most likely did where it cannot be, and files that settings name."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from kanon_lab import files
from kanon_lab.errors import AbsentFileError, DataError, shortened

_MOST_BYTES = 1_000_000


def read_yaml(path: str | Path) -> dict:
    """The mapping in a YAML file.

    Numbers are read where they are written as numbers, 12 or -0.5 or 1.0e+3, and the truth as true or false. Whatever
    else YAML may take for one of them is the text that it looks like: codes such as 010, 0x1F, 1_000 and 12:30, the
    words yes, no, on and off, dates, and .nan. Letters with accents are composed (NFC), as those in the names of
    columns of a file that is read.
    Anchors are refused, since copies of copies may be endless.
    """
    settings = parse_yaml(text := _text(path), path)
    if isinstance(settings, dict):
        return settings
    fault = "is empty; write" if settings is None else "is no list of"
    fault += " settings such as key_variables: [region, sex, age]"
    raise DataError(f"{path}: {isinstance(settings, str) and _missing_space(text.lstrip()) or fault}")


def parse_yaml(text: str, place: str | Path) -> Any:
    """What a text of YAML stands for, by the rules of `read_yaml`; `place` begins what is said against it."""
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        line, fault = _slip(error, text)
    except yaml.reader.ReaderError as error:
        line, fault = text.count("\n", 0, error.position) + 1, "a control character; take it out"
    except ValueError:  # thousands of digits
        line, fault = None, "holds a number that is too long; put it in quotes if it is text"
    except RecursionError:
        line, fault = None, "is nested too deeply to be settings; make it plainer"
    raise DataError(f"{place}: line {line}: {fault}" if line else f"{place}: {fault}")


def dump_yaml(settings: dict) -> str:
    """Settings of plain types as YAML that `read_yaml` reads, in their order."""
    return yaml.dump(settings, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def _text(path: str | Path) -> str:
    files.check_file(path)
    with files.reading_errors(path), Path(path).open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise DataError(f"{path}: is larger than {_MOST_BYTES:,} bytes, too large to be settings; check the path")
    try:
        return unicodedata.normalize("NFC", content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not text in UTF-8; save it as UTF-8, or check the path") from None


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
        return super().compose_node(parent, index)

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key_node, value_node in node.value if isinstance(node, yaml.MappingNode) else ():
            key = self.construct_object(key_node, deep=True)
            _check_key(key, key_node, value_node)
            if key in seen:
                raise _fault(f"{shortened(repr(key))} stands twice; keep one", key_node)
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
    """Raise a fault for a key that was surely meant otherwise."""
    if isinstance(key, bool):
        raise _fault("a key that is a truth value; put it in quotes", key_node)
    if not isinstance(key, (str, int, float)):
        raise _fault("a key that is no text or number; put it in quotes", key_node)
    if isinstance(key, float) and (key.is_integer() or str(key) != key_node.value):  # a label would be another one
        raise _fault(f"{shortened(key_node.value)} is the number {key:g}; put it in quotes if it is text", key_node)
    empty = isinstance(value_node, yaml.ScalarNode) and not value_node.value and value_node.style is None
    if empty and isinstance(key, str) and getattr(key_node, "style", None) is None and (fault := _missing_space(key)):
        raise _fault(fault, key_node)


def _fault(problem: str, at: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(None, None, problem, at.start_mark)


def beside(settings: dict, recipe: str | Path) -> dict:
    """Settings in which the files of hierarchies, named as seen from the recipe, are named as seen from here."""
    folder = Path(recipe).parent

    def here(name: str) -> str:
        path = folder / name
        if not path.exists():
            looked = "" if Path(name).is_absolute() else f"; it was looked for in {folder.absolute()}"
            raise AbsentFileError(f"{recipe}: hierarchy file {shortened(name)} is not there{looked}; mend its path")
        return str(path)

    return _renamed(settings, here)


def seen_from(settings: dict, recipe: str | Path) -> dict:
    """The reverse of `beside`, for a recipe to be written; absolute paths stay."""
    folder = Path(recipe).absolute().parent
    return _renamed(settings, lambda name: name if Path(name).is_absolute() else os.path.relpath(name, folder))


def hierarchy_paths(settings: Any) -> list[str]:
    """The files of hierarchies that settings name, once each."""
    found: dict[str, None] = {}
    _renamed(settings, lambda name: found.setdefault(name) or name)
    return list(found)


def without_folders(settings: dict) -> dict:
    """Settings in which the files of hierarchies are called by their names, to be shown to others."""
    return _renamed(settings, lambda name: Path(name).name)


def _renamed(settings: Any, rename: Callable[[str], str]) -> Any:
    """The same settings, with every ``hierarchy: {file: ...}`` renamed."""
    if isinstance(settings, Mapping):
        return {
            name: {**value, "file": rename(value["file"])}
            if name == "hierarchy" and isinstance(value, Mapping) and isinstance(value.get("file"), str)
            else _renamed(value, rename)
            for name, value in settings.items()
        }
    return [_renamed(each, rename) for each in settings] if isinstance(settings, list) else settings


# A name whose colon has no space after it, at the beginning of a line or of an entry; no address and no path.
_CLOSE_COLON = re.compile(r"\s*(?:-\s+)*([^\s:'\"#\[\]{},&*!|>%@`]+):(?=[^\s:/\\])")
_COLON = re.compile(r":(\s|$)")
_MORE = "is indented more than the line before it, which is complete; indent both alike"
# By the beginning of what the parser says, what is said in its place.
_SIGNS = {
    "found character": "a text that begins with {sign}, which YAML keeps for itself; put it in quotes",
    "found unknown escape": "a backslash in double quotes; use single quotes",
    "but found another document": "--- begins another document; keep one",
    "sequence entries": "a - in the middle of a line; begin a line with it",
}


def _missing_space(text: str) -> str | None:
    """What to say where a text begins with a name and a colon without a space after it, else None."""
    found = _CLOSE_COLON.match(text)
    return f"a space is missing after the colon of {shortened(found[1])}; write it there" if found else None


def _slip(error: yaml.MarkedYAMLError, text: str) -> tuple[int, str]:
    """Line, from 1 on, and fault: the parser's own where it is not known better."""
    problem, context = error.problem or "is no YAML", error.context or ""
    mark: Any = error.problem_mark or error.context_mark
    line, opened = mark.line + 1, (error.context_mark or mark).line + 1
    lines = text.splitlines()
    here = lines[mark.line] if mark.line < len(lines) else ""
    if problem in ("mapping values are not allowed here", "could not find expected ':'"):
        return _colon(lines, line, opened if error.context_mark else None, mark.column)
    if problem.startswith("expected <block end>"):
        return line, _block(lines, mark, problem)
    if "flow" in context and problem.startswith(("expected ',' or", "expected the node content")):
        sign = "{" if "mapping" in context else "["
        before = "" if opened == line else f" of line {opened}"
        if problem.endswith("'<stream end>'"):
            return opened, "a [ or { is never closed; close it"
        return line, f"the {sign}{before} is not closed by here, or a comma is missing; mend it"
    if problem == "found unexpected end of stream":
        return opened, "a quotation mark is never closed; close it"
    return line, _sign(problem, context, here[mark.column : mark.column + 1])


def _colon(lines: list[str], line: int, opened: int | None, column: int) -> tuple[int, str]:
    """A colon that cannot be one of a name, or none where one must be: the cause may stand in a line before."""
    first = line
    # A value without a name goes on over lines, up to the one where it begins.
    while first > 1 and (first == line or not _COLON.search(lines[first - 1]) or not lines[first - 1].strip()):
        first -= 1
    for number in range(opened or first, min(line, len(lines)) + 1):
        if fault := _missing_space(lines[number - 1]):
            return number, fault
    if opened is not None:
        return opened, "a name without a colon after it; write name: value"
    if _COLON.search(lines[line - 1][:column]):
        return line, "a second colon with a space after it; put a text that holds one in quotes"
    return line, _MORE if _is_indented_more(lines, line) else (
        "a name where none can be; look for a missing colon in the line before"
    )


def _block(lines: list[str], mark: yaml.Mark, problem: str) -> str:
    if problem.endswith(("']'", "'}'")):
        return f"{problem[-2]} closes what was never opened; take it out"
    if not problem.endswith(("start>'", "'-'", "'?'")):
        return "something stands after the end of a value; put a text in quotes as a whole, a mark inside it twice"
    more = _is_indented_more(lines, mark.line + 1)
    return _MORE if more else "is not indented as the lines that it goes with; indent them alike"


def _sign(problem: str, context: str, sign: str) -> str:
    if sign == "\t":
        return "a tab; indent with spaces"
    if "alias" in context or "anchor" in context:
        return "a * or & that means a reference here; put it in quotes"
    for beginning, told in _SIGNS.items():
        if problem.startswith(beginning):
            return told.format(sign=sign)
    return problem if ";" in problem else f"{shortened(problem, 100)}; mend the line"


def _is_indented_more(lines: list[str], line: int) -> bool:
    """Whether a line, from 1 on, is indented more than the last one before it that is neither blank nor a remark."""
    told = [each for each in lines[: line - 1] if each.strip() and each.lstrip()[0] != "#"]
    here, *before = (len(each) - len(each.lstrip(" ")) for each in (lines[line - 1], *told[-1:]))
    return bool(before) and here > before[0]
