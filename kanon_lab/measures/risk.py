"""Risk of re-identification: of records, of households, and of a whole file."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from kanon_lab.arguments import ROUNDING, as_numbers, as_risk, as_share, check_choice
from kanon_lab.classes import ClassTable
from kanon_lab.classes.table import compositions_of, counted
from kanon_lab.columns import Coded, coded, first_row, grouped
from kanon_lab.errors import DataError, OptionError, about, shortened

#: Estimator of the individual risk, and what it says.
ESTIMATORS = {
    "benedetti-franconi": "expected 1/F_k given f_k, approximated where f_k is 3 or more",
    "exact": "expected 1/F_k given f_k",
    "inverse": "1/F_k, as if the weights gave F_k without error",
}

# From this f_k on the series needs few terms (the last below _LAST_TERM); below, the recursion needs few steps.
_MANY_RECORDS, _LAST_TERM, _BLOCK = 32, 1e-17, 2**18


def individual_risk(f_k: np.ndarray, F_k: np.ndarray, *, estimator: str = "benedetti-franconi") -> np.ndarray:
    """Individual risk of each class, or of each record: in (0, 1], and 1/f_k where F_k = f_k.

    Both frequencies are arrays of shape (n,): of the sample, 1 or more, and of the population as estimated, finite, f_k
    or more. The estimator is one of `ESTIMATORS`.

    F_k given f_k is taken as negative binomial with success probability p = f_k/F_k. The expectation of 1/F_k is then
    (p/f) 2F1(1, 1; f + 1; 1 - p), which is more than ``inverse``; the approximation for f >= 3 is p/(f - (1 - p))
    (Benedetti and Franconi 1998; Franconi and Polettini 2004).

    The model assumes that each person of a class is in the sample independently with the same probability p, and that
    the weights add up to about the number of persons in the population. Real samples draw whole households, and a sum
    of few weights is a rough estimate: the mean risk of sample uniques may be wrong by half or more (`loglinear` learns
    from the classes around them). Where F_k was counted, ``inverse`` is the risk.

    Examples
    --------
    >>> kanon_lab.measures.individual_risk([1, 2, 5], [100, 20, 5]).round(4).tolist()
    [0.0465, 0.0827, 0.2]
    """
    check_choice(estimator, "estimator", ESTIMATORS)
    f, F = as_numbers(f_k, "f_k"), as_numbers(F_k, "F_k")
    if f.shape != F.shape:
        raise OptionError("f_k and F_k must be two arrays of the same length")
    faults = {
        "an f_k below 1; it counts the record itself": ~(f >= 1),
        "an F_k that is not finite; correct the weights": ~np.isfinite(F) | ~np.isfinite(f),
        "weights that add up to less than the records; a record stands for itself at least, so a weight is 1 or more": (
            _too_light(f, F)
        ),
    }
    for fault, rows in faults.items():
        if rows.any():
            raise DataError(f"{int(rows.sum())} of {len(f)} classes, first number {int(rows.argmax())}, have {fault}")
    risk = np.empty(f.shape)
    for start in range(0, len(f), _BLOCK):  # of millions of classes no more than one array is held at a time
        some = slice(start, start + _BLOCK)
        risk[some] = _risk_by(estimator, f[some], np.maximum(F[some], f[some]))
    return risk


def _risk_by(estimator: str, f: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Individual risk under an estimator, for F of f or more.

    The expectation of 1/F_k is p times the integral from 0 to 1 of s^(f - 1) / (p + q s). Both ways to compute it add
    and subtract numbers of like size only once a step, so that nothing cancels.
    """
    if estimator == "inverse":
        return 1 / F
    p, q = f / F, (F - f) / F
    if estimator == "benedetti-franconi":
        few = f < 3
        risk = p / (f - q + few)
        risk[few] = _risk_by("exact", f[few], F[few])
        return risk
    risk = np.empty_like(f)
    series = (p >= 0.5) | (f >= _MANY_RECORDS)
    risk[series] = p[series] / f[series] * _series(f[series], q[series])
    risk[~series] = p[~series] * _recursion(f[~series], p[~series], q[~series])
    return risk


def _too_light(f_k: np.ndarray, F_k: np.ndarray) -> np.ndarray:
    """Whether the weights of a class add up to less than its records, which no population allows."""
    light = np.empty(len(f_k), dtype=bool)
    for start in range(0, len(f_k), _BLOCK):
        rows = slice(start, start + _BLOCK)
        light[rows] = F_k[rows] < f_k[rows] * (1 - ROUNDING)
    return light


