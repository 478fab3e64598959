"""One value is one value in every format: nasty files measured alike, and releases that agree with their verdict."""

import json
import re

import pytest
from nasty_files import FORMATS, NASTY, write

from kanon_lab.cli import run
from kanon_lab.terms import wordings

QUICK = ("blanks around", "household as text", "decimals of 17 digits", "truth with gaps", "codes that mean missing")

# What is noted of a format, or of how its cells were read.
OF_FORMAT = (
    "blanks_around",
    "blanks_only",
    "letters_composed",
    "texts_among_numbers",
    "codes_in_file",
    "codes_in_file_lost",
)
ENGINES = {"csv": ("memory", "duckdb"), "parquet": ("memory", "duckdb")}


def is_of_format(note):
    patterns = [re.sub(r"\\\{\w+\\\}", ".*", re.escape(wordings("note")[key]["en"])) for key in OF_FORMAT]
    return any(re.fullmatch(pattern, note) for pattern in patterns)


def measured(capsys, path, nasty, *options):
    """The JSON of a file as it is measured, without its name and what is noted of its format."""
    keys = ",".join(f'"{name}"' if "," in name else name for name in nasty.keys)
    roles = [f"--{role}={getattr(nasty, role)}" for role in ("weight", "household") if getattr(nasty, role)]
    code = run(["measure", str(path), "--keys", keys, "--sensitive", "s", *roles, "--json", *options])
    out = capsys.readouterr()
    assert code == 0, out.err
    result = json.loads(out.out)
    result["notes"] = [note for note in result["notes"] if not is_of_format(note)]
    return {name: value for name, value in result.items() if name != "file"}


def cases(*quick):
    """Every nasty file; but for some of them the test is slow."""
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=() if name in quick else pytest.mark.slow) for name in NASTY]
    )


@cases(*QUICK)
def test_every_format_gives_the_same_json(capsys, tmp_path, name):
    nasty, results = NASTY[name], {}
    for form in (form for form in FORMATS if form not in nasty.not_in):
        path = tmp_path / f"a.{form}"
        write(nasty, path)
        for engine in ENGINES.get(form, ("memory",)):
            results[form, engine] = measured(capsys, path, nasty, "--engine", engine, *nasty.command)
    for case, result in results.items():
        assert result == results["csv", "memory"], case


# A spreadsheet rounds longer numbers, so that none are written to one.
OUT = dict.fromkeys([("beyond 2^53", "xlsx"), ("17 digits", "xlsx"), ("unsigned", "xlsx")], "csv")


@cases("household as text")
def test_a_release_measured_again_agrees_with_its_verdict(capsys, tmp_path, name):
    nasty = NASTY[name]
    marks = [text for option, text in zip(nasty.command, nasty.command[1:]) if option == "--na"]
    recipe = {"key_variables": nasty.keys, "sensitive_variables": ["s"], "missing": "category", "na": marks}
    recipe |= {role: getattr(nasty, role) for role in ("weight", "household") if getattr(nasty, role)}
    recipe |= {"limits": {"k": 2}, "steps": [{"suppress": {"k_required": min(2, nasty.records)}}]}
    (tmp_path / "recipe.yml").write_text(json.dumps(recipe), encoding="utf-8")
    for form in (form for form in FORMATS if form not in nasty.not_in):
        path = tmp_path / f"a.{form}"
        write(nasty, path)
        for engine in ENGINES.get(form, ("memory",)):
            out = tmp_path / f"{engine}.{OUT.get((name, form), form)}"
            options = ["--recipe", str(tmp_path / "recipe.yml"), "--out", str(out), "--engine", engine, "--json"]
            code = run(["protect", str(path), *options])
            answer = capsys.readouterr()
            assert code == 0, (form, engine, answer.err)
            verdict = json.loads(answer.out)
            again = measured(capsys, out, nasty)
            own = again["own_class"] or again
            assert again["violations"] == verdict["violations"]["wildcard"], (form, engine)
            assert own["violations"] == verdict["violations"]["category"], (form, engine)
            assert (own["k_achieved"] >= 2) == verdict["verdict"]["met"], (form, engine)
