"""A survey in which every value that must not leave it is marked, and what to search for in whatever is made of it."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from processes import once
from warm_kernels import warm_kernels

RECORDS = 600
HOMES = 200
FOLDER = "ZQFOLDER"
SCRIPT = "<script>zq()</script>"
COLUMN = "<b>zqcol</b>"
# Key -> categories that many records hold: a report may name each, but none beside that of another key.
COMMON = {
    "region": ["North", "South", "East"],
    "district": [51001, 51002, 51004, 51005],
    "status": [SCRIPT, "Plain"],
    "job": ["clerk", "farmer"],
}

CONFIG = """
title: "Canaries <i>zqtitle</i>"
key_variables: [region, sex, district, status, job, age]
weight: weight
household: home
direct_identifiers: [name, number]
sensitive_variables: [illness]
numeric_variables: [income]
k_required: 3
missing: category
limits: {k: 3, global_risk: 0.0001, household_risk: 0.0001}
missing_codes: {sex: [9]}
indicators: {rates: [illness], means: [income], by: [region, sex, district]}
seed: 1
steps:
  - recode: {variable: age, bands: [0, 30, 60, null], closed: left}
  - recode: {variable: job, groups: {other: [ZQJOB1, ZQJOB2]}, others: keep}
  - suppress: {}
map:
  grid: {k: [2, 3]}
  steps:
    - remove_variables: {variables: [age, job]}
    - suppress: {k_required: $k}
"""


def a_file() -> pd.DataFrame:
    """The survey. Every text that begins with ZQ, and every number of `secrets`, belongs to fewer than ten records."""
    rows = range(RECORDS)

    def of(common: list, rare: dict) -> list:
        """Common categories in turn, and each rare one in so many records."""
        values = [common[i * 7919 % len(common)] for i in rows]
        places = iter(range(11, RECORDS, 23))
        for value, count in rare.items():
            for _ in range(count):
                values[next(places)] = value
        return values

    columns = {
        "name": [f"ZQNAME{i:04} García" for i in rows],
        "number": [713_000_171 + i * 37 for i in rows],
        "region": of(COMMON["region"], {"ZQREGION1": 4, "ZQREGION2": 7}),
        "sex": of([1, 2, 1, 2, 2], {9: 3}),
        "district": of(COMMON["district"], {587331: 3, 587332: 5}),
        "status": of(COMMON["status"], {"ZQ<img src=x>": 2}),
        "job": of(COMMON["job"], {"ZQJOB1": 4, "ZQJOB2": 4}),
        "age": [i * 37 % 90 for i in rows],
        "weight": [101.37 + i * 0.0137 for i in rows],
        "home": [830_000_000 + (i % HOMES) * 7919 for i in rows],
        "illness": of(["flu", "none", "none"], {"ZQILL1": 5, "ZQILL2": 2}),
        "income": [40_061.803 + i * 61.803 for i in rows],
        "born": [f"2087-{1 + i % 12:02}-{1 + i % 28:02}" for i in rows],
        "note": [f"=ZQNOTE{i:04}+1" for i in rows],
        "code": [f"ZQ{i:05}" for i in rows],
        COLUMN: of(["=1+1", "b"], {"=ZQFORMULA()": 6}),
    }
    return pd.DataFrame(columns)


def write_sav(path: Path) -> None:
    """The same as an SPSS file, with dates, labels of values and a user-defined missing value."""
    import pyreadstat

    frame = a_file().rename(columns={COLUMN: "formula"})
    frame["born"] = pd.to_datetime(frame["born"])
    labels = {"district": {587331: "ZQLABEL1", 587332: "ZQLABEL2"}, "sex": {1: "Man", 2: "Woman", 9: "ZQLABEL9"}}
    pyreadstat.write_sav(
        frame, path, variable_value_labels=labels, missing_ranges={"sex": [9]}, column_labels=["a label"] * 16
    )


def secrets() -> set[str]:
    """What must stand nowhere: marks, and numbers of single records as they may be written."""
    frame = a_file()
    found = {"ZQ", "2087-", "587331", "587332", FOLDER}
    for name in ("number", "home", "weight", "income"):
        values = [*frame[name]]
        found |= {str(value) for value in values}
        found |= {
            form.format(value) for value in (min(values), max(values)) for form in ("{:,.0f}", "{:,.1f}", "{:.5g}")
        }
    return {each for each in found if len(each) > 4 or not each[0].isdigit()}


def leaks(content: bytes | str, *, page: bool = False) -> list[str]:
    """The secrets that stand in some bytes; of a page also texts of the file and configuration taken for markup."""
    text = content if isinstance(content, str) else content.decode("utf-8", errors="replace")
    wanted = {*secrets(), SCRIPT, COLUMN, "<i>zqtitle"} if page else secrets()
    return sorted(secret for secret in wanted if secret in text)


def told_together(page: str) -> list[str]:
    """Rows of tables, and records of charts, that hold categories of two key variables."""
    rows = [html.unescape(re.sub(r"<[^>]*>", " ", row)) for row in re.findall(r"<tr.*?</tr>", page, flags=re.DOTALL)]
    specs = re.findall(r"<script[^>]*application/json[^>]*>(.*?)</script>", page, flags=re.DOTALL)
    rows += [json.dumps(each, ensure_ascii=False) for spec in specs for each in _records(json.loads(spec))]
    return [row for row in rows if sum(any(str(each) in row for each in key) for key in COMMON.values()) > 1]


def _records(spec: Any) -> Iterator[dict]:
    """Innermost mappings of a specification: the records of its data among them."""
    if isinstance(spec, dict):
        inner = [each for each in spec.values() if isinstance(each, (dict, list))]
        if not inner:
            yield spec
        spec = inner
    for each in spec if isinstance(spec, list) else ():
        yield from _records(each)


class Reports:
    """Reports on the survey, made once for all processes of a run of the tests.

    ``en`` (of a csv file) and ``es`` (SPSS), with the notebooks they were made of as ``en.ipynb`` and ``es.ipynb``, and
    what the command said as ``en.said``.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.inputs = folder / FOLDER
        self.outputs = folder / "out"

    def page(self, language: str) -> Path:
        """The report in a language, made where it is not there."""
        page = self.outputs / f"{language}.html"
        once(self.folder / language, lambda: self._make(language, page))
        return page

    def _make(self, language: str, page: Path) -> None:
        from kanon_lab.report import build, read_config
        from kanon_lab.report.build import report_page

        self.write()
        name = "survey.csv" if language == "en" else "survey.sav"
        overrides = [f"language={language}"]
        if language == "es":
            overrides.append("missing_codes=")

        def keep(executed, **options):
            (self.outputs / f"{language}.ipynb").write_bytes(Path(executed).read_bytes())
            return report_page(executed, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(build, "report_page", keep)
            with warm_kernels():
                report = build.make_report(self.inputs / name, read_config(self.inputs / "r.yml", overrides), page)
        (self.outputs / f"{language}.said").write_text(repr((report.parameters, report.judged)), "utf-8")

    def write(self) -> None:
        """The inputs, by whoever is first."""
        for folder in (self.inputs, self.outputs):
            folder.mkdir(exist_ok=True, parents=True)
        parts = self.inputs / f"{os.getpid()}"
        parts.mkdir(exist_ok=True)
        a_file().to_csv(parts / "survey.csv", index=False)
        write_sav(parts / "survey.sav")
        (parts / "r.yml").write_text(CONFIG, "utf-8")
        for each in parts.iterdir():
            each.replace(self.inputs / each.name)
        parts.rmdir()
