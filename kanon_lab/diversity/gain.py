"""What belonging to a class adds to what the whole file already tells: delta-disclosure and beta-likeness."""

from __future__ import annotations

import numpy as np

from kanon_lab.classes import ValueCounts


def delta_disclosure(counts: ValueCounts) -> np.ndarray:
    """Largest |ln(p/q)| over all values of the file, p the share in the class and q in the file .

    Returns
    -------
    ndarray of float, shape (n_classes,)
        0 or more; infinite in a class that lacks a value of the file; missing in a class without a known value. The
        class is delta-disclosure private (Brickell and Shmatikov 2008) for every delta **above** it.

    Examples
    --------
    >>> import kanon_lab
    >>> frame = pd.DataFrame({"age": [30, 30, 41, 41], "illness": ["flu", "none", "none", "none"]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", sensitive_variables="illness"))
    >>> kanon_lab.diversity.delta_disclosure(table.sensitive_counts("illness")).round(4).tolist()
    [0.6931, inf]
    """
    delta = counts.largest(np.abs(np.log(counts.p / counts.q)))
    lacking = np.diff(counts.start, append=len(counts.row)) < np.count_nonzero(counts.overall)
    return counts.by_class(np.where(lacking, np.inf, delta))


def beta_likeness(counts: ValueCounts) -> np.ndarray:
    """Largest relative gain (p - q)/q over the values that are more frequent in the class than in the file.

    Returns
    -------
    ndarray of float, shape (n_classes,)
        The smallest beta of basic beta-likeness (Cao and Karras 2012): 0 or more; missing in a class without a known
        value.

    Examples
    --------
    >>> import kanon_lab
    >>> frame = pd.DataFrame({"age": [30, 30, 41, 41], "illness": ["flu", "none", "none", "none"]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", sensitive_variables="illness"))
    >>> kanon_lab.diversity.beta_likeness(table.sensitive_counts("illness")).round(4).tolist()
    [1.0, 0.3333]
    """
    return counts.by_class(counts.largest(_gains(counts)))


def enhanced_beta_likeness(counts: ValueCounts) -> np.ndarray:
    """The smallest beta for which every gain (p - q)/q is at most min(beta, -ln q) (Cao and Karras 2012).

    Returns
    -------
    ndarray of float, shape (n_classes,)
        0 or more; infinite where a gain exceeds -ln q, which no beta mends; missing in a class without a known value.

    Examples
    --------
    >>> import kanon_lab
    >>> frame = pd.DataFrame({"age": [30, 30, 41, 41], "illness": ["flu", "none", "none", "none"]})
    >>> table = kanon_lab.class_table(frame, kanon_lab.KeySpec("age", sensitive_variables="illness"))
    >>> kanon_lab.diversity.enhanced_beta_likeness(table.sensitive_counts("illness")).round(4).tolist()
    [1.0, inf]
    """
    gains = _gains(counts)
    return counts.by_class(counts.largest(np.where(gains > -np.log(counts.q), np.inf, gains)))


def _gains(counts: ValueCounts) -> np.ndarray:
    return np.maximum(counts.p / counts.q - 1, 0)
