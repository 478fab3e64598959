"""Recipes: the roles of a file's variables and the steps of its protection, as a YAML file holds them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from kanon_lab import files
from kanon_lab.data import MicrodataFile
from kanon_lab.protection.chain import Protection, protect
from kanon_lab.protection.hierarchy_files import beside, seen_from
from kanon_lab.protection.plan import Plan, file_plan, named
from kanon_lab.protection.yaml_file import dump_yaml, read_yaml


class Recipe(Plan):
    """What is to be done to a file, and how to do it; its attributes are those of `Plan`."""

    def check(self, frame: pd.DataFrame | MicrodataFile) -> None:
        """Raise a `KanonLabError` unless every column that the recipe names can be used, before anything is done."""
        self.check_frame(frame.numbered if isinstance(frame, MicrodataFile) else frame)

    def apply(self, frame: pd.DataFrame | MicrodataFile, *, progress: bool = False) -> Protection:
        """Protect a file.

        Parameters
        ----------
        frame : DataFrame or MicrodataFile
            As `kanon_lab.protection.protect` takes it. Not changed.
        progress : bool
            Whether to show the steps on standard error, if that is a terminal.

        Returns
        -------
        Protection
            With all steps applied: the same for the same frame and recipe.
        """
        from tqdm import tqdm

        self.check(frame)
        with named(self.where):
            protection = protect(frame, self.spec, **self.measured)
            for name, settings in tqdm(self.steps, desc="steps", disable=None if progress else True, leave=False):
                protection = protection.apply(name, settings)
            return protection


def as_recipe(settings: Mapping[str, Any], *, where: str = "the recipe") -> Recipe:
    """A recipe from settings of plain types, as a YAML file or `Protection.recipe` holds them.

    Parameters
    ----------
    settings : mapping
        As the chapter on recipes lists them; of the configuration of a report too, of which those that say how to read
        the file are used.
    where : str
        What to call the settings in messages.

    Examples
    --------
    >>> import kanon_lab
    >>> steps = [{"recode": {"variable": "age", "width": 10}}, {"suppress": {"k_required": 3}}]
    >>> recipe = kanon_lab.protection.as_recipe({"key_variables": ["age", "sex"], "steps": steps})
    >>> chain = recipe.apply(kanon_lab.load_microdata("health-survey"))
    >>> chain.state.measured.violations["wildcard"][3]
    0
    """
    with named(where):
        return Recipe(**file_plan(settings), where=where)


def read_recipe(path: str | Path) -> Recipe:
    """Read a recipe.

    Parameters
    ----------
    path : str or Path
        A YAML file of at most a million bytes. A file of a hierarchy in it is looked for in the folder of the recipe.
    """
    return as_recipe(beside(read_yaml(path), path), where=str(path))


def write_recipe(protection: Protection, path: str | Path) -> None:
    """Write the chain of a protection as a recipe, with the seeds of its random steps."""
    files.write_text(path, dump_yaml(seen_from(protection.recipe(), path)))
