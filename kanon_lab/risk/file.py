"""Risk of a whole file, from its class table."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kanon_lab.classes import ClassTable
from kanon_lab.errors import DataError, shortened
from kanon_lab.risk.households import household_risk
from kanon_lab.risk.individual import individual_risk, too_light


@dataclass(frozen=True)
class FileRisk:
    """Risk of re-identification in a file.

    Attributes
    ----------
    estimator : str
        Behind every individual risk (`kanon_lab.risk.ESTIMATORS`).
    risk : ndarray of float, shape (n,)
        Individual risk of each record, in (0, 1], in the order of the frame.
    global_risk : float
        Its mean over records, 0-1.
    expected_reidentifications : float
        Its sum over records.
    household_risk : float or None
        Mean over records of the risk of their household; None without households.
    expected_household_reidentifications : float or None
        Sum over households, each once, of their risk; None without households.
    sum_population_frequency : float
        Sum over records of F_k.
    """

    estimator: str
    risk: np.ndarray = field(repr=False)
    global_risk: float
    expected_reidentifications: float
    household_risk: float | None
    expected_household_reidentifications: float | None
    sum_population_frequency: float


def file_risk(table: ClassTable, *, estimator: str = "benedetti-franconi") -> FileRisk:
    """Individual, global and household risk of a file.

    Parameters
    ----------
    table : ClassTable
        Without a weight in its spec every record weighs 1, so that the risks are 1/f_k: those of a whole population.
    estimator : {"benedetti-franconi", "exact", "inverse"}

    Returns
    -------
    FileRisk

    Raises
    ------
    OptionError
        Another estimator.
    DataError
        The weights of a class add up to less than its records, or a record has no household.
    """
    _refuse_light_classes(table)
    risk = individual_risk(table.f_k, table.F_k, estimator=estimator)[table.class_of_record]
    of_records = of_households = None
    household = table.household_of_record
    if household is not None:
        by_record = household_risk(risk, household)
        first_member = np.unique(household, return_index=True)[1]
        of_records, of_households = float(by_record.mean()), float(by_record[first_member].sum())
    return FileRisk(
        estimator,
        risk,
        float(risk.mean()),
        float(risk.sum()),
        of_records,
        of_households,
        float((table.records * table.F_k).sum()),
    )


def _refuse_light_classes(table: ClassTable) -> None:
    light = too_light(table.f_k, table.F_k)
    if light.any():
        row = shortened(str(table.index[int(light[table.class_of_record].argmax())]))
        raise DataError(
            f"{table.where}: row {row}: the weights in column {shortened(str(table.spec.weight))} of its class add up "
            f"to less than its records, as in {int(light.sum())} of {table.n_classes} classes; a record stands for "
            "itself at least, so mend weights below 1 or leave out the weight"
        )
