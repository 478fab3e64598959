"""What a person most likely did where YAML cannot be read: a line, and one clause that says what to do."""

from __future__ import annotations

import re

import yaml

from kanon_lab.errors import shortened

# A name whose colon has no space after it, at the beginning of a line or of an entry; no address and no path.
_CLOSE_COLON = re.compile(r"\s*(?:-\s+)*([^\s:'\"#\[\]{},&*!|>%@`]+):(?=[^\s:/\\])")
_COLON = re.compile(r":(\s|$)")
_SPACE = "a space is missing after the colon of {}; write it there"
_MORE = "is indented more than the line before it, which is complete; indent both alike"
_UNLIKE = "is not indented as the lines that it goes with; indent them alike"


def missing_space(text: str) -> str | None:
    """What to say where a text begins with a name and a colon without a space after it, else None."""
    found = _CLOSE_COLON.match(text)
    return _SPACE.format(shortened(found[1])) if found else None


def slip(error: yaml.MarkedYAMLError, text: str) -> tuple[int | None, str]:
    """Line, from 1 on, and fault: the parser's own where it is not known better."""
    problem, context = error.problem or "is no YAML", error.context or ""
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return None, problem
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
        if fault := missing_space(lines[number - 1]):
            return number, fault
    if opened is not None:
        return opened, "a name without a colon after it; write name: value"
    here, before = lines[line - 1], _before(lines, line)
    if _COLON.search(here[:column]):
        return line, "a second colon with a space after it; put a text that holds one in quotes"
    if before is not None and _indent(here) > _indent(before):
        return line, _MORE
    return line, "a name where none can be; look for a missing colon in the line before"


def _block(lines: list[str], mark: yaml.Mark, problem: str) -> str:
    if problem.endswith(("']'", "'}'")):
        return f"{problem[-2]} closes what was never opened; take it out"
    if not problem.endswith(("start>'", "'-'", "'?'")):
        return "something stands after the end of a value; put a text in quotes as a whole, a mark inside it twice"
    here, before = lines[mark.line], _before(lines, mark.line + 1)
    more = before is not None and _indent(here) > _indent(before)
    return _MORE if more else _UNLIKE


def _sign(problem: str, context: str, sign: str) -> str:
    if sign == "\t":
        return "a tab; indent with spaces"
    if "alias" in context or "anchor" in context:
        return "a * or & that means a reference here; put it in quotes"
    if problem.startswith("found character"):
        return f"a text that begins with {sign}, which YAML keeps for itself; put it in quotes"
    if problem.startswith("found unknown escape"):
        return "a backslash in double quotes; use single quotes"
    if problem.startswith("but found another document"):
        return "--- begins another document; keep one"
    if problem.startswith("sequence entries"):
        return "a - in the middle of a line; begin a line with it"
    return problem if ";" in problem else f"{shortened(problem, 100)}; mend the line"


def _before(lines: list[str], line: int) -> str | None:
    """The last line before a line, from 1 on, that is neither blank nor a remark."""
    return next((each for each in reversed(lines[: line - 1]) if each.strip() and each.lstrip()[0] != "#"), None)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
