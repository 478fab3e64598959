"""The kinds of steps that a protection may be made of: their settings, and what they do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import SkipValidation, StrictBool

from kanon_lab import methods
from kanon_lab.arguments import as_share, check_positive
from kanon_lab.columns import coded, refuse, with_columns
from kanon_lab.errors import OptionError, meant, misspelt, shortened
from kanon_lab.measures import ESTIMATORS
from kanon_lab.methods import CLAIMS, KEEPS, Suppression, local_suppression, suppress_above_risk
from kanon_lab.methods.perturbation import MISSING, MOST_NOISE, as_fine, numbers_like, step_seed, within_households
from kanon_lab.methods.recode_settings import RECODINGS, Recoding, recoded
from kanon_lab.methods.suppression import check_key, check_policy, importance_ranks, key_combinations
from kanon_lab.methods.suppression_bound import Certificate
from kanon_lab.recipes.measured import Rule
from kanon_lab.recipes.settings import SEED, STEP_SEED, HouseholdLevel, K
from kanon_lab.recipes.state import Chain
from kanon_lab.roles import KeySpec, names_of
from kanon_lab.settings import COLUMN, COLUMNS, CheckedBy, Settings, chosen_from, read, setting

#: What ``shuffle_records`` puts in random order.
SHUFFLED_BY = ("record", "household", "within_household")


@dataclass(frozen=True)
class Applied:
    """The result of a step."""

    frame: pd.DataFrame  # The same records, in any order, with the columns that are removed
    removed: tuple[str, ...] = ()  # Columns that are not released from now on
    claims: pd.DataFrame | None = None  # See `kanon_lab.methods.protection_claims`
    certificate: Certificate | None = None  # Of a suppression, the cells that it took and needs
    households: Chain | None = None  # The protection of the file of households


@dataclass(frozen=True)
class Kind:
    """A kind of step."""

    model: type[Settings]  # What its settings may be
    #: Apply it to a frame whose variables have roles (a `KeySpec`), with its settings and ``seed=``.
    apply: Callable[..., Applied] | None
    random: bool = False  # Whether the result depends on the seed; then settings may have a ``seed`` of their own
    needs_k: bool = False  # Whether ``k_required`` is by default that of the recipe
    within_strata: bool = False  # Whether every record must have its strata
    perturbs: bool = False  # Whether equal values may become different ones, so that a released value may be untrue
    as_quantities: bool = False  # Whether a released value may be near the true one without being equal to it

    def draws(self, seed: int | None, settings: Mapping[str, Any]) -> bool:
        """Whether something is drawn: always, or where a seed is given to a step that may have one."""
        asked = seed is not None or settings.get("seed") is not None
        return self.random or (asked and "seed" in self.model.model_fields)

    def variables(self, settings: Mapping[str, Any]) -> list[str]:
        """The columns that settings name."""
        return read(self.model, settings).columns

    def check(self, settings: Mapping[str, Any], spec: KeySpec) -> None:
        """Raise an `OptionError` for settings that cannot be used, whatever the data."""
        model = read(self.model, settings)
        if isinstance(model, StepSettings):
            model.check_keys(spec)

    def perturbed(self, settings: Mapping[str, Any]) -> list[str]:
        """The columns whose values are perturbed."""
        if not self.perturbs:
            return []
        model: Any = read(self.model, settings)
        return model.variables

    def rules(self, settings: Mapping[str, Any]) -> dict[str, Rule]:
        """By column that is recoded, what is done to it."""
        model = read(self.model, settings)
        return dict.fromkeys(model.columns, model.recoded) if isinstance(model, Recoding) else {}


def kind_of(name: object) -> Kind:
    """The kind of that name; an `OptionError` that names the nearest one where there is none."""
    if not isinstance(name, str) or name not in STEPS:
        remedy = meant(name, STEPS, f"there are {', '.join(STEPS)}")
        shown = misspelt(name, STEPS, "")
        raise OptionError(f"there is no step {repr(shown) if shown else 'of this name'}; {remedy}")
    return STEPS[name]


class StepSettings(Settings):
    """Settings of a step."""

    @classmethod
    def misplaced(cls, name: str) -> str | None:
        return "nothing is random in it, so it takes no seed" if name == "seed" else super().misplaced(name)

    def check_keys(self, spec: KeySpec) -> None:
        """Raise an `OptionError` for names that are not key variables of the file."""


class Suppress(StepSettings):
    """Local suppression to k."""

    k_required: K = setting(..., "the k to be reached", "5", unless="that of the file")
    importance: SkipValidation[dict[str, int] | None] = setting(
        None,
        "a whole number for each key: `1` is the most important, and suppressed last; keys without a "
        "number are suppressed first",
        "{sex: 1, age: 2}",
    )
    combinations: SkipValidation[list[dict[str, Any]] | None] = setting(
        None,
        "the combinations to reach k on, in place of all keys together: some keys (`keys`), or all sets of "
        "this many keys (`size`), each with its own `k` if you give one",
        "[{keys: [age, sex], k: 5}, {size: 2}]",
    )
    claim: Annotated[str, chosen_from(CLAIMS)] | None = setting(
        None,
        "the claim to reach for every record: `compatible` (k released records are compatible with it), `true_key` "
        "(also with its original keys, which an intruder may know; suppresses a few more cells) or `own_class` (k have "
        "the same key, a missing value being a value of its own; suppresses more cells)",
        "true_key",
        unless="by `missing`: `compatible` with `wildcard`, `own_class` with `category`",
    )
    seed: SEED | None = setting(
        None,
        "draws the key that a record loses among equally important ones that serve equally well",
        "5",
        unless="it is the one with most values",
    )

    @property
    def columns(self) -> list[str]:
        named = list(self.importance) if isinstance(self.importance, Mapping) else []
        for combination in self.combinations if isinstance(self.combinations, (list, tuple)) else ():
            if isinstance(combination, Mapping) and "keys" in combination:
                named += names_of(combination["keys"], "keys")
        return named

    def check_keys(self, spec: KeySpec) -> None:
        check_policy(spec)
        importance_ranks(self.importance, spec)
        key_combinations(self.combinations, spec, self.k_required)


class SuppressRisk(StepSettings):
    """Suppression in records at a high risk."""

    threshold: Annotated[float, CheckedBy(as_share)] = setting(..., "from `0` to `1`", "0.05")
    variables: COLUMNS = setting(..., "keys, in the order in which they are removed", "[education, age]")
    estimator: Annotated[str, chosen_from(ESTIMATORS)] = setting(
        "benedetti-franconi", "as for the file, and not inherited from it", "inverse"
    )

    def check_keys(self, spec: KeySpec) -> None:
        check_policy(spec)
        for name in self.variables:
            check_key(name, spec, "variables")


class RemoveVariables(StepSettings):
    """Columns are not released."""

    variables: COLUMNS = setting(..., "columns that are not released, their ghosts with them", "[weight, birth_date]")


class ShuffleMembers(StepSettings):
    """Members of households change places."""

    line_number: COLUMN | None = setting(None, "a column that numbers the members; it stays where it is", "line")
    seed: STEP_SEED = None


class ShuffleRecords(StepSettings):
    """Records change places."""

    by: Annotated[str, chosen_from(SHUFFLED_BY)] = setting(
        "record",
        "all records in random order (`record`); whole households in random order, their members together as they"
        " stood (`household`); or members in random order within the places of their household "
        "(`within_household`)",
        "household",
    )
    seed: STEP_SEED = None


class Renumber(StepSettings):
    """Identifiers get new numbers."""

    variables: COLUMNS | None = setting(
        None,
        "columns whose values are numbered anew from `1` on; no keys, weights or other variables that say something",
        "[household]",
        unless="the `household` and the `person`",
    )
    line_number: COLUMN | None = setting(
        None, "a column that numbers the members: from `1` on in each household, at random", "line"
    )
    seed: STEP_SEED = None


class Pram(StepSettings):
    """Categories move to others at random."""

    variables: COLUMNS = setting(..., "the columns, each by itself", "[education]")
    keep: SkipValidation[float | dict[str, Any] | None] = setting(
        None, "probability to stay without a draw", "0.9", unless="`0.8`"
    )
    transition: SkipValidation[dict[str, Any] | None] = setting(
        None,
        "a matrix of your own: by category the probabilities of what it becomes",
        "{woman: {woman: 0.9, man: 0.1}, man: {woman: 0.2, man: 0.8}}",
    )
    invariant: StrictBool | None = setting(
        None, "whether the shares stay as they are in expectation; `null` means so unless you give a matrix", "false"
    )
    strata: COLUMNS | None = setting(None, "a matrix for each of these groups", "[sex]", unless="those of the file")
    seed: STEP_SEED = None

    def check(self) -> None:
        from kanon_lab.methods.post_randomisation import transition_rules

        transition_rules(tuple(self.variables), self.transition, self.keep)


class Microaggregate(StepSettings):
    """Quantities become the mean of their group."""

    variables: COLUMNS = setting(..., "quantities, taken together", "[income]")
    k_required: K = setting(..., "the least records of a group", "5", unless="that of the file")
    method: Annotated[str, chosen_from(["mdav", "optimal"])] = setting(
        "mdav", "`mdav`, or `optimal` groups of each variable by itself", "optimal"
    )
    centre: Annotated[str, chosen_from(["mean", "median"])] = setting(
        "mean", "what the values become: `mean` or `median`", "median"
    )
    start: Annotated[str, chosen_from(["mean", "robust"])] = setting(
        "mean", "whether groups begin far from the `mean`, or far out by a `robust` distance", "robust"
    )
    missing: Annotated[str, chosen_from(MISSING)] = setting(
        "error",
        "whether records without any of the values are refused (`error`), or stay as they are (`leave`)",
        "leave",
    )
    strata: COLUMNS | None = setting(None, "groups are formed within these", "[sex]", unless="those of the file")

    def check(self) -> None:
        from kanon_lab.methods.quantities import check_options

        check_options(self.k_required, self.method, self.centre, self.start)


class AddNoise(StepSettings):
    """Quantities get normal noise."""

    variables: COLUMNS = setting(..., "quantities", "[income]")
    method: Annotated[str, chosen_from(KEEPS["add_noise"])] = setting(
        "additive",
        "`additive`, `correlated`, `restricted` (means and covariances stay exactly) or `outliers` (more for "
        "those far out)",
        "restricted",
    )
    strength: Annotated[float, CheckedBy(partial(check_positive, most=MOST_NOISE))] = setting(
        0.1, "standard deviation of the noise, in those of the variable", "0.25"
    )
    missing: Annotated[str, chosen_from(MISSING)] = setting("error", "as in `microaggregate`", "leave")
    strata: COLUMNS | None = setting(None, "covariances are those within these", "[sex]", unless="those of the file")
    seed: STEP_SEED = None


class RankSwap(StepSettings):
    """Values are swapped with those of a near rank."""

    variables: COLUMNS = setting(
        ..., "quantities, each by itself; in formats that know them also dates and ordered categories", "[income]"
    )
    window: Annotated[float, CheckedBy(partial(check_positive, most=1))] = setting(
        0.05, "how far ranks may be apart, as a share of the records", "0.1"
    )
    strata: COLUMNS | None = setting(None, "values are swapped within these", "[sex]", unless="those of the file")
    seed: STEP_SEED = None


class Shuffle(StepSettings):
    """Values change owners, and what they have to do with others stays."""

    variables: COLUMNS = setting(..., "quantities", "[income]")
    given: COLUMNS | None = setting(
        None, "columns whose relation with them is kept; no gaps", "[age, education]", unless="`[]`"
    )
    missing: Annotated[str, chosen_from(MISSING)] = setting(
        "error", "as in `microaggregate`, of the variables", "leave"
    )
    strata: COLUMNS | None = setting(None, "values are shuffled within these", "[sex]", unless="those of the file")
    seed: STEP_SEED = None


def _recode(frame, spec, settings, *, seed, step) -> Applied:
    return Applied(recoded(step, read(RECODINGS[step], settings), frame))


def _suppress(frame, spec, settings, *, seed, step, **more) -> Applied:
    result = suppression(step, settings, seed)(frame, spec, **more)
    return Applied(result.frame, claims=result.claims, certificate=result.certificate)


def suppression(step: str, settings: Mapping[str, Any], seed: int | None) -> Callable[..., Suppression]:
    """The function of a step that suppresses, with its settings; of a seed it draws from neither rows nor values."""
    options = read(STEPS[step].model, settings).fields_set
    if step != "suppress":
        return partial(suppress_above_risk, **options)
    drawn = None if seed is None else step_seed(seed, step, settings, pd.DataFrame(), [])
    return partial(local_suppression, **{**options, "seed": drawn})


def _remove_variables(frame, spec, settings, *, seed) -> Applied:
    """Remove columns; with a removed weight or household the file is still measured, since the office has them."""
    names = read(RemoveVariables, settings).variables
    ghosts = [ghost for name in names for ghost in spec.ghost_variables.get(name, ())]
    if spec.key_variables and set(spec.key_variables) <= set(names):
        raise OptionError("no key variable would be left to measure; keep one, or do not protect the file")
    return Applied(frame, removed=tuple(dict.fromkeys([*names, *ghosts])))


def _shuffle_members(frame, spec, settings, *, seed) -> Applied:
    """Change places at random within each household; line numbers stay where they are.

    INE Chile (2023), section 6.7, block 6.15.
    """
    if spec.household is None:
        raise OptionError("shuffle_members needs a household; name the variable that identifies the household")
    household = coded(frame[spec.household]).codes
    shuffled = frame.iloc[within_households(household, np.random.default_rng(seed))]
    if (line := read(ShuffleMembers, settings).line_number) is not None:
        shuffled = shuffled.assign(**{line: frame[line].set_axis(shuffled.index)})
    return Applied(shuffled)


def _shuffle_records(frame, spec, settings, *, seed) -> Applied:
    """Records in random order; or whole households, their members together as they stood; or members within theirs."""
    by = read(ShuffleRecords, settings).by
    rng = np.random.default_rng(step_seed(seed, "shuffle_records", settings, frame, list(frame)))
    if by == "record":
        return Applied(frame.iloc[rng.permutation(len(frame))])
    home = _households(frame, spec, f"shuffle_records by {by}")
    if by == "within_household":
        return Applied(frame.iloc[within_households(home, rng)])
    place = rng.permutation(home.max() + 1)
    return Applied(frame.iloc[np.argsort(place[home], kind="stable")])


def _renumber(frame, spec, settings, *, seed) -> Applied:
    """Replace the values of identifiers one to one by random numbers, and number the members of each household."""
    options = read(Renumber, settings)
    names = options.variables or [name for name in (spec.household, spec.person) if name is not None]
    line_number = options.line_number
    if not names and line_number is None:
        raise OptionError("renumber needs a household or person, or the variables to renumber; name them")
    numbered = names if line_number is None else [*names, line_number]
    if twice := [name for place, name in enumerate(numbered) if name in numbered[:place]]:
        raise OptionError(f"{shortened(twice[0])} is named twice; name each variable once")
    meaningful = (*spec.key_variables, *spec.ghosts, *spec.sensitive_variables, *spec.numeric_variables, spec.weight)
    for name in numbered:
        if name in meaningful:
            raise OptionError(
                f"{shortened(name)} cannot be renumbered, since it has another role; recode or perturb it"
            )
    rng = np.random.default_rng(step_seed(seed, "renumber", settings, frame, list(frame)))
    columns = {}
    for name in names:
        known = coded(frame[name])
        columns[name] = numbers_like(rng.permutation(len(known.values)) + 1, known.codes, frame[name])
    if line_number is not None:
        home = _households(frame, spec, "renumber with a line_number")
        order = np.lexsort((rng.random(len(frame)), home))
        starts = np.concatenate([[0], np.cumsum(np.bincount(home))])[:-1]
        line = np.empty(len(frame), dtype=np.int64)
        line[order] = np.arange(len(frame)) - starts[home[order]] + 1
        places = np.where(frame[line_number].isna(), -1, np.arange(len(frame)))
        columns[line_number] = numbers_like(line, places, frame[line_number])
    return Applied(with_columns(frame, columns))


def _households(frame: pd.DataFrame, spec: KeySpec, step: str) -> np.ndarray:
    """The number of each record's household."""
    if spec.household is None:
        raise OptionError(f"{step} needs a household; name the variable that identifies the household")
    home = coded(frame[spec.household]).codes
    refuse(home < 0, frame.index, spec.household, "no household; fill it in, or drop the record")
    return home


