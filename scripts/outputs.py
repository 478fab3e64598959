"""All that the command prints and writes, and all that built notebooks record: to compare before a change and after.

python scripts/outputs.py FOLDER                      what the kanon_lab that Python imports makes of every command
python scripts/outputs.py FOLDER --compare BEFORE     what differs between two such folders
python scripts/outputs.py FOLDER --only report        once more those whose names hold this

What a run that was interrupted left in FOLDER is kept and the rest made: take a new folder for other code.

It knows the command and the notebooks' format only, not the modules inside. Times, paths and versions are masked.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INPUTS = "inputs"
SAID, MANIFEST = "said.txt", "manifest.json"
PLAIN = {".txt", ".json", ".csv", ".yml", ".html", ".ipynb", ""}
MASKS = [
    (r'"seconds": [\d.e-]+', '"seconds": 0'),
    (r"\b\d+(?:\.\d+)? (s|seconds|segundos)\b", r"0 \1"),
    (r"\bkanon.lab,? (version )?\d+\.\d+[\w.]*", r"kanon-lab 0"),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?( UTC)?", "a time"),
    (r" at 0x[0-9a-f]+", ""),
]
# Keys of a recipe for blocks of the book that are a part of one.
SPEC = "key_variables: [age, sex, education]\nweight: weight\nhousehold: household\nk_required: 3\n"
REPORT = """key_variables: [postcode, age, sex, education]
weight: weight
household: household
sensitive_variables: [diagnosis]
numeric_variables: [income]
direct_identifiers: [birth_date]
missing: category
limits: {k: 3, global_risk: 0.02, household_risk: 0.05}
seed: 2011
indicators: {rates: {diagnosis: [diabetes]}, means: [income], by: [sex], sampling_unit: household}
steps:
  - remove_variables: {variables: [household]}
  - recode: {variable: postcode, hierarchy: {masks: [5, 2]}, level: 1}
  - recode: {variable: age, bands: [0, 15, 30, 45, 60, 75, null]}
  - recode: {variable: education, groups: {basic: [under 16, no schooling, primary, lower secondary]}, others: keep}
  - pram: {variables: [sex], keep: 0.95}
  - round: {variable: income, base: 100}
  - suppress: {importance: {sex: 1, postcode: 2, education: 3, age: 4}}
map:
  grid: {k: [2, 3, 5]}
  steps:
    - remove_variables: {variables: [birth_date]}
    - recode: {variable: postcode, hierarchy: {masks: [5, 2]}, level: 1}
    - suppress: {k_required: $k}
