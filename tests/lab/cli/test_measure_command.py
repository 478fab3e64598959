"""``kanon-lab measure``."""

import json
import os
import subprocess
import sys
from functools import partial
from random import Random

import pandas as pd
import pyreadstat
import pytest
from cases import others_slow
from processes import hear_signals

from kanon_lab.cli import run
from kanon_lab.cli.measure import _ESTIMATORS
from kanon_lab.measures import ESTIMATORS, measure
from kanon_lab.roles import KeySpec

WRITERS = {
    "csv": partial(pd.DataFrame.to_csv, index=False),
    "csv.gz": partial(pd.DataFrame.to_csv, index=False),
    "parquet": pd.DataFrame.to_parquet,
    "xlsx": partial(pd.DataFrame.to_excel, index=False),
    "sav": pyreadstat.write_sav,
    "dta": pyreadstat.write_dta,
}
# The contract of the command: what its JSON holds at least.
CONTRACT = """n keys missing classes k_achieved sample_uniques violations estimator global_risk
expected_reidentifications household_risk expected_household_reidentifications sum_population_frequency
diversity""".split()
ROLES = ["--keys", "region,age", "--keys", "sex", "--weight", "w", "--household", "hh", "--sensitive", "s"]
SPEC = KeySpec(["region", "age", "sex"], weight="w", household="hh", sensitive_variables=["s"])


