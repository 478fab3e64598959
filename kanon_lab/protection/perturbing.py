"""The steps that perturb: each a method of `kanon_lab.perturb`, within the strata of the file unless it says others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import pandas as pd

from kanon_lab import perturb
from kanon_lab.errors import OptionError, shortened
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
    random = name != "microaggregate"  # its groups follow from the data; a robust start has always the same seed

    def perturbed(settings: Mapping[str, Any]) -> list[str]:
        check_settings(settings, known, ("variables",))
        return names_in(settings["variables"], "variables")

    def named(settings: Mapping[str, Any]) -> list[str]:
        more = [
            column for each in _NAMING if settings.get(each) is not None for column in names_in(settings[each], each)
        ]
        return [*perturbed(settings), *more]

    def apply(frame: pd.DataFrame, spec: KeySpec, settings: Mapping[str, Any], *, seed: int) -> Applied:
        options = {each: value for each, value in settings.items() if value is not None and each != "variables"}
        options.setdefault("strata", spec.strata)
        if name == "pram":  # what the users publish are weighted shares
            options["weight"] = spec.weight
        names = perturbed(settings)
        if spec.household in names:
            raise OptionError(f"{shortened(spec.household)} tells households apart; perturb other variables")
        if spec.weight in names:
            raise OptionError(
                f"{shortened(spec.weight)} is the weight, which the risk is measured with; perturb others"
            )
        if random:
            seed = own_seed(seed, name, settings, frame, names)
        return Applied(function(frame, names, **options, seed=seed).frame)

    options = {"needs_k": "k_required" in own, "as_quantities": name != "pram"}
    return Kind(apply, named, random, **options, within_strata=True, perturbed=perturbed)


def own_seed(seed: int, name: str, settings: Mapping[str, Any], frame: pd.DataFrame, names: list[str]) -> int:
    """The seed of the draws of a step: another one for another step, other settings or other values.

    With the same draws, two strengths of noise, or two waves of a panel, would give the true values away.
    """
    mixed = sha256(repr((seed, name, sorted(settings.items(), key=str))).encode("utf-8", "surrogatepass"))
    for each in names:
        if each in frame:
            mixed.update(repr(frame[each].to_list()).encode("utf-8", "surrogatepass"))
    return int.from_bytes(mixed.digest()[:8]) >> 1


STEPS |= {name: _kind(name) for name in _METHODS}
