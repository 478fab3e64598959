"""The house itself: which room imports which, what the wheel holds, that configuration files agree."""

from __future__ import annotations

import ast
import json
import re
import runpy
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from processes import PATIENCE

from kanon_book.pages.edition import ADDRESS, REPOSITORY

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "kanon_lab"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

BOOK = ROOT / "book" / "kanon_book"
HEAVY = {
    "altair",
    "IPython",
    "ipywidgets",
    "nbformat",
    "numpy",
    "pandas",
    "papermill",
    "pyarrow",
    "pydantic",
    "requests",
    "scipy",
}


def layers(package: str) -> list[str]:
    """The rooms of a package as its contract of import-linter lists them, the one that imports no other first."""
    contracts = PYPROJECT["tool"]["importlinter"]["contracts"]
    return next(each["layers"] for each in contracts if each.get("containers") == [package])[::-1]


def test_imports_go_one_way_and_in_no_circle():
    """The contracts stand in pyproject.toml; imports inside functions count too."""
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([tool, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


RUN = [
    path
    for folder in (BOOK, ROOT / "scripts")
    for path in sorted(folder.rglob("*.py"))
    if "\nif __name__ ==" in path.read_text("utf-8")
]


@pytest.mark.parametrize("path", RUN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_is_run_by_its_name_has_a_help_that_does_nothing_else(path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [path.name, "--help"])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(path), run_name="__main__")
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("usage: ")


# Of a room: Python, scripts, style sheets and templates, without what it reads, and without its lists of names (.pyi).
_COUNTED = {".py", ".js", ".css", ".html"}


def lines_of(path: Path) -> int:
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return sum(len(file.read_text("utf-8").splitlines()) for file in files if file.suffix in _COUNTED)


def drawing() -> dict[str, list[tuple[str, int, str]]]:
    """By package, the rooms that CONTRIBUTING.md draws: name, budget of lines, and what it is for."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    drawn = {}
    for package in ("kanon_lab", "kanon_book"):
        block = re.search(rf"^(?:book/)?{package}/ .*?\n(.*?)(?=^\S|\Z)", text, flags=re.DOTALL | re.MULTILINE)
        rows = re.findall(r"^  (\S+) +([\d,]+)  (.*)$", block[1], flags=re.MULTILINE)
        drawn[package] = [(name, int(budget.replace(",", "")), said) for name, budget, said in rows]
    return drawn


@pytest.mark.parametrize(("package", "folder"), [("kanon_lab", PACKAGE), ("kanon_book", BOOK)])
def test_the_drawing_of_the_house_is_true(package, folder):
    """CONTRIBUTING.md lists the rooms in their order, each with its budget and the first line of its docstring."""
    built = []
    for room in layers(package):
        module = folder / room / "__init__.py" if (folder / room).is_dir() else folder / f"{room}.py"
        said = ast.get_docstring(ast.parse(module.read_text("utf-8"))).splitlines()[0]
        built.append((f"{room}/" if module.name == "__init__.py" else module.name, said))
    assert [(name, said) for name, _, said in drawing()[package]] == built


@pytest.mark.parametrize(("package", "folder"), [("kanon_lab", PACKAGE), ("kanon_book", BOOK)])
def test_each_room_keeps_its_budget_of_lines(package, folder):
    lines = {name: (lines_of(folder / name), budget) for name, budget, _ in drawing()[package]}
    over = {name: counts for name, counts in lines.items() if counts[0] > counts[1]}
    spare = {name: budget - used for name, (used, budget) in lines.items() if budget > used}
    assert over == {}, f"more lines than CONTRIBUTING.md allows: shorten, or take them from rooms with {spare}"
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    whole = re.search(rf"^(?:book/)?{package}/ +([\d,]+)  ", text, flags=re.MULTILINE)
    assert sum(budget for _, budget in lines.values()) <= int(whole[1].replace(",", ""))


# Names that say nothing; those that stand are public, or settings of a file of exercises or a recipe.
_EMPTY = {"each", "found", "told", "said", "given", "made", "one", "stands"}
_KEPT = {"microdata.py", "release.py", "large.py", "swapping.py", "steps.py", "files.py", "solving.py"}


@pytest.mark.parametrize("folder", [PACKAGE, BOOK])
def test_names_say_what_they_name(folder):
    empty = []
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            name = node.id if stored else getattr(node, "arg", None) or getattr(node, "name", None)
            if name in _EMPTY and (stored or isinstance(node, ast.arg | ast.FunctionDef)) and path.name not in _KEPT:
                empty.append(f"{path.relative_to(ROOT)}:{node.lineno}: {name}")
    assert empty == []


def test_guides_are_short():
    """Words beside the drawing: who wants to take part reads them all."""
    guide = re.sub(
        r"^```text\n.*?^```$", "", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    assert len(guide.split()) <= 1200
    assert len((BOOK / "WRITING.md").read_text("utf-8").split()) <= 900


def loaded_by(module: str) -> tuple[float, set[str]]:
    """Return the seconds that an import takes in a new interpreter, and the packages it loads."""
    code = (
        "import sys, time; start = time.perf_counter(); import importlib;"
        f"importlib.import_module({module!r}); seconds = time.perf_counter() - start;"
        "import json; print(json.dumps([seconds, sorted({name.split('.')[0] for name in sys.modules})]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, names = json.loads(done.stdout)
    return seconds, set(names)


def test_import_is_quick_and_loads_nothing_heavy():
    # The best of three: a machine that tests in parallel is busy.
    runs = [loaded_by("kanon_lab") for _ in range(3)]
    assert min(seconds for seconds, _ in runs) < 0.4
    assert not runs[0][1] & HEAVY


@pytest.mark.parametrize("module", ["kanon_lab.show", "kanon_lab.show.page", "kanon_lab.notebooks", "kanon_lab.cli"])
def test_heavy_packages_load_when_used(module):
    assert not loaded_by(module)[1] & HEAVY


def test_wheel_holds_both_packages_notebooks_and_chapters(tmp_path):
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--no-build-isolation", "--wheel-dir", tmp_path, ROOT], check=True, timeout=PATIENCE)
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())

    def names(folder: Path, pattern: str, target: str) -> set[str]:
        found = {f"{target}/{path.relative_to(folder)}" for path in folder.rglob(pattern) if path.is_file()}
        assert found
        return {name for name in found if not name.endswith(".pyc")}

    wanted = names(PACKAGE, "*", "kanon_lab") | names(BOOK, "*", "kanon_book")
    wanted |= names(ROOT / "notebooks", "*.ipynb", "kanon_lab/_notebooks")
    wanted |= names(ROOT / "book" / "exercises", "*.yml", "kanon_book/_files/book/exercises")
    wanted |= {
        "kanon_book/_files/_toc.yml",
        *(f"kanon_book/_files/book/{n}" for n in ("project-start.yml", "preface.md")),
    }
    assert wanted <= inside
    assert not [name for name in inside if not name.startswith(("kanon_lab/", "kanon_book/", "kanon_lab-"))]
    assert not [name for name in inside if "kanon_book/_files/book/kanon_book" in name]
    # Of the Spanish edition what exercises and the first notebook say, and no more.
    spanish = "kanon_book/_files/book/locale/es/LC_MESSAGES/book"
    assert {name.rpartition("/")[0] for name in inside if "/locale/" in name} == {spanish}


def test_nothing_that_tests_make_depends_on_the_clock():
    """What gzip makes has the time in it unless told otherwise; in the name of a test, processes have other tests."""
    found = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            made = isinstance(node, ast.Call) and ast.unparse(node.func) == "gzip.compress"
            if made and not any(option.arg == "mtime" for option in node.keywords):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not found


def test_environment_installs_what_make_installs():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
    conda = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert f"python{PYPROJECT['project']['requires-python']}" in conda
    assert len(pip) == 1
    extras = re.fullmatch(r"-e \.\[([\w,]+)\]", pip[0]).group(1)
    assert f"'.[{extras}]'" in (ROOT / "Makefile").read_text("utf-8")
    assert set(extras.split(",")) <= PYPROJECT["project"]["optional-dependencies"].keys()


def test_hosted_services_make_the_same_notebooks_as_make_lab():
    launch = ROOT / "postBuild"
    assert launch.stat().st_mode & 0o111
    (line,) = [line for line in launch.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert line.removeprefix("python ").removesuffix(" --no-open") in (ROOT / "Makefile").read_text("utf-8")


WORKFLOWS = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}


def test_the_workflows_run_what_there_is():
    """No service runs them here: their steps are held against the Makefile, and their jobs against each other."""
    jobs = {(name, job): each for name, text in WORKFLOWS.items() for job, each in yaml.safe_load(text)["jobs"].items()}
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.MULTILINE))
    steps = [step for job in jobs.values() for step in job["steps"]]
    typed = [step["run"].split()[1] for step in steps if step.get("run", "").startswith("make ")]
    assert {"check", "test", "bundle", "test-all"} == {*typed} <= targets
    (environment,) = [step["env"] for step in steps if "env" in step]
    assert [*environment] == [ADDRESS, REPOSITORY]
    assert jobs["book", "test"]["strategy"]["matrix"]["python"][0] == PYPROJECT["project"]["requires-python"].strip(
        ">="
    )
    needed = {name for job in jobs.values() for name in job.get("needs", [])}
    assert needed == {job for name, job in jobs if name == "book"} - {"publish"}


def test_actions_are_pinned_to_one_commit_each():
    """A tag can be moved to other code, a commit can't; the comment after it says which version it is."""
    used = [line for text in WORKFLOWS.values() for line in re.findall(r"uses: (.*)$", text, flags=re.MULTILINE)]
    pins = {re.fullmatch(r"(actions/[\w-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)", line).groups() for line in used}
    assert len(pins) == len(dict(pins)) == 5


def test_constraints_are_names_and_versions_only():
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    odd = [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line)]
    assert not odd


def needed_by(name: str, extras: frozenset[str], found: set[tuple[str, frozenset[str]]]) -> set[str]:
    """Names of the packages that one brings with some of its extras, and these in turn."""
    for wanted in map(Requirement, metadata.requires(name) or ()):
        here = wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in ("", *extras))
        asked = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if here and asked not in found:
            found.add(asked)
            needed_by(*asked, found)
    return {name for name, _ in found}


