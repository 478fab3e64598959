"""The invented register: exactly the counts, drawn as the law supposes, the same however it is cut into pieces."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from kanon_lab import class_table
from kanon_lab.cli import run
from kanon_lab.data import load_microdata
from kanon_lab.data.labels import lowest_age
from kanon_lab.errors import OptionError
from kanon_lab.population import anonymity, beside_register, draw_register, register, register_counts, write_register

KEYS = ["place", "sex", "birth_date"]
GROUPS = ["0-4", "5-9", "60-64", "85+"]
CELLS = st.lists(st.integers(0, 60), min_size=1, max_size=24).filter(any)
SEEDS = st.integers(0, 2**63 - 1)


def counts_of(cells):
    """Counts with so many persons in the cells, the sexes and age groups of one place after another."""
    rows = [(f"{i // 8:05d}", ["men", "women"][i % 2], GROUPS[i // 2 % 4], n) for i, n in enumerate(cells)]
    frame = pd.DataFrame(rows, columns=["place", "sex", "age_group", "persons"])
    return frame.assign(name="", province=frame["place"].str[:2])


def counted(frame, year):
    """Persons by place, sex and age group, by their age on the day before 1 January of the year."""
    age = year - 1 - frame["birth_date"].dt.year
    group = age.map({a: group for group in GROUPS for a in range(lowest_age(group), lowest_age(group) + 5)})
    return frame.assign(age_group=group).groupby(["place", "sex", "age_group"], observed=True).size().to_dict()


@settings(max_examples=40)
@given(cells=CELLS, seed=SEEDS, year=st.integers(1900, 2100))
@example(cells=[36, 60, 5, 60, 60], seed=0, year=1902)  # born in five years without a leap day
def test_the_register_of_everybody_has_exactly_the_counts(cells, seed, year):
    counts = counts_of(cells)
    frame = draw_register(counts, year=year, seed=seed)
    there = counts[counts["persons"] > 0].set_index(["place", "sex", "age_group"])["persons"]
    assert counted(frame, year) == there.to_dict()
    pd.testing.assert_frame_equal(register_counts(counts, seed=seed), counts)


@settings(max_examples=40)
@given(cells=CELLS, seed=SEEDS, part=st.floats(0, 1))
def test_a_smaller_register_is_a_sample_with_the_counts_that_are_said(cells, seed, part):
    counts = counts_of(cells)
    persons = max(1, int(part * sum(cells)))
    sample = register_counts(counts, persons=persons, seed=seed)
    assert sample["persons"].sum() == persons
    assert (sample["persons"] <= counts["persons"]).all()
    there = sample[sample["persons"] > 0].set_index(["place", "sex", "age_group"])["persons"]
    assert counted(draw_register(counts, persons=persons, seed=seed), 2010) == there.to_dict()


@settings(max_examples=15, deadline=None)
@given(cells=CELLS, seed=SEEDS, rows=st.integers(1, 70))
def test_pieces_make_no_difference(cells, seed, rows):
    counts = counts_of(cells)
    whole = draw_register(counts, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(register, "_ROWS", rows)
        pd.testing.assert_frame_equal(draw_register(counts, seed=seed).astype(whole.dtypes), whole)


def test_a_file_has_the_register_and_a_seed_its_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(register, "_ROWS", 100)
    counts = counts_of([90, 30, 50, 70, 10, 0, 40, 60, 20])
    paths = [tmp_path / f"{name}.parquet" for name in "abc"]
    for path, seed in zip(paths, (7, 7, 8), strict=True):
        assert write_register(path, counts, seed=seed) == 370
    first, again, other = (path.read_bytes() for path in paths)
    assert first == again != other
    schema = parquet.read_schema(paths[0])
    assert [str(field.type) for field in schema][2] == "date32[day]"
    assert parquet.ParquetFile(paths[0]).metadata.num_row_groups == 4
    drawn = draw_register(counts, seed=7)
    read = load_microdata(paths[0])
    assert class_table(read, KEYS).classes["records"].tolist() == class_table(drawn, KEYS).classes["records"].tolist()
    assert read["place"].astype(str).tolist() == drawn["place"].tolist()
    assert (pd.to_datetime(read["birth_date"]) == drawn["birth_date"]).all()


def test_rows_are_in_no_order_and_each_date_of_the_group_is_as_likely():
    counts = counts_of([0, 0, 182_600, 182_600])
    frame = draw_register(counts, seed=3)
    assert abs(np.corrcoef(np.arange(len(frame)), frame["sex"].cat.codes)[0, 1]) < 4 / np.sqrt(len(frame))
    born = frame["birth_date"].value_counts()
    assert len(born) == 1826
    assert (born.index.min(), born.index.max()) == (pd.Timestamp("2000-01-02"), pd.Timestamp("2004-12-31"))
    chi = ((born - 200) ** 2 / 200).sum()  # 1825 degrees of freedom
    assert abs(chi - 1825) < 4 * np.sqrt(2 * 1825)


@settings(max_examples=20, deadline=None)
@given(cells=CELLS, seed=SEEDS)
def test_realised_numbers_are_those_of_the_records(cells, seed):
    counts = counts_of(cells)
    table = class_table(draw_register(counts, seed=seed), KEYS)
    expected = anonymity(counts, dates=["day"], ranges="1,2-3,2,4+")
    found = beside_register(expected, np.bincount(table.f_k))
    f_k = table.f_k_of_records()
    assert found["realised"].tolist() == [(f_k == 1).sum(), f_k.between(2, 3).sum(), (f_k == 2).sum(), (f_k > 3).sum()]
    assert found["expected"].tolist() == expected["persons"].tolist()
    assert (found["inside"] == found["realised"].between(found["low"], found["high"])).all()
    known = found[found["sd"] > 0]
    assert known["expected"].add(known["z"] * known["sd"]).to_numpy() == pytest.approx(known["realised"], abs=1e-6)


def test_mean_and_spread_over_many_registers_are_those_of_the_law():
    counts = counts_of([3000, 1500, 700, 4000])
    expected = anonymity(counts, dates=["day"], ranges="1,2,3,4+")
    tables = [class_table(draw_register(counts, seed=seed), KEYS) for seed in range(200)]
    z = np.array([beside_register(expected, np.bincount(table.f_k))["z"] for table in tables])
    assert np.abs(z.mean(axis=0)).max() < 4 / np.sqrt(200)
    assert z.std(axis=0) == pytest.approx(np.ones(4), abs=4 / np.sqrt(400))


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"persons": 0}, "persons must be a whole number from 1 to 100"),
        ({"persons": 101}, "persons must be a whole number from 1 to 100"),
        ({"seed": -1}, "seed must be"),
        ({"year": 20}, "year must be"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, fault):
    with pytest.raises(OptionError, match=fault):
        draw_register(counts_of([100]), **{"seed": 1} | options)


def test_counts_that_make_no_register_are_refused():
    with pytest.raises(OptionError, match="the counts have 0"):
        draw_register(counts_of([0]), seed=1)
    with pytest.raises(OptionError, match="groups of 5 years"):
        draw_register(counts_of([1]).assign(age_group="0-9"), seed=1)
    expected = anonymity(counts_of([5]), ranges="1+")
    with pytest.raises(OptionError, match="one place and one"):
        beside_register(expected, np.array([0, 5]))


def test_the_command(tmp_path, capsys):
    out = tmp_path / "r.parquet"
    command = ["data", "make", "register", "--persons", "1000", "--seed", "5", "--out", str(out)]
    assert run(command) == 0
    assert capsys.readouterr().out == f"{out}: 1,000 invented persons, seed 5\n"
    first = out.read_bytes()
    assert run([*command, "--overwrite"]) == 0
    assert out.read_bytes() == first
    assert list(tmp_path.iterdir()) == [out]


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path):
    """A limit on the size of files stands for the disk."""
    pytest.importorskip("resource")
    code = (
        "import resource, sys; from kanon_lab.cli import run\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "sys.exit(run('data make register --persons 100000 --out r.parquet'.split()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=os.environ)
    assert done.returncode == 2
    assert done.stderr.startswith("kanon-lab: r.parquet: cannot be written (")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(counts, *rest):
        yield from list(parts(counts, *rest))[:2]
        raise KeyboardInterrupt

    parts = register._parts
    monkeypatch.setattr(register, "_ROWS", 10)
    monkeypatch.setattr(register, "_parts", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_register(tmp_path / "r.parquet", counts_of([90, 30]), seed=1)
    assert list(tmp_path.iterdir()) == []