def _perturb(frame, spec, settings, *, seed, step) -> Applied:
    """A method of `kanon_lab.methods`, within the strata of the file unless the settings say others."""
    kind = STEPS[step]
    options = read(kind.model, settings).fields_set
    names = options.pop("variables")
    options.setdefault("strata", spec.strata)
    if step == "pram":  # what the users publish are weighted shares
        options["weight"] = spec.weight
    if spec.household in names:
        raise OptionError(f"{shortened(spec.household)} is the household ID; perturb other variables")
    if spec.person in names:
        raise OptionError(f"{shortened(spec.person)} is the person ID; perturb other variables")
    if spec.weight in names:
        raise OptionError(f"{shortened(spec.weight)} is the weight, which the risk is measured with; perturb others")
    if kind.random:
        seed = step_seed(seed, step, settings, frame, names)
    released = getattr(methods, step)(frame, names, **options, seed=seed or 0).frame
    if step in ("microaggregate", "add_noise"):  # others give values that are in the file
        released = with_columns(released, {name: as_fine(released[name], frame[name]) for name in names})
    return Applied(released)


def _perturbation(name: str, model: type[Settings], **kind: bool) -> dict[str, Kind]:
    perturb = partial(_perturb, step=name)
    return {name: Kind(model, perturb, **({"random": True} | kind), within_strata=True, perturbs=True)}


#: Name of a step -> its kind.
STEPS: dict[str, Kind] = {
    **{name: Kind(model, partial(_recode, step=name)) for name, model in RECODINGS.items()},
    "suppress": Kind(Suppress, partial(_suppress, step="suppress"), needs_k=True, within_strata=True),
    "suppress_risk": Kind(SuppressRisk, partial(_suppress, step="suppress_risk")),
    "remove_variables": Kind(RemoveVariables, _remove_variables),
    "shuffle_members": Kind(ShuffleMembers, _shuffle_members, random=True),
    **_perturbation("pram", Pram),
    # Its groups follow from the data; a robust start has always the same seed.
    **_perturbation("microaggregate", Microaggregate, random=False, needs_k=True, as_quantities=True),
    **_perturbation("add_noise", AddNoise, as_quantities=True),
    **_perturbation("rank_swap", RankSwap, as_quantities=True),
    **_perturbation("shuffle", Shuffle, as_quantities=True),
    "shuffle_records": Kind(ShuffleRecords, _shuffle_records, random=True),
    "renumber": Kind(Renumber, _renumber, random=True),
    "household_level": Kind(HouseholdLevel, None, random=True),
}
