"""Chains of steps: what they record, undo, seeds, and that nothing given to them changes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab import KeySpec, class_table, load_microdata
from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import file_risk
from kanon_lab.recipes import protect

VALUES = {"region": ["n", "s", None], "age": [1, 2, 30, 31, None], "sex": ["m", "w"]}
KEYS = list(VALUES)
GROUPED = {"variable": "region", "groups": {"all": ["n", "s", "all"]}}
BANDS = {"variable": "age", "bands": [0, 20, 40]}


@st.composite
def frames(draw):
    """A small file of persons with gaps, and labels that are no positions."""
    n = draw(st.integers(3, 14))
    columns = {name: draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)) for name, values in VALUES.items()}
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    frame["age"] = frame["age"].astype("Int64")
    frame["weight"] = draw(st.lists(st.floats(1, 50), min_size=n, max_size=n))
    frame["household"] = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    return frame.set_index(pd.Index(draw(st.permutations(range(100, 100 + n)))))


def spec(**roles):
    return KeySpec(KEYS, **{"weight": "weight", "household": "household", **roles})


def compatible(one, other):
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def plain(frame, names=KEYS):
    """Rows as tuples of plain values, None where missing."""
    return [
        tuple(None if pd.isna(value) else value for value in row) for row in frame[list(names)].itertuples(index=False)
    ]


@settings(max_examples=10)
@given(frame=frames(), missing=st.sampled_from(["wildcard", "category"]))
def test_each_state_is_measured_under_both_meanings(frame, missing):
    protection = protect(frame, spec(missing=missing)).apply("recode", BANDS).apply("suppress", {"k_required": 2})
    for state in (protection.start, protection.state):
        rows = plain(state.working)
        for k in (2, 3, 5):
            wild = sum(sum(compatible(row, other) for other in rows) < k for row in rows)
            own = sum(rows.count(row) < k for row in rows)
            assert state.measured.violations["wildcard"][k] == wild
            assert state.measured.violations["category"][k] == own
        risk = file_risk(class_table(state.working, spec(missing=missing)))
        assert state.measured["global_risk"] == risk.global_risk
        assert state.measured["expected_reidentifications"] == risk.expected_reidentifications
        assert state.measured.above == {0.05: int((risk.risk > 0.05).sum())}
        assert state.measured["household_risk"] == risk.household_risk
        for means, found in state.measured.by_meaning.items():
            other = file_risk(class_table(state.working, spec(missing=means)))
            assert found == {
                "expected_reidentifications": pytest.approx(other.expected_reidentifications),
                "above": {0.05: int((other.risk > 0.05).sum())},
            }
        sizes = state.working["household"].map(state.working["household"].value_counts())
        table = class_table(state.working.assign(size=sizes), KeySpec([*KEYS, "size"], missing=missing))
        assert state.measured.with_household_size == {
            "classes": table.n_classes,
            "k_achieved": table.k_achieved,
            "sample_uniques": table.sample_uniques,
        }
    assert protection.state.measured.violations[missing][2] == 0


@settings(max_examples=10)
@given(frame=frames())
def test_cells_changed_and_suppressed_are_counted(frame):
    chain = protect(frame, spec()).apply("recode", BANDS).apply("shuffle_members").apply("suppress", {"k_required": 3})
    states = [chain.start, *(step.state for step in chain.steps)]
    for step, before, after in zip(chain.steps, states, states[1:], strict=False):
        then, now = before.working, after.working.loc[before.working.index]
        touched = {label for label, other in zip(then.index, after.working.index, strict=True) if label != other}
        for name in then:
            pairs = list(zip(then.index, plain(then, [name]), plain(now, [name]), strict=True))
            gone = [label for label, (a,), (b,) in pairs if a is not None and b is None]
            other = [label for label, (a,), (b,) in pairs if b is not None and str(a) != str(b)]
            assert (step.suppressed[name], step.changed[name]) == (len(gone), len(other))
            touched |= {*gone, *other}
        assert step.records_touched == len(touched)
    was, now = plain(frame), plain(chain.state.working.loc[frame.index])
    cells = [pair for rows in zip(was, now, strict=True) for pair in zip(*rows, strict=True)]
    assert chain.state.measured["equal_cells"] == pytest.approx(sum(str(a) == str(b) for a, b in cells) / len(cells))
    assert chain.state.measured["known_cells"] == pytest.approx(sum(b is not None for _, b in cells) / len(cells))
    distinct = {name: len({b for (b,) in plain(chain.frame, [name])} - {None}) for name in KEYS}
    assert chain.state.measured.distinct_values == distinct


TRIED = st.sampled_from([("recode", GROUPED), ("shuffle_members", {}), ("suppress", {"k_required": 2})])


@settings(max_examples=6)
@given(frame=frames(), tried=st.lists(TRIED, max_size=3), seed=st.integers(0, 2**40))
def test_the_same_chain_gives_the_same_whatever_was_tried_and_undone(frame, tried, seed):
    wanted = [("shuffle_members", {}), ("recode", BANDS), ("shuffle_members", {"line_number": "sex"})]
    straight = wandering = protect(frame, spec(), seed=seed)
    for name, options in wanted:
        straight = straight.apply(name, options)
    for number, (name, options) in enumerate(wanted, start=1):
        for other, its in tried:
            wandering = wandering.apply(other, its)
        wandering = wandering.undo(to=number - 1).apply(name, options)
        wandering = wandering.undo().apply(name, options)
    pd.testing.assert_frame_equal(straight.frame, wandering.frame)
    pd.testing.assert_frame_equal(straight.history, wandering.history)


def test_undo_goes_to_any_step_and_inputs_stay_as_they_are():
    frame = load_microdata("health-survey")
    copy = frame.copy()
    first = protect(frame, ["age", "sex", "postcode"])
    chain = first.apply("round", {"variable": "age", "base": 10}).apply("suppress", {"k_required": 3})
    chain = chain.apply("top_code", {"variable": "income", "above": 5000, "value": 5000})
    states = [first.state, *(step.state for step in chain.steps)]
    for to in range(4):
        back = chain.undo(to=to)
        pd.testing.assert_frame_equal(back.frame, states[to].working)
        assert len(back.history) == to + 1
        pd.testing.assert_frame_equal(back.history, chain.history.iloc[: to + 1])
    assert chain.undo().steps == chain.undo(to=2).steps
    assert chain.undo(2).steps == chain.undo(to=1).steps
    pd.testing.assert_frame_equal(frame, copy)
    pd.testing.assert_frame_equal(first.frame, copy)


def test_what_is_done_to_a_frame_given_out_does_not_reach_the_chain():
    frame = pd.DataFrame({"a": [1, 1, 2], "b": [1, 2, 3]})
    chain = protect(frame, "a")
    frame.loc[0, "a"] = 9
    given_out = chain.frame
    given_out.loc[0, "a"] = 8
    assert chain.frame["a"].tolist() == chain.original["a"].tolist() == [1, 1, 2]


def test_what_is_done_to_settings_given_in_does_not_reach_the_chain():
    options = {"variable": "a", "groups": {"x": [1, 2]}}
    chain = protect(pd.DataFrame({"a": [1, 1, 2]}), "a").apply("recode", options)
    options["groups"]["x"].append(3)
    assert chain.recipe()["steps"] == [{"recode": {"variable": "a", "groups": {"x": [1, 2]}}}]


def test_a_column_that_no_step_touches_is_kept_once():
    frame = pd.DataFrame({"a": [1, 2, 2], "b": np.arange(3.0)})
    chain = protect(frame, "a").apply("round", {"variable": "a", "base": 5})
    assert np.shares_memory(chain.start.working["b"].to_numpy(), chain.state.working["b"].to_numpy())


def test_shuffled_members_stay_in_their_household_and_line_numbers_in_their_place():
    frame = pd.DataFrame({"age": range(300), "household": [i % 60 for i in range(300)]})
    frame["line"] = frame.groupby("household").cumcount() + 1
    chain = protect(frame, KeySpec("age", household="household"), seed=4)
    moved = chain.apply("shuffle_members", {"line_number": "line"})
    assert moved.frame["household"].tolist() == frame["household"].tolist()
    assert moved.frame["line"].tolist() == frame["line"].tolist()
    working = moved.state.working
    for label, row in working.iterrows():
        assert (row["age"], row["household"]) == (frame.at[label, "age"], frame.at[label, "household"])
    assert sorted(working.index) == list(frame.index)
    assert moved.steps[0].records_touched == (working.index != frame.index).sum() > 150
    assert moved.frame.sort_index()["age"].tolist() == working["age"].tolist() != frame["age"].tolist()
    assert moved.steps[0].changed["line"] > 150
    other = chain.apply("shuffle_members", seed=moved.steps[0].seed + 1)
    assert other.frame["age"].tolist() != moved.frame["age"].tolist()
    assert chain.apply("shuffle_members", {"seed": moved.steps[0].seed}).frame["age"].equals(moved.frame["age"])
    assert moved.history["seed"].tolist() == [pd.NA, moved.steps[0].seed]


def test_what_stands_beside_the_columns_is_not_released():
    frame = pd.DataFrame({"a": [1, 1, 2]}).rename_axis(columns="private")
    frame.attrs["names"] = ["Ana"]
    chain = protect(frame, "a")
    for each in (chain, chain.apply("round", {"variable": "a", "base": 2}), chain.apply("suppress", {"k_required": 2})):
        assert (each.frame.attrs, each.frame["a"].attrs, each.frame.columns.name) == ({}, {}, None)
    assert (frame.attrs, frame.columns.name) == ({"names": ["Ana"]}, "private")


def test_orders_of_members_are_equally_likely():
    """Of three members all 6 orders, 1000 households: each near 167 (a chance below 1e-4 to be outside by luck)."""
    frame = pd.DataFrame({"a": list(range(3)) * 1000, "household": np.repeat(range(1000), 3)})
    shuffled = protect(frame, KeySpec("a", household="household")).apply("shuffle_members").frame
    counts = pd.Series(map(tuple, shuffled["a"].to_numpy().reshape(-1, 3))).value_counts()
    assert len(counts) == 6
    assert counts.between(115, 225).all()


def test_removed_variables_are_measured_with_but_not_released():
    frame = load_microdata("health-survey")
    roles = KeySpec(
        ["age", "sex", "postcode"], weight="weight", household="household", ghost_variables={"age": ["birth_date"]}
    )
    chain = protect(frame, roles)
    gone = chain.apply("remove_variables", {"variables": ["weight", "household"]})
    assert not {"weight", "household"} & set(gone.frame.columns)
    before, after = chain.state.measured.row(), gone.state.measured.row()
    counted = {name for name in before if name.startswith("with_household_size")}
    assert {name for name in before if before[name] != after[name]} == counted
    assert all(after[name] is None for name in counted)
    assert gone.steps[0].removed == ("weight", "household")
    assert gone.steps[0].records_touched == len(frame)
    assert not {"weight", "household"} & {*gone.steps[0].suppressed, *gone.steps[0].changed}
    assert gone.history["columns_removed"].tolist() == [0, 2]
    assert gone.history["cells_suppressed"].tolist() == [0, 0]
    without = gone.apply("remove_variables", {"variables": "age"})
    assert not {"age", "birth_date"} & set(without.frame.columns)
    assert without.state.measured.k_achieved == class_table(frame, ["sex", "postcode"]).k_achieved
    assert without.state.measured.distinct_values["age"] == 0
    assert without.state.measured["equal_cells"] == pytest.approx(2 / 3)
    with pytest.raises(OptionError, match=r"step 3 \(round\): there is no column age that is released"):
        without.apply("round", {"variable": "age", "base": 5})
    with pytest.raises(OptionError, match="no key variable would be left"):
        without.apply("remove_variables", {"variables": ["sex", "postcode"]})
    shuffled = gone.apply("shuffle_members")
    assert shuffled.steps[1].records_touched > 0


def test_direct_identifiers_are_gone_from_the_start():
    frame = pd.DataFrame({"name": ["A", "B"], "a": [1, 1]})
    chain = protect(frame, KeySpec("a", direct_identifiers="name"))
    assert list(chain.frame.columns) == ["a"]
    with pytest.raises(OptionError, match="no column name that is released"):
        chain.apply("recode", {"variable": "name", "groups": {"x": ["A", "B"]}})


def test_notes_say_what_the_numbers_do_not():
    frame = load_microdata("health-survey")
    roles = {"household": "household", "ghost_variables": {"age": ["birth_date"]}}
    chain = protect(frame, KeySpec(["age", "sex"], **roles)).apply("round", {"variable": "age", "base": 5})
    unweighted, untouched, ghost, size, order = chain.notes
    assert "every weight is 1" in unweighted
    assert untouched.endswith("role: postcode, education, weight, cholesterol, diagnosis, income")
    assert "birth_date still give" in ghost
    assert f"up to {frame['household'].value_counts().max()}" in size
    counted = chain.state.measured.with_household_size
    assert f"k achieved is {counted['k_achieved']} and {counted['sample_uniques']} records are unique" in size
    assert "values of household are the same as in the input" in order
    removed = chain.apply("remove_variables", {"variables": ["household", "birth_date"]}).notes
    assert [note.split(":")[0] for note in removed][1:2] == ["released unchanged and without a role"]
    assert not any("order" in note for note in removed)  # that of this file is random
    assert not any("birth_date" in note or "k achieved" in note for note in removed)
    assert not any("order" in note for note in chain.apply("shuffle_members").notes)


def test_a_ghost_that_a_step_of_its_own_recoded_is_not_stale():
    frame = load_microdata("health-survey")
    roles = KeySpec(["age", "sex"], ghost_variables={"age": ["birth_date"]})
    age, birth = {"variable": "age", "width": 10}, {"variable": "birth_date", "dates": "year"}
    for steps in ([age, birth], [birth, age]):
        chain = protect(frame, roles)
        for options in steps:
            chain = chain.apply("recode", options)
        assert not any("still give" in note for note in chain.notes)


def test_a_meaning_that_leaves_light_weights_alone_has_no_risk():
    frame = pd.DataFrame({"a": ["x", "x", None], "w": [2.0, 2.0, 0.5]})
    state = protect(frame, KeySpec("a", weight="w")).state.measured
    assert state.by_meaning["category"] == {"expected_reidentifications": None, "above": None}
    assert state.by_meaning["wildcard"]["expected_reidentifications"] == state["expected_reidentifications"]


def test_a_stratum_that_a_step_before_suppressed():
    frame = pd.DataFrame({"a": ["x", "x", "x", "y"], "b": [1, 1, 2, 2], "s": list("ppqq")})
    chain = protect(frame, KeySpec(["a", "s"], strata=["s"]))
    chain = chain.apply("suppress_risk", {"threshold": 0.9, "variables": ["s"]})
    with pytest.raises(DataError, match=r"step 2 \(suppress\): .*column s.*suppressed by step 1 \(suppress_risk\)"):
        chain.apply("suppress", {"k_required": 2})


@pytest.mark.parametrize(
    ("name", "options", "fault"),
    [
        ("suppres", {}, "did you mean suppress?"),
        ("qqqq", {}, "there are recode"),
        (7, {}, "there is no step"),
        ("suppress", {}, r"step 1 \(suppress\): k_required is not given"),
        ("suppress", {"k": 3}, "unknown setting k; did you mean k_required"),
        ("suppress", {"k_required": "3"}, "k_required must be a whole number"),
        (
            "suppress",
            {"k_required": 3, "importance": {"agee": 1}},
            "no column agee that is released; did you mean age?",
        ),
        ("suppress", {"k_required": 3, "combinations": [{"keys": 5}]}, "keys must be names of columns"),
        ("suppress_risk", {"threshold": 0.1, "variables": ["age"], "seed": 1}, "takes no seed"),
        ("suppress", "3", "must be a mapping"),
        ("suppress_risk", {"threshold": 0.1}, "variables is not given"),
        ("suppress_risk", {"threshold": "x", "variables": ["age"]}, "threshold must be"),
        ("recode", {"bands": [0, 1]}, "variable is not given"),
        ("recode", {"variable": "age", "bands": "0-10"}, r"step 1 \(recode\)"),
        ("recode", {"variable": ["age", "no"], "bands": [0, 200]}, "no column no "),
        ("round", {"variable": {"age": 1}, "base": 5}, "variable must be names"),
        ("remove_variables", {}, "variables is not given"),
        ("remove_variables", {"variable": "age"}, "unknown setting variable; did you mean variables?"),
        ("remove_variables", {"variables": {"age": 1}}, "variables must be names"),
        ("suppress", {"k_required": 3, "strata": "sex"}, "strata belongs at the top of the recipe"),
        ("recode", {"variable": "age", "width": 5, "missing": "category"}, "missing belongs at the top of the recipe"),
        ("shuffle_members", {}, "needs a household"),
        ("shuffle_members", {"line_number": ["a"]}, "line_number must be"),
        ("shuffle_members", {"seed": -1}, "seed must be a whole number"),
        ("shuffle_members", {"seed": True}, "seed must be a whole number"),
        ("shuffle_members", {"seed": 10**20}, r"seed must be a whole number from 0 on and below 2 \*\* 63"),
        ("household_level", {"key_variables": ["postcode"]}, "needs a household"),
    ],
)
def test_steps_that_cannot_be(name, options, fault):
    chain = protect(load_microdata("health-survey"), ["age", "sex"])
    with pytest.raises(OptionError, match=fault) as caught:
        chain.apply(name, options)
    assert "\n" not in str(caught.value)
    assert chain.steps == ()


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"k": 3}, "k must be several numbers"),
        ({"k": [0]}, "k must be a whole number"),
        ({"k": "2"}, "k must be several numbers"),
        ({"risks": 0.1}, "risks must be several"),
        ({"risks": [5]}, "risks must be"),
        ({"estimator": "guess"}, "estimator must be one of"),
        ({"estimator": ["exact"]}, "estimator must be one of"),
        ({"seed": 1.5}, "seed must be a whole number"),
    ],
)
def test_options_that_cannot_be(options, fault):
    with pytest.raises(OptionError, match=fault):
        protect(pd.DataFrame({"a": [1, 2]}), "a", **options)


def test_undo_of_what_was_not_done():
    chain = protect(pd.DataFrame({"a": [1, 2]}), "a")
    for undo in (lambda: chain.undo(), lambda: chain.undo(to=1), lambda: chain.undo(-1), lambda: chain.undo(0, to=0)):
        with pytest.raises(OptionError):
            undo()


def test_records_and_columns_that_cannot_be_told_apart():
    with pytest.raises(DataError, match="a label of the index occurs twice"):
        protect(pd.DataFrame({"a": [1, 2]}, index=[0, 0]), "a")
    with pytest.raises(DataError, match="column b occurs twice"):
        protect(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "b"]), "a")


def test_the_policy_error_holds_to_the_end():
    frame = pd.DataFrame({"a": [1, 1, 2]})
    chain = protect(frame, KeySpec("a", missing="error"))
    with pytest.raises(OptionError, match="choose wildcard or category"):
        chain.apply("suppress", {"k_required": 2})
    with pytest.raises(DataError, match="a missing value in column a"):
        protect(frame.where(frame > 1), KeySpec("a", missing="error"))


def test_a_step_leaves_no_weight_of_nothing_and_says_which_step_made_labels():
    frame = pd.DataFrame({"born": ["2001-02-03", "1960-05-06"], "w": [30.0, 120.0]})
    chain = protect(frame, KeySpec(["born"], weight="w"))
    with pytest.raises(DataError, match=r"step 1 \(round\): column w, the weight, would be 0 or less in 1 records"):
        chain.apply("round", {"variable": "w", "base": 100})
    ages = chain.apply("recode", {"variable": "born", "dates": "age", "reference": "2024-01-01"})
    banded = ages.apply("recode", {"variable": "born", "bands": [0, 40, None]})
    with pytest.raises(DataError, match=r"labels instead of numbers since step 2 \(recode\)"):
        banded.apply("recode", {"variable": "born", "bands": [0, 50, None]})
