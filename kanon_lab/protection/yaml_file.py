"""YAML as settings of a person: plain types, every key once, no references, one line for every fault."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

import yaml

from kanon_lab import files
from kanon_lab.errors import DataError, shortened
from kanon_lab.protection.yaml_slips import missing_space, slip

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
    if settings is None:
        raise DataError(f"{path}: is empty; write settings such as key_variables: [region, sex, age]")
    if isinstance(settings, str) and (fault := missing_space(text.lstrip())):
        raise DataError(f"{path}: {fault}")
    if not isinstance(settings, dict):
        raise DataError(f"{path}: is no list of settings such as key_variables: [region, sex, age]")
    return settings


def parse_yaml(text: str, where: str | Path) -> Any:
    """What a text of YAML stands for, by the rules of `read_yaml`; `where` begins what is said against it."""
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        line, fault = slip(error, text)
        place = f"line {line}: " if line else ""
        raise DataError(f"{where}: {place}{fault}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise DataError(f"{where}: line {line}: a control character; take it out") from None
    except ValueError:  # thousands of digits
        raise DataError(f"{where}: holds a number that is too long; put it in quotes if it is text") from None
    except RecursionError:
        raise DataError(f"{where}: is nested too deeply to be settings; make it plainer") from None


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
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            problem = "a reference to an anchor; write out what it stands for, or put a text with * in quotes"
            raise yaml.composer.ComposerError(None, None, problem, mark)
        if getattr(self.peek_event(), "tag", None) is not None:
            mark = self.peek_event().start_mark
            raise yaml.composer.ComposerError(None, None, "a ! that means a type here; put it in quotes", mark)
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
    if empty and isinstance(key, str) and key_node.style is None and (fault := missing_space(key)):
        raise _fault(fault, key_node)


def _fault(problem: str, node: yaml.Node) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