def _series(f: np.ndarray, q: np.ndarray) -> np.ndarray:
    """2F1(1, 1; f + 1; q) by its terms, all of them positive."""
    term, total, n = np.ones_like(f), np.ones_like(f), 1
    while term.max(initial=0) > _LAST_TERM:
        term = term * (n * q / (f + n))
        total += term
        n += 1
    return total


def _recursion(f: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The integral, from the one for f = 1; for p < q an error shrinks from step to step."""
    integral = -np.log(p) / q
    for m in range(1, int(f.max(initial=1))):
        integral = np.where(f > m, (1 / m - p * integral) / q, integral)
    return integral


def fraction_by_weights(table: ClassTable) -> float | None:
    """Records over the sum of their weights, in (0, 1]; None where the spec names no weight."""
    weights = table.weight_of_record
    if weights is None:
        return None
    fraction = table.n / float(weights.sum())
    if fraction > 1 + ROUNDING:
        raise DataError(
            f"the weights in column {shortened(str(table.spec.weight))} add up to less than the "
            "records, as no sample's do; correct them, or give the sampling_fraction"
        )
    return min(fraction, 1.0)


def refuse_light_classes(table: ClassTable, f_k: np.ndarray, F_k: np.ndarray) -> None:
    """Raise a `DataError` where the weights of a class, F_k, add up to less than its records, f_k."""
    light = _too_light(f_k, F_k)
    if light.any():
        row = "" if table.records_of_row is not None else f"row {first_row(light[table.class_of_row], table.index)}: "
        raise DataError(
            f"{row}the weights in column {shortened(str(table.spec.weight))} of {'its' if row else 'a'} class add up "
            f"to less than its records, as in {int(light.sum())} of {table.n_classes} classes; a record stands for "
            "itself at least, so correct weights below 1 or leave out the weight"
        )


@dataclass(frozen=True)
class RecordsAbove:
    """The records whose risk is above a threshold (0-1), ``absolute`` or a quantile (``relative``)."""

    kind: str
    threshold: float
    records: int
    share: float
    which: np.ndarray = field(repr=False)


def records_above(
    risk: np.ndarray,
    *,
    threshold: float | None = None,
    quantile: float | None = None,
    records: np.ndarray | None = None,
) -> RecordsAbove:
    """Count the records whose risk is strictly above a threshold (INE Chile 2023, section 7.7.2).

    Parameters
    ----------
    risk : ndarray
        Risk of each record, or with `records` of each class, 0-1, shape (n,).
    threshold : float, optional
        An absolute threshold, 0-1.
    quantile : float, optional
        A relative threshold instead, 0-1: this quantile of the risks, interpolated linearly (0.75 is the upper
        quartile).
    records : ndarray, optional
        With a threshold, the number of records of each class, shape (n,).

    Notes
    -----
    A risk above the threshold by less than a billionth of it is not counted: its last digits depend on the order in
    which weights are added up. A relative threshold finds records however safe the file is, and fewer than 1 -
    `quantile` of them where many share the risk at the threshold.

    Examples
    --------
    >>> kanon_lab.measures.records_above([0.02, 0.3, 0.5], threshold=0.3).records
    1
    """
    risk = as_risk(risk)
    if len(risk) == 0:
        raise OptionError("there is no risk of any record, so nothing to be counted")
    if (threshold is None) == (quantile is None):
        raise OptionError("give either a threshold or a quantile")
    if records is not None and threshold is None:
        raise OptionError("a quantile is of the risk of each record: leave out records")
    if threshold is None:
        kind, limit = "relative", float(np.quantile(risk, as_share(quantile, "quantile")))
    else:
        kind, limit = "absolute", as_share(threshold, "threshold")
    which = risk > limit * (1 + ROUNDING)
    records = np.ones(len(risk), dtype=np.int64) if records is None else records
    count = int(records[which].sum())
    return RecordsAbove(kind, limit, count, count / int(records.sum()), which)


@dataclass(frozen=True)
class FileRisk:
    """Risk of re-identification in a file; without households the three risks of households are None.

    Attributes
    ----------
    estimator : str
        Of every individual risk (`kanon_lab.measures.ESTIMATORS`).
    of_class : ndarray
        Individual risk of the records of each class, in (0, 1], shape (n_classes,).
    global_risk, expected_reidentifications : float
        Its mean (0-1) and its sum over records; where the spec names a person, over persons, who have the largest risk
        of their records.
    household_risk : float or None
        Mean over records of the risk of their household, 0-1.
    expected_household_reidentifications : float or None
        Sum of the risk over households.
    expected_persons_in_reidentified_households : float or None
        Sum over records of the risk of their household.
    sum_population_frequency : float
        Sum over records of F_k.
    """

    estimator: str
    of_class: np.ndarray = field(repr=False)
    global_risk: float
    expected_reidentifications: float
    household_risk: float | None
    expected_household_reidentifications: float | None
    expected_persons_in_reidentified_households: float | None
    sum_population_frequency: float
    _table: ClassTable = field(repr=False)

    @cached_property
    def risk(self) -> np.ndarray:
        """Individual risk of each record, in the order of the frame, shape (n,)."""
        return self.of_class[self._table.class_of_record]


def file_risk(table: ClassTable, *, estimator: str = "benedetti-franconi") -> FileRisk:
    """Individual, global and household risk of a file.

    Without a weight in the spec every record weighs 1, and the risks are 1/f_k: those of a whole population. Where F_k
    was counted in a known population, take the estimator ``inverse``.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 30, 41], "weight": [10.0, 15.0, 40.0]})
    >>> risk = kanon_lab.measures.file_risk(kanon_lab.class_table(frame, kanon_lab.KeySpec("age", weight="weight")))
    >>> risk.risk.round(4).tolist(), round(risk.expected_reidentifications, 4)
    ([0.0679, 0.0679, 0.0946], 0.2303)
    """
    refuse_light_classes(table, table.f_k, table.F_k)
    of_class = individual_risk(table.f_k, table.F_k, estimator=estimator)
    risks, units = table.by_unit(of_class)
    expected = float((risks * units).sum())
    of_households = of_persons = mean = None
    if (members := table.members) is not None:
        home, class_, records = members
        if (pairs := table.persons_of_homes) is not None:
            homes = risks_of_homes(pairs[0], risks[pairs[1]], np.ones(len(pairs[0]), dtype=np.int64))
        else:
            homes = risks_of_homes(home, of_class[class_], records)
        of_households, of_persons = float(homes["risk"].sum()), float((homes["risk"] * homes["members"]).sum())
        mean = of_persons / int(homes["members"].sum())
    F_k = float((table.records * table.F_k).sum())
    return FileRisk(
        estimator, of_class, expected / table.n_units, expected, mean, of_households, of_persons, F_k, table
    )


def household_risk(risk: np.ndarray, household: np.ndarray) -> np.ndarray:
    """Risk of each record's household by its members in the file, shape (n,), 0-1: ``risk`` of `household_risks`.

    Examples
    --------
    >>> kanon_lab.measures.household_risk([0.1, 0.2, 0.5], [7, 7, 8]).round(4).tolist()
    [0.28, 0.28, 0.5]
    """
    homes, columns = _homes_and_risks(risk, household)
    return columns["risk"][homes.codes]


def household_risks(risk: np.ndarray, household: np.ndarray) -> pd.DataFrame:
    """Risk of each household, with the bounds that hold however its members depend on each other.

    The arrays, shape (n,), are each record's individual risk (0-1) and household (number or text, none missing).

    Returns
    -------
    DataFrame
        One row a household, under its identifier (numbers, then texts): ``members`` (records); ``risk``, 1 - prod(1 -
        r): that some member is re-identified, if members are independent (INE Chile 2023, section 7.8, does not say
        so); ``lower``, the largest r, and ``upper``, the sum of the r and 1 at most: the bounds whatever the dependence
        (Fréchet). ``lower`` is reached where whoever finds one member finds those with a larger risk too, ``upper``
        where at most one is found.

    Examples
    --------
    >>> kanon_lab.measures.household_risks([0.1, 0.2, 0.5], [7, 7, 8]).round(4).loc[7].to_dict()
    {'members': 2.0, 'risk': 0.28, 'lower': 0.2, 'upper': 0.3}
    """
    homes, columns = _homes_and_risks(risk, household)
    return pd.DataFrame(columns, index=homes.values.rename("household"))


def _homes_and_risks(risk: np.ndarray, household: np.ndarray) -> tuple[Coded, dict[str, np.ndarray]]:
    risk = as_risk(risk)
    if len(risk) != len(household):
        raise OptionError(f"there are {len(risk)} risks and {len(household)} households: give one of each per record")
    homes = _coded_homes(household)
    return homes, risks_of_homes(homes.codes, risk, np.ones(len(risk), dtype=np.int64))


def risks_of_homes(home: np.ndarray, risk: np.ndarray, members: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of `household_risks` by household (numbers from 0), of so many members who each have that risk."""
    lower = np.zeros(int(home.max()) + 1)
    np.maximum.at(lower, home, risk)
    upper = np.minimum(np.bincount(home, weights=members * risk), 1)
    with np.errstate(divide="ignore"):  # a member with a risk of 1 makes that of the household 1
        logs = np.bincount(home, weights=members * np.log1p(-risk))
    some_member = np.clip(-np.expm1(logs), lower, upper)
    return {"members": np.bincount(home, members).astype(np.int64), "risk": some_member, "lower": lower, "upper": upper}


