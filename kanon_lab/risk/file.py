"""Risk of a whole file, from its class table."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kanon_lab.classes import ClassTable
from kanon_lab.risk.households import household_risks
from kanon_lab.risk.individual import individual_risk
from kanon_lab.risk.weights import refuse_light_classes


@dataclass(frozen=True)
class FileRisk:
    """Risk of re-identification in a file; what is of households is None without them.

    Attributes
    ----------
    estimator : str
        Behind every individual risk (`kanon_lab.risk.ESTIMATORS`).
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
        See `kanon_lab.risk.ESTIMATORS`; ``inverse`` where F_k was counted in a known population.

    Examples
    --------
    >>> import kanon_lab
    >>> frame = pd.DataFrame({"age": [30, 30, 41], "weight": [10.0, 15.0, 40.0]})
    >>> found = kanon_lab.risk.file_risk(kanon_lab.class_table(frame, kanon_lab.KeySpec("age", weight="weight")))
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
