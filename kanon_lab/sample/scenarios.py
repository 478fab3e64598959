"""Other levels of detail of the keys: the subsample study under each of them, and in a population that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_frame, check_whole
from kanon_lab.classes import ClassTable, class_table
from kanon_lab.columns import coded, refuse
from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.methods.perturbation import generator
from kanon_lab.methods.suppression import check_key
from kanon_lab.roles import KeySpec, as_spec, check_seed
from kanon_lab.sample.curve import MOST_RECORDS, STUDY, SizeCounts, as_fractions, expected_study, size_counts
from kanon_lab.sample.estimators import METHODS, check_cells, check_methods, estimates
from kanon_lab.sample.study import SubsampleRisk, collected, planned
from kanon_lab.sample.subsamples import COUNTS, MOST_REPEATS, Uniques, clustering, count_subsamples

#: In place of settings: the variable is not in the file that is released.
REMOVE = "remove"


def _check_levels(levels: object, spec: KeySpec, results: Iterable[str]) -> dict[str, dict[str | int, Any]]:
    """Levels by key variable and label."""
    if not isinstance(levels, Mapping) or not levels:
        raise OptionError("levels: give a mapping of key variable to its levels, such as {age: {1 year: null, ...}}")
    for name, labels in levels.items():
        check_key(name, spec, "levels")
        if name in results:
            raise OptionError(f"levels: {name} is the name of a result too; give the variable another name")
        if not isinstance(labels, Mapping) or not labels or not all(isinstance(label, (str, int)) for label in labels):
            raise OptionError(
                f"levels of {shortened(str(name))}: give a mapping of label (text or whole number) to settings"
            )
    removable = [name for name, labels in levels.items() if any(map(_removed, labels.values()))]
    if set(removable) == set(spec.key_variables):
        raise OptionError("levels: one scenario removes every key variable; leave some in")
    return {name: dict(labels) for name, labels in levels.items()}


def _at_level(frame: pd.DataFrame, name: str, settings: object) -> pd.Series | None:
    """A variable at one level of detail; None where it is removed."""
    if settings is None:
        return frame[name]
    if _removed(settings):
        return None
    if not isinstance(settings, Mapping) or "variable" in settings:
        raise OptionError(
            f"{shortened(str(name))}: a level must be settings of recode without variable, such as {{'width': 5}}, "
            "None or 'remove'"
        )
    from kanon_lab.methods.recode_settings import recode_step

    return recode_step(frame[[name]], {"variable": name, **settings})[name]


def _table_of(frame: pd.DataFrame, spec: KeySpec, keys: Mapping[str, pd.Series | None]) -> ClassTable:
    """The classes under other columns of the keys; those that are None are left out."""
    kept = {name: column for name, column in keys.items() if column is not None}
    others = {} if spec.weight is None else {spec.weight: frame[spec.weight]}
    of_kept = KeySpec(tuple(kept), weight=spec.weight, missing=spec.missing)
    return class_table(pd.DataFrame({**kept, **others}), of_kept)


def _removed(settings: object) -> bool:
    return isinstance(settings, str) and settings == REMOVE


def population_sizes(
    frame: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    *,
    persons: str | None = None,
    recode: Mapping[str, Mapping[str, Any] | str | None] | None = None,
) -> np.ndarray:
    """The sizes F of the classes of a population.

    Parameters
    ----------
    frame : DataFrame
        One row a person, or with `persons` one row a group of persons.
    spec : KeySpec or sequence of str
        Its key variables, and what a missing key means; a weight variable of the spec is not used. Under ``wildcard``
        no key may be missing: persons would have no classes.
    persons : str, optional
        Column of whole numbers above 0, in all below 2 ** 53: how many persons each row stands for.
    recode : mapping of str to mapping, None or "remove", optional
        By key variable the settings of a recipe's step ``recode`` without ``variable``; None leaves it as it is, and
        ``"remove"`` leaves it out.

    Returns
    -------
    ndarray of int, shape (classes,)
        Persons a class, in the order of the class table.

    Examples
    --------
    >>> cells = pd.DataFrame({'age': [3, 7, 40], 'persons': [1, 2, 9]})
    >>> kanon_lab.sample.population_sizes(cells, 'age', persons='persons', recode={'age': {'bands': [0, 18, None]}})
    array([3, 9])
    """
    spec = as_spec(spec)
    with about("the population"):
        check_frame(frame)
        bare = KeySpec(spec.key_variables, weight=persons, missing=spec.missing)
        bare.check(frame)
        levels = {} if recode is None else recode
        if not isinstance(levels, Mapping):
            example = "{'age': {'bands': [0, 15, 65, None]}}"
            raise OptionError(f"recode must map key variables to settings, such as {example}")
        for name in levels:
            check_key(name, bare, "recode")
        if levels and all(_removed(levels.get(name)) for name in bare.key_variables):
            raise OptionError("recode removes every key variable; leave some in")
        table = _table_of(frame, bare, {name: _at_level(frame, name, levels.get(name)) for name in bare.key_variables})
        if (table.f_k != table.records).any():
            raise DataError(
                "a key is missing, so that persons have no classes; fill it in, or let missing be a category of its own"
            )
        if persons is None:
            return table.records
        counts: Any = table.weight_of_record
        refuse(counts != np.floor(counts), frame.index, persons, "not a whole number of persons; correct it")
        fault = "the persons up to this row are 2 ** 53 or more; correct the count"
        refuse(np.cumsum(counts) >= MOST_RECORDS, frame.index, persons, fault)
        return table.F_k.astype(np.int64)


_REPORTED = ["n1", "u1", "n2", "u2", "u", "p_b", "p_c", "p_d", "p_identification"]
_WITH_SD = ["u2", "u", "p_identification"]
_SCENARIO_COLUMNS = ["repeat", *COUNTS, *_REPORTED, *(f"{name}_sd" for name in _WITH_SD)]


@dataclass(frozen=True)
class Scenarios:
    """The subsample study under several scenarios.

    Attributes
    ----------
    variables : tuple of str
        Those whose detail differs.
    risks : tuple of SubsampleRisk
        One a scenario, in the order of `table`; all from the same subsamples of records.
    table : DataFrame
        One row a scenario: for each of the variables the label of its level; ``n1``, ``u1``, ``n2``, ``u2``, ``u``,
        ``p_b``, ``p_c``, ``p_d``, ``p_identification`` as in `SubsampleRisk` (means over the subsamples), and the
        standard deviations ``u2_sd``, ``u_sd``, ``p_identification_sd`` over them (NaN of one subsample).
    draws : DataFrame
        One row a scenario and subsample: the labels, and the columns of `SubsampleRisk.draws`.
    notes : tuple of str
        Each of them once, with the scenarios that it is about where it is not about all.
    """

    variables: tuple[str, ...]
    risks: tuple[SubsampleRisk, ...] = field(repr=False)
    table: pd.DataFrame = field(repr=False)
    draws: pd.DataFrame = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)


def scenario_grid(
    frame: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    levels: Mapping[str, Mapping[str | int, Mapping[str, Any] | str | None]],
    **options: Any,
) -> Scenarios:
    """Estimate the risk of identification under every combination of levels of detail.

    Parameters
    ----------
    frame, spec
        As in `subsample_risk`.
    levels : mapping of str to mapping
        By key variable its levels, by their labels (text or whole numbers): settings of a recipe's step ``recode``
        without ``variable``, such as ``{"bands": [0, 15, 65, None]}``; None for the variable as it is; or
        ``"remove"``. Levels need not nest.
    **options
        The fraction, repeats, scheme, p_a, seed, cluster and cluster_fraction of `subsample_risk`.

    Returns
    -------
    Scenarios
        The last variable's levels change fastest. All scenarios see the same subsamples of records.

    References
    ----------
    Garín i Ramírez (1996), section 4.4 and Taula 1: three levels of residence by three of age.

    Examples
    --------
    >>> frame = pd.DataFrame({'age': range(200)})
    >>> levels = {'age': {'years': None, 'tens': {'width': 10}}}
    >>> kanon_lab.sample.scenario_grid(frame, 'age', levels, fraction=0.5, seed=1).table[['age', 'n1', 'u1', 'u2']]
         age   n1   u1  u2
    0  years  200  200  95
    1   tens  200    0   0
    """
    spec, design = planned(frame, spec, **options)
    levels = _check_levels(levels, spec, _SCENARIO_COLUMNS)
    # Values are numbered once a level, not once a scenario.
    columns: dict[str, dict[Any, Any]] = {
        name: {label: _numbered(_at_level(frame, name, settings)) for label, settings in labels.items()}
        for name, labels in ({name: {None: None} for name in spec.key_variables} | levels).items()
    }
    scenarios = _combinations(levels)
    tables = [_table_of(frame, spec, {name: of[key.get(name)] for name, of in columns.items()}) for key in scenarios]
    design, uniques = design.completed(frame, tables[0]), [Uniques(table) for table in tables]
    counts = count_subsamples(uniques, design)
    risks = [collected(of_scenario, design, part) for of_scenario, part in zip(uniques, counts, strict=True)]
    rows, draws = [], []
    notes: dict[str, list[str]] = {}
    for scenario, risk in zip(scenarios, risks, strict=True):
        sd = {f"{name}_sd": risk.draws[name].std() for name in _WITH_SD}
        rows.append({**scenario, **{name: getattr(risk, name) for name in _REPORTED}, **sd})
        draws.append(pd.concat([pd.DataFrame(scenario, index=risk.draws.index), risk.draws], axis=1))
        for note in risk.notes:
            notes.setdefault(note, []).append(", ".join(f"{name}: {label}" for name, label in scenario.items()))
    warnings = () if design.units else clustering(frame, class_table(frame, spec))
    about_some = [note if len(of) == len(risks) else f"{'; '.join(of)}: {note}" for note, of in notes.items()]
    return Scenarios(
        variables=tuple(levels),
        risks=tuple(risks),
        table=pd.DataFrame(rows),
        draws=pd.concat(draws, ignore_index=True),
        notes=(*warnings, *about_some),
    )


def _combinations(levels: Mapping[str, Mapping[str | int, Any]]) -> list[dict[str, str | int]]:
    """Every combination of levels as variable -> label; the last variable's change fastest."""
    return [dict(zip(levels, labels, strict=True)) for labels in product(*levels.values())]