def household_size(household: pd.Series) -> pd.Series:
    """Number of records in each record's household, under the same index.

    Anyone who has the household ID can count it, so removing a size variable hides nothing (INE Chile 2023, section
    7.8). It may differ from that variable where members were not interviewed.

    Examples
    --------
    >>> kanon_lab.measures.household_size(pd.Series(["a", "b", "a"])).tolist()
    [2, 1, 2]
    """
    household = pd.Series(household)
    homes = _coded_homes(household)
    return pd.Series(np.bincount(homes.codes)[homes.codes], index=household.index, name="household_size")


def with_household_size(table: ClassTable) -> dict[str, int]:
    """``classes``, ``k_achieved`` and ``sample_uniques`` with the size of each household as a further key.

    If there are as many classes as without it, the keys revealed the size already. Records are counted, also where the
    spec names a person.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 30, 30], "home": [1, 1, 2]})
    >>> kanon_lab.measures.with_household_size(kanon_lab.class_table(frame, kanon_lab.KeySpec("age", household="home")))
    {'classes': 2, 'k_achieved': 1, 'sample_uniques': 1}
    """
    home, class_, records = _members_of(table)
    members = np.bincount(home, weights=records).astype(np.int64)[home]
    size, sizes = grouped(members, int(members.max()) + 1)
    class_, size, records = counted(class_, size, table.n_classes, len(sizes), records)
    f_k = records
    if table.has_gaps:
        from kanon_lab.classes.compatible import compatible_sums

        f_k = compatible_sums(np.column_stack([table.codes[class_], size]), records)
    return _with_a_further_key(records, f_k)


