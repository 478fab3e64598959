"""Transition matrices of PRAM: the probability that each category becomes each other, and what follows from it.

A matrix is a DataFrame: one row a true category, one column a released category, both in the same order and as text (1,
1.0 and "1" are the same category); each cell a probability, each row adding to 1. It may also be a mapping of each true
category to its {category: probability}. Shares are shares or counts, 0 or more: a mapping or Series by category (0 for
categories it leaves out), or numbers in the order of the matrix.

References: Kooiman, Willenborg and Gouweleeuw (1997), PRAM: a method for disclosure limitation of microdata, Statistics
Netherlands; Gouweleeuw, Kooiman, Willenborg and de Wolf (1998), Post randomisation for statistical disclosure control:
theory and implementation, Journal of Official Statistics 14(4), 463-478.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_share, check_whole
from kanon_lab.columns import as_text, composed
from kanon_lab.errors import OptionError, described, encodable

#: How far the sum of a row may be from 1.
TOLERANCE = 1e-9
# A matrix with a larger condition number does not allow estimates of the true shares.
_SINGULAR = 1e12

Shares = Mapping[Hashable, float] | pd.Series | Sequence[float] | np.ndarray


def category(value: object) -> str:
    """The text by which a category is matched."""
    return composed(as_text(value))


def transition_matrix(categories: Iterable[Hashable], *, keep: float | Mapping[Hashable, float]) -> pd.DataFrame:
    """The matrix of two or more categories that stay with probability `keep` (0-1) and else become any other evenly.

    Examples
    --------
    >>> kanon_lab.methods.transition_matrix(['a', 'b', 'c'], keep=0.8)
         a    b    c
    a  0.8  0.1  0.1
    b  0.1  0.8  0.1
    c  0.1  0.1  0.8
    """
    labels = _category_texts(categories, "categories")
    if len(labels) < 2:
        raise OptionError("categories: give two or more; one alone cannot change")
    return framed(evenly(stay_probabilities(labels, keep)), labels)


def stay_probabilities(labels: Sequence[str], keep: float | Mapping[Hashable, float]) -> np.ndarray:
    """Probability to stay of each category, shape (categories,), from one number or one for each category."""
    if not isinstance(keep, Mapping):
        return np.full(len(labels), as_share(keep, "keep"))
    of = dict(zip(_category_texts(keep, "keep"), keep.values()))
    _check_known(of, dict.fromkeys(labels), "keep")
    if lacking := [label for label in labels if label not in of]:
        few = f"{len(lacking)} of {len(labels)} categories have no probability to stay"
        raise OptionError(f"keep: {few}; give each of them one")
    places = {label: place for place, label in enumerate(of, start=1)}
    return np.array([as_share(of[label], f"keep: category {places[label]} of those listed") for label in labels])


def check_transition(transition: Any, *, name: str = "transition") -> pd.DataFrame:
    """A matrix of the user as a DataFrame with its probabilities; an `OptionError` where it is not valid."""
    if isinstance(transition, pd.DataFrame):
        cells = transition.to_numpy().tolist()
        rows: Any = {label: dict(zip(transition.columns, row)) for label, row in zip(transition.index, cells)}
        if len(rows) < len(transition) or not transition.columns.is_unique:
            raise OptionError(f"{name}: a category is named twice; give each one row and one column")
        if transition.shape[0] != transition.shape[1]:
            shape = " rows and ".join(map(str, transition.shape))
            raise OptionError(f"{name} has {shape} columns; give it a row and a column for each category")
    else:
        rows = transition
    if not isinstance(rows, Mapping) or not all(isinstance(row, Mapping) for row in rows.values()) or not rows:
        raise OptionError(f"{name}: give a mapping of each category to its {{category: probability}}, or a DataFrame")
    labels = _category_texts(rows, name)
    matrix = np.zeros((len(labels), len(labels)))
    position = {label: i for i, label in enumerate(labels)}
    for i, row in enumerate(rows.values()):
        of = f"{name}: row {i + 1}"
        to = _category_texts(row, of)
        _check_known(to, position, of)
        for place, (label, value) in enumerate(zip(to, row.values()), start=1):
            matrix[i, position[label]] = as_share(value, f"{of}: probability {place}")
        if abs(matrix[i].sum() - 1) > TOLERANCE:
            raise OptionError(f"{of} adds to {matrix[i].sum():.10g}, not 1; correct its probabilities")
    return framed(matrix, labels)


def redrawing_matrix(shares: Shares, *, keep: float | Mapping[Hashable, float]) -> pd.DataFrame:
    """The matrix of categories that stay with probability `keep` and else are redrawn from all categories.

    Parameters
    ----------
    shares : mapping or Series by category
        Of two categories or more.
    keep : float or mapping of category to float, 0-1
        Probability to stay without a draw.

    Returns
    -------
    DataFrame
        R_ij = keep_i [i = j] + (1 - keep_i) q_j, where q_j is proportional to share_j (1 - keep_j): with a single
        `keep` the draw is from the shares. So shares R = shares. A category may be redrawn as itself, so that it stays
        with probability `keep` or more. If the shares are those of the file, R_jj is also the probability that a
        released category j is the true one: for a rare category hardly more than `keep`.

    Examples
    --------
    >>> kanon_lab.methods.redrawing_matrix({'a': 0.75, 'b': 0.25}, keep=0.8)
          a     b
    a  0.95  0.05
    b  0.15  0.85
    """
    if not isinstance(shares, (Mapping, pd.Series)):
        raise OptionError(f"shares must be a mapping of category to share, not {described(shares)}")
    labels = _category_texts(list(shares.keys()), "shares")
    if len(labels) < 2:
        raise OptionError("shares: give two categories or more; one alone cannot change")
    return framed(redrawing(stay_probabilities(labels, keep), _shares(shares, pd.Index(labels), "shares")), labels)


def invariant_matrix(matrix: object, shares: Shares) -> pd.DataFrame:
    """The matrix of two stages, `matrix` and its reverse, that leaves the shares as they are (Gouweleeuw et al. 1998).

    Returns
    -------
    DataFrame
        R = P Q, where P is `matrix` and Q_ij, the probability that a category released as i was j, is proportional to
        p_ji share_j. So shares R = shares. **The probability to stay is not that of P**: it is the diagonal of R, much
        lower for a rare category and sometimes higher for a common one. If P swaps two categories with certainty, R
        changes nothing.

    Examples
    --------
    >>> first = kanon_lab.methods.transition_matrix(['a', 'b'], keep=0.8)
    >>> kanon_lab.methods.invariant_matrix(first, {'a': 0.75, 'b': 0.25}).round(4)
            a       b
    a  0.8242  0.1758
    b  0.5275  0.4725
    """
    p = check_transition(matrix, name="matrix")
    return framed(two_stages(p.to_numpy(), _shares(shares, p.index, "shares")), p.index)


def transition_epsilon(matrix: object) -> float:
    """The epsilon of local differential privacy that a matrix gives: the log of the largest ratio in a column.

    Whatever value is released, and whatever two values may be the true one, it is at most exp(epsilon) times as
    probable under the one as under the other (Dwork and Roth 2014, definition 2.4, for one person's answer). Of several
    columns that are moved independently, the epsilons add up.

    Returns
    -------
    float
        From 0 on; infinite where a value can come from one category and not from another.

    Examples
    --------
    >>> spinner = kanon_lab.methods.transition_matrix(['a', 'b'], keep=0.8)
    >>> round(kanon_lab.methods.transition_epsilon(spinner), 4)
    1.3863
    """
    p = check_transition(matrix, name="matrix").to_numpy()
    largest, least = p.max(axis=0), p.min(axis=0)
    used = largest > 0
    if (least[used] == 0).any():
        return float("inf")
    return float((np.log(largest[used]) - np.log(least[used])).max())


def estimated_shares(observed: Shares, matrix: object) -> pd.Series:
    """Unbiased estimates of the true shares from those observed after PRAM: observed P^-1 (Kooiman et al. 1997).

    Returns
    -------
    Series
        By category, weighted if the observed shares are; they add to 1. **A share can be below 0** (of a rare category,
        by chance): it is left so, because setting it to 0 would bias the others.

    Examples
    --------
    >>> used = kanon_lab.methods.transition_matrix(['a', 'b'], keep=0.8)
    >>> kanon_lab.methods.estimated_shares({'a': 65, 'b': 35}, used).round(4).to_dict()
    {'a': 0.75, 'b': 0.25}
    """
    p = check_transition(matrix, name="matrix")
    seen = _shares(observed, p.index, "observed")
    return pd.Series(seen @ _inverse(p), index=p.index, name="share")


def shares_covariance(shares: Shares, matrix: object, *, records: int) -> pd.DataFrame:
    """Covariance of `estimated_shares` due to PRAM alone, for records of equal weight (Kooiman et al. 1997).

    The released categories of the records of a true category are multinomial. For shares estimated from weighted counts
    the covariance is too small: by the factor n sum(w^2) / sum(w)^2 for n records with weights w, if these do not
    depend on the categories.

    Parameters
    ----------
    shares
        The true shares, or their estimates, which may be below 0.
    records : int, 1 or more
        Records that have a value.

    Returns
    -------
    DataFrame
        Categories by categories, of shares (0-1). Standard errors are the square roots of its diagonal; sampling adds
        to them.

    Examples
    --------
    >>> used = kanon_lab.methods.transition_matrix(['a', 'b'], keep=0.8)
    >>> kanon_lab.methods.shares_covariance([0.75, 0.25], used, records=100).round(6)
              a         b
    a  0.004444 -0.004444
    b -0.004444  0.004444
    """
    records = check_whole(records, "records", 1, 2**63 - 1)
    p = check_transition(matrix, name="matrix")
    true, law, back = _shares(shares, p.index, "shares", least=-np.inf), p.to_numpy(), _inverse(p)
    seen = np.diag(true @ law) - (law.T * true) @ law
    return framed(back.T @ seen @ back / records, p.index)


def posterior(matrix: object, shares: Shares) -> pd.DataFrame:
    """Probability of each true category for each released one: what an intruder can conclude.

    Returns
    -------
    DataFrame
        One row a released category, one column a true one. Each row adds to 1, or is missing where the category cannot
        be released.

    Examples
    --------
    >>> used = kanon_lab.methods.transition_matrix(['a', 'b'], keep=0.8)
    >>> kanon_lab.methods.posterior(used, {'a': 0.75, 'b': 0.25}).round(4)
            a       b
    a  0.9231  0.0769
    b  0.4286  0.5714
    """
    p = check_transition(matrix, name="matrix")
    joint = (p.to_numpy() * _shares(shares, p.index, "shares")[:, None]).T
    seen = joint.sum(axis=1, keepdims=True)
    return framed(np.divide(joint, seen, out=np.full(joint.shape, np.nan), where=seen > 0), p.index)


def evenly(stay: np.ndarray) -> np.ndarray:
    """A matrix with the diagonal `stay` and the rest of each row even; a single category stays."""
    size = len(stay)
    if size == 1:
        return np.ones((1, 1))
    matrix = np.repeat((1 - stay)[:, None] / (size - 1), size, axis=1)
    np.fill_diagonal(matrix, stay)
    return matrix


def redrawing(stay: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The matrix that keeps shares by redrawing, see `redrawing_matrix`; where none is redrawn, all stay."""
    leaving = shares * (1 - stay)
    if not leaving.sum():
        return np.eye(len(stay))
    return np.diag(stay) + np.outer(1 - stay, leaving / leaving.sum())


def two_stages(matrix: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The invariant matrix R = P Q; a category that cannot result from the first stage stays in the second."""
    seen = shares @ matrix
    back = np.divide((matrix * shares[:, None]).T, seen[:, None], out=np.eye(len(seen)), where=seen[:, None] > 0)
    # Rounding must not leave a probability above 1.
    return np.minimum(matrix @ back, 1)


def _category_texts(categories: Iterable[Any], name: str) -> list[str]:
    """Categories as texts; an `OptionError` where one is missing or named twice."""
    if isinstance(categories, str) or not isinstance(categories, Iterable):
        raise OptionError(f"{name} must be a list of categories, not {described(categories)}")
    values = list(categories)
    if not all(pd.api.types.is_scalar(value) and not pd.isna(value) for value in values):
        raise OptionError(f"{name}: a category is missing or a list; a gap in the data stays a gap, so leave it out")
    labels = [category(value) for value in values]
    if not all(encodable(label) for label in labels):
        raise OptionError(f"{name}: a category has half of a character (a lone surrogate); correct it")
    if len(set(labels)) < len(labels):
        place = next(i for i, label in enumerate(labels) if label in labels[:i]) + 1
        raise OptionError(f"{name}: category {place} is named before (1 and '1' are one); name it once")
    return labels


def _check_known(labels: Iterable[str], known: Collection[str], name: str) -> None:
    for place, label in enumerate(labels, start=1):
        if label not in known:
            raise OptionError(f"{name}: category {place} has no row; correct or drop it")


def _shares(shares: Shares, labels: pd.Index, name: str, least: float = 0) -> np.ndarray:
    """Shares in the order of `labels`, adding to 1."""
    if isinstance(shares, (Mapping, pd.Series)):
        categories = _category_texts(list(shares.keys()), name)
        _check_known(categories, labels, name)
        of = dict(zip(categories, list(shares.values() if isinstance(shares, Mapping) else shares)))
        shares = [of.get(label, 0) for label in labels]
    try:
        numbers = np.asarray(shares, dtype=float)
    except (TypeError, ValueError):
        numbers = np.empty(())
    except OverflowError:
        numbers = np.full(len(labels), np.inf)
    if numbers.shape != (len(labels),):
        raise OptionError(f"{name}: give a number for each of the {len(labels)} categories of the matrix")
    if not (np.isfinite(numbers) & (numbers >= least)).all() or not numbers.sum() > 0:
        raise OptionError(f"{name} must be finite numbers{' from 0 on' if least == 0 else ''} with a sum above 0")
    return numbers / numbers.sum()


def _inverse(matrix: pd.DataFrame) -> np.ndarray:
    law = matrix.to_numpy()
    if not np.linalg.cond(law) < _SINGULAR:
        raise OptionError(
            "matrix: it is singular, so that different true shares look alike after it and none can be estimated; "
            "choose one whose rows differ, such as a higher probability to stay"
        )
    return np.linalg.inv(law)


def framed(matrix: np.ndarray, labels: Any) -> pd.DataFrame:
    """A matrix under the names of its categories."""
    return pd.DataFrame(matrix, index=pd.Index(labels, dtype="str"), columns=pd.Index(labels, dtype="str"))
