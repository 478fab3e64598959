"""What pages say of commands, options, exit codes, formats, settings and names is what the program has."""

import ast
import re
from importlib import import_module

import click
import pytest
from cases import in_one_test
from pages import PAGES, ROOT, blocks, commands, named, sections, tables

import kanon_lab
from kanon_lab.cli import BAD_INPUT, cli
from kanon_lab.data import counts, microdata

REPORT, RECIPES = PAGES["report.md"], PAGES["recipes.md"]
# Formats of microdata as pages name them; what stands for counts only is told by words of its own.
WORDS = {"sav": "SPSS", "dta": "Stata", "sas7bdat": "SAS"}


def all_commands(group=cli, above=()):
    """By the words that call it, each command."""
    found = {}
    for name in group.list_commands(None):
        command, words = group.get_command(None, name), (*above, name)
        found |= all_commands(command, words) if isinstance(command, click.Group) else {words: command}
    return found


COMMANDS = all_commands()
OPTIONS = {option for each in COMMANDS.values() for param in each.params for option in param.opts} | {"--help"}


@in_one_test("page", PAGES)
def test_commands_are_typed_as_the_program_takes_them(page):
    for typed in commands(PAGES[page]):
        if typed[0].startswith("-"):
            assert typed[0] in {"--help", "--version"}
            continue
        words = next((tuple(typed[:n]) for n in (3, 2, 1) if tuple(typed[:n]) in COMMANDS), None)
        assert words or typed == ["data"], f"{page}: there is no command {typed}"
        # A command that is only named, as `kanon-lab report FILE`, has no arguments yet.
        if words and typed[-1] != "--help" and not all(word.isupper() for word in typed[len(words) :]):
            COMMANDS[words].make_context(words[-1], typed[len(words) :])


@in_one_test("page", PAGES)
def test_options_that_are_named_exist(page):
    named_here = {option for code in named(PAGES[page]) for option in re.findall(r"^--[a-z][a-z-]*", code)}
    assert named_here <= OPTIONS


@in_one_test("page", PAGES)
def test_exit_codes_are_those_that_help_tells(page):
    """Of an option, as its help says ``exit with 1``; of a command, as it ends with ``Exit code: 0 ...``."""
    for sentence in re.split(r"(?<=[.:])\s", PAGES[page]):
        said = {int(code) for code in re.findall(r"exit code `?(\d)", sentence)}
        options = [option for code in named(sentence) for option in re.findall(r"^--fail[a-z-]*", code)]
        helps = [p.help for each in COMMANDS.values() for p in each.params if {*options} & {*p.opts}]
        if said and options:
            assert {int(code) for text in helps for code in re.findall(r"xit with (\d)", text)} == said, sentence
        elif said:
            assert said == {BAD_INPUT}, sentence


def test_the_page_of_reports_has_every_exit_code_of_the_command():
    (told,) = re.findall(r"The exit codes: (.*?)\. ", REPORT, flags=re.DOTALL)
    of_help = COMMANDS[("report",)].help.split("Exit code:")[1].split(".")[0]
    assert set(re.findall(r"`(\d)`", told)) == set(re.findall(r"\b\d\b", of_help))


def test_readme_has_every_command_and_no_other():
    rows = [row["command"] for table in tables(PAGES["README.md"]).values() for row in table if "command" in row]
    typed = [code.removeprefix("kanon-lab ").split() for row in rows for code in named(row)]
    words = {tuple(word for word in code if word.islower()) for code in typed}
    assert {(("data",) + each) if each[0] in ("fetch", "path") else each for each in words} == set(COMMANDS)


def test_formats_of_the_page_of_recipes():
    text = sections(RECIPES)["Formats"].split(".\n")[0].split("A suppressed")[0]
    read, only = text.split("for reading only")
    assert re.findall(r"`\.(\w+)`", read) == list(microdata.FORMATS)
    assert [each for each in re.findall(r"`\.(\w+)`", only) if each != "gz"] == [
        each for each in microdata.READ_FORMATS if each not in microdata.FORMATS
    ]


@in_one_test("page", PAGES)
def test_lists_of_formats_are_complete(page):
    """A sentence that names several formats names all: those of microdata where SPSS is one, else those of counts."""
    for sentence in re.split(r"(?<=[.?])\s|\|", re.sub(r"(?<=\w)\.(?=\w)", " ", PAGES[page])):
        has = {each for each in ("csv", "parquet", "xlsx") if re.search(rf"\b{each}\b", sentence)}
        if len(has) < 3:
            continue
        if "SPSS" in sentence:
            missing = [each for each in microdata.READ_FORMATS if WORDS.get(each, each) not in sentence]
        elif re.search(r"counts|age group|PC-Axis", sentence):
            missing = [each for each in counts.COUNTS_FORMATS if each.replace("px", "PC-Axis") not in sentence]
        else:
            missing = []
        assert not missing, f"{page}: {sentence.strip()}"


def test_readers_of_the_guide_have_a_counterpart_where_the_format_is_read():
    row = next(line for line in PAGES["sdcmicro.md"].splitlines() if 'data.read_microdata("' in line)
    theirs = {"read_sav": "sav", "read_dta": "dta", "read_sas": "sas7bdat", "read_csv": "csv", "read_xlsx": "xlsx"}
    assert {name for name in theirs if f"`{name}()`" in row} == {
        n for n, f in theirs.items() if f in microdata.READ_FORMATS
    }


def test_preface_names_every_chapter_with_an_explorer():
    (row,) = [line for line in PAGES["preface.md"].splitlines() if "explorers in" in line]
    assert set(re.findall(r"\{doc\}`([\w-]+)`", row)) == {
        name.removesuffix(".md")
        for name, text in PAGES.items()
        if re.search(r"```\{glue\} (town-)?explorer", text) and name != "preface.md"
    }


@pytest.mark.parametrize("page", [name for name, text in PAGES.items() if blocks(text, "python")])
def test_python_imports_what_there_is(page):
    for block in blocks(PAGES[page], "python"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("kanon_lab"):
                module = import_module(node.module)
                assert [each.name for each in node.names if not hasattr(module, each.name)] == []


def test_the_page_of_functions_names_what_can_be_imported():
    rows = tables(PAGES["api.md"])["Where to look"]
    for row in rows:
        module = kanon_lab
        for code in named(row["import"]):
            parts = code.removeprefix("kanon_lab.").split(".")
            found = getattr(module if not code.startswith("kanon_lab.") else kanon_lab, parts[0], None)
            found = getattr(kanon_lab, parts[0], None) if found is None else found
            assert found is not None, code
            module = found if type(found).__name__ == "module" else module


@in_one_test("page", PAGES)
def test_make_makes_what_is_named(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.MULTILINE))
    typed = [*named(PAGES[page]), *(line for block in blocks(PAGES[page]) for line in block.splitlines())]
    assert {line.split()[1] for line in typed if re.match(r"make [a-z]", line)} <= targets


def test_pictures_of_the_workbench_are_small_and_in_both_languages():
    named_there = re.findall(r"^```\{figure\} (\S+)\.png$", PAGES["workbench.md"], flags=re.MULTILINE)
    assert {path.name.partition(".")[0] for path in (ROOT / "book").glob("workbench-*")} == {*named_there}
    for name in named_there:
        for ending in ("png", "es.png"):
            assert (ROOT / "book" / f"{name}.{ending}").stat().st_size < 60_000
