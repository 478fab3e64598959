"""``kanon-lab open``: the workbench, a page of this machine from a file to its release."""

import threading
import webbrowser
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import click

from kanon_lab import files
from kanon_lab.cli.options import Command, json_option, optional_file_argument
from kanon_lab.cli.output import print_lines, show
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
@optional_file_argument
@click.option(
    "--language",
    type=click.Choice(["en", "es"]),
    default="en",
    show_default=True,
    help="Show the page in this language.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address of the page: do not open a browser.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Serve the page at this port.  [default: a free one]",
)
@click.option(
    "--wait",
    type=click.FloatRange(0, 86400),
    default=20,
    show_default=True,
    metavar="SECONDS",
    help="End this many seconds after the last window is closed. Until then you can open it again.",
)
@json_option
def open(file, language, no_browser, port, wait, as_json):
    """Open the workbench in the browser: from the microdata in FILE to a protected file, by clicking.

    FILE is a microdata file or a data set such as health-survey. Without FILE, choose a file in the page, from the
    folder where you started the command. Nobody else can open the page: it needs this machine and the token in the
    printed address. Close the window or press Ctrl-C to end. The files that you saved remain.
    So do the settings of your work, which contain no data.
    """
    if find_spec("voila") is None:
        raise MissingPackageError("the workbench needs voila: pip install 'kanon-lab[workbench]'")
    if file is not None:
        _check_file(file)
    from kanon_lab.workbench.serving import serve

    def tell(address: str, start: Path) -> None:
        result = {"address": address, "file": file, "language": language}
        show(result, partial(print_lines, [address]), as_json=as_json)
        click.echo("The workbench is open. Close its window or press Ctrl-C here to end.", err=True)
        if not no_browser:
            threading.Thread(target=_open_browser, args=[start.as_uri()], daemon=True).start()

    serve(port=port, language=language, file=file, wait=wait, tell=tell, warn=partial(click.echo, err=True))
    click.echo("The workbench has ended.", err=True)


def _check_file(file: str) -> None:
    """Refuse a file that is not there before the browser opens; its content is the page's to read."""
    from kanon_lab.data.sets import catalogue

    if file not in {*catalogue()["name"]} and files.status(file) is None:
        raise OptionError(f"{file}: neither a data set (kanon-lab data list) nor a file; check the name or path")


def _open_browser(address: str) -> None:
    """Open an address in a browser, or say that there is none."""
    try:
        name = getattr(webbrowser.get(), "name", "")
        opened = Path(name).name not in _TEXT_ONLY and webbrowser.open(address)
    except webbrowser.Error:
        opened = False
    if not opened:
        click.echo("no browser was found here: open this address in one", err=True)
