"""The protected file beside the page: the bytes of protect, both or neither; and the page for the office only."""

import hashlib
import json
import re
import warnings
from pathlib import Path

import canaries
import numpy as np
import pandas as pd
import pytest
from cases import others_slow

from kanon_lab.cli import run
from kanon_lab.data import read_microdata
from kanon_lab.errors import KanonLabError
from kanon_lab.recipes.yaml_file import dump_yaml
from kanon_lab.report import analyse, as_config, build, make_report, open_run, read_config

FORMATS = ["csv", "xlsx", "sav", "csv.gz", "parquet", "dta"]
CONFIG = {
    "title": "A report",
    "least": 12,
    "key_variables": ["region", "sex", "age"],
    "household": "home",
    "direct_identifiers": ["name"],
    "na": ["?"],
    "missing_codes": {"income": [-9]},
    "limits": {"k": 3},
    "risks": [0.1],
}
# One of each kind; which of them stand in a configuration, and the seed, is drawn.
STEPS = [
    {"recode": {"variable": "age", "bands": [0, 30, 60, None], "closed": "left"}},
    {"recode": {"variable": "region", "groups": {"rest": ["c", "d"]}, "others": "keep"}},
    {"pram": {"variables": ["sex"], "keep": 0.8}},
    {"add_noise": {"variables": ["income"], "strength": 0.1, "missing": "leave"}},
    {"microaggregate": {"variables": ["income"], "missing": "leave"}},
    {"shuffle_members": {}},
    {"round": {"variable": "income", "base": 100}},
    {"suppress": {}},
]