def _numbered(column: pd.Series | None) -> pd.Series | None:
    if column is None:
        return None
    numbers = coded(column)
    return pd.Series(pd.Categorical.from_codes(numbers.codes, numbers.values), index=column.index)


def detail_grid(
    cells: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    levels: Mapping[str, Mapping[str | int, Mapping[str, Any] | str | None]],
    fractions: Iterable[float],
    *,
    persons: str | None = None,
    p_a: float = 1.0,
) -> pd.DataFrame:
    """What the subsample study expects, and the truth, for each combination of levels and each fraction.

    Parameters
    ----------
    cells : DataFrame
        The population: one row a person, or a cell of it with the column `persons`.
    spec : KeySpec or sequence of str
        Its key variables.
    levels : mapping
        As in `scenario_grid`.
    fractions : iterable of float, 1e-9 to below 1
    persons : str, optional
        The column of counts.
    p_a : float, 0-1
        As in `expected_study`.

    Returns
    -------
    DataFrame
        A row a combination and fraction, combinations in the order of `levels`: a column of labels a variable, and the
        columns of `expected_study`.

    Examples
    --------
    >>> cells = pd.DataFrame({'age': [3, 7, 40], 'persons': [1, 2, 9]})
    >>> levels = {'age': {'years': None, 'bands': {'bands': [0, 18, None]}}}
    >>> grid = kanon_lab.sample.detail_grid(cells, 'age', levels, [0.1], persons='persons')
    >>> grid[['age', 'fraction', 'p_c', 'true_p_c']].round(4)
         age  fraction     p_c  true_p_c
    0  years       0.1  0.3289    0.0833
    1  bands       0.1  0.2945    0.0000
    """
    spec = as_spec(spec)
    levels, fractions = _check_levels(levels, spec, STUDY), as_fractions(fractions)
    parts = []
    for labels in _combinations(levels):
        recode = {name: levels[name][label] for name, label in labels.items()}
        study = expected_study(population_sizes(cells, spec, persons=persons, recode=recode), fractions, p_a=p_a)
        parts.append(pd.concat([pd.DataFrame(labels, index=study.index), study], axis=1))
    return pd.concat(parts, ignore_index=True)


