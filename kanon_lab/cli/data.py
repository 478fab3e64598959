"""``kanon-lab data``: the catalogue of data sets, downloads, and where files are."""

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON only.")


@click.group()
def data() -> None:
    """List, fetch and find data sets."""


@data.command("list", epilog="Example: kanon-lab data list --json")
@json_option
def list_(as_json: bool) -> None:
    """List the data sets: those of the package and those to fetch."""
    from kanon_lab.cli.output import print_frame, print_json
    from kanon_lab.data.sets import catalogue

    sets = catalogue()
    if as_json:
        print_json(sets)
    else:
        print_frame(sets.assign(sha256=sets["sha256"].str[:12]))


@data.command(epilog="Example: kanon-lab data fetch ine-33570")
@click.argument("name")
@click.option("--force", is_flag=True, help="Download again even when the file is there.")
@json_option
def fetch(name: str, force: bool, as_json: bool) -> None:
    """Download the data set NAME and print its path.

    It is checked and kept in the cache folder. A download that broke off goes on with the next one.
    """
    from kanon_lab.data.sets import fetch

    if not fetch(name, force=force)[1]:
        click.echo(f"{name} is already there (a fetched one is downloaded again with --force)", err=True)
    _print_path(name, as_json)


@data.command(epilog="Example: kanon-lab data path spain-2010")
@click.argument("name")
@json_option
def path(name: str, as_json: bool) -> None:
    """Print the path of the data set NAME."""
    _print_path(name, as_json)


def _print_path(name: str, as_json: bool) -> None:
    from kanon_lab.cli.output import print_json
    from kanon_lab.data.sets import data_path, describe, find

    path = data_path(name)
    if as_json:
        print_json({**describe(find(name)), "path": str(path)})
    else:
        click.echo(path)
