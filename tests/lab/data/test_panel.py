"""The embedded synthetic panel: the same bytes again, and what it shows of counting persons."""

import importlib.util
from pathlib import Path

from kanon_lab import KeySpec, class_table, load_microdata
from kanon_lab.data import catalogue
from kanon_lab.files import csv_gz

ROOT = Path(__file__).resolve().parents[3]


def test_the_same_bytes_and_labelled_synthetic():
    spec = importlib.util.spec_from_file_location("make_panel", ROOT / "scripts" / "make_panel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert csv_gz(module.work_panel()) == module.TARGET.read_bytes()
    row = catalogue().set_index("name").loc["work-panel"]
    assert (row["kind"], row["licence"]) == ("synthetic", "CC BY 4.0")


def test_f_k_is_the_number_of_different_persons_in_a_class():
    panel, keys = load_microdata("work-panel"), ["district", "sex", "work"]
    table = class_table(panel, KeySpec(keys, person="person"))
    assert table.f_k_of_records().tolist() == panel.groupby(keys)["person"].transform("nunique").tolist()
    assert table.n_units == panel["person"].nunique() < len(panel)
    assert panel.groupby(["person", "year"]).size().max() == 1
