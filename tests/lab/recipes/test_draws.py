"""What perturbs draws by its step, its settings and its values, and not by its seed alone."""

import numpy as np
import pandas as pd
import pytest

from kanon_lab.errors import OptionError
from kanon_lab.recipes import final_claims, final_indicators, protect
from kanon_lab.roles import KeySpec

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
    with pytest.raises(OptionError, match="home is the household ID"):
        protect(frame, SPEC).apply("add_noise", {"variables": ["home"]})
    notes = protect(frame, SPEC).apply("add_noise", {"variables": ["income"]}).notes
    assert any(note.startswith("income: was perturbed person by person, but in 100%") for note in notes)
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
    assert chain.state.measured["il1s"] is None
    assert any("not among numeric_variables" in note for note in chain.notes)


def test_what_looks_strange_after_noise_is_counted():
    frame = a_file().assign(rent=lambda f: f["rent"].where(f.index % 2 == 0, 0))
    spec = KeySpec(["sex"], numeric_variables=["rent"])
    chain = protect(frame, spec).apply("add_noise", {"variables": "rent", "strength": 0.3})
    (note,) = [note for note in chain.notes if note.startswith("rent: ") and "below the smallest" in note]
    below = int((chain.frame["rent"] < 0).sum())
    assert f"{below:,} values are below" in note and "300 zeros fewer" in note and "have decimals" in note
    mended = chain.apply("bottom_code", {"variable": "rent", "below": 0}).apply(
        "round", {"variable": "rent", "base": 1}
    )
    assert not any("below the smallest" in note or "decimals" in note for note in mended.notes)


def test_the_weight_is_not_perturbed():
    spec = KeySpec(["sex"], weight="rent")
    with pytest.raises(OptionError, match="rent is the weight"):
        protect(a_file().assign(rent=1.5), spec).apply("add_noise", {"variables": ["income", "rent"]})


def test_claims_after_pram_are_about_true_keys():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"a": rng.integers(0, 12, 300), "b": rng.integers(0, 4, 300)})
    chain = protect(frame, KeySpec(["a", "b"])).apply("pram", {"variables": ["a"], "keep": 0.5})
    chain = chain.apply("suppress", {"k_required": 3})
    of_step = chain.steps[-1].claims.set_index("claim")["records"]
    assert of_step.to_dict() == final_claims(chain, 3).set_index("claim")["records"].to_dict()


def test_what_the_indicators_lost_is_listed():
    frame = a_file().assign(weight=2.0)
    spec = KeySpec(["sex"], weight="weight", numeric_variables=["income"])
    chain = protect(frame, spec, indicators={"means": ["income"], "by": ["sex"]})
    chain = chain.apply("add_noise", {"variables": "income", "strength": 0.5})
    found = final_indicators(chain)
    assert (
        found["group"].tolist() == ["", "m", "w"]
        and (found["records"] == [600, *frame["sex"].value_counts().sort_index()]).all()
    )
    assert found["overlap"].mean() == pytest.approx(chain.state.measured.indicators["overlap_mean"])
    assert len(final_indicators(protect(frame, spec))) == 0
