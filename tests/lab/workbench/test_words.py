"""Each wording that the workbench asks for by name exists, in both languages."""

from __future__ import annotations

import ast
from pathlib import Path

import kanon_lab.workbench
from kanon_lab.report.words import texts
from kanon_lab.terms import wordings

ROOM = Path(kanon_lab.workbench.__file__).parent
ASKED = ("say", "text", "heading", "button", "table")


def keys_of(path: Path) -> set[str]:
    calls = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call))
    firsts = (call.args[0] for call in calls if getattr(call.func, "attr", "") in ASKED and call.args)
    return {first.value for first in firsts if isinstance(first, ast.Constant) and isinstance(first.value, str)} - {""}


def test_every_key_has_its_words():
    known = {**texts(), **wordings("workbench")}
    asked = {key: path.name for path in ROOM.glob("*.py") for key in keys_of(path)}
    assert len(asked) > 50
    assert not {key: name for key, name in asked.items() if key not in known}
    assert not [key for key in asked if not known[key]["en"] or not known[key]["es"]]
