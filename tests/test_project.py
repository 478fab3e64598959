"""The house itself: which room imports which, what the wheel holds, that configuration files agree."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from processes import PATIENCE

from kanon_lab.course.edition import ADDRESS

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "kanon_lab"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

# A room imports only itself and rooms before it.
ROOMS = """errors digits terms files loading arguments roles settings columns rules data population classes engines
measures methods sample recipes show figures studies notebooks course report cli""".split()
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


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def name_of(path: Path) -> str:
    parts = ("kanon_lab", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(part for part in parts if part != "__init__")


def imported_names(path: Path) -> set[str]:
    """Return what a module imports of the package anywhere in it, inside functions too."""
    package = ["kanon_lab", *path.relative_to(PACKAGE).parent.parts]
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names |= {f"{module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.startswith("kanon_lab.")}


def imported_rooms(path: Path) -> set[str]:
    parts = [name.split(".") for name in imported_names(path)]
    return {name[1] for name in parts if (PACKAGE / name[1]).exists() or (PACKAGE / f"{name[1]}.py").exists()}


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or not path.name.startswith("__"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    room = room_of(path)
    assert room in ROOMS, f"{room} is not in the list of rooms"
    later = {other for other in imported_rooms(path) if ROOMS.index(other) > ROOMS.index(room)}
    assert not later, f"{path.relative_to(ROOT)} imports {later}, which stand below it"


@pytest.mark.parametrize("room", sorted({*map(room_of, MODULES)}))
def test_no_circle_is_inside_a_room(room):
    """Whoever reads a module reads what it imports: that must come to an end, also where it is imported when used."""
    paths = {name_of(path): path for path in MODULES if room_of(path) == room}
    left = {
        name: {each if each in paths else each.rpartition(".")[0] for each in imported_names(path)} & paths.keys()
        for name, path in paths.items()
    }
    while ends := {name for name, others in left.items() if not others & left.keys()}:
        left = {name: others for name, others in left.items() if name not in ends}
    assert not left, "these are in a circle, or import one"


def test_the_drawing_of_the_house_is_true():
    """CONTRIBUTING.md lists the rooms in their order, each with the first line of its docstring."""
    block = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("```text\nkanon_lab/\n")[2].partition("\n```")[0]
    drawn = [tuple(line.split(maxsplit=1)) for line in block.splitlines()]
    built = []
    for room in ROOMS:
        module = PACKAGE / room / "__init__.py" if (PACKAGE / room).is_dir() else PACKAGE / f"{room}.py"
        said = ast.get_docstring(ast.parse(module.read_text("utf-8"))).splitlines()[0]
        built.append((f"{room}/" if module.name == "__init__.py" else module.name, said))
    assert drawn == built
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {room for room in ROOMS if (PACKAGE / room).is_dir()} == folders


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


def test_wheel_holds_notebooks_and_data(tmp_path):
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--no-build-isolation", "--wheel-dir", tmp_path, ROOT], check=True, timeout=PATIENCE)
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    notebooks = {f"kanon_lab/_notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    figures = {f"kanon_lab/_book/figures/{path.name}" for path in (ROOT / "book" / "figures").glob("*.py")}
    files = {str(path.relative_to(ROOT)) for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert notebooks
    assert figures
    exercises = {f"kanon_lab/_exercises/{path.name}" for path in (ROOT / "exercises").glob("*.yml")}
    begin = {"kanon_lab/_toc.yml", "kanon_lab/_book/project-start.yml", "kanon_lab/_book/preface.md"}
    assert notebooks | figures | files | exercises | begin <= inside
    assert not [name for name in inside if not name.startswith(("kanon_lab/", "kanon_lab-"))]


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


def test_the_workflow_runs_what_there_is():
    """No service runs it here: its steps are held against the Makefile, and its jobs against each other."""
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "book.yml").read_text("utf-8"))["jobs"]
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.MULTILINE))
    steps = [step for job in jobs.values() for step in job["steps"]]
    made = [step["run"].removeprefix("make ") for step in steps if step.get("run", "").startswith("make ")]
    assert {"test", "bundle"} == {*made} <= targets
    assert all(re.fullmatch(r"actions/[\w-]+@v[0-9]+", step["uses"]) for step in steps if "uses" in step)
    (address,) = [step["env"] for step in steps if "env" in step]
    assert [*address] == [ADDRESS]
    assert {name for job in jobs.values() for name in job.get("needs", [])} == jobs.keys() - {"publish"}


def test_constraints_are_names_and_versions_only():
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    odd = [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line)]
    assert not odd


def test_constraints_pin_every_direct_dependency():
    project = PYPROJECT["project"]
    asked = [*project["dependencies"], *(name for extra in ("report", "book", "test") for name in extra_of(extra))]
    pinned = {normal(line.split("==")[0]) for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()}
    assert {normal(re.match(r"[\w.-]+", name).group()) for name in asked} - {"kanon-lab"} <= pinned


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
