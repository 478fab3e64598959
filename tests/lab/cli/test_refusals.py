"""What every command refuses: one line on standard error, exit code 2, and nothing else said or written."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kanon_lab.cli import run

RECIPE = "key_variables: [region, sex, age]\ndirect_identifiers: [name]\nsteps:\n- suppress: {k_required: 2}\n"
CONFIG = "key_variables: [region, age]\nlimits: {k: 3}\n"
FILES = {
    "recipe.yml": RECIPE,
    "map.yml": f"{RECIPE.replace('k_required: 2', 'k_required: $k')}grid: {{k: [2, 3]}}\n",
    "a.yml": CONFIG,
    "b.yml": CONFIG,
    "c.html": CONFIG,
    "h.html": "1,a\n",
    "noise.yml": "key_variables: [region, sex, age]\nsteps:\n- add_noise: {variables: [one]}\n"
    "- round: {variable: one, base: 5}\n- renumber: {variables: [unit]}\n",
    "mean.yml": "key_variables: [region, sex, age]\nsteps:\n- top_code: {variable: one, above: 9, value: mean}\n",
    "noisy.yml": "key_variables: [sex, age]\nsteps:\n- add_noise: {variables: [w], strength: 0.1}\n",
    "heavy.yml": "key_variables: [sex, age]\nweight: w\nsteps:\n- round: {variable: w, base: 5}\n",
    "absent-name.yml": RECIPE.replace("name", "nome"),
    "absent-step.yml": f"{RECIPE}- round: {{variable: oen, base: 5}}\n",
    "groups.yml": "key_variables: [region]\nsteps:\n- recode: {variable: region, groups: {north: ['02']}}\n",
    "strata.yml": "key_variables: [sex, age]\nstrata: [region]\nsteps:\n- suppress: {k_required: 2}\n",
    "h.yml": f"{CONFIG}steps: [{{recode: {{variable: age, hierarchy: {{file: h.html}}, level: 1}}}}]\n",
}
# What is typed after kanon-lab, and what the line says. A row that begins with a dot goes on with the last command.
TABLE = """
--absent                                                | No such option
absent                                                  | No such command 'absent'
data absent                                             | No such command 'absent'. (see kanon-lab data --help)
data list --absent                                      | No such option
data list more                                          | unexpected extra argument
data path                                               | Missing argument 'NAME'
data path absent                                        | absent: no such data set; there are spain-2010
data path absent --json                                 | absent: no such data set
data path ine-33570                                     | fetch it with: kanon-lab data fetch ine-33570
data fetch absent                                       | no such data set
data make absent                                        | No such command 'absent'. (see kanon-lab data make --help)
data make register                                      | Missing option '--out'
data make register --out r.csv                          | r.csv: its name does not end in .parquet
data make register --out gone/r.parquet                 | gone/r.parquet: its folder does not exist
data make register --out survey.parquet                 | survey.parquet: already exists
data make register --out r.parquet
. --persons 0                                           | persons must be a whole number from 1 to 47,021,031, not 0
. --persons 47021032                                    | persons must be a whole number from 1 to 47,021,031
. --persons many                                        | 'many' is not a valid integer
. --seed -1                                             | seed must be a whole number from 0

population                                              | Missing argument
population ''                                           | is empty
population spain-2010
. --dates decade                                        | --dates 'decade': write day, month, year, or NAME=PERIODS
. --dates week=0                                        | --dates 'week=0'
. --dates x=5 --dates x=6                               | --dates 'x=6': this name has its periods already
. --dates day=5                                         | --dates 'day=5'
. --ranges 5-2                                          | 5-2
. --by village                                          | --by
. --pool-ages old                                       | --pool-ages 'old': write an age in years
. --pool-ages 87                                        | 87
. --year 1999                                           | spain-2010: holds 2010 only; leave out the year
. --columns place                                       | columns 'place': write NAME=COLUMN

lab '' --no-open                                        | name the working folder before --
lab -- --port 9000                                      | name the working folder before --
lab --absent                                            | No such option
book --language ca                                      | 'ca' is not one of 'en', 'es'
book nowhere                                            | no book in this folder: build it with make book

