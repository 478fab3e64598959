"""What classes cost: the larger they are, the less is known of each record."""

from __future__ import annotations

import numbers

import numpy as np

from kanon_lab.classes import ClassTable
from kanon_lab.errors import OptionError, shortened
from kanon_lab.keys import check_k


def discernibility(table: ClassTable, *, suppressed: int = 0) -> int:
    """Pairs of records that the keys do not tell apart, each record with itself among them.

    Parameters
    ----------
    table : ClassTable
        Of the records that are released.
    suppressed : int
        Records of the file that were removed whole, 0 or more. Each may be any record of the file.

    Returns
    -------
    int
        Sum over the released records of f_k, plus `suppressed` times all records, removed ones among them. From their
        number, where every record is unique, to its square, where all are alike (Bayardo and Agrawal, Data privacy
        through optimal k-anonymization, ICDE 2005, section 3: the metric C_DM). Without wildcards the sum over records
        of f_k is the sum of the squares of the class sizes; with them a record is told from none of those compatible
        with it.

    Examples
    --------
    >>> import kanon_lab
    >>> table = kanon_lab.class_table(pd.DataFrame({"age": [30, 30, 41]}), "age")
    >>> kanon_lab.utility.discernibility(table), kanon_lab.utility.discernibility(table, suppressed=1)
    (5, 9)
    """
    if isinstance(suppressed, bool) or not isinstance(suppressed, numbers.Integral) or suppressed < 0:
        raise OptionError(f"suppressed must be a whole number of records, 0 or more, not {shortened(repr(suppressed))}")
    return indistinct_pairs(table.records, table.f_k, int(suppressed))


def average_class_size(table: ClassTable, *, k_required: int = 1) -> float:
    """Records by class, over the size that is required: 1 is the least that k-anonymity allows.

    Parameters
    ----------
    k_required : int
        1 or more; with 1, the plain average.

    Returns
    -------
    float
        Above 0. The classes are counted as the sum over records of 1 / f_k, which without wildcards is their number
        (LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006, section 2.2: C_AVG).

    Examples
    --------
    >>> import kanon_lab
    >>> table = kanon_lab.class_table(pd.DataFrame({"age": [30, 30, 41]}), "age")
    >>> kanon_lab.utility.average_class_size(table)
    1.5
    """
    return mean_size(table.records, table.f_k) / check_k(k_required, "k_required")


def indistinct_pairs(records: np.ndarray, f_k: np.ndarray, suppressed: int) -> int:
    """`discernibility` of classes given as arrays of int, shape (classes,)."""
    return int((records * f_k).sum()) + suppressed * (int(records.sum()) + suppressed)


def mean_size(records: np.ndarray, f_k: np.ndarray) -> float:
    """`average_class_size` with k_required 1 of classes given as arrays of int, shape (classes,), at least one."""
    return float(records.sum() / (records / f_k).sum())
