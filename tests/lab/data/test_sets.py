"""The catalogue, and what is embedded in the package."""

import pandas as pd
import pytest

from kanon_lab import files
from kanon_lab.data import PROVINCES, catalogue, check_counts, data_path, fetch, load_counts
from kanon_lab.data.sets import DATA_SETS, EMBEDDED_FOLDER
from kanon_lab.errors import DataError, OptionError

EMBEDDED = [data_set for data_set in DATA_SETS.values() if not data_set.address]


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setattr("kanon_lab.files.cache_folder", lambda: tmp_path)
    return tmp_path


def test_every_embedded_file_is_in_the_catalogue_and_has_its_sum():
    lines = (EMBEDDED_FOLDER / "SHA256SUMS").read_text().splitlines()
    sums = {name: digest for digest, name in (line.split() for line in lines)}
    found = {path.name for path in EMBEDDED_FOLDER.iterdir()} - {"SHA256SUMS"}
    assert found == {data_set.file for data_set in EMBEDDED} == set(sums)
    for name, digest in sums.items():
        assert files.sha256(EMBEDDED_FOLDER / name) == digest, f"{name} is not the file that was checked"


def test_embedded_files_are_small_and_say_nothing_of_when_they_were_made():
    paths = [data_set.path for data_set in EMBEDDED]
    assert sum(path.stat().st_size for path in paths) < 3_000_000
    for path in (path for path in paths if path.suffix == ".gz"):
        header = path.read_bytes()[:10]
        assert header[3] == 0, "gzip header has a file name or comment"
        assert header[4:8] == bytes(4), "gzip header has a time"


def test_catalogue_has_the_columns_of_the_command(empty_cache):
    sets = catalogue().set_index("name")
    assert list(sets.columns) == ["kind", "licence", "size", "sha256", "present"]
    assert sets.loc["spain-2010", "present"]
    assert sets.loc["spain-2010", "size"] == data_path("spain-2010").stat().st_size
    assert not sets.loc["ine-33570", "present"]
    assert pd.isna(sets.loc["ine-33570", "sha256"])


def test_spain_2010_is_a_sound_counts_frame():
    counts = load_counts("spain-2010", year=2010)
    assert set(counts["kind"]) == {"reconstructed", "synthetic"}
    pd.testing.assert_frame_equal(check_counts(counts), counts.drop(columns="kind"))
    assert set(counts["province"]) == set(PROVINCES)
    assert counts["age_group"].nunique() == 18
    assert counts["sex"].unique().tolist() == ["men", "women"]


def test_malaga_2010_has_real_ages_up_to_a_hundred():
    counts = load_counts("malaga-2010", pool_from=None)
    assert set(counts["kind"]) == {"real"}
    assert set(counts["province"]) == {"29"}
    assert counts["age_group"].nunique() == 21
    pd.testing.assert_frame_equal(check_counts(counts), counts.drop(columns="kind"))
    assert load_counts("malaga-2010")["age_group"].nunique() == 18


def test_an_embedded_population_can_be_pooled_further():
    counts = load_counts("spain-2010", pool_from=65)
    assert counts["age_group"].unique().tolist()[-1] == "65+"
    assert counts["persons"].sum() == load_counts("spain-2010")["persons"].sum()


def test_names_and_years_that_do_not_fit(empty_cache):
    with pytest.raises(OptionError, match="holds 2010 only"):
        load_counts("spain-2010", year=2011)
    with pytest.raises(OptionError, match=r"neither a data set \(spain-2010, .* nor a file"):
        load_counts("spain-2011")
    with pytest.raises(DataError, match=r"absent\.csv: no such file"):
        load_counts("absent.csv")
    with pytest.raises(DataError, match="not on this machine; fetch it with: kanon-lab data fetch ine-33570"):
        load_counts("ine-33570", year=2010)
    with pytest.raises(OptionError, match="no persons by place, sex and age group; choose from spain-2010"):
        load_counts("ine-pobmun")
    with pytest.raises(OptionError, match="no such data set"):
        data_path("absent")


def test_a_fetched_table_is_read_from_the_cache(empty_cache, shared):
    path = shared("ine-padron-33570-malaga.px")
    (empty_cache / "33570.px").symlink_to(path)
    counts = load_counts("ine-33570", year=2010)
    assert counts.equals(load_counts(path, year=2010))
    assert counts["age_group"].nunique() == 18


def test_a_cache_folder_that_cannot_be_entered(tmp_path, monkeypatch):
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.setattr("kanon_lab.files.cache_folder", lambda: tmp_path / "loop")
    for call in (
        catalogue,
        lambda: data_path("ine-33570"),
        lambda: load_counts("ine-33570"),
        lambda: fetch("ine-33570"),
    ):
        with pytest.raises(DataError, match="cannot be read"):
            call()


@pytest.mark.parametrize(
    ("path", "error", "fault"),
    [("", OptionError, "is empty"), ("x" * 300 + ".csv", DataError, "cannot be read"), ("x" * 300, DataError, "read")],
)
def test_names_that_can_be_no_file(path, error, fault):
    with pytest.raises(error, match=fault):
        load_counts(path)


def test_there_are_52_provinces():
    assert list(PROVINCES) == [f"{code:02d}" for code in range(1, 53)]
    assert len(set(PROVINCES.values())) == 52
