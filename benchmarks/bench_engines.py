"""A register of persons on disk: `kanon-lab measure` by each engine under 2 GB, beside DuckDB's own GROUP BY.

The file has municipality, sex and date of birth. What is timed is a whole process, start-up included; the memory engine
has no limit. ``--large`` is 47 million persons.
"""

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec

from harness import Question, Task, files

NAMES, MEMORY = "place,sex,birth_date", "2GB"
BARE = """
import json, sys, duckdb
file, names, memory, spill = sys.argv[1:]
classes = f"SELECT count(*) AS f_k FROM read_parquet('{file}') GROUP BY {names}"
connection = duckdb.connect(config={"memory_limit": memory, "temp_directory": spill})
connection.execute("SET enable_progress_bar = false")
found = connection.execute(f"SELECT count(*), count(*) FILTER (f_k = 1) FROM ({classes})").fetchone()
print(json.dumps(dict(zip(["classes", "sample_uniques"], found))))
"""


def said(*words, program=("-m", "kanon_lab")):
    return subprocess.run([sys.executable, *program, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def register(persons):
    path = files() / f"register-{persons}.parquet"
    if not path.exists():
        said("data", "make", "register", "--persons", str(persons), "--out", str(path))
    return path


def without(*needs):
    """Which of the packages and programs that an engine needs are not there."""
    absent = [each for each in needs if not (find_spec(each) or shutil.which(each))]
    return f"not installed: {', '.join(absent)}" if absent else ""


def measured(engine):
    def run(path):
        limits = ["--memory", MEMORY, "--spill", str(path.parent)] if engine != "memory" else ["--memory", "1000GB"]
        return said("measure", str(path), "--keys", NAMES, "--json", "--engine", engine, *limits)

    return run


def total(printed):
    found = json.loads(printed)
    return f"{found['classes']:,} classes, {found['sample_uniques']:,} of one person"


QUESTION = Question(
    "Measures of a register on disk, three keys",
    register,
    {
        "kanon-lab, memory": measured("memory"),
        "kanon-lab, duckdb": Task(measured("duckdb"), needs=lambda: without("duckdb")),
        "kanon-lab, spark": Task(measured("spark"), needs=lambda: without("pyspark", "java")),
        "DuckDB, GROUP BY alone": Task(
            lambda path: said(str(path), NAMES, MEMORY, str(path.parent), program=("-c", BARE)), needs="duckdb"
        ),
    },
    unit="persons",
    large=47_000_000,
    answer=total,
    agree=True,
    processes=True,
    sizes=(250_000, 1_000_000, 4_000_000, 12_000_000),
)
