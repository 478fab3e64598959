"""What the released file as a whole may claim for one k."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from kanon_lab.file_measures import UNWEIGHTED, measure
from kanon_lab.keys import KeySpec, check_k
from kanon_lab.protection.cost import indicators_after
from kanon_lab.protection.state import Chain
from kanon_lab.protection.truth import true_and_shown
from kanon_lab.settings import names_in
from kanon_lab.suppress import CLAIMS
from kanon_lab.suppress.claims import claims_of, strata_codes
from kanon_lab.utility import compare_indicators
from kanon_lab.utility.indicators import KEYS

#: By policy for missing keys, the claim that says whether k is met.
DECISIVE = {"wildcard": "compatible", "category": "own_class", "error": "own_class"}


def final_claims(protection: Chain, k_required: int) -> pd.DataFrame:
    """The three claims of `kanon_lab.suppress.protection_claims` for the file as it would be released.

    Parameters
    ----------
    protection : Protection
    k_required : int
        From 1 on.

    Returns
    -------
    DataFrame
        One row a claim, for all released key variables and without strata: the first two are the records below k that
        are measured after the last step.

    Notes
    -----
    A suppressed or perturbed value is taken for the one it had before. If it is recoded afterwards, it is what the same
    value became in other records, or else what the step makes of it.

    Examples
    --------
    >>> import pandas as pd, kanon_lab
    >>> from kanon_lab.protection import final_claims
    >>> survey = pd.DataFrame({"region": ["N", "N", "N", "S"], "sex": ["m", "m", "f", "f"]})
    >>> chain = kanon_lab.protect(survey, ["region", "sex"]).apply("suppress", {"k_required": 2})
    >>> final_claims(chain, 2)[["claim", "records", "share"]]
            claim  records  share
    0  compatible        0    0.0
    1   own_class        0    0.0
    2    true_key        0    0.0
    """
    names = protection.released_spec.key_variables
    codes = true_and_shown(protection.state.truth, protection.aligned, names)
    everywhere = np.zeros(len(protection.original), dtype=np.int64)
    return claims_of(*codes, everywhere, [([*range(len(names))], check_k(k_required, "k_required"))], names)


def claims_since(protection: Chain) -> pd.DataFrame:
    """The claims of the last step, a suppression, where a step before it has suppressed or perturbed keys.

    What was suppressed or perturbed before is unknown to the step, but an outsider may know it: true keys are those of
    `final_claims`. A risk of them is not counted anew: after ``suppress_risk`` the claim ``true_key`` is left out.
    """
    step, spec = protection.steps[-1], protection.released_spec
    keys, claims = spec.key_variables, step.claims
    hidden = any(earlier.suppressed.get(key) for earlier in protection.steps[:-1] for key in keys)
    if not hidden and protection.state.truth.perturbed.isdisjoint(keys):
        return claims
    if step.name != "suppress":
        return claims[claims["claim"] != "true_key"].reset_index(drop=True)
    working = protection.state.working.loc[protection.original.index]
    known, shown = true_and_shown(protection.state.truth, working, keys)
    sets = _sets_of_keys(step.settings.get("combinations") or [{"keys": keys}], keys)
    wanted = list(zip(sets, claims["k"].iloc[:: len(CLAIMS)], strict=True))
    stratum = strata_codes(working, spec)
    return claims_of(known, shown, stratum, wanted, keys)


def _sets_of_keys(wanted: Iterable[Mapping], keys: Sequence[str]) -> Iterator[list[int]]:
    """Positions of the keys in each combination that a suppression was asked for, in the order of its claims."""
    for each in wanted:
        if "keys" in each:
            yield sorted({keys.index(name) for name in names_in(each["keys"], "keys")})
        else:
            yield from map(list, combinations(range(len(keys)), each["size"]))


def final_indicators(protection: Chain) -> pd.DataFrame:
    """The survey's own indicators in the end beside those of the file as it came.

    Returns
    -------
    DataFrame
        As `kanon_lab.utility.compare_indicators`, and ``records`` of the file as it came; without rows where none is
        asked for. An estimate of few records tells their values: it is for those who hold the file.

    Examples
    --------
    >>> import pandas as pd, kanon_lab
    >>> from kanon_lab.protection import final_indicators
    >>> survey = pd.DataFrame({"region": [*"NNSS"], "income": [10, 20, 31, 40]})
    >>> chain = kanon_lab.protect(survey, ["region"], indicators={"means": ["income"]})
    >>> found = final_indicators(chain.apply("round", {"variable": "income", "base": 10}))
    >>> found[["estimate_before", "estimate_after"]].values.tolist()
    [[25.25, 25.0]]
    """
    baseline = protection.baseline
    if baseline.wanted is None:
        return pd.DataFrame(columns=["status", "overlap", "records"])
    now = indicators_after(protection.original, protection.aligned, baseline)
    records = baseline.estimates[[*KEYS, "records"]]
    return compare_indicators(baseline.estimates, now).merge(records, on=[*KEYS])


def final_diversity(protection: Chain) -> tuple[dict[str, dict], list[str]]:
    """Diversity of the released sensitive variables and notes on it; a `DataError` where one has no value at all."""
    spec = _released_roles(protection)
    if not spec.sensitive_variables:
        return {}, []
    found = measure(protection.state.working, spec, k=(), thresholds=()).to_dict()
    return found["diversity"], [note for note in found["notes"] if note != UNWEIGHTED]


def _released_roles(protection: Chain) -> KeySpec:
    """Without what a diversity needs not, and without removed variables."""
    spec = protection.released_spec
    sensitive = tuple(name for name in spec.sensitive_variables if name not in protection.state.removed)
    return replace(spec, sensitive_variables=sensitive, weight=None, household=None, strata=())