audit --source golle-2006                               | unknown source
audit --source ''                                       | --source is empty
audit --year 2010                                       | --year and --columns go with --population
audit --population no-such-file.px                      | no such file
audit --figure ''                                       | the figure_id is empty
audit --figure aepd/tabla-1/1/ages                      | aepd/tabla-1/1/age
audit --figure golle-2006/table-1/1/share               | it begins with no source
audit --figure aepd/tabla-1/1/age --source garin-1996   | --figure is one of aepd: leave out --source
audit --figure aepd/tabla-1/1/age --population spain-2010 | aepd is recomputed from its own tables

measure '' --keys a                                     | FILE is empty
measure survey.csv
.                                                       | Missing option '--keys'
. --keys ''                                             | --keys ''
. --keys region,,sex                                    | --keys 'region,,sex': write names of columns
. --keys '"region'                                      | --keys '"region'
. --keys region,region                                  | named twice
. --keys regoin,sex                                     | did you mean region?
. --keys regoin                                         | the first row has the names of the columns
. --keys region --missing error                         | row 2 (and
. --keys region --missing drop                          | --missing
measure survey.csv --keys region
. --weight region                                       | region is a key variable and weight
. --weight W                                            | did you mean w?
. --weight sex                                          | column sex
. --weight ''                                           | --weight is empty; name a column, or leave it out
. --weight w --weight hh                                | --weight is given 2 times; name one column
. --household ' '                                       | --household is empty
. --household age                                       | no household
. --sensitive region                                    | region is a key variable and sensitive
. --sensitive ''                                        | --sensitive
. --k 0                                                 | --k '0': write whole numbers from 1 on
. --k 2,x                                               | --k '2,x'
. --k ''                                                | --k ''
. --threshold 1.5                                       | --threshold '1.5'
. --threshold -0.1                                      | --threshold '-0.1'
. --threshold nan                                       | --threshold 'nan'
. --threshold '0.1;0.2'                                 | numbers from 0 to 1 with a point
. --threshold 0.1,                                      | --threshold '0.1,'
. --threshold ''                                        | --threshold ''
. --fail-under-k 1.5                                    | --fail-under-k '1.5': write a whole number from 1 on
. --fail-under-k 2,3                                    | --fail-under-k '2,3'
. --fail-under-k ''                                     | --fail-under-k ''
. --estimator guess                                     | --estimator
. --distance hierarchical                               | --distance
. --sensitive s --recursive-c -1                        | above 0
. --sensitive s --recursive-c nan                       | above 0
. --recursive-c inf                                     | at most 1,000,000
. --recursive-c 1e308                                   | at most 1,000,000
. --sensitive hh --bands hh                             | --bands 'hh': write a variable and rising edges
. --sensitive hh --bands =1                             | --bands '=1'
. --sensitive hh --bands hh=                            | --bands 'hh='
. --sensitive hh --bands hh=2,1                         | --bands 'hh=2,1'
. --sensitive hh --bands hh=a                           | --bands 'hh=a'
. --sensitive hh --bands hh=nan                         | --bands 'hh=nan'
. --sensitive hh --bands one=1                          | bands
. --missing-codes P3                                    | --missing-codes, number 1: write a variable and its codes
. --missing-codes =88                                   | --missing-codes, number 1: write
. --missing-codes P3=                                   | --missing-codes, number 1: write
. --missing-codes P3=88,                                | --missing-codes, number 1: write
. --missing-codes ' =1'                                 | --missing-codes, number 1: write
. --missing-codes regoin=88                             | survey.csv: no column regoin; did you mean region?
. --memory 0                                            | --memory '0': write a whole number of bytes
. --memory -1                                           | --memory '-1'
. --memory many                                         | --memory 'many'
. --memory 1.5GB                                        | --memory '1.5GB'
. --memory ''                                           | --memory ''
. --memory 999999999999999999999999999999               | --memory
. --engine polars                                       | --engine
. --engine duckdb --spill nowhere                       | nowhere: is not a folder
. --engine duckdb --missing-codes regoin=88             | survey.csv: no column regoin; did you mean region?
. --engine duckdb --missing error                       | row 2 (and 33 more): a missing value in column region
. --classes counts.parquet                              | --classes takes the place of FILE
. --save-classes counts.csv                             | counts.csv: counts are saved as .parquet
. --save-classes counts.parquet --household hh          | counts by household are records of persons

measure                                                 | name a FILE, or counts that were saved
measure --classes survey.csv                            | survey.csv: is not a Parquet file, or is cut short
measure --classes absent.parquet                        | absent.parquet: no such file
measure survey.xlsx --keys region --engine duckdb       | survey.xlsx: duckdb reads .parquet, .csv and .csv.gz only
measure absent.csv --keys region --engine duckdb        | absent.csv: no such file

subsample '' --keys sex                                 | FILE is empty
subsample survey.csv --keys sex,one
.                                                       | fraction: give the sampling fraction
. --fraction 1                                          | fraction must be a number from 1e-9 to below 1, not 1.0
. --fraction nan                                        | fraction must be a number from 1e-9 to below 1, not nan
. --fraction many                                       | 'many' is not a valid float
. --fraction 0.1 --weight w                             | fraction: the weights in w say
. --weight w --fixed-size                               | not for weights
. --weight one                                          | one is a key variable and weight
. --fraction 0.1 --repeats 0                            | repeats must be a whole number from 1 to 100,000
. --fraction 0.1 --repeats 4611686018427387904          | repeats must be a whole number from 1 to 100,000
. --fraction 0.1 --seed -1                              | seed must be a whole number
. --fraction 0.1 --p-a 2                                | p_a must be a number from 0 to 1
. --fraction 0.1 --keys agee2                           | no column agee2; did you mean age?
. --fraction 0.1 --cluster clu                          | no column clu
. --fraction 0.1 --cluster constant                     | column constant: all records are in one unit
. --fraction 0.1 --household home --cluster unit        | column home: row 32 (and 269 more): another
. --fraction 0.1 --cluster-fraction 0.5                 | cluster_fraction: name the column of clusters as well
. --fraction 0.1 --missing none                         | 'none' is not one of

init absent.csv                                         | absent.csv: no such file
init ''                                                 | FILE is empty; name a file
init                                                    | Missing argument 'FILE'
init health-survey --out no/such/r.yml                  | no/such/r.yml
init health-survey --out a.yml                          | a.yml: already exists; choose another name (--out)

protect survey.csv --recipe recipe.yml                  | --out is not given
protect survey.csv --out o.csv                          | Missing option '--recipe'
protect '' --recipe recipe.yml --out o.csv              | FILE is empty
protect survey.csv --out o.csv
. --recipe ''                                           | is a folder
. --recipe .                                            | is a folder
. --recipe absent.yml                                   | absent.yml: no such file
. --recipe survey.xlsx                                  | survey.xlsx:
. --recipe survey.csv                                   | survey.csv:
. --recipe recipe.yml --k 3                             | No such option
. --recipe recipe.yml --fail-under-k x                  | --fail-under-k 'x'
protect absent.csv --recipe recipe.yml --out o.csv      | absent.csv: no such file
protect helth-survey --recipe recipe.yml --out o.csv    | neither a data set
protect spain-2010 --recipe recipe.yml --out o.csv      | holds no records of persons
protect health-survey --recipe recipe.yml --out o.csv   | recipe.yml: column region is not there
protect survey.csv --recipe recipe.yml
. --out ''                                              | must end in one of .csv
. --out o.txt                                           | must end in one of .csv
. --out .                                               | must end in one of
. --out absent/o.csv                                    | its folder does not exist
protect survey.csv --recipe recipe.yml --engine duckdb
. --out o.parquet                                       | o.parquet: an engine writes the format of FILE
. --out o.csv --neutralise                              | protect in memory (--engine memory)
. --out o.csv --spill absent                            | absent: is not a folder
. --out o.csv --missing-codes regoin=1                  | no column regoin; did you mean region?
. --dry-run --recipe noise.yml                          | steps 1 (add_noise), 3 (renumber) need all records
. --dry-run --recipe mean.yml                           | step 1 (top_code): a mean needs all records
. --dry-run --recipe heavy.yml                          | step 1 (round): an engine recodes no weight
. --dry-run --recipe absent-name.yml                    | survey.csv: no column nome; did you mean
. --dry-run --recipe absent-step.yml                    | survey.csv: no column oen
. --dry-run --recipe groups.yml                         | step 1 (recode): column region: in some records:
. --dry-run --recipe strata.yml                         | column region, a stratum, has no value in 34 records
protect survey.xlsx --recipe recipe.yml --engine duckdb --dry-run | reads .parquet, .csv and .csv.gz only

map '' --recipe map.yml                                 | FILE is empty
map survey.csv --recipe map.yml
. --at-most 5                                           | --at-most '5': write a share from 0 to 1
. --at-most x --risk expected_reidentifications         | write a number from 0 on
. --risk granularity                                    | granularity is not a risk
. --loss granularty                                     | did you mean granularity
. --loss il1s --workers 1                               | no recipe of the map has both global_risk and il1s
. --repeats 0                                           | --repeats '0': write a whole number from 1 on
. --workers two                                         | --workers 'two'
. --write-recipe x.yml                                  | needs limits in the recipe, or --at-most
. --at-most 1 --out x.csv --write-recipe ./x.csv        | x.csv: --out and --write-recipe name the same file
. --out map.txt                                         | its name must end in one of
. --out absent/map.csv                                  | its folder does not exist

report survey.csv --out r.html                          | --config is not given
report '' --config a.yml --out r.html                   | FILE is empty
report h.html --config a.yml --out h.html               | h.html: the output path is equal to the input
report survey.csv --config c.html --out c.html          | c.html: the output path is equal to the configuration
report survey.csv --config h.yml --out h.html           | h.html: the output path is equal to the hierarchy file
report survey.csv --config c.yml --out r.html           | c.yml: no such file
report survey.csv --config a.yml
.                                                       | --out is not given
. --out r.csv                                           | r.csv: the name of a report must end in .html
. --out gone/r.html                                     | r.html: its folder does not exist
. --out gone/on/                                        | --out on: no folder can be made there
. --out kept.html                                       | kept.failed.ipynb: is a folder
. --config c.yml --out {name}.html                      | c.yml: no such file
. --config b.yml --out r.html                           | two configurations would write
. --config a.yml --out r.html                           | two configurations would write
. --config heavy.yml --out {name}.html --engine spark    | heavy.yml: step 1 (round): an engine recodes no weight
. --config noisy.yml --out {name}.html --engine duckdb   | noisy.yml: steps 1 (add_noise) need all records at once
. --out r.html --engine duckdb --protected o.parquet    | o.parquet: an engine writes the format of FILE
. --out r.html --engine duckdb --spill nowhere          | nowhere: is not a folder
report survey.xlsx --config a.yml --out r.html --engine duckdb | reads .parquet, .csv and .csv.gz only
report survey.csv --config a.yml
. --out r.html --set sed=1                              | unknown setting sed; did you mean
. --out r.html --overwrite                              | --overwrite is for the protected file
. --config b.yml --out {name}.html --protected p.csv    | --protected: several configurations write several files
"""
# What no line of a table can hold: long texts, and letters that command a terminal or are none.
ODD = [
    ("population spain-2010 --dates", "x=" + "9" * 5000, "--dates"),
    ("population spain-2010 --dates", "\udcff=5", "is not text in UTF-8"),
    ("population spain-2010 --pool-ages", "9" * 5000, "--pool-ages"),
    ("population spain-2010 --place", "\x1b[31m", "no such municipality"),
    ("population", "\x1b[31m\u202e.csv", "no such file"),
    ("population", "\udcff\x1b[31m\u202e.csv", "is not text in UTF-8"),
    ("audit --figure", "\x1b[31m" * 500, "begins with no source"),
    ("measure survey.csv --keys region --na", "\udcff", "is not text in UTF-8"),
    ("report survey.csv --config a.yml --out", "\udcff.html", "is not text in UTF-8"),
    ("protect survey.csv --recipe a.yml --out o.csv --overwrite", "\udcff", "is not text in UTF-8"),
    ("measure survey.csv --keys", "\x1b[31m", "no column"),
    ("measure survey.csv --keys", "x" * 5000, "no column"),
    ("measure survey.csv --keys region --k", "9" * 5000, "whole numbers from 1 on"),
    ("report survey.csv --config a.yml --out", f"{'x' * 300}.html", "xxx...: cannot be written"),
    ("report survey.csv --config a.yml --out", f"{'x' * 240}.html", "a name of more than 200 bytes"),
    ("report survey.csv --out r.html --config", "gone/a\tb\x1b.yml", r"kanon-lab: a\tb\x1b.yml: no such file"),
]


def rows():
    """Each row of the tables as arguments and fault."""
    last = ""
    for line in filter(None, map(str.strip, TABLE.splitlines())):
        typed, sign, fault = (part.strip() for part in line.partition(" | "))
        if not typed.startswith("."):
            last = typed
        if sign:
            yield shlex.split(last + typed[1:] if typed.startswith(".") else typed), fault
    for typed, argument, fault in ODD:
        yield [*shlex.split(typed), argument], fault


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file with a value missing now and then, and settings for every command."""
    folder, n, rng = tmp_path_factory.mktemp("refused"), 300, np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "region": rng.choice(["01", "02", "13"], n),
            "age": rng.choice([20, 30, 40, 50], n).astype(float),
            "sex": rng.choice(["man", "woman"], n),
            "w": rng.choice([1.5, 2.5, 10], n),
            "hh": np.arange(n) // 3,
            "s": rng.choice(["flu", "cold", "none"], n),
            "one": rng.integers(0, 80, n),
            "unit": range(n),
            "home": [i % 30 for i in range(n)],
            "constant": 1,
            "name": [f"name {i}" for i in range(n)],
        }
    )
    frame.loc[::9, ["region", "age"]] = None
    frame.to_csv(folder / "survey.csv", index=False)
    frame.to_excel(folder / "survey.xlsx", index=False)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    frame.to_parquet(folder / "survey.parquet")
    (folder / "kept.failed.ipynb").mkdir()
    return folder


