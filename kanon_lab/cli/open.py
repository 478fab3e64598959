"""``kanon-lab open``: the workbench, a page of this machine from a file to its release."""

import sys
import threading
import webbrowser
from importlib.util import find_spec
from pathlib import Path

import click

from kanon_lab import files
from kanon_lab.cli.options import Command
from kanon_lab.errors import MissingPackageError, OptionError

_OF_OPEN = """
\b
Examples:
  kanon-lab open
  kanon-lab open survey.csv
  kanon-lab open survey.csv --language es
  kanon-lab open health-survey --no-browser --port 9000
"""
# Browsers without windows, which show no page like this one and take the terminal.
_TEXT_ONLY = {"elinks", "links", "lynx", "w3m", "www-browser"}


@click.command(cls=Command, name="open", epilog=_OF_OPEN)
@click.argument("file", required=False)
@click.option(
    "--language",
    type=click.Choice(["en", "es"]),
    default="en",
    show_default=True,
    help="Language of the page.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address of the page: do not open a browser.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Serve the page at this port of 127.0.0.1.  [default: a free one]",
)
@click.option(
    "--wait",
    type=click.FloatRange(0, 86400),
    default=20,
    show_default=True,
    metavar="SECONDS",
    help="End so many seconds after the last window of the page was closed. Until then it can be opened again.",
)
def open_(file, language, no_browser, port, wait):
    """Open the workbench in the browser: from the microdata in FILE to a protected file, by clicking.

    FILE is a microdata file or a data set such as health-survey; without it you choose a file in the page, from the
    folder where you started the command. Only this machine can reach the page, and only a browser that opened the
    printed address, which holds a token. The command ends when you close the window or press Ctrl-C, and leaves nothing
    behind but the files that you save.
    """
    if find_spec("voila") is None:
        raise MissingPackageError("the workbench needs voila: pip install 'kanon-lab[workbench]'")
    if file is not None:
        _check_file(file)
    from kanon_lab.workbench.serving import serve

    def tell(address: str, start: Path) -> None:
        click.echo(f"The workbench is open at {address}")
        click.echo("It ends when you close its window, or press Ctrl-C here.")
        sys.stdout.flush()
        if not no_browser:
            threading.Thread(target=_show, args=[start.as_uri()], daemon=True).start()

    serve(port=port, language=language, file=file, wait=wait, tell=tell)
    click.echo("The workbench has ended.")


def _check_file(file: str) -> None:
    """Refuse a file that is not there before the browser opens; its content is the page's to read."""
    from kanon_lab.data.sets import catalogue

    if file not in {*catalogue()["name"]} and not files.status(file):
        raise OptionError(f"{file}: neither a data set (kanon-lab data list) nor a file; check the name or path")


def _show(address: str) -> None:
    """Open an address in a browser, or say that there is none."""
    try:
        name = getattr(webbrowser.get(), "name", "")
        shown = Path(name).name not in _TEXT_ONLY and webbrowser.open(address)
    except webbrowser.Error:
        shown = False
    if not shown:
        click.echo("No browser was found here: open this address in one.", err=True)


globals()["open"] = open_