def a_file(records=80):
    """A file with a value missing now and then in every key and in the sensitive variable."""
    random = Random(37003)

    def cell(values, share=0.15):
        return None if random.random() < share else random.choice(values)

    frame = pd.DataFrame(
        {
            "region": [cell(["01", "02", "13"]) for _ in range(records)],
            "age": [cell([20, 30, 40, 50]) for _ in range(records)],
            "sex": [cell(["man", "woman"]) for _ in range(records)],
            "w": [random.choice([1, 2.5, 10, 40]) for _ in range(records)],
            "hh": [random.randrange(records // 3) for _ in range(records)],
            "s": [cell(["flu", "cold", "none"]) for _ in range(records)],
            "SECRET": "SECRET",
        }
    )
    return frame.astype({"region": "str", "sex": "str", "s": "str", "age": float})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same file in every format, by its extension."""
    folder = tmp_path_factory.mktemp("survey")
    for form, write in WRITERS.items():
        write(a_file(), folder / f"survey.{form}")
    return {form: folder / f"survey.{form}" for form in WRITERS}


@pytest.fixture
def write(tmp_path):
    def _write(text):
        (tmp_path / "survey.csv").write_text(text)
        return tmp_path / "survey.csv"

    return _write


def call(capsys, *args):
    """Exit code, standard output and standard error of one command."""
    code = run([str(arg) for arg in args])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("missing", ["wildcard", "category"])
@pytest.mark.parametrize("form", list(WRITERS))
def test_every_format_and_policy_gives_what_the_library_gives(capsys, files, form, missing):
    options = ["--k", "3,10,2", "--estimator", "exact", "--recursive-c", "1.5", "--distance", "ordered"]
    options += ["--threshold", "0.1,1e-3", "--threshold", "0.5"]
    code, out, err = call(capsys, "measure", files[form], *ROLES, *options, "--missing", missing, "--json")
    result = json.loads(out)
    spec = KeySpec(**{**vars(SPEC), "missing": missing})
    same = {"thresholds": [0.1, 0.001, 0.5], "estimator": "exact", "recursive_c": 1.5, "distance": "ordered"}
    measured = measure(a_file(), spec, k=[3, 10, 2], **same).to_dict()
    assert (code, err) == (0, "")
    assert result.pop("file") == str(files[form]) and result.pop("audience") == "office"
    assert result == json.loads(json.dumps(measured))
    assert list(result["violations"]) == ["3", "10", "2"]
    assert list(result["records_above"]) == ["0.1", "0.001", "0.5"]
    assert set(CONTRACT) <= set(result)
    assert "SECRET" not in out.replace(str(files[form]), "")


@pytest.mark.parametrize(
    ("typed", "meant"), [("0,05", "0.05"), ("0,05;0,2", "0.05,0.2"), ("0.1,0.5", "0.1,0.5"), ("1,0.5", "1,0.5")]
)
def test_numbers_may_have_a_decimal_comma(capsys, files, typed, meant):
    outs = [
        call(capsys, "measure", files["csv"], *ROLES, "--threshold", shares, "--recursive-c", c)[1]
        for shares, c in ((typed, "1,5"), (meant, "1.5"))
    ]
    assert outs[0] == outs[1] and "records with a risk above" in outs[0]
    code, _, err = call(capsys, "measure", files["csv"], *ROLES, "--recursive-c", "1,234")
    assert code == 2 and "'1,234' is not" in err


def test_a_missing_key_under_the_policy_error(capsys, files):
    code, out, err = call(capsys, "measure", files["csv"], *ROLES, "--missing", "error")
    row = int(a_file()["region"].isna().to_numpy().argmax()) + 2
    assert (code, out) == (2, "")
    assert f"row {row}" in err
    assert "column region" in err


def test_without_a_household_its_measures_are_null(capsys, files):
    code, out, _ = call(capsys, "measure", files["parquet"], "--keys", "region,sex", "--json")
    result = json.loads(out)
    assert code == 0
    assert result["household_risk"] is result["expected_household_reidentifications"] is result["weight"] is None
    assert result["expected_persons_in_reidentified_households"] is result["with_household_size"] is None
    assert result["diversity"] == {}
    assert "every weight is 1" in result["notes"][0]
    assert "meant for a sample with its weights" in result["notes"][0]


@pytest.mark.parametrize(("k", "code"), [(1, 0), (2, 0), (3, 1)])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_fail_under_k(capsys, write, k, code, form):
    file = write("a,b\n1,x\n1,x\n2,y\n2,y\n2,y\n")
    found, out, err = call(capsys, "measure", file, "--keys", "a,b", "--fail-under-k", k, *form)
    assert found == code
    assert "k" in out
    assert err.count("\n") == code
    assert not code or "k achieved is 2, below 3" in err
    if form:
        assert json.loads(out)["k_achieved"] == 2


@pytest.mark.parametrize(("k", "code"), [(2, 0), (3, 1)])
@pytest.mark.parametrize("form", others_slow([[], ["--json"]]))
def test_fail_under_k_holds_where_nobody_reads_the_result(write, k, code, form):
    file = write("a,b\n1,x\n1,x\n")
    read, written = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "kanon_lab", "measure", file, "--keys", "a,b", "--fail-under-k", str(k), *form]
    done = subprocess.run(command, stdout=written, stderr=subprocess.PIPE, text=True)
    os.close(written)
    assert done.returncode == code
    assert done.stderr.count("\n") == code


def test_two_spellings_of_a_number_are_pointed_out(capsys, write):
    _, out, _ = call(capsys, "measure", write("a\n1\n1.0\n"), "--keys", "a", "--json")
    assert "two spellings" in json.loads(out)["notes"][-1]


def test_output_for_people(capsys, files):
    code, out, err = call(capsys, "measure", files["csv"], *ROLES)
    assert (code, err) == (0, "")
    for text in [
        "80 records",
        "region, age, sex",
        "wildcard",
        "weight: w",
        "household: hh",
        "k achieved",
        "f_k below 5",
        "a risk above 0.05",
        "persons in such households",
        "hh: whoever has it can count the members",
    ]:
        assert text in out
    assert "benedetti-franconi" in out
    assert "Diversity of s" in out
    assert not any(value in out.split() for value in ["SECRET", "woman", "flu", "01"])


def test_texts_that_may_mean_missing_are_pointed_out(capsys, write):
    file = write("a,s\n1,x\nNA,y\n")
    args = ["measure", file, "--keys", "a", "--sensitive", "s", "--json"]
    _, out, _ = call(capsys, *args)
    assert "a: NA is taken as a value" in json.loads(out)["notes"][-1]
    assert json.loads(out)["k_achieved"] == 1
    _, out, _ = call(capsys, *args, "--na", "NA")
    assert "NA" not in "".join(json.loads(out)["notes"])
    assert json.loads(out)["k_achieved"] == 2


def test_a_column_with_a_comma_in_its_name(capsys, write):
    file = write('"a,b",c\n1,2\n1,2\n')
    code, out, _ = call(capsys, "measure", file, "--keys", '"a,b", c', "--json")
    assert code == 0
    assert json.loads(out)["keys"] == ["a,b", "c"]


def test_a_name_cannot_command_the_terminal(capsys, write):
    file = write("\x1b[31mred,s\x07\n1,NA\n2,b\n")
    code, out, _ = call(capsys, "measure", file, "--keys", "\x1b[31mred", "--sensitive", "s\x07")
    assert code == 0
    assert out.replace("\n", "").isprintable()


def test_a_data_set_of_the_catalogue(capsys):
    keys = ["--keys", "postcode,age,sex", "--weight", "weight", "--household", "household", "--sensitive", "diagnosis"]
    code, out, _ = call(capsys, "measure", "health-survey", *keys, "--json")
    assert code == 0
    assert 0 < json.loads(out)["global_risk"] < 1


def test_choices_are_those_of_the_library():
    assert list(ESTIMATORS) == _ESTIMATORS


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a,w\n1,2\n1,x\n", "row 3: a weight that is not a number in column w"),
        ("a,w\n1,2\n\n1,x\n1,y\n", "row 4 (and 1 more): a weight that is not a number in column w"),
        ("a,w\n1,1e308\n1,1e308\n", "row 2 (and 1 more): a weight too large to be added up in column w"),
        ('a,w\n1,2\n1,"3\n1,"2\n', "row 3: there is text after a closing quotation mark"),
        ("a,w\n1,2\n1,0\n", "row 3: a weight that is not above 0 in column w"),
        ("a,w\n1,2\n1,-1\n", "row 3: a weight that is not above 0 in column w"),
        ("a,w\n1,2\n1,\n", "row 3: a missing weight in column w"),
        ("a,w\n1,2\n1,1e999\n", "row 3: an infinite weight in column w"),
        ("a,w\n1,2\n2,0.5\n", "row 3: the weights"),
        ("a,w\n", "has no records"),
        ("a,b\n1,2\n", "no column w"),
        ("a,w,w\n1,2,2\n", "same name"),
        ("a,w\n1,2,3\n", "row 2: more cells"),
        ("", "is empty"),
    ],
)
def test_faulty_files_are_one_line_and_exit_code_2(capsys, write, text, fault):
    code, out, err = call(capsys, "measure", write(text), "--keys", "a", "--weight", "w")
    assert (code, out) == (2, "")
    assert fault in err
    assert err.count("\n") == 1


def test_a_quantity_is_measured_in_bands(capsys, write):
    """Incomes of 900, 1000, 1999 and 2000 are in three bands closed on the left: below 1000, to 2000, and the rest."""
    path = write("place,income\n1,900\n1,1000\n1,1999\n1,2000\n")
    options = ["--keys", "place", "--sensitive", "income", "--bands", "income=1000,2000", "--json"]
    code, out, _ = call(capsys, "measure", path, *options)
    result = json.loads(out)
    assert code == 0
    assert result["diversity"]["income"]["distinct"] == 3
    assert result["diversity"]["income"]["alpha"] == 0.5
    assert any("measured in bands" in note for note in result["notes"])


def test_a_column_of_lists_is_named_in_one_line(tmp_path, capsys):
    pd.DataFrame({"a": [1, 2], "b": [["SECRET"], ["c", "d"]]}).to_parquet(tmp_path / "x.parquet")
    assert run(["measure", str(tmp_path / "x.parquet"), "--keys", "b"]) == 2
    told = capsys.readouterr().err
    assert "column b holds lists or the like" in told and told.count("\n") == 1 and "SECRET" not in told


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_process_asked_to_end_leaves_no_half_written_file(tmp_path, name, code):
    process = (
        "import os, signal, sys\n"
        "from kanon_lab import cli, files\n"
        "def run(args):\n"
        "    with files.atomic_path('out.csv') as draft:\n"
        "        draft.write_text('half')\n"
        "        os.kill(os.getpid(), getattr(signal, sys.argv[1]))\n"
        "cli.run = run\n"
        "cli.main([])"
    )
    command = [sys.executable, "-c", process, name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, preexec_fn=hear_signals)
    assert (done.returncode, done.stderr, list(tmp_path.iterdir())) == (code, "", [])


WHILE_LOADED = """
import builtins, os, signal
from kanon_lab import __main__
load = builtins.__import__
def interrupted(name, *args, **options):
    if name == "kanon_lab.cli":
        os.kill(os.getpid(), signal.SIGINT)
    return load(name, *args, **options)
builtins.__import__ = interrupted
__main__.main()
"""
IN_A_CALL = """
from kanon_lab import cli
def invoke(args):
    eval("interrupted()", {"interrupted": interrupted})
def interrupted():
    raise KeyboardInterrupt
cli._invoke = invoke
cli.main([])
"""


@pytest.mark.parametrize("process", [WHILE_LOADED, IN_A_CALL], ids=["while it is loaded", "in a call"])
def test_an_interrupt_is_one_line_and_a_code_whenever_it_comes(tmp_path, process):
    """Python itself tells of one before the first line of kanon_lab is run; that cannot be helped."""
    (tmp_path / "interrupted.py").write_text(process)
    command = [sys.executable, "-m", "interrupted"]  # with -m, as `python -m kanon_lab`, Python may end by the signal
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, preexec_fn=hear_signals)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "kanon-lab: interrupted\n")
