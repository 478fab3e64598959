"""The steps that perturb: each a method of `kanon_lab.perturb`, within the strata of the file unless it says others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from kanon_lab import perturb
from kanon_lab.keys import KeySpec
from kanon_lab.perturb import Perturbed
from kanon_lab.protection.steps import STEPS, Applied, Kind, check_settings, names_in

#: Step -> its function, and the settings it has beside ``variables``, ``strata`` and the seed.
_METHODS: dict[str, tuple[Callable[..., Perturbed], tuple[str, ...]]] = {
    "pram": (perturb.pram, ("keep", "transition", "invariant")),
    "microaggregate": (perturb.microaggregate, ("k_required", "method", "centre", "start", "missing")),
    "add_noise": (perturb.add_noise, ("method", "strength", "missing")),
    "rank_swap": (perturb.rank_swap, ("window",)),
    "shuffle": (perturb.shuffle, ("given", "missing")),
}
# Settings that name columns, beside the variables that are perturbed.
_NAMING = ("strata", "given")


def _kind(name: str) -> Kind:
    function, own = _METHODS[name]
    known = ("variables", "strata", *own)

    def perturbed(settings: Mapping[str, Any]) -> list[str]:
        check_settings(settings, known, ("variables",))
        return names_in(settings["variables"], "variables")

    def named(settings: Mapping[str, Any]) -> list[str]:
        more = [
            column for each in _NAMING if settings.get(each) is not None for column in names_in(settings[each], each)
        ]
        return [*perturbed(settings), *more]

    def apply(frame: pd.DataFrame, spec: KeySpec, settings: Mapping[str, Any], *, seed: int, where: str) -> Applied:
        options = {each: value for each, value in settings.items() if value is not None and each != "variables"}
        options.setdefault("strata", spec.strata)
        if name == "pram":  # what the users publish are weighted shares
            options["weight"] = spec.weight
        return Applied(function(frame, perturbed(settings), **options, seed=seed, where=where).frame)

    random = name != "microaggregate"  # its groups follow from the data; a robust start has always the same seed
    return Kind(apply, named, random, needs_k="k_required" in own, within_strata=True, perturbed=perturbed)


STEPS |= {name: _kind(name) for name in _METHODS}