def a_file(records=120):
    random = np.random.default_rng(4)
    columns = {
        "name": [f"Person number {i}" for i in range(records)],
        "region": random.choice(list("abcd"), records, p=[0.5, 0.3, 0.15, 0.05]),
        "sex": random.choice(["man", "woman", "?"], records, p=[0.45, 0.45, 0.1]),
        "age": random.integers(0, 90, records),
        "home": np.arange(records) // 3,
        "income": np.where(random.random(records) < 0.1, -9, random.integers(800, 4000, records)),
    }
    return pd.DataFrame(columns)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with the survey in it."""
    a_file().to_csv(tmp_path / "survey.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(config, name="r.yml"):
    Path(name).write_text(dump_yaml(config), "utf-8")
    return name


def in_this_process(config, target, monkeypatch):
    """What the notebook does, without its process and page."""
    there = Path.cwd()
    kernel = there / "kernel"
    kernel.mkdir(exist_ok=True)
    with monkeypatch.context() as patch, warnings.catch_warnings():
        patch.chdir(kernel)
        draft = str(kernel / target)
        made = open_run(str(there / "survey.csv"), config.settings, called="r.yml", protected=draft)
        analyse(made.file, made.config, released=made.write)
    (kernel / target).replace(there / target)


@pytest.mark.parametrize("seed", others_slow([1, 2]))
@pytest.mark.parametrize("form", [*FORMATS[:3], *(pytest.param(form, marks=pytest.mark.slow) for form in FORMATS[3:])])
def test_report_and_protect_give_the_same_bytes(folder, monkeypatch, capsys, form, seed):
    random = np.random.default_rng([seed, FORMATS.index(form)])
    steps = [step for step in STEPS if random.random() < 0.7]
    if random.random() < 0.5:  # then microdata are perturbed in another order
        steps = [steps[place] for place in random.permutation(len(steps))]
    config = CONFIG | {"seed": int(random.integers(1000)), "steps": steps}
    in_this_process(read_config(written(config)), f"report.{form}", monkeypatch)
    assert run(["protect", "survey.csv", "--recipe", "r.yml", "--out", f"protect.{form}", "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert notes[0] == "title, least: of a report (kanon-lab report), and not used here"
    assert Path(f"report.{form}").read_bytes() == Path(f"protect.{form}").read_bytes()
    released = read_microdata(f"protect.{form}")
    assert len(released) == 120
    assert "name" not in released
    if not any("income" in str(step) for step in steps):
        assert -9 not in set(released["income"])
    assert "?" not in set(released["sex"])


def test_options_of_protect_stand_in_place_of_those_of_the_configuration(folder, capsys):
    written(CONFIG | {"steps": []})
    args = ["--recipe", "r.yml", "--out", "out.csv", "--missing-codes", "age=0", "--na", "NA"]
    assert run(["protect", "survey.csv", *args]) == 0
    released = read_microdata("out.csv")
    assert -9 in set(released["income"])
    assert "?" in set(released["sex"])


@pytest.mark.parametrize(("name", "near"), [("titel", "title"), ("limts", "limits"), ("missing_code", "missing_codes")])
def test_protect_names_the_nearest_of_all_settings(folder, capsys, name, near):
    written(CONFIG | {name: 3, "another": 4})
    assert run(["protect", "survey.csv", "--recipe", "r.yml", "--dry-run"]) == 2
    assert capsys.readouterr().err == f"kanon-lab: r.yml: unknown setting {name}; did you mean {near}?\n"


@pytest.fixture
def ran(folder, monkeypatch):
    """Reports whose notebook has run in this process, with a page of a word; what is met is asked for."""
    found = {"title": "A report", "records": 120, "notes": [], "judged": {"limits": [], "met": True, "cautions": []}}

    def executed(folder, parameters, *_):
        draft = Path(parameters["options"]["protected"])
        assert draft == folder / "release" / "public.csv"
        draft.write_text("sex\nman\n")
        return folder / "report.ipynb"

    monkeypatch.setattr(build, "_executed", executed)
    monkeypatch.setattr(build, "recorded", lambda path: found)
    monkeypatch.setattr(build, "report_page", lambda path, **options: f"page {options['banner']}".strip())
    written(CONFIG)
    return found


def command(*options):
    return run(["report", "survey.csv", "--config", "r.yml", "--out", "r.html", "--protected", "public.csv", *options])


def inside(folder):
    return sorted(path.name for path in folder.iterdir())


def test_page_and_file_appear_together(ran, folder, capsys):
    assert command("--json", "--fail") == 0
    digest = hashlib.sha256(b"sex\nman\n").hexdigest()
    assert json.loads(capsys.readouterr().out)["protected"] == {"file": "public.csv", "sha256": digest, "records": 120}
    assert inside(folder) == ["public.csv", "r.html", "r.yml", "survey.csv"]
    assert command() == 0  # the same bytes may be there
    assert "written: public.csv, 120 records" in capsys.readouterr().out


def test_no_file_goes_out_where_a_limit_is_not_met(ran, folder, capsys):
    ran["judged"]["met"] = False
    assert command("--json", "--fail") == 3
    out, err = capsys.readouterr()
    assert json.loads(out)["protected"] == {"file": "public.csv", "sha256": None, "records": None}
    assert err == "kanon-lab: a limit is not met (--fail); not written: public.csv\n"
    assert inside(folder) == ["r.html", "r.yml", "survey.csv"]
    assert command() == 0  # without --fail the page alone says so
    assert inside(folder) == ["public.csv", "r.html", "r.yml", "survey.csv"]


def test_another_file_is_replaced_only_where_that_is_said(ran, folder, capsys):
    (folder / "public.csv").write_text("other\n")
    assert command() == 2
    assert "public.csv: exists and holds something else; choose another name" in capsys.readouterr().err
    assert inside(folder) == ["public.csv", "r.yml", "survey.csv"]
    assert (folder / "public.csv").read_text() == "other\n"
    assert command("--overwrite") == 0
    assert (folder / "public.csv").read_text() == "sex\nman\n"


@pytest.mark.parametrize("broken", ["copyfile", "page"])
def test_neither_appears_where_one_cannot_be_written(ran, folder, monkeypatch, capsys, broken):
    def no_space(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((build.shutil, "copyfile") if broken == "copyfile" else (Path, "write_text")), no_space)
    assert command() == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert inside(folder) == ["r.yml", "survey.csv"]


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        ("survey.csv", "survey.csv: the output path is equal to the input"),
        ("link.csv", "link.csv: the output path is equal to the configuration r.yml"),
        ("ladder.csv", "ladder.csv: the output path is equal to the hierarchy file"),
        ("absent/o.csv", "o.csv: its folder does not exist"),
        ("o.txt", "o.txt: its name must end in one of"),
        ("r.html", "r.html: its name must end in one of"),
    ],
)
def test_what_is_read_is_never_replaced(folder, monkeypatch, capsys, target, fault):
    (folder / "ladder.csv").write_text("a,x\nb,x\nc,y\nd,y\n")
    step = {"recode": {"variable": "region", "hierarchy": {"file": "ladder.csv"}, "level": 1}}
    written(CONFIG | {"steps": [step]})
    (folder / "link.csv").symlink_to("r.yml")
    monkeypatch.setattr(build, "_executed", lambda *_: pytest.fail("it ran"))
    before = {name: (folder / name).read_bytes() for name in inside(folder)}
    args = ["--out", "r.html", "--protected", target, "--overwrite"]
    assert run(["report", "survey.csv", "--config", "r.yml", *args]) == 2
    assert capsys.readouterr().err.startswith(f"kanon-lab: {fault}")
    assert {name: (folder / name).read_bytes() for name in inside(folder)} == before


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--config", "s.yml", "--out", "out/", "--protected", "o.csv"], "several configurations write several files"),
        (["--out", "r.html", "--overwrite"], "--overwrite is for the protected file"),
    ],
)
def test_options_that_do_not_go_together(folder, capsys, options, fault):
    written(CONFIG)
    written(CONFIG, "s.yml")
    assert run(["report", "survey.csv", "--config", "r.yml", *options]) == 2
    assert fault in capsys.readouterr().err


def test_an_identifier_that_is_left_keeps_both_from_being_written(folder, monkeypatch):
    """As protect does; a report alone says it as a caution."""
    a_file().assign(copy=a_file()["name"]).to_csv("survey.csv", index=False)
    with pytest.raises(KanonLabError, match=r"^public\.csv: .*direct identifier name"):
        in_this_process(as_config(CONFIG), "public.csv", monkeypatch)
    assert "public.csv" not in inside(folder)


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """The whole command for the office on the survey of marked values, with the protected file."""
    reports = canaries.Reports(tmp_path_factory.mktemp("office"))
    reports.write()
    out = reports.outputs / "i.html"
    config = read_config(reports.inputs / "r.yml", ["map=", "language=es"])
    target = reports.outputs / "o.parquet"
    return make_report(reports.inputs / "survey.csv", config, out, protected=target, internal=True)


def test_an_internal_report_is_marked_and_private(office):
    page = office.path.read_text("utf-8")
    assert '<p class="kanon-banner" role="note">Confidencial: solo para uso de la oficina</p>\n<main>' in page
    assert '<h2 id="internal">Solo para la oficina</h2>' in page
    assert office.path.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in office.path.parent.iterdir()) == ["i.html", "o.parquet"]
    assert office.protected["records"] == len(read_microdata(office.path.with_name("o.parquet"))) == canaries.RECORDS


def test_an_internal_report_tells_the_settings_and_what_became_of_categories(office):
    page = office.path.read_text("utf-8")
    told = page[page.index('id="internal"') :]
    assert "ZQJOB1" in told
    assert "- ZQJOB2" in told
    rows = [re.sub(r"<[^>]*>", " ", row).split() for row in re.findall(r"<tr>.*?</tr>", told, re.DOTALL)]
    assert ["ZQJOB1", "other", "4"] in rows
    assert ["clerk", "clerk", str((canaries.a_file()["job"] == "clerk").sum())] in rows
    assert canaries.told_together(told)
    assert canaries.SCRIPT not in told  # a category stays text
    assert "Cada otra columna como una clave más" in told


def test_an_internal_report_holds_no_direct_identifier(office):
    page, frame = office.path.read_text("utf-8"), canaries.a_file()
    assert "ZQNAME" not in page
    assert [number for number in frame["number"] if str(number) in page or f"{number:,}" in page] == []
    assert [note for note in ("ZQNOTE", canaries.FOLDER) if note in page] == []


def test_a_public_report_has_nothing_of_it(canary_reports):
    for language in ("en", "es"):
        page = canary_reports.page(language).read_text("utf-8")
        assert 'id="internal"' not in page
        assert '<p class="kanon-banner"' not in page
