"""Pages of reference as tests read them: their tables, lists of settings, code and commands."""

import re
import shlex
from pathlib import Path

from kanon_lab.recipes.plan import filled

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    path.name: filled(path.read_text("utf-8")) for path in [*sorted((ROOT / "book").glob("*.md")), ROOT / "README.md"]
}


def sections(page: str) -> dict[str, str]:
    """By heading, without its marks of code, what stands below it."""
    found = re.findall(r"^##+ (.*?)\n(.*?)(?=^##|\Z)", page, flags=re.DOTALL | re.MULTILINE)
    return {heading.replace("`", ""): text for heading, text in found}


def tables(page: str) -> dict[str, list[dict[str, str]]]:
    """By the heading above it, with `inside` where it is a second one there, the rows of each table as dicts."""
    found = {}
    for heading, text in sections(page).items():
        for number, table in enumerate(re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)):
            header, _, *rows = ([cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines())
            found[heading + (" inside" if number else "")] = [dict(zip(header, row, strict=True)) for row in rows]
    return found


def listed(text: str) -> dict[str, str]:
    """The items of lists that begin with a name in code, by that name."""
    return dict(re.findall(r"^- `(\w+)`:? (.*)$", text, flags=re.MULTILINE))


def named(text: str) -> list[str]:
    """Every piece of code in a line of text."""
    return re.findall(r"`([^`\n]+)`", text)


def blocks(page: str, language: str = r"\w*") -> list[str]:
    """The blocks of code in a language, by default of all languages, not what stands in a directive."""
    return re.findall(rf"^```(?:{language})\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)


def commands(page: str) -> list[list[str]]:
    """What is typed after ``kanon-lab`` in each line of code that is a whole command."""
    lines = [line for block in blocks(page) for line in re.sub(r"\\\n\s*", "", block).splitlines()]
    typed = [line.split("&&")[0] for line in lines if line.startswith("kanon-lab ")]
    typed += named(re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE))
    return [shlex.split(line)[1:] for line in typed if line.startswith("kanon-lab ")]
