"""What perturbs draws by its step, its settings and its values, and not by its seed alone."""

import numpy as np
import pandas as pd
import pytest

from kanon_lab.errors import OptionError
from kanon_lab.keys import KeySpec
from kanon_lab.protection import protect

SPEC = KeySpec(["sex"], household="home", numeric_variables=["income", "rent"])
SEED = 3141592653589793238


def a_file(n=600):
    rng = np.random.default_rng(1)
    income = rng.integers(5, 90, n) * 100
    columns = {"sex": rng.choice(["m", "w"], n), "home": np.arange(n) // 3, "income": income, "rent": income // 3}
    return pd.DataFrame(columns)


def noise(frame, **settings):
    after = protect(frame, SPEC).apply("add_noise", {"variables": "income", **settings}, seed=SEED).frame["income"]
    return (after - frame["income"]) / frame["income"].std()


def test_the_same_step_gives_the_same_numbers():
    assert noise(a_file(), strength=0.1).equals(noise(a_file(), strength=0.1))


def test_two_strengths_or_a_corrected_file_share_no_noise():
    """With one noise of two strengths, twice the weaker release less the stronger would be the original."""
    frame = a_file()
    weak, strong = noise(frame, strength=0.1), noise(frame, strength=0.2)
    corrected = noise(frame.assign(income=frame["income"].where(frame.index != 7, 12300)), strength=0.1)
    for other in (strong, corrected):
        assert abs(np.corrcoef(weak, other)[0, 1]) < 5 / np.sqrt(len(frame))


def test_two_steps_with_one_seed_share_no_noise():
    frame = a_file()
    chain = protect(frame, SPEC)
    for name in ("income", "rent"):
        chain = chain.apply("add_noise", {"variables": name, "strength": 0.1, "seed": SEED})
    added = [chain.frame[name] - frame[name] for name in ("income", "rent")]
    assert abs(np.corrcoef(*added)[0, 1]) < 5 / np.sqrt(len(frame))


def test_households_are_not_perturbed_and_shared_values_are_noted():
    frame = a_file().assign(income=lambda f: f.groupby("home")["income"].transform("first"))
    with pytest.raises(OptionError, match="home tells households apart"):
        protect(frame, SPEC).apply("add_noise", {"variables": ["home"]})
    notes = protect(frame, SPEC).apply("add_noise", {"variables": ["income"]}).notes
    assert any(note.startswith("income: perturbed person by person, though 100.0%") for note in notes)
    apart = protect(a_file(), SPEC).apply("add_noise", {"variables": ["income"]}).notes
    assert not any("person by person" in note for note in apart)
    inner = {"key_variables": ["income"], "steps": [{"add_noise": {"variables": ["income"]}}]}
    homes = protect(frame, SPEC).apply("household_level", inner).notes
    assert not any("person by person" in note for note in homes)


def test_a_copy_of_a_perturbed_column_is_told():
    frame = a_file().assign(yearly=lambda f: f["income"] * 12)
    notes = protect(frame, SPEC).apply("add_noise", {"variables": ["income"]}).notes
    assert any(note.startswith("yearly (no role") and "original income" in note for note in notes)


def test_what_is_perturbed_as_a_quantity_without_that_role_is_noted():
    chain = protect(a_file(), KeySpec(["sex"])).apply("rank_swap", {"variables": ["income"]})
    assert chain.state.measured.il1s is None
    assert any("not among numeric_variables" in note for note in chain.notes)