@pytest.mark.parametrize(("args", "fault"), list(rows()), ids=lambda each: ascii(each)[:60] * isinstance(each, list))
def test_a_refusal_is_one_line_and_exit_code_2(capsys, folder, monkeypatch, args, fault):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("kanon_lab.files.cache_folder", lambda: folder / "no cache")
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert run(args) == 2
    out, err = capsys.readouterr()
    assert out == "" and fault in err
    assert err.startswith("kanon-lab: ") and err.count("\n") == 1 and err.removesuffix("\n").isprintable()
    assert len(err) < 500
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.mark.parametrize(("megabytes", "typed"), [(200, "measure"), (1000, "report"), (1000, "duckdb")])
def test_too_little_memory_for_the_libraries_is_one_line(folder, megabytes, typed):
    """They would end the process, or load for ever."""
    pytest.importorskip("resource")
    commands = {
        "measure": "measure survey.csv --keys region",
        "duckdb": "measure survey.csv --keys region --engine duckdb",
        "report": "report survey.csv --config a.yml --out small.html",
    }
    code = (
        "import resource, sys; from kanon_lab.cli import run\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({megabytes} * 10**6,) * 2)\n"
        f"sys.exit(run({commands[typed].split()}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"only {megabytes:,} MB of memory are allowed to a process here" in done.stderr


def test_a_file_may_have_a_name_that_is_not_text(capsys, tmp_path):
    """Names of older systems, such as a\\xf1o.csv in Windows-1252."""
    file = os.fsdecode(os.fsencode(tmp_path) + b"/a\xf1o.csv")
    Path(file).write_text("age,sex\n30,f\n30,f\n41,m\n", encoding="utf-8")
    (tmp_path / "r.yml").write_text("key_variables: [age]\n", encoding="utf-8")
    recipe = ["--recipe", str(tmp_path / "r.yml"), "--out", str(tmp_path / "out.csv")]
    for args in (["measure", file, "--keys", "age", "--json"], ["protect", file, *recipe, "--json"]):
        assert run(args) == 0
        assert json.loads(capsys.readouterr().out)["n"] == 3
    assert run(["report", file, "--config", str(tmp_path / "r.yml"), "--out", str(tmp_path / "r.html")]) == 2
    assert "its path is not text in UTF-8; rename its file" in capsys.readouterr().err