#: The study's method, with one subsample drawn at random, and the methods that draw none.
ONE_SUBSAMPLE = "one subsample"
TRIAL_METHODS = {ONE_SUBSAMPLE: "one subsample, drawn at random as in the study", **METHODS}
_TRIAL_COLUMNS = ["fraction", "method", "true_p_c", "true_p_d", "p_c", "p_d", "bias_p_c", "bias_p_d"]
_TRIAL_COLUMNS += ["sd_p_c", "sd_p_d", "failures", "samples", "seed"]
# Classes up to this size are drawn all at once, larger ones one by one.
_SMALL = 64


def study_trials(
    frame: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    *,
    fractions: Iterable[float],
    seed: int,
    persons: str | None = None,
    recode: Mapping[str, Mapping[str, Any] | str | None] | None = None,
    samples: int = 20,
    methods: Iterable[str] | str = tuple(TRIAL_METHODS),
    cells: int | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Draw samples of a known population, and compare what each method makes of them with the truth.

    Parameters
    ----------
    frame, spec, persons, recode
        The population, as in `kanon_lab.sample.population_sizes`.
    fractions : sequence of float
        Sampling fractions, from 1e-9 to below 1.
    seed : int
        Seed of the random numbers; a fraction's samples do not depend on the other fractions.
    samples : int
        Bernoulli samples a fraction, from 1 to 100,000.
    methods : sequence of str, or str
        Some of `TRIAL_METHODS`: ``"one subsample"`` or those of `kanon_lab.sample.population_uniques`.
    cells : int, optional
        As in `kanon_lab.sample.population_uniques`, from the number of classes of the population on.
    progress : bool
        Show a progress bar on standard error where it takes more than two seconds.

    Returns
    -------
    DataFrame
        One row a fraction and method: ``fraction``, ``method``; ``true_p_c``, the share of population uniques, and
        ``true_p_d``, the expected number of population uniques in a sample over that of sample uniques; ``p_c`` and
        ``p_d``, means of the estimates (all 0-1); ``bias_p_c`` and ``bias_p_d``, those minus the truth; ``sd_p_c`` and
        ``sd_p_d``, the standard deviation of single estimates (NaN with fewer than two); ``failures``, the share of
        samples without an estimate (0-1), which are left out of means; ``samples`` and ``seed``.

    Examples
    --------
    >>> town = pd.DataFrame({"cell": range(200), "persons": [1, 2] * 100})
    >>> trials = kanon_lab.sample.study_trials(town, "cell", persons="persons", fractions=[0.5], seed=1, samples=2)
    >>> trials["true_p_c"].round(4).unique().tolist()
    [0.3333]
    """
    from tqdm import tqdm

    fractions, methods = pd.unique(as_fractions(fractions)), check_methods(methods, TRIAL_METHODS)
    samples, seed = check_whole(samples, "samples", 1, MOST_REPEATS), check_seed(seed)
    sizes = population_sizes(frame, spec, persons=persons, recode=recode)
    counts = size_counts(sizes)
    cells = check_cells(cells, counts)
    parts = []
    with tqdm(total=len(fractions) * samples, desc="samples", disable=not progress, delay=2, leave=False) as bar:
        for fraction in fractions:
            rng = generator(seed, f"samples of {float(fraction)!r}", 0)
            draw = _Drawing(counts, float(fraction))
            for _ in range(samples):
                parts.append(_one_sample(draw.sample(rng), float(fraction), methods, cells, rng))
                bar.update()
    by_method = pd.concat(parts).groupby(["fraction", "method"], sort=False)[["p_c", "p_d"]]
    truth = expected_study(sizes, fractions).set_index("fraction")[["true_p_c", "true_p_d"]]
    trials = by_method.mean().join(truth).join(by_method.std().add_prefix("sd_"))
    for name in ("p_c", "p_d"):
        trials[f"bias_{name}"] = trials[name] - trials[f"true_{name}"]
    trials["failures"] = 1 - by_method.count()["p_c"] / samples
    return trials.assign(samples=samples, seed=seed).reset_index()[_TRIAL_COLUMNS]


def _one_sample(
    sample: SizeCounts | None, fraction: float, methods: tuple[str, ...], cells: int | None, rng: np.random.Generator
) -> pd.DataFrame:
    """One row a method: ``fraction``, ``method``, ``p_c``, ``p_d``."""
    if sample is None:
        return pd.DataFrame({"fraction": fraction, "method": methods, "p_c": np.nan, "p_d": np.nan})
    by_method = estimates(sample, fraction, [method for method in methods if method != ONE_SUBSAMPLE], cells)
    by_method = by_method.set_index("method")[["p_c", "p_d"]].astype(float)
    # One Bernoulli subsample, drawn whether it is asked for or not, so that the other samples do not depend on that.
    # A class of k records leaves one of them in it with the chance k f (1 - f)^(k - 1), independently of other classes.
    alone = sample.size * fraction * np.exp((sample.size - 1) * np.log1p(-fraction))
    unique = rng.binomial(sample.classes.astype(np.int64), np.minimum(alone, 1))
    u2, u = unique.sum(), unique[sample.size == 1].sum()
    p_d = u / u2 if u2 else np.nan
    by_method.loc[ONE_SUBSAMPLE] = [sample.of_size(1) / sample.records * p_d, p_d]
    return by_method.loc[list(methods)].reset_index().assign(fraction=fraction)


class _Drawing:
    """Bernoulli samples of a population, drawn as class sizes: no record is needed."""

    def __init__(self, counts: SizeCounts, fraction: float):
        from scipy.stats import binom

        small = counts.size <= _SMALL
        self._fraction = fraction
        self._small = [
            (int(classes), binom.pmf(np.arange(size + 1), size, fraction))
            for size, classes in zip(counts.size[small], counts.classes[small], strict=True)
        ]
        self._large = np.repeat(counts.size[~small], counts.classes[~small].astype(np.int64)).astype(np.int64)

    def sample(self, rng: np.random.Generator) -> SizeCounts | None:
        """The classes of one sample by their size; None where nobody is drawn."""
        of_size = np.zeros(_SMALL + 1)
        for classes, chances in self._small:
            of_size[: len(chances)] += rng.multinomial(classes, chances)
        large, drawn = np.unique(rng.binomial(self._large, self._fraction), return_counts=True)
        sizes = np.concatenate([np.arange(_SMALL + 1), large])
        both = np.concatenate([of_size, drawn])
        size, place = np.unique(sizes, return_inverse=True)
        number = np.bincount(place, both)
        some = (size > 0) & (number > 0)
        return SizeCounts(size[some].astype(float), number[some]) if some.any() else None
