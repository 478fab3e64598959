"""``kanon-lab map``: many recipes on one microdata file, and the cheapest that meets every limit."""

from functools import partial
from math import inf
from pathlib import Path

import click

from kanon_lab import files
from kanon_lab.cli.options import (
    Command,
    file_argument,
    json_option,
    reading_notes,
    reads_microdata,
    whole_number,
    with_point,
)
from kanon_lab.cli.output import OFFICE, end, list_notes, print_for_office, show
from kanon_lab.cli.protect import refuse_inputs
from kanon_lab.digits import number, percent
from kanon_lab.errors import OptionError, StorageError, about, shortened
from kanon_lab.show.parts import Bullets, Paragraph, Section, Table

_EXAMPLES = """
\b
Example:
  kanon-lab map survey.csv --recipe map.yml --write-recipe chosen.yml
  kanon-lab protect survey.csv --recipe chosen.yml --out protected.csv --fail

\b
where map.yml contains
  key_variables: [region, sex, age]
  weight: weight
  released_as_is: [opinion]
  limits: {k: 3, global_risk: 0.02}
  steps:
    - recode: {variable: age, bands: $ages, closed: left}
    - round: {variable: weight, base: 10}
    - suppress: {k_required: $k}
  grid:
    k: [3, 5]
    ages:
      ten years: [0, 10, 20, 30, 40, 50, 60, 70, 80, null]
      twenty years: [0, 20, 40, 60, 80, null]
"""


@click.command(cls=Command, name="map", epilog=_EXAMPLES)
@file_argument
@click.option(
    "--recipe",
    "recipe_path",
    required=True,
    metavar="R.yml",
    help="Recipe with $names and a grid of their values, or the configuration of a report with a section map.",
)
@click.option(
    "--at-most",
    metavar="RISK",
    help="Find the recipe with the least loss among those that meet the limits and have at most this risk: a share "
    "such as 0.05, or a number of records.",
)
@click.option(
    "--risk",
    metavar="NAME",
    help="Compare recipes by this measure of risk. NAME can also be the name of a limit.  [default: global_risk]",
)
@click.option("--loss", metavar="NAME", help="Compare recipes by this measure of loss.  [default: non_uniform_entropy]")
@click.option(
    "--repeats",
    default="1",
    callback=whole_number,
    metavar="R",
    help="Try this many seeds for each random recipe.  [default: 1]",
)
@click.option("--worst", is_flag=True, help="Judge a recipe by its worst seed.  [default: by the mean of all seeds]")
@click.option(
    "--workers",
    callback=whole_number,
    metavar="W",
    help="Run this many processes.  [default: one per processor if the map takes long, else one]",
)
@reads_microdata("recipe_path", "out", "write_recipe")
@click.option("--out", metavar="OUT", help="Write the measures of every recipe to this file, such as map.csv.")
@click.option("--write-recipe", metavar="PATH", help="Write the recipe with the least loss to this file.")
@click.option("--overwrite", is_flag=True, help="Replace OUT and PATH if they exist.")
@json_option
def map(  # noqa: A001 (the name of the command)
    source, recipe_path, at_most, risk, loss, repeats, worst, workers, out, write_recipe, overwrite, as_json
):
    """Compare every recipe of a grid on the records in FILE by risk and loss.

    The section grid lists the values to try for each $name in the recipe. A $name in place of a step takes a step, a
    list of steps, or null for no step. The command judges every recipe by the limits, and prints the recipes that no
    other recipe beats in both risk and loss; if some recipes meet every limit, it prints only those. With limits or
    --at-most, it also prints the recipe with the least loss that meets all of them. It says which limits no recipe
    meets, and how near the best recipe came.

    If the recipe is the configuration of a report with a section map, the report's own steps are marked among the
    recipes. Recipes that cannot be applied are counted; their errors are in the JSON and in OUT. The command only
    compares recipes: it writes no protected file and prints no value of a record.

    Exit code: 0 on success; 1 if no recipe meets --at-most, or if no recipe meets every limit and you gave --at-most or
    --write-recipe; 2 after bad input.
    """
    from kanon_lab.data.writing import check_target, write_microdata
    from kanon_lab.recipes.grid import grid_candidates
    from kanon_lab.recipes.risk_map import risk_utility_map
    from kanon_lab.recipes.tradeoff import USUAL_LOSS, USUAL_RISK, axis_named, measure_of
    from kanon_lab.recipes.verdict import is_set
    from kanon_lab.recipes.yaml_file import dump_yaml, read_yaml, seen_from

    settings, own, axes = _settings(read_yaml(recipe_path), recipe_path)
    risk, loss = axis_named(risk or axes.get("risk", USUAL_RISK)), loss or axes.get("loss", USUAL_LOSS)
    of_risk, of_loss = measure_of(risk, "risk"), measure_of(loss, "loss")
    limit = None if at_most is None else _limit(at_most, of_risk)
    candidates = grid_candidates(settings, path=recipe_path)  # whatever is wrong there is said before anything is done
    if out is not None:
        check_target(out)
    if out and write_recipe and _place(out) == _place(write_recipe):
        raise OptionError(f"{out}: --out and --write-recipe name the same file; choose another name for one of them")
    for target in filter(None, (out, write_recipe)):
        _check_target(target, overwrite, source.file, recipe_path, candidates)
    recipe = candidates[0].recipe
    limited = any(is_set(candidate.recipe.limits.items()) for candidate in candidates)
    if write_recipe is not None and limit is None and not limited:
        raise OptionError("--write-recipe needs limits in the recipe, or --at-most: say what the recipe must meet")
    read = source.read(**recipe.reading)
    with about(source.file):
        options = {"repeats": repeats, "workers": workers, "path": recipe_path, "own": own, "risk": risk}
        compared = risk_utility_map(read.numbered, settings, **options)
    axes = {"risk": risk, "loss": loss, "repeats": "worst" if worst else "mean"}
    result = {
        **OFFICE,
        "file": source.file,
        "recipe": recipe_path,
        "n": len(read.frame),
        **_result(compared, axes, limit, limited),
    }
    result["notes"] = [*recipe.notes, *compared.notes(risk), *reading_notes(read)]
    if out is not None:
        write_microdata(compared.points, out, overwrite=True)
    written = None if result["cheapest"] is None else write_recipe
    if written is not None:
        chosen = compared.recipes[result["cheapest"]["label"]]
        files.write_text(written, dump_yaml(seen_from(chosen, written)))
    result |= {"out": out, "written_recipe": written}
    show(result, partial(_print, result, of_risk, of_loss), out, written, as_json=as_json)
    if result["unmet"] is not None and (limit is not None or write_recipe is not None):
        end(1, result["unmet"] + ("" if write_recipe is None else f"; {write_recipe} was not written"))


