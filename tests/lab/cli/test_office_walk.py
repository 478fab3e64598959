"""From a survey of households to a release that meets its limits, by commands and edits of their configuration."""

import pytest
from silc import survey

from kanon_lab.cli import run

pytestmark = pytest.mark.slow
REMOVED = ("eqSS", "rb050", "py010n", "py090n", "py100n", "hy050n")


def uncommented(text, mark):
    """A configuration with a block of comments as settings."""
    before, block = text.split(f"# {mark}", 1)
    block, *rest = block.split("\n\n", 1)
    lines = [line.removeprefix("# ") for line in f"# {mark}{block}".split("\n")]
    return before + "\n\n".join(["\n".join(lines), *rest])


def test_a_survey_of_households_is_released_in_six_edits(capsys, tmp_path):
    file, config, out = (str(tmp_path / name) for name in ("silc.csv", "r.yml", "out.csv"))
    survey().to_csv(file, index=False)
    assert run(["init", file, "--out", config]) == 0
    text = (tmp_path / "r.yml").read_text("utf-8")
    edited = text.replace("# weight: rb050", "weight: rb050")  # 1: it was asked
    edited = edited.replace("key_variables:\n", "key_variables:\n- db040\n- pb220a\n- pl030\n", 1)  # 2: it was asked
    edited = uncommented(uncommented(edited, "limits:"), "steps:")  # 3 and 4
    (tmp_path / "r.yml").write_text(edited, "utf-8")
    protect = ["protect", file, "--recipe", config, "--out", out, "--fail"]
    capsys.readouterr()
    assert run(protect) == 3
    told = " ".join(capsys.readouterr().out.split())
    assert "released columns without a role (eqSS): 1" in told
    assert "rb050 (weight) reveals the original db040" in told
    assert "calibrate the weight again by coarser groups, round it (step round), or leave it out" in told
    assert "eqIncome (numeric) reveals the original pl030" in told
    assert "suppress it with the key (ghost_variables)" in told

    roles, steps = edited.split("\nsteps:\n")
    for name in REMOVED:  # 5: of the incomes only the sum is released
        steps = steps.replace(f"    - {name}\n", "")
    steps = steps.replace("    - db030\n", "".join(f"    - {name}\n" for name in ("db030", *REMOVED)))
    roles += "\nghost_variables: {pl030: [eqIncome]}\n"  # 6
    (tmp_path / "r.yml").write_text(f"{roles}\nsteps:\n{steps}", "utf-8")
    assert run(protect) == 0
    assert "NOT MET" not in capsys.readouterr().out
