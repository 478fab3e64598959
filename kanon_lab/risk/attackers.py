"""Risk by what is known about the target: the attackers called prosecutor, journalist and marketer."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_share
from kanon_lab.classes import ClassTable
from kanon_lab.risk.individual import individual_risk
from kanon_lab.risk.thresholds import records_above
from kanon_lab.risk.weights import refuse_light_classes

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
    >>> import kanon_lab
    >>> frame = pd.DataFrame({"age": [30, 30, 41], "weight": [10, 15, 40]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", weight="weight"))
    >>> kanon_lab.risk.attacker_risks(table)["highest"].tolist()
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
