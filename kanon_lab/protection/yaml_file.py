"""YAML as settings of a person: plain types, every key once, no references, one line for every fault."""

from __future__ import annotations

from pathlib import Path

import yaml

from kanon_lab import files
from kanon_lab.errors import DataError, shortened

_MOST_BYTES = 1_000_000


def read_yaml(path: str | Path) -> dict:
    """The mapping in a YAML file.

    Raises
    ------
    DataError
        The file is absent, no text in UTF-8, larger than a million bytes, no YAML, or no mapping; a key stands twice;
        or it has anchors, whose copies of copies may be endless. The line is named.
    """
    text = _text(path)
    try:
        settings = yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        problem = error.problem or "is no YAML"
        marks = [error.problem_mark, error.context_mark]
        if problem.endswith("end of stream"):  # where it was opened says more
            marks.reverse()
        mark = marks[0] or marks[1]
        place = f"line {mark.line + 1}: " if mark else ""
        if problem.startswith("but "):
            problem = f"{error.context}, {problem}"
        raise DataError(f"{path}: {place}{shortened(problem, 100)}; mend the line") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise DataError(f"{path}: line {line}: a control character; take it out") from None
    except (ValueError, OverflowError):  # a date such as 2011-13-45, a number of thousands of digits
        raise DataError(f"{path}: holds a date or number that is none; put it in quotes if it is text") from None
    except RecursionError:
        raise DataError(f"{path}: is nested too deeply to be settings; make it plainer") from None
    if settings is None:
        raise DataError(f"{path}: is empty; write settings such as key_variables: [region, sex, age]")
    if not isinstance(settings, dict):
        raise DataError(f"{path}: is no list of settings such as key_variables: [region, sex, age]")
    return settings


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
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not text in UTF-8; save it as UTF-8, or check the path") from None


class _Loader(yaml.SafeLoader):
    def compose_node(self, parent, index):
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.composer.ComposerError(
                None, None, "a reference to an anchor; write out what it stands for", mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, bool):  # yes, no, on and off are truth values
                raise _fault("a key that YAML takes for true or false; put it in quotes", key_node)
            if not isinstance(key, (str, int, float)):
                raise _fault("a key that is no text or number", key_node)
            if key in seen:
                raise _fault(f"{shortened(repr(key))} stands twice; keep one", key_node)
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data):
        return True


def _fault(problem: str, node: yaml.Node) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