"""
HEALTH, ENUSC = "health-survey", "enusc-synthetic"
KEYS = {
    HEALTH: "--keys postcode,age,sex,education --weight weight --household household --sensitive diagnosis,income",
    ENUSC: "--keys enc_region,rph_sexo,rph_edad,educacion --weight Fact_Pers --household hogar --sensitive VP_DC",
    "school-survey": "--keys school,sex,age,siblings --weight weight --household family --sensitive meals",
    "town-register": "--keys postcode,age,sex --household household",
    "health-survey-truth": "--keys person",
    "counts.csv": "--keys place,year --sensitive persons",
}
STUDIES = ("gil-bellosta-2011", "aepd", "garin-1996", "ine-chile-2023")
FIGURES = (
    *(f"gil-bellosta-2011/{each}" for each in ("text/municipalities", "cuadro-1/day/1/share", "cuadro-3/madrid/1")),
    *(f"aepd/{each}" for each in ("text/directive-page-2", "figura-2/levels", "tabla-5-again/1/postcode")),
    *(f"garin-1996/{each}" for each in ("taula-1/catalonia/1-year/p", "section-5/preg-22/situations")),
    *(
        f"ine-chile-2023/{each}"
        for each in ("tabla-7-1/1/risk", "tabla-8-3/before/region", "bloque-8-2/90-100/persons")
    ),
    *(f"ine-chile-2023/{each}" for each in ("tabla-8-4/1/sex", "bloque-8-7/sizeres/suppressions", "no-such-figure")),
)


def commands() -> Iterator[str]:
    """What is typed after ``kanon-lab``, but for the recipes of the book."""
    groups = ("", "population", "measure", "init", "protect", "map", "subsample", "report", "audit", "data")
    yield from (f"{each} --help".strip() for each in (*groups, "data list", "data fetch", "data path"))
    yield from ("--version", "data list", "data list --json", "data fetch health-survey", "data fetch nothing")
    yield from (f"data path {name}" for name in ("spain-2010", HEALTH, ENUSC, "ine-33570"))
    for source in ("spain-2010", "malaga-2010", "../inputs/counts.csv", HEALTH):
        yield from (f"population {source}", f"population {source} --json")
    yield from (
        "population spain-2010 --by province --dates day --ranges 1,2+",
        "population spain-2010 --place 29025 --place 28079 --json",
        "population spain-2010 --place 29025 --dates day --round-each-k --ranges 1,2,3,4,5,6-10,11+",
        "population malaga-2010 --pool-ages none --dates week=261 --json",
        "population malaga-2010 --by municipality --dates year",
        "population spain-2010 --place 00000",
    )
    for file, keys in KEYS.items():
        file = f"../inputs/{file}" if "." in file else file
        yield from (f"measure {file} {keys}", f"measure {file} {keys} --json --missing category")
        yield f"measure {file} {keys.split(' --weight')[0]} --fail-under-k 3 --missing error"
        yield from (f"init {file} --out r.yml", f"init {file} --out r.yml --language es --json")
    yield from (
        f"measure {HEALTH} {KEYS[HEALTH]} --estimator exact --threshold 0.01,0.2 --k 2,3,4,5 --json",
        f"measure {HEALTH} {KEYS[HEALTH]} --estimator inverse --distance ordered --recursive-c 3",
        f"measure {HEALTH} {KEYS[HEALTH]} --bands income=1000,2000,4000 --missing-codes education=primary --json",
        f"measure {HEALTH} --keys postcode,agee",
        f"measure {ENUSC} {KEYS[ENUSC]} --missing-codes educacion=88,99 --json",
        *(f"measure ../inputs/survey.{kind} {KEYS[HEALTH]} --json" for kind in ("sav", "dta", "xlsx", "parquet")),
        "measure absent.csv --keys a",
        f"subsample {HEALTH} --keys postcode,age,sex --fraction 0.25 --repeats 50",
        f"subsample {HEALTH} --keys postcode,age,sex --weight weight --household household --repeats 20 --json",
        f"subsample {HEALTH} --keys age,sex --fraction 0.1 --fixed-size --seed 3 --p-a 0.5 --repeats 20 --json",
        f"subsample {ENUSC} --keys enc_region,rph_sexo,rph_edad --fraction 0.05 --cluster Conglomerado --json",
        "subsample town-register --keys postcode,age,sex --fraction 0.1 --household household --repeats 10",
        "subsample ../inputs/counts.csv --keys place,year --fraction 0.5",
        f"subsample {HEALTH} --keys age --fraction 2",
    )
    yield from ("audit", "audit --json", "audit --strict", "audit --population malaga-2010 --year 2010")
    yield from (f"audit --source {each}{kind}" for each in STUDIES for kind in ("", " --json"))
    yield from (f"audit --figure {each}{kind}" for each in FIGURES for kind in ("", " --json"))
    out, recipe = "--out out.csv", "--recipe ../inputs/report.yml"
    yield from (
        *(f"protect {HEALTH} {recipe} --out out.{kind}{more}"
          for kind, more in (("csv", " --json"), ("csv.gz", ""), ("parquet", ""), ("xlsx", " --neutralise"))),
        *(f"protect ../inputs/survey.{kind} {recipe} --out out.{kind} --json" for kind in ("sav", "dta")),
        f"protect {HEALTH} {recipe} --dry-run --fail",
        f"protect {HEALTH} {recipe} {out} --fail-under-k 50",
        f"map {HEALTH} --recipe ../inputs/map.yml --out map.csv --json --workers 1",
        f"map {HEALTH} --recipe ../inputs/map.yml --at-most 0.05 --repeats 3 --worst --write-recipe c.yml --workers 1",
        f"map {HEALTH} --recipe ../inputs/map.yml --risk key_linkage --loss table_distance --workers 1",
    )  # fmt: skip
    report = f"report {HEALTH} --config ../inputs/report.yml"
    for more in ("", " --set language=es", " --internal", " --internal --set language=es"):
        yield f"{report} --out page.html --protected out.csv --json{more}"
    yield from (
        f"{report} --out page.html --fail --set limits.k=50",
        f"{report} --config ../inputs/short.yml --out {{name}}.html",
        "report ../inputs/survey.sav --config ../inputs/report.yml --out page.html --protected out.sav",
        "report town-register --config ../inputs/town.yml --out page.html --set language=es",
        f"{report} --out page.html --set languge=es",
    )


def recipes(pages: list[Path]) -> Iterator[tuple[str, str]]:
    """Commands with the recipes of some pages, and the recipe of each."""
    for page in pages:
        blocks = re.findall(r"^```yaml\n(.*?)^```$", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        for block in blocks:
            parts = block.splitlines(keepends=True) if block.startswith("- ") else [block]
            for part in parts:
                text = f"steps:\n{part}" if part.startswith("- ") else part
                text = text if "key_variables" in text else SPEC + text
                text = text if "steps" in text else text + "steps:\n- round: {variable: income, base: 100}\n"
                file = ENUSC if "Fact_Pers" in text else HEALTH
                if "grid:" in text and "map:" not in text:
                    yield f"map {file} --recipe ../inputs/NAME.yml --out map.csv --json --workers 1", text
                else:
                    for more in ("", " --json"):
                        yield f"protect {file} --recipe ../inputs/NAME.yml --out out.csv{more}", text
                if "title:" in text and file == ENUSC:
                    yield f"report {file} --config ../inputs/NAME.yml --out page.html --json", text


def write_inputs(folder: Path, pages: list[Path]) -> None:
    """Files that commands read, made by pandas alone."""
    import pandas as pd
    import pyreadstat

    folder.mkdir(parents=True, exist_ok=True)
    path = subprocess.run([*KANON_LAB, "data", "path", HEALTH], capture_output=True, text=True, check=True)
    frame = pd.read_csv(path.stdout.strip(), dtype={"postcode": str, "birth_date": str})
    labels = {"variable_value_labels": {"cholesterol": {"normal": "as it should be"}}}
    pyreadstat.write_sav(frame, str(folder / "survey.sav"), **labels)
    pyreadstat.write_dta(frame, str(folder / "survey.dta"), column_labels=["a label"] * frame.shape[1])
    frame.to_excel(folder / "survey.xlsx", index=False)
    frame.to_parquet(folder / "survey.parquet", index=False)
    rows = [(place, sex, age, 100 + 7 * place % 90 + number)
            for place in (1001, 1002, 2001) for sex in ("men", "women")
            for number, age in enumerate([*(f"{low}-{low + 4}" for low in range(0, 85, 5)), "85+"])]  # fmt: skip
    counts = pd.DataFrame(rows, columns=["place", "sex", "age_group", "persons"]).assign(year=2010)
    counts.to_csv(folder / "counts.csv", index=False)
    town = (
        "key_variables: [postcode, age, sex]\nhousehold: household\ndirect_identifiers: [name, person]\nk_required: 3\n"
    )
    town += (
        "steps:\n- remove_variables: {variables: [birth_date]}\n- recode: {variable: age, width: 10}\n- suppress: {}\n"
    )
    grid = SPEC + "steps:\n- recode: {variable: age, width: $w}\n- pram: {variables: [sex], keep: $p}\n- suppress: {}\n"
    grid += "grid:\n  w: [5, 10, 20]\n  p: [0.8, 0.95]\n"
    (folder / "report.yml").write_text(REPORT, "utf-8")
    (folder / "short.yml").write_text(SPEC, "utf-8")
    (folder / "town.yml").write_text(town, "utf-8")
    (folder / "map.yml").write_text(grid, "utf-8")
    for page in pages:
        for text in re.findall(r"^```text\n(.*?)^```$", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE):
            if page.name == "recipes.md" and "," in text.splitlines()[0]:
                (folder / "education.csv").write_text(text, "utf-8")


KANON_LAB = [sys.executable, "-m", "kanon_lab"]


def run(line: str, folder: Path) -> None:
    """Run one command in a folder of its own, and keep what it says beside what it writes."""
    folder.mkdir()
    environment = os.environ | {"COLUMNS": "100", "PYTHONHASHSEED": "0"}
    done = subprocess.run([*KANON_LAB, *shlex.split(line)], cwd=folder, env=environment, capture_output=True, text=True)
    said = f"kanon-lab {line}\nexit code {done.returncode}\n\n{done.stdout}\n--- standard error\n{done.stderr}"
    (folder / SAID).write_text(said, "utf-8")
    print(f"{folder.name}: {done.returncode}", flush=True)


def notebooks(built: Path, folder: Path) -> None:
    """What executed notebooks record and show."""
    for path in sorted(built.glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        outputs = [each for cell in cells for each in cell.get("outputs", [])]
        entries = [each["metadata"]["kanon_lab"] for each in outputs if "kanon_lab" in each.get("metadata", {})]
        shown = [each.get("text") or each.get("data") for each in outputs]
        target = folder / f"notebook-{path.stem}"
        target.mkdir()
        for name, content in (("recorded", {each["name"]: each for each in entries}), ("shown", shown)):
            (target / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False), "utf-8")


def masked(path: Path, roots: list[Path]) -> bytes:
    """The content of a file, without what changes from run to run."""
    if path.suffix not in PLAIN:
        return path.read_bytes()
    text = path.read_text("utf-8")
    for root in roots:
        text = re.sub(rf"{re.escape(str(root))}[\w./-]*/", "FOLDER/", text)
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    return text.encode()


def make(folder: Path, checkout: Path, built: Path, only: str) -> None:
    pages = [*sorted((checkout / "book").glob("*.md")), checkout / "README.md"]
    write_inputs(folder / INPUTS, pages)
    lines = {re.sub(r"[^\w.=,-]+", "_", line.replace("../inputs/", "").replace("--", "-")): line for line in commands()}
    for page in pages:
        for number, (line, text) in enumerate(recipes([page]), start=1):
            name = f"{page.stem}-{number}-{line.split()[0]}"
            (folder / INPUTS / f"{name}.yml").write_text(text, "utf-8")
            lines[name] = line.replace("NAME", name)
    wanted = {
        name: line for name, line in lines.items() if only in name and (only or not (folder / name / SAID).exists())
    }
    for name in wanted:
        shutil.rmtree(folder / name, ignore_errors=True)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: run(wanted[name], folder / name), wanted))
    for old in folder.glob("notebook-*"):
        shutil.rmtree(old)
    notebooks(built, folder)
    roots = [folder.resolve(), checkout.resolve(), Path(sys.prefix), Path(tempfile.gettempdir())]
    kept = folder / "masked"
    shutil.rmtree(kept, ignore_errors=True)
    manifest = {}
    for path in sorted(each for each in folder.rglob("*") if each.is_file() and each.parent != folder):
        name = path.relative_to(folder)
        if name.parts[0] in lines or name.parts[0].startswith("notebook-"):
            content = masked(path, roots)
            (kept / name).parent.mkdir(parents=True, exist_ok=True)
            (kept / name).write_bytes(content)
            manifest[str(name)] = hashlib.sha256(content).hexdigest()
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), "utf-8")
    print(f"{len(manifest)} outputs of {len(wanted)} commands in {folder}")


def compare(folder: Path, before: Path, lines: int, only: str) -> int:
    """Print what differs, and return how many outputs do."""
    new, old = (json.loads((each / MANIFEST).read_text("utf-8")) for each in (folder, before))
    differing = sorted(name for name in {*new, *old} if only in name and new.get(name) != old.get(name))
    for name in differing:
        if name not in new or name not in old:
            print(f"{name}: only {'after' if name in new else 'before'}")
            continue
        print(f"{name}: differs")
        if Path(name).suffix in PLAIN:
            texts = [(each / "masked" / name).read_text("utf-8").replace("><", ">\n<") for each in (before, folder)]
            found = difflib.unified_diff(*(text.splitlines() for text in texts), "before", "after", "", "", 0, "")
            shown = [f"    {line[:200]}" for line in found if not line.startswith(("---", "+++", "@@"))]
            print("\n".join(shown[:lines]))
    print(f"{len(differing)} of {len({*new, *old})} outputs differ")
    return len(differing)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--compare", type=Path, metavar="BEFORE", help="another such folder: only say what differs")
    parser.add_argument("--lines", type=int, default=12, help="of each difference")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="whose book and README are read")
    parser.add_argument("--built", type=Path, help="executed notebooks; default: those that make book made there")
    parser.add_argument("--only", default="", metavar="PART", help="of names of outputs: these alone")
    given = parser.parse_args()
    if given.compare:
        sys.exit(bool(compare(given.folder, given.compare, given.lines, given.only)))
    built = given.built or given.checkout / "_build" / "notebooks"
    make(given.folder, given.checkout, built, given.only)
