"""Risk of households and of a whole file, and for attackers who know different things."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_risk, as_share
from kanon_lab.classes import ClassTable
from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.columns import Coded, coded, distinct_rows, grouped
from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.measures.record_risk import individual_risk, records_above, refuse_light_classes


def household_risk(risk: np.ndarray, household: np.ndarray) -> np.ndarray:
    """Risk of each record's household: 1 - prod(1 - r) over its members (INE Chile 2023, section 7.8).

    Members are taken to be re-identified independently of each other; `household_risks` has the bounds that hold
    without that. Members that are not in the file do not count.

    Parameters
    ----------
    risk, household
        As in `household_risks`.

    Returns
    -------
    ndarray of float, shape (n,)
        0-1, the same for all members of a household and at least the risk of each.

    Examples
    --------
    >>> kanon_lab.measures.household_risk([0.1, 0.2, 0.5], [7, 7, 8]).round(4).tolist()
    [0.28, 0.28, 0.5]
    """
    risk, homes = _risks_and_homes(risk, household)
    return _some_member(risk, homes)[homes.codes]


def household_risks(risk: np.ndarray, household: np.ndarray) -> pd.DataFrame:
    """Risk of each household, with the bounds that hold however its members depend on each other.

    Parameters
    ----------
    risk : array of float, shape (n,)
        Individual risk of each record, 0-1.
    household : array or Series, shape (n,)
        The household of each record: numbers or texts, none missing.

    Returns
    -------
    DataFrame
        One row a household, under its identifier (numbers, then texts): ``members`` (records); ``risk``, that some
        member is re-identified if that happens to each independently, 1 - prod(1 - r) (INE Chile 2023, section 7.8,
        which does not say that this assumes independence); ``lower``, the largest r, and ``upper``, the sum of the r
        and 1 at most: the risk lies between them whatever the dependence. All are 0-1.

    Notes
    -----
    ``lower`` is reached where whoever finds one member finds those with a larger risk too, ``upper`` where at most one
    member is found: the inequalities of Fréchet for the union of events.

    Examples
    --------
    >>> kanon_lab.measures.household_risks([0.1, 0.2, 0.5], [7, 7, 8]).round(4).loc[7].to_dict()
    {'members': 2.0, 'risk': 0.28, 'lower': 0.2, 'upper': 0.3}
    """
    risk, homes = _risks_and_homes(risk, household)
    lower = np.zeros(len(homes.values))
    np.maximum.at(lower, homes.codes, risk)
    upper = np.minimum(np.bincount(homes.codes, weights=risk, minlength=len(lower)), 1)
    measures = {
        "members": np.bincount(homes.codes, minlength=len(lower)),
        "risk": np.clip(_some_member(risk, homes), lower, upper),
        "lower": lower,
        "upper": upper,
    }
    return pd.DataFrame(measures, index=homes.values.rename("household"))


def household_size(household: pd.Series) -> pd.Series:
    """Number of records in each record's household: a size variable, counted from the file.

    Whoever has the identifier of the household can do the same, so removing a size variable hides nothing (INE Chile
    2023, section 7.8); it may differ from that variable where members were not interviewed.

    Parameters
    ----------
    household : Series
        The household of each record: numbers or texts, none missing.

    Returns
    -------
    Series of int
        Under the index of `household`.

    Examples
    --------
    >>> kanon_lab.measures.household_size(pd.Series(["a", "b", "a"])).tolist()
    [2, 1, 2]
    """
    household = pd.Series(household)
    homes = _coded_homes(household)
    return pd.Series(np.bincount(homes.codes)[homes.codes], index=household.index, name="household_size")


def with_household_size(table: ClassTable) -> dict[str, int]:
    """Classes of a file whose households are counted, and their size taken for a further key variable.

    Parameters
    ----------
    table : ClassTable
        Its spec names a household.

    Returns
    -------
    dict of str to int
        ``classes``, ``k_achieved`` and ``sample_uniques``, as of a class table with that key. As many classes as
        before: the keys gave the size away already.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 30, 30], "home": [1, 1, 2]})
    >>> kanon_lab.measures.with_household_size(kanon_lab.class_table(frame, kanon_lab.KeySpec("age", household="home")))
    {'classes': 2, 'k_achieved': 1, 'sample_uniques': 1}
    """
    household = _household_of(table)
    members = np.bincount(household)[household]
    size, sizes = grouped(members, int(members.max()) + 1)
    number, distinct = grouped(table.class_of_record.astype(np.int64) * len(sizes) + size, table.n_classes * len(sizes))
    records = f_k = np.bincount(number, minlength=len(distinct))
    if (table.f_k != table.records).any():
        class_, size = np.divmod(distinct, len(sizes))
        f_k = compatible_sums(np.column_stack([table.codes[class_], size]), records)
    uniques = int(records[f_k == 1].sum())
    return {"classes": len(distinct), "k_achieved": int(f_k.min()), "sample_uniques": uniques}


def with_household_composition(table: ClassTable) -> dict[str, int]:
    """Classes of a file to somebody who knows the keys of everybody in a household.

    Parameters
    ----------
    table : ClassTable
        Its spec names a household.

    Returns
    -------
    dict of str to int
        ``classes``, ``k_achieved`` and ``sample_uniques``, where the classes of all members (and so their number) are
        one more key variable. A missing key is a value of its own, whatever the policy.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 4, 30, 5], "home": [1, 1, 2, 2]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", household="home"))
    >>> kanon_lab.measures.with_household_composition(table)
    {'classes': 4, 'k_achieved': 1, 'sample_uniques': 4}
    """
    household = _household_of(table)
    members, class_ = np.bincount(household), table.class_of_record[np.lexsort((table.class_of_record, household))]
    start, composition, found = np.cumsum(members) - members, np.empty(len(members), dtype=np.int64), 0
    for size in np.unique(members):
        homes = np.flatnonzero(members == size)
        group, some = distinct_rows(class_[start[homes, None] + np.arange(size)])
        composition[homes] = found + group
        found += len(some)
    pair = table.class_of_record.astype(np.int64) * found + composition[household]
    number, distinct = grouped(pair, table.n_classes * found)
    records = np.bincount(number, minlength=len(distinct))
    uniques = int((records == 1).sum())
    return {"classes": len(distinct), "k_achieved": int(records.min()), "sample_uniques": uniques}


def _household_of(table: ClassTable) -> np.ndarray:
    if (household := table.household_of_record) is None:
        raise OptionError("no household: name the variable that identifies it in the spec")
    return household


def _risks_and_homes(risk: np.ndarray, household: np.ndarray) -> tuple[np.ndarray, Coded]:
    risk = as_risk(risk)
    if len(risk) != len(household):
        raise OptionError(f"there are {len(risk)} risks and {len(household)} households: give one of each per record")
    return risk, _coded_homes(household)


def _coded_homes(household: np.ndarray | pd.Series) -> Coded:
    """The households by number; none is without members."""
    household = pd.Series(household)
    if household.empty:
        raise DataError("no records, so no households; nothing can be measured")
    with about("the households"):
        homes = coded(household)
    if (absent := np.asarray(homes.codes) < 0).any():
        row = shortened(str(household.index[int(absent.argmax())]))
        raise DataError(f"record {row} has no household; fill it in or drop the record")
    return homes


def _some_member(risk: np.ndarray, homes: Coded) -> np.ndarray:
    """The probability of each household that some member is re-identified, each independently of the others."""
    with np.errstate(divide="ignore"):  # a member who is certain to be found makes the household certain
        logs = np.bincount(homes.codes, weights=np.log1p(-risk), minlength=len(homes.values))
    return -np.expm1(logs)


@dataclass(frozen=True)
class FileRisk:
    """Risk of re-identification in a file; what is of households is None without them.

    Attributes
    ----------
    estimator : str
        Behind every individual risk (`kanon_lab.measures.ESTIMATORS`).
    risk : ndarray of float, shape (n,)
        Individual risk of each record, in (0, 1], in the order of the frame.
    global_risk, expected_reidentifications : float
        Its mean (0-1) and its sum over records.
    household_risk : float or None
        Mean over records of the risk of their household, 0-1.
    expected_household_reidentifications : float or None
        Sum over households, each once, of their risk: the households expected to be re-identified, which are those with
        some member who is.
    expected_persons_in_reidentified_households : float or None
        Sum over records of the risk of their household: the persons in those households.
    sum_population_frequency : float
        Sum over records of F_k.
    """

    estimator: str
    risk: np.ndarray = field(repr=False)
    global_risk: float
    expected_reidentifications: float
    household_risk: float | None
    expected_household_reidentifications: float | None
    expected_persons_in_reidentified_households: float | None
    sum_population_frequency: float


def file_risk(table: ClassTable, *, estimator: str = "benedetti-franconi") -> FileRisk:
    """Individual, global and household risk of a file.

    Parameters
    ----------
    table : ClassTable
        Of a sample, with weights: the measures are made for that. Without a weight in its spec every record weighs 1,
        so that the risks are 1/f_k: those of a whole population.
    estimator : {"benedetti-franconi", "exact", "inverse"}
        See `kanon_lab.measures.ESTIMATORS`; ``inverse`` where F_k was counted in a known population.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 30, 41], "weight": [10.0, 15.0, 40.0]})
    >>> found = kanon_lab.measures.file_risk(kanon_lab.class_table(frame, kanon_lab.KeySpec("age", weight="weight")))
    >>> found.risk.round(4).tolist(), round(found.expected_reidentifications, 4)
    ([0.0679, 0.0679, 0.0946], 0.2303)
    """
    refuse_light_classes(table, table.f_k, table.F_k)
    risk = individual_risk(table.f_k, table.F_k, estimator=estimator)[table.class_of_record]
    of_households = of_persons = None
    if table.household_of_record is not None:
        homes = household_risks(risk, table.household_of_record)
        of_households, of_persons = float(homes["risk"].sum()), float(homes["risk"] @ homes["members"])
    return FileRisk(
        estimator,
        risk,
        float(risk.mean()),
        float(risk.sum()),
        None if of_persons is None else of_persons / table.n,
        of_households,
        of_persons,
        float((table.records * table.F_k).sum()),
    )


_ATTACKERS = {
    "prosecutor": "knows that the target is in the file: 1/f_k",
    "journalist": "picks any record of the file and looks for its person in the population: 1/F_k, mean over records",
    "marketer": "links every record of the file to a person of the population: share of the links that are right",
}


def attacker_risks(table: ClassTable, *, threshold: float = 0.2, estimator: str = "inverse") -> pd.DataFrame:
    """Risk of the file for three attackers who know different things.

    Parameters
    ----------
    table : ClassTable
        F_k from weights, or from a known population.
    threshold : float
        Records with a risk strictly above it are counted, 0-1.
    estimator : {"inverse", "benedetti-franconi", "exact"}
        Of the expected 1/F_k; ``inverse`` takes F_k as known. The others take F_k for negative binomial with a mean
        that the weights give, so that the expected 1/F_k is larger than ``inverse``; where F_k is distributed otherwise
        it may be smaller.

    Returns
    -------
    DataFrame
        Rows ``prosecutor``, ``journalist`` and ``marketer``; columns ``meaning``, ``highest`` and ``mean`` (risk, over
        records, 0-1), ``records_above`` and ``share_above`` (0-1). The marketer has a mean only, since no single target
        matters to that attacker; the rest is missing.

    Notes
    -----
    The marketer guesses, for each record of the file, one of the F_k persons of the population who share its key. Of
    the links of a class f_k/F_k are right on average, and of all links the sum of these over the classes, divided by n:
    the mean of 1/F_k over records (Dankar and El Emam 2010). The journalist's mean is the same number, read as the risk
    of a record taken at random. It is ours: El Emam and Dankar (2008) measure prosecutor and journalist by the highest
    risk, and averages under that name elsewhere are defined otherwise. Without weights F_k = f_k, and all three means
    are the same.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 30, 41], "weight": [10, 15, 40]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", weight="weight"))
    >>> kanon_lab.measures.attacker_risks(table)["highest"].tolist()
    [1.0, 0.04, nan]
    """
    threshold = as_share(threshold, "threshold")
    refuse_light_classes(table, table.f_k, table.F_k)
    risks = {
        "prosecutor": 1 / table.f_k,
        "journalist": individual_risk(table.f_k, table.F_k, estimator=estimator),
    }
    rows = {}
    for attacker, of_class in risks.items():
        risk = of_class[table.class_of_record]
        above = records_above(risk, threshold=threshold)
        rows[attacker] = (_ATTACKERS[attacker], risk.max(), risk.mean(), above.records, above.share)
    rows["marketer"] = (_ATTACKERS["marketer"], np.nan, rows["journalist"][2], pd.NA, np.nan)
    columns = ["meaning", "highest", "mean", "records_above", "share_above"]
    found = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return found.astype({"highest": float, "mean": float, "records_above": "Int64", "share_above": float})
