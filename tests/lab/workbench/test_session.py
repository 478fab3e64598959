"""The session writes what the commands write; what was undone, moved or switched off is as if it had not been."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.cli import cli
from kanon_lab.errors import OptionError, StorageError
from kanon_lab.recipes.chain import as_recipe
from kanon_lab.recipes.next_steps import _bases, next_steps
from kanon_lab.workbench import Draft, Session
from kanon_lab.workbench.drafts import REMOVED, drafts_folder
from kanon_lab.workbench.parts import Speech, advised

BANDS = {"variable": ["age"], "bands": [0, 30, 60, None], "closed": "left"}
REMOVE = {"variables": ["household"]}
SUPPRESS = {"k_required": 3, "importance": {"sex": 1, "age": 2}}


@pytest.fixture
def session():
    session = Session("survey.csv")
    keys = session.draft.with_settings(key_variables=["sex", "age"], limits={"k": 3})
    session.change(keys.with_role("postcode", "released_as_is"))
    return session


def from_scratch(session) -> pd.DataFrame:
    return as_recipe(yaml.safe_load(session.configuration())).apply(session.file).frame


def test_it_begins_with_the_settings_that_init_writes():
    done = CliRunner().invoke(cli, ["init", "survey.csv", "--out", "r.yml"])
    assert done.exit_code == 0, done.output
    written = yaml.safe_load(Path("r.yml").read_text("utf-8"))
    assert Session("survey.csv").draft.configuration == {name: value for name, value in written.items() if value}


def test_first_steps_can_be_applied_to_quantities_of_which_one_has_gaps():
    frame = pd.read_csv("survey.csv")
    n = len(frame)
    frame = frame.assign(rent=[None if i % 3 else 300.0 + i for i in range(n)], spent=[7.0 * i for i in range(n)])
    frame.to_csv("gaps.csv", index=False)
    session = Session("gaps.csv")
    draft = session.draft.with_settings(key_variables=["sex", "age"], numeric_variables=["rent", "spent"])
    session.change(draft)
    session.change(session.with_first_steps())
    assert [entry.settings["variables"] for entry in session.draft.steps if entry.name == "microaggregate"] == [
        ["spent"],
        ["rent"],
    ]
    released = session.judge().protection.frame
    assert released["rent"].isna().sum() == frame["rent"].isna().sum()


def test_first_steps_leave_out_what_members_of_a_household_share_and_no_household_is_found():
    session = Session("health-survey")
    keys = [name for name in session.draft.settings["key_variables"] if name != "birth_date"]
    limits = {**session.usual_limits(), "household_uniques": 0}
    session.change(session.draft.with_settings(key_variables=keys, limits=limits))

    def found(draft, name="household_uniques"):
        verdict = session.judge(draft).judged.verdict
        return verdict.loc[verdict["name"] == name, "found"].iloc[0]

    steps = session.with_first_steps()
    (place,) = (place for place, entry in enumerate(steps.steps) if entry.name == REMOVED)
    assert steps.steps[place].settings == {"variables": ["household", "income"]}
    assert "microaggregate" not in {entry.name for entry in steps.steps}
    assert found(steps) == 0 and found(steps, "numeric_linkage") == 0  # nothing is left to link by
    means = {"variables": ["income"], "k_required": 20, "missing": "leave"}
    alone = steps.without_step(place).with_step(REMOVED, {"variables": ["household"]})
    assert found(alone.with_step("microaggregate", means)) > 0


@pytest.fixture
def with_jobs():
    """A session on persons of whom a job is known where they work, and a school in some records by chance."""
    frame = pd.read_csv("survey.csv")[["sex", "age"]]
    work = np.arange(len(frame)) % 3 != 0
    frame = frame.assign(work=np.where(work, "yes", "no"), job=np.where(work, frame["age"] % 4, None))
    frame["school"] = frame["sex"].where(np.random.default_rng(1).random(len(frame)) < 0.5)
    frame.to_csv("jobs.csv", index=False)
    session = Session("jobs.csv")
    roles = {"key_variables": ["work", "job"], "released_as_is": ["age", "sex", "school"]}
    session.change(session.draft.with_settings(sensitive_variables=None, **roles, limits={"k": 5}))
    return session


def test_an_empty_key_is_asked_about_with_the_columns_that_say_where_it_is_empty(with_jobs):
    assert with_jobs.empty_keys() == {"job": ["work"]}
    more = with_jobs.draft.with_role("school", "key_variables")
    with_jobs.change(more)
    assert with_jobs.empty_keys() == {"job": ["work"], "school": []}
    with_jobs.change(more.with_step("remove_variables", {"variables": ["job"]}))
    assert with_jobs.empty_keys() == {"school": []}
    with_jobs.change(with_jobs.draft.with_switched(0))
    assert with_jobs.empty_keys() == {"job": ["work"], "school": []}


def test_an_empty_key_that_is_an_answer_counts_as_one_and_the_commands_count_it_so(with_jobs):
    session = with_jobs
    keys = pd.read_csv("jobs.csv")[["sex", "job"]]
    session.change(session.draft.with_role("work", "released_as_is").with_role("sex", "key_variables"))

    def found():
        verdict = session.judge().judged.verdict.set_index("name")
        return verdict.loc["k", "found"]

    answers = keys.groupby(["sex", "job"], dropna=False).size().min()
    assert found() > answers  # any of them may have any job
    session.change(session.draft.with_missing("category"))
    assert found() == answers
    session.change(session.with_first_steps().with_limit("k", 70))
    steps = session.draft.steps
    assert [step.settings.get("claim") for step in steps if step.name == "suppress"] == ["own_class"]
    assert [step.settings.get("claim") for step in session.draft.with_missing("wildcard").steps][-2] == "true_key"
    assert session.draft.with_missing("wildcard").with_missing("category") == session.draft
    assert found() >= 70
    session.write("recipe", "recipe.yml")
    session.write("protected", "protected.csv")
    assert yaml.safe_load(Path("recipe.yml").read_text("utf-8"))["missing"] == "category"
    done = CliRunner().invoke(cli, ["protect", "jobs.csv", "--recipe", "recipe.yml", "--out", "again.csv"])
    assert done.exit_code == 0, done.output
    assert Path("again.csv").read_bytes() == Path("protected.csv").read_bytes()


@pytest.mark.parametrize(("policy", "claim"), [("wildcard", "true_key"), ("category", "own_class")])
def test_advice_on_k_names_the_claim_that_meets_it(with_jobs, policy, claim):
    session = with_jobs
    session.change(session.draft.with_missing(policy).with_limit("k", 110))
    w = Speech("en")
    ((_, advice),) = [row for row in advised(session.judge(), w) if row[0].startswith("k ")]
    assert w.option(claim) in advice, advice
    assert {"claim": claim}.items() <= dict(next_steps(session.judge().protection, 110))["suppress"].items()


def test_columns_that_a_step_removed_have_no_indicators_unless_it_is_off(session):
    session.change(session.draft.with_step("remove_variables", {"variables": ["sex"]}))
    assert session.with_indicators().settings["indicators"]["by"] == ["age"]
    session.change(session.draft.with_switched(0))
    assert session.with_indicators().settings["indicators"]["by"] == ["sex"]
    assert session.draft.removed() == set()


def households(weights) -> Session:
    """A session on households of two or three persons with a weight for each, and the roles decided."""
    homes = np.repeat(np.arange(len(weights)), np.arange(len(weights)) % 2 + 2)
    sex, group = np.random.default_rng(3).integers(0, [[2], [6]], (2, len(homes)))
    frame = pd.DataFrame({"household": homes + 5000, "sex": sex, "group": group, "weight": np.array(weights)[homes]})
    frame.sample(frac=1, random_state=1).to_csv("homes.csv", index=False)
    session = Session("homes.csv")
    roles = {"key_variables": ["sex", "group"], "household": "household", "weight": "weight"}
    session.change(session.draft.with_settings(**roles, sensitive_variables=None, limits={"k": 3}))
    session.change(session.draft.with_settings(limits=session.usual_limits()))
    return session


def weight_judged(session, draft):
    """Whether no limit is missed by the weight, and the base of the step that rounds it."""
    verdict = session.judge(draft).judged.verdict
    bases = [step.settings["base"] for step in draft.steps if step.name == "round"]
    return not any("weight" in row.columns for row in verdict.itertuples() if not row.met), bases


def test_first_steps_round_a_weight_by_which_households_are_found_no_more_than_they_must():
    session = households(np.random.default_rng(2).uniform(100, 400, 240).round(2))
    steps = session.with_first_steps()
    met, (base,) = weight_judged(session, steps)
    assert met and base > 1
    (place,) = (place for place, step in enumerate(steps.steps) if step.name == "round")
    finer = {1: 0.5, 2: 1, 5: 2}[int(str(base)[0])] * 10 ** (len(str(base)) - 1)
    assert not weight_judged(session, steps.with_step("round", {"variable": ["weight"], "base": finer}, place))[0]
    assert not weight_judged(session, steps.without_step(place))[0]


def test_a_weight_that_tells_no_household_apart_stays_as_it_is():
    session = households(np.where(np.arange(240) % 2, 20.0, 30.0))
    assert weight_judged(session, session.with_first_steps()) == (True, [])


def test_where_no_rounding_of_the_weight_is_enough_the_coarsest_is_taken_and_the_advice_names_the_weight():
    session = households(np.geomspace(2, 90000, 240).round(2))
    steps = session.with_first_steps()
    assert weight_judged(session, steps) == (False, [2])
    assert "weight" in " ".join(advice for _, advice in advised(session.judge(steps), Speech("en")))


@given(st.floats(0.001, 1e6), st.floats(1, 1000))
def test_bases_of_a_weight_leave_it_above_0_and_the_next_would_not(least, times):
    bases = _bases(least, least * times)
    wider = {1: 2, 2: 2.5, 5: 2}[int(f"{bases[0]:e}"[0])] * bases[0]
    assert bases == sorted(bases, reverse=True) and round(least / bases[0]) > 0
    assert round(least * (1 - 1e-9) / wider) == 0


def test_a_recipe_which_has_the_seed_is_for_its_owner_alone(session):
    session.write("recipe", "recipe.yml")
    assert Path("recipe.yml").stat().st_mode & 0o777 == 0o600


def test_what_is_written_is_what_the_commands_write(session):
    draft = session.draft.with_step("recode", BANDS).with_step("shuffle_records", {})
    session.change(draft.with_step("suppress", SUPPRESS))
    session.write("recipe", "recipe.yml")
    session.write("protected", "protected.csv")
    for line, name in zip(session.command_lines(protected="again.csv")[:1], ["again.csv"], strict=True):
        done = CliRunner().invoke(cli, line.split()[1:])
        assert done.exit_code == 0, done.output
        assert Path(name).read_bytes() == Path("protected.csv").read_bytes()
    assert session.draft.settings["seed"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("internal", [False, True])
def test_a_report_is_that_of_the_command(session, internal):
    session.change(session.draft.with_step("suppress", SUPPRESS))
    session.write("recipe", "recipe.yml")
    session.write("internal" if internal else "page", "page.html")
    line = session.command_lines(page="again.html", internal="again.html")[2 if internal else 1]
    done = CliRunner().invoke(cli, line.split()[1:])
    assert done.exit_code == 0, done.output
    assert Path("again.html").read_bytes() == Path("page.html").read_bytes()


def test_other_orders_and_what_is_off_are_as_a_recipe_from_scratch(session):
    draft = session.draft.with_step("recode", BANDS).with_step("remove_variables", REMOVE)
    session.change(draft.with_step("shuffle_records", {}).with_step("suppress", SUPPRESS))
    first = session.judge().protection.frame
    for draft in (
        session.draft.with_moved(0, 2),
        session.draft.with_switched(0),
        session.draft.without_step(1),
        session.draft.with_step("recode", {**BANDS, "bands": [0, 50, None]}, 0),
    ):
        session.change(draft)
        pd.testing.assert_frame_equal(session.judge().protection.frame, from_scratch(session))
        session.undo()
    pd.testing.assert_frame_equal(session.judge().protection.frame, first)
    session.redo()
    assert session.draft.steps[0].settings["bands"] == [0, 50, None]


def test_states_before_the_first_changed_step_are_kept(session):
    session.change(session.draft.with_step("recode", BANDS).with_step("suppress", SUPPRESS))
    first = session.judge().protection
    session.change(session.draft.with_step("suppress", {**SUPPRESS, "k_required": 5}, 1))
    second = session.judge().protection
    assert first.steps[0] is second.steps[0]


def test_the_result_of_what_is_undone_is_still_there_unless_it_was_made_with_other_files(session):
    first = session.judge()
    session.change(session.draft.with_step("recode", BANDS))
    second = session.judge()
    session.undo()
    assert session.judge() is first
    session.redo()
    assert session.judge() is second
    Path("register.csv").write_text("sex,age\nf,30\n", "utf-8")
    session.change(session.draft.with_settings(population="register.csv"))
    counted = session.judge()
    assert session.judge() is not counted
    for width in (5, 10, 20):
        session.change(session.draft.with_step("recode", {"variable": ["age"], "width": width}, 0))
        session.judge()
    assert first not in session._results


def test_a_draft_that_cannot_be_read_changes_nothing(session):
    before = session.draft
    with pytest.raises(OptionError, match="step 1"):
        session.change(before.with_step("recode", {"variable": ["age"]}))
    assert session.draft == before


def test_a_draft_is_kept_without_data_for_its_owner_and_offered_again(session):
    session.change(session.draft.with_step("recode", BANDS).with_switched(0))
    (path,) = drafts_folder().iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    again = Session("survey.csv", draft=Session("survey.csv").kept)
    assert again.draft == session.draft and not again.draft.steps[0].on
    again.forget()
    assert Session("survey.csv").kept is None


def test_sessions_on_one_file_keep_their_drafts_apart(session):
    session.change(session.draft.with_step("recode", BANDS))
    other = Session("survey.csv")
    other.change(other.draft.with_limit("k", 7))  # before the offer is answered
    assert other.kept == session.draft and len([*drafts_folder().iterdir()]) == 2
    assert Session("survey.csv").kept == other.draft
    session.change(session.draft.with_limit("k", 4))
    assert Session("survey.csv").kept == session.draft
    other.forget()
    assert Session("survey.csv").kept == other.draft
    for _ in range(9):
        other = Session("survey.csv")
        other.change(other.draft.with_limit("k", 8))
    assert len([*drafts_folder().iterdir()]) == 5


def test_new_steps_come_before_those_that_are_last():
    draft = Draft({"key_variables": ["age", "town"]})
    for name in ("suppress", "shuffle_records", "recode", "suppress_risk"):
        draft = draft.with_step(name, {})
    assert [step.name for step in draft.steps] == ["recode", "suppress", "suppress_risk", "shuffle_records"]


def test_a_suppression_orders_only_keys_that_are_left():
    draft = Draft({"key_variables": ["age", "sex", "town"]})
    draft = draft.with_step("suppress", {"importance": {"age": 1, "sex": 2, "town": 3}})
    draft = draft.with_role("sex", "released_as_is").with_step("remove_variables", {"variables": ["town"]})
    assert draft.steps[-1].settings == {"importance": {"age": 1}}
    assert draft.with_role("age", "").steps[-1].settings == {}


def test_a_column_that_is_left_out_is_left_out_of_the_steps_that_come_after():
    draft = Draft({"key_variables": ["age"]}).with_step("round", {"variable": "age", "base": 5})
    draft = draft.with_step("rank_swap", {"variables": ["income", "rent"]}).with_step(
        "add_noise", {"variables": ["income"]}
    )
    steps = [(step.name, step.settings["variables"]) for step in draft.with_role("income", REMOVED).steps[:1]]
    assert steps == [("remove_variables", ["income"])]
    left = draft.with_role("income", REMOVED).steps[1:]
    assert [(step.name, step.settings) for step in left] == [
        ("round", {"variable": "age", "base": 5}),
        ("rank_swap", {"variables": ["rent"]}),
    ]
    assert [step.name for step in draft.with_role("age", REMOVED).steps] == [REMOVED, "rank_swap", "add_noise"]


def test_a_refused_change_is_nothing_to_redo(session):
    session.change(session.draft.with_step("recode", BANDS))
    wrong = session.draft.with_step("recode", {"variable": ["nobody"], "width": 5})
    session.change(wrong)
    session.refuse(wrong)
    assert session.future == [] and session.draft != wrong


def test_a_draft_that_is_damaged_is_none(session):
    session.change(session.draft.with_limit("k", 5))
    (path,) = drafts_folder().iterdir()
    path.write_text("settings: [1", "utf-8")
    assert Session("survey.csv").kept is None


def test_a_recipe_is_gone_on_with():
    Path("mine.yml").write_text("key_variables: [age, sex]\nlimits: {k: 3}\nsteps: [suppress: {}]\n", "utf-8")
    session = Session("survey.csv", draft=Draft.read("mine.yml"))
    assert [step.name for step in session.draft.steps] == ["suppress"]
    assert session.draft.settings["limits"] == {"k": 3}


def test_how_the_file_is_read_is_part_of_the_draft():
    Path("s.csv").write_text(
        "age,sex,town\n" + "".join(f"{20 + n},{'mf?'[n % 3]},T{n % 4}\n" for n in range(60)), "utf-8"
    )
    session = Session("s.csv", na=["?"])
    session.change(session.draft.with_settings(key_variables=["sex", "town"], limits={"k": 2}))
    again = Session("s.csv", draft=Session("s.csv").kept)
    assert again.file.frame["sex"].isna().sum() == 20 and again.draft == session.draft


def test_a_file_that_is_there_is_not_replaced_unasked(session):
    Path("recipe.yml").write_text("mine", "utf-8")
    with pytest.raises(OptionError, match="recipe.yml"):
        session.write("recipe", "recipe.yml")
    session.write("recipe", "recipe.yml", overwrite=True)
    assert "key_variables" in Path("recipe.yml").read_text("utf-8")


def test_a_column_has_one_role():
    draft = Draft({"key_variables": ["a", "b"], "weight": "w"})
    draft = draft.with_role("a", "weight")
    assert (draft.role_of("a"), draft.role_of("w"), draft.settings["key_variables"]) == ("weight", "", ["b"])
    draft = draft.with_role("w", "remove_variables").with_role("x", "remove_variables")
    assert [step.settings for step in draft.steps] == [{"variables": ["w", "x"]}]
    draft = draft.with_role("w", "released_as_is").with_role("x", "")
    assert draft.steps == () and draft.undecided(["w", "x"]) == ["x"]


def test_a_file_that_is_read_is_not_replaced_and_one_that_has_changed_is_not_written_from(session):
    Path("register.csv").write_bytes(Path("survey.csv").read_bytes())
    session.change(session.draft.with_settings(population="register.csv"))
    for what in ("recipe", "protected", "page"):
        with pytest.raises(OptionError, match="the output path is equal to"):
            session.write(what, "register.csv", overwrite=True)
    session.undo()
    Path("page.html").write_text("another page", "utf-8")
    with pytest.raises(OptionError, match="is there"):
        session.write("page", "page.html")
    with Path("survey.csv").open("a", encoding="utf-8") as file:
        file.write("\n")
    for what in ("recipe", "protected", "page"):
        with pytest.raises(OptionError, match="the file has changed since it was read"):
            session.write(what, "new", overwrite=True)
    assert not Path("new").exists()
    assert Path("page.html").read_text("utf-8") == "another page"


def test_what_would_help_rounds_or_leaves_out_a_weight_that_reveals_a_key():
    place = pd.Series(range(400)) % 40
    frame = pd.DataFrame({"age": place.index // 50 % 4 * 10, "place": place, "weight": 1000 + 37 * place})
    frame.to_csv("weighted.csv", index=False)
    session = Session("weighted.csv")
    bands = {"variable": ["place"], "bands": [0, 20, None]}
    roles = {"key_variables": ["age", "place"], "weight": "weight", "limits": {"k": 5}}
    draft = session.draft.with_settings(**roles).with_step("recode", bands)
    session.change(draft.with_step("shuffle_records", {}))
    result = session.judge()
    assert set(result.judged.verdict.loc[~result.judged.verdict["met"], "name"]) == {"exposed_by_columns"}
    helped = {}
    for step in session.try_next(result, lambda name, settings: None):
        if "weight" in next(iter(step.settings.values()), ()):
            helped[step.name] = step.gap
    assert helped["remove_variables"] == 0 and 0 < helped["round"] < 1


def test_a_quantity_in_bands_has_no_links_and_the_advice_names_its_role():
    session = Session("health-survey")
    session.change(session.draft.with_settings(limits={"k": 1, "numeric_linkage": 0.05}))
    session.change(session.draft.with_step("recode", {"variable": ["income"], "width": 5000}))
    ((_, advice),) = advised(session.judge(), Speech("en"))
    assert "cannot be measured" in advice and "(bands make a key variable)" in advice


def test_indicators_are_of_what_is_released():
    session = Session("health-survey")
    assert session.with_indicators().settings["indicators"]["means"] == ["income"]
    session.change(session.draft.with_step("remove_variables", {"variables": ["income"]}))
    assert "means" not in session.with_indicators().settings["indicators"]


def test_what_is_tried_says_which_limits_it_did_not_count():
    session = Session("health-survey")
    session.change(session.draft.with_settings(limits={"k": 3, "global_risk": 0.001, "household_uniques": 0}))
    tries = {tuple(step.settings.get("variables", ())): step for step in session.try_next(session.judge(), print)}
    assert "k" in str(tries["postcode",].unmet) and tries["postcode",].uncounted == "household_uniques"
    assert not any(step.uncounted for step in tries.values() if step.unmet is None)


def test_codes_with_labels_are_not_put_into_bands():
    frame = pd.DataFrame({"region": np.arange(60) % 12, "age": np.arange(60), "sex": np.arange(60) % 2})
    frame.to_stata(
        "survey.dta", write_index=False, value_labels={"region": {code: f"Region {code}" for code in range(12)}}
    )
    session = Session("survey.dta")
    session.change(session.draft.with_settings(key_variables=["region", "age", "sex"], limits={"k": 3}))
    steps = next_steps(session.judge().protection, 3)
    assert [settings["variable"] for name, settings in steps if name == "recode"] == [["age"]]


def test_a_recipe_is_not_compared_with_what_is_no_file(session):
    Path("folder").mkdir()
    os.mkfifo("pipe")  # whoever opens it waits for ever
    for name in ("folder", "pipe"):
        with pytest.raises(OptionError, match=f"{name}: is there"):
            session.write("recipe", name)
    with pytest.raises(StorageError, match="folder: cannot be written"):
        session.write("recipe", "folder", overwrite=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("settings:\n    variable", "settings: x\n  other:\n    variable"),
        ("top_code", "another_code"),
        ("steps:", "steps: 5\nothers:"),
        ("'on': false", "'off': false"),
        ("language: en", "language: !x en"),
    ],
)
def test_a_kept_draft_that_cannot_be_read_is_none(session, old, new):
    draft = session.draft.with_step("top_code", {"variable": ["age"], "above": 80})
    session.change(draft.with_switched(len(draft.steps) - 1))
    (path,) = drafts_folder().iterdir()
    text = path.read_text("utf-8")
    assert Session("survey.csv").kept == session.draft and old in text
    for damaged in (text.replace(old, new), text[: text.index(old)] + "["):
        path.write_text(damaged, "utf-8")
        assert Session("survey.csv").kept is None