def _settings(settings, path):
    """Settings of the recipes to compare, one's own recipe, and the axes: of a recipe, or of a report with a map."""
    if not isinstance(settings, dict) or not isinstance(settings.get("map"), dict):
        return settings, None, {}
    from kanon_lab.report import read_config

    config = read_config(path)
    return config.map, config.own, {"risk": config.map_risk, "loss": config.map_loss}


def _limit(text, measure):
    """The required risk as a number."""
    from kanon_lab.recipes.tradeoff import check_required

    try:
        return check_required(float(with_point(text)), measure)
    except (ValueError, OptionError):
        wanted = "a share from 0 to 1, such as 0.05" if measure.share else "a number from 0 on, such as 20"
        raise OptionError(f"--at-most {shortened(text)!r}: write {wanted}") from None


def _check_target(path, overwrite, file, recipe_path, candidates):
    """Raise an error where the file could not be written in the end, or would replace what is read."""
    if files.status(path) is None:
        if not files.status(Path(path).parent):
            raise StorageError(f"{path}: its folder does not exist; create it or choose another place")
        return
    if not overwrite or not files.is_file(path):
        raise StorageError(f"{path}: already exists; choose another name, or replace it (--overwrite)")
    for candidate in candidates:
        refuse_inputs(path, file, recipe_path, candidate.recipe)


def _place(path):
    """The folder and name that a file is written to, whatever links lead there."""
    return Path(path).parent.resolve() / Path(path).name


def _result(compared, axes, limit, limited):
    """The recipes that no other beats, the cheapest of them that meets the limit, and all that was measured."""
    from kanon_lab.recipes.tradeoff import measure_of, seeing

    frontier, points, unmet, cheapest = compared.frontier(**axes), compared.points, None, None
    caution, own = None, compared.own_point(**axes)
    spread = compared.spread.loc[frontier.index]
    shown = ["label", *compared.parameters, "repeats", "met", "unmet", "own", "risk", "loss"]
    loss = axes["loss"]
    unseen = [list(compared.unseen.get(label, {}).get(loss, ())) for label in frontier["label"]]
    beside = next((name for name in seeing(compared.unseen.values(), loss) if any(unseen) and name in frontier), None)
    costs = {} if beside is None else {beside: measure_of(beside).cost(frontier[beside])}
    frontier = frontier[shown].assign(risk_sd=spread[axes["risk"]], loss_sd=spread[loss], unseen=unseen, **costs)
    if limited or limit is not None:
        try:
            most = limit if limit is not None else 1 if measure_of(axes["risk"]).share else inf
            cheapest = compared.cheapest(at_most=most, **axes)[shown].to_dict()
            caution = compared.caution(cheapest["label"], loss)
        except OptionError as error:  # none meets it
            unmet = str(error)
    return {
        "recipes": len(points),
        "failed": points.loc[points["error"].notna(), ["label", "error"]],
        **axes,
        "at_most": limit,
        "limits": compared.limits,
        "unjudged": list(compared.unjudged),
        "met": int(points["met"].fillna(False).sum()) if limited else None,
        "own": None if own is None else own[shown].to_dict(),
        "frontier": frontier,
        "cheapest": cheapest,
        "unmet": unmet,
        "cautions": [] if caution is None else [caution],
        "beside": beside,
        "points": points,
    }