def with_household_composition(table: ClassTable) -> dict[str, int]:
    """``classes``, ``k_achieved`` and ``sample_uniques`` for an intruder who knows the keys of all household members.

    The classes of all members (and so their number) are a further key. A missing key is a value, whatever the policy.
    Records are counted, also where the spec names a person.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 4, 30, 5], "home": [1, 1, 2, 2]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", household="home"))
    >>> kanon_lab.measures.with_household_composition(table)
    {'classes': 4, 'k_achieved': 1, 'sample_uniques': 4}
    """
    home, own, times = _members_of(table)
    composition = compositions_of(home, own, times)
    household, class_ = np.repeat(home, times), np.repeat(own, times)
    _, _, records = counted(class_, composition[household], table.n_classes, int(composition.max()) + 1)
    return _with_a_further_key(records, records)


def with_path(table: ClassTable) -> dict[str, int]:
    """Different paths, and ``k_achieved`` and ``sample_uniques`` of persons, for who knows all records of a person.

    The path of a person is the classes of all its records, and how many are in each; f_k is then the number of persons
    with the same path. A missing key is a value, whatever the policy.

    Examples
    --------
    >>> frame = pd.DataFrame({"year": [1, 2, 1, 2], "zone": [*"NSNN"], "id": [7, 7, 8, 8]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec(["year", "zone"], person="id"))
    >>> table.k_achieved, kanon_lab.measures.with_path(table)
    (1, {'paths': 2, 'k_achieved': 1, 'sample_uniques': 2})
    """
    if table.person_of_row is None:
        raise OptionError("no person: name the variable that identifies it in the spec")
    classes = table.n_classes
    persons = counted(table.person_of_row, table.class_of_row, table.n_units, classes, table.records_of_row)
    alike = np.bincount(compositions_of(*persons))
    return {"paths": len(alike), "k_achieved": int(alike.min()), "sample_uniques": int((alike == 1).sum())}


def _with_a_further_key(records: np.ndarray, f_k: np.ndarray) -> dict[str, int]:
    uniques = int(records[f_k == 1].sum())
    return {"classes": len(records), "k_achieved": int(f_k.min()), "sample_uniques": uniques}


def _members_of(table: ClassTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if (members := table.members) is None:
        raise OptionError("no household: name the variable that identifies it in the spec")
    return members


def _coded_homes(household: np.ndarray | pd.Series) -> Coded:
    """The households by number; none is without members."""
    household = pd.Series(household)
    if household.empty:
        raise DataError("no records, so no households; nothing can be measured")
    with about("the households"):
        homes = coded(household)
    if (absent := np.asarray(homes.codes) < 0).any():
        raise DataError(f"record {first_row(absent, household.index)} has no household; fill it in or drop the record")
    return homes