def test_what_is_installed_is_what_is_pinned():
    """All that the extras workbench, book and test bring, but what comes with Python itself."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pinned = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}
    needed = needed_by("kanon-lab", frozenset({"workbench", "book", "test"}), set())
    needed -= {"kanon-lab", "pip", "setuptools"}
    assert len(needed) > 100
    assert {name: pinned.get(name) for name in needed} == {name: metadata.version(name) for name in needed}


def extra_of(name: str) -> list[str]:
    return PYPROJECT["project"]["optional-dependencies"][name]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_version_is_one():
    version = PYPROJECT["project"]["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == version
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def repository_files() -> list[Path]:
    """Return the files that are, or would be, committed."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in done.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


# Written in pieces, so that this file does not hold what it looks for.
TRACES = re.compile(
    "|".join(["/" + "root/", "/" + r"home/\w", "/" + r"Users/\w", "/" + "tmp/", "index" + "-url", "/" + "simple/"])
)


def test_no_machine_path_or_registry_address_is_committed():
    found = []
    for path in repository_files():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in TRACES.finditer(text)]
    assert not found


def test_no_committed_file_is_large():
    sizes = {str(path.relative_to(ROOT)): path.stat().st_size for path in repository_files()}
    assert {name: size for name, size in sizes.items() if size > 3_000_000} == {}
    embedded = sum(size for name, size in sizes.items() if name.startswith("kanon_lab/data/embedded/"))
    assert embedded < 3_000_000