def _collapsed(frontier, beside):
    """The first of those recipes whose risk and losses are the same, and how many are like it."""
    same = ["risk", "loss", *beside]
    alike = frontier.groupby(same, sort=False, dropna=False)["label"]
    more = alike.transform("size") - 1
    labels = frontier["label"].where(more == 0, frontier["label"] + " (and " + more.astype(str) + " alike)")
    return frontier.assign(label=labels)[~frontier.duplicated(same)]


def _print(result, of_risk, of_loss):
    """Print the result for people."""
    from kanon_lab.recipes.map_limits import OWN
    from kanon_lab.recipes.tradeoff import measure_of

    failed, best, points = result["failed"].head(1), result["cheapest"], result["frontier"]
    several = f"{result['recipes']:,} recipes" if result["recipes"] > 1 else "1 recipe"
    unfit = f", {len(result['failed'])} of which could not be applied" if len(failed) else ""
    lines = [
        f"recipe: {result['recipe']}",
        f"{several}{unfit}",
        f"risk: {result['risk']} ({of_risk.label})",
        f"loss: {result['loss']} ({of_loss.label})",
    ]
    risk, loss = _form(of_risk), _form(of_loss)
    spread = ["risk_sd", "loss_sd"] if (points["repeats"] > 1).any() else []
    beside = [] if result["beside"] is None else [result["beside"]]
    forms = {"risk": risk, "loss": loss, "risk_sd": risk, "loss_sd": loss}
    forms |= {name: _form(measure_of(name)) for name in beside}
    frontier = _collapsed(points, beside)
    verdict = [] if result["met"] is None else ["limits"]
    frontier = frontier.assign(limits=[_misses(unmet) for unmet in frontier["unmet"]])
    table = frontier[["label", "risk", "loss", *beside, *spread, *verdict]].rename(columns={"label": "recipe"})
    remarks, own = [], result["own"]
    if own is not None:
        place = "beaten by no other" if own["label"] in {*points["label"]} else "not among these"
        text = f"; limits: {_misses(own['unmet'])}" if verdict else ""
        name = "" if own["label"] == OWN else f" ({own['label']})"
        remarks.append(f"{OWN}{name}: risk {risk(own['risk'])}, loss {loss(own['loss'])}, {place}{text}")
    if blind := int(points["unseen"].astype(bool).sum()):
        seen = f"; {result['beside']} does" if beside else ", nor does another measure here"
        remarks.append(f"(caution: {result['loss']} does not see every step of {blind:,} of these recipes{seen})")
    if len(frontier) < len(points):
        remarks.append("(alike: the same risk and loss, so that neither measure sees what they differ in)")
    title = "Recipes that no other recipe beats in both" + (", of those that meet every limit" if result["met"] else "")
    sections = [Section(title, [Table(table, formats=forms), Bullets(remarks)])]
    if verdict:
        sections.insert(0, _limits_section(result))
    if best is not None:
        limit, cautions = result["at_most"], (f"caution: {caution}" for caution in result["cautions"])
        chosen = f"{best['label']}: risk {risk(best['risk'], limit)}, loss {loss(best['loss'])}"
        asked = [] if limit is None else [f"{'1 / ' * of_risk.more_is_better}{result['risk']} at most {limit:g}"]
        asked += ["every limit met"] if verdict else []
        sections.append(Section(f"Least loss with {' and '.join(asked)}", [Bullets([chosen, *cautions])]))
    for row in failed.itertuples():
        sections.append(Section(f"The first that could not be applied: {row.label}", [Paragraph(row.error)]))
    written = [path for path in (result["out"], result["written_recipe"]) if path is not None]
    sections += [list_notes(result["notes"]), Section("Written", [Bullets(written or ["nothing"])])]
    print_for_office(result["file"], result["n"], lines, *sections)


def _misses(unmet):
    """The verdict on a recipe in a few words."""
    return f"misses {unmet}" if isinstance(unmet, str) else "met"


def _limits_section(result):
    """Each limit with the recipes that meet it, and how near the best comes."""
    from pandas import DataFrame

    from kanon_lab.measures.registry import LIMITS
    from kanon_lab.recipes.map_limits import limit_named

    rows = []
    for row in result["limits"].itertuples():
        form = _form(LIMITS[row.name])
        rows.append(
            {
                "limit": limit_named(row._asdict()),
                "wanted": f"{row.bound} {form(row.limit, row.nearest)}",
                "recipes that meet it": f"{row.recipes} of {row.judged}",
                "best value, its recipe": "" if row.nearest is None else f"{form(row.nearest, row.limit)}, {row.label}",
            }
        )
    remarks = [f"{result['met']} of {result['recipes']} recipes meet every limit"]
    if len({row.judged for row in result["limits"].itertuples()}) > 1:
        remarks.append("(limits that need a search of all columns are judged only for recipes that meet the others)")
    if not result["met"]:
        remarks[0] = result["unmet"]
    if result["unjudged"]:
        remarks.append(f"(not judged, because no recipe meets all the other limits: {', '.join(result['unjudged'])})")
    return Section("Limits", [Table(DataFrame(rows)), Bullets(remarks)])


def _form(measure):
    return partial(percent if measure.share else number, digits=4)
