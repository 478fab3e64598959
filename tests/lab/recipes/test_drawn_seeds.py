"""A recipe with a random step draws a seed where it is given none."""

import pytest

from kanon_lab.recipes import as_recipe

KEYS = {"key_variables": ["region"], "household": "home"}
PRAM = {"pram": {"variables": "region", "keep": 0.8}}


@pytest.mark.parametrize(
    ("settings", "drawn"),
    [
        ({"steps": [PRAM]}, True),
        ({"household_level": {"key_variables": ["region"], "steps": [PRAM]}}, True),
        ({"steps": [PRAM], "seed": 5}, False),
        ({"steps": [{"pram": {**PRAM["pram"], "seed": 5}}]}, False),
        ({"household_level": {"key_variables": ["region"], "seed": 5, "steps": [PRAM]}}, False),
        ({"steps": [{"suppress": {"k_required": 3}}]}, False),
        ({}, False),
    ],
)
def test_a_seed_is_drawn_where_one_is_needed(settings, drawn):
    seeds = [as_recipe({**KEYS, **settings}).seed for _ in range(4)]
    assert len({*seeds}) == (4 if drawn else 1)
    assert max(seeds) < 2**62
    if not drawn:
        assert seeds[0] == settings.get("seed", 0)
