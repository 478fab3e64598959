"""The command ``kanon-lab``: its group, and how every error becomes one line and an exit code."""

import errno
import io
import logging
import os
import re
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import entry_points

import click

from kanon_lab.cli.output import drop_output
from kanon_lab.errors import KanonLabError, encodable, shortened, visible
from kanon_lab.files import check_address_space
from kanon_lab.terms import agreed

BAD_INPUT = 2
INTERRUPTED = 130
# Bytes of memory that the libraries need where the system limits them, and what it says where one of them had too few.
_MEMORY = 750_000_000
_UNLOADED = re.compile("failed to map segment|[Cc]annot allocate memory")
# Signals that ask the process to end; they would end it without any cleaning up.
_STOPS = ("SIGTERM", "SIGHUP")

_SUMMARIES = {
    "population": "Estimate the anonymity of a population from counts of persons.",
    "measure": "Measure anonymity, risk and diversity of a microdata file.",
    "compare": "Measure what two editions of a file reveal together.",
    "init": "Write a first configuration for a report on a microdata file.",
    "protect": "Apply a recipe of protection steps to a microdata file.",
    "map": "Compare the risk and utility of many recipes on a microdata file.",
    "subsample": "Estimate the risk of identification in a sample by drawing subsamples of it.",
    "report": "Write one offline HTML page on a microdata file and its protection.",
    "open": "Open the workbench in the browser: from a file to its release by clicking.",
    "data": "List, download, locate and make data sets.",
}
# Commands in a module of another name, which has several.
_BESIDE = {"population": "counts", "data": "counts", "init": "report", "subsample": "measure"}
# Entry points of other packages by which they bring commands of their own.
_COMMANDS = "kanon_lab.commands"


class LazyGroup(click.Group):
    """A group whose command NAME is the object NAME of the module ``kanon_lab.cli.NAME``, imported when it is used.

    Entry points of the group ``kanon_lab.commands`` add commands of other packages.
    """

    def __init__(self, *args, summaries: dict[str, str], **kwargs):
        super().__init__(*args, **kwargs)
        self.summaries = summaries

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.summaries, *entry_points(group=_COMMANDS).names]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in self.summaries:
            return getattr(import_module(f"kanon_lab.cli.{_BESIDE.get(name, name)}"), name)
        return next((command.load() for command in entry_points(group=_COMMANDS, name=name)), None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        added = {command.name: command.load().get_short_help_str(100) for command in entry_points(group=_COMMANDS)}
        with formatter.section("Commands"):
            formatter.write_dl(list((self.summaries | added).items()))


@click.group(
    cls=LazyGroup,
    summaries=_SUMMARIES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Each command has its own help with an example: kanon-lab population --help",
)
@click.version_option(package_name="kanon-lab", message="%(prog)s %(version)s")
def cli() -> None:
    """Measure the anonymity of files and populations, protect files, and recompute published studies."""


def main(args: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code; `args` are those of the process by default."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # letters that the terminal's encoding lacks are shown as escapes, as on standard error
        sys.stdout.reconfigure(errors="backslashreplace")
    for name in _STOPS:
        number = getattr(signal, name, None)  # not every system has each
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _stop)
    heard = signal.getsignal(signal.SIGINT) != signal.SIG_IGN
    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # while the command was loaded, it had another
    code = run(sys.argv[1:] if args is None else args)
    if heard:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing is left to clean up: Python would print where it was
    eval("0")  # `python -m` ends by the signal, not by the code, if the last call of eval was interrupted: make another
    sys.exit(code)


def _stop(number: int, frame: object) -> None:
    """Leave by an exception, so that no half-written file stays; asked again, at once."""
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(128 + number)


def run(args: Sequence[str]) -> int:
    """Run the command; errors become one line on standard error. The exit code: 0, 2 after bad input, or its own."""
    if sys.stdout is None:
        return _fail("standard output is closed; leave it open, or send it to a file")
    # a file that is there may have any name
    if garbled := [text for text in args if not encodable(text) and not os.path.lexists(text)]:
        return _fail(f"{shortened(garbled[0])}: is not text in UTF-8; rename the file or folder, or correct the text")
    try:
        check_address_space(_MEMORY)
        code = _invoke(args)
        sys.stdout.flush()
        return code
    except (KeyboardInterrupt, click.Abort):
        # Tasks that the interrupt ended may still log their end, which nobody waits for.
        logging.getLogger("asyncio").disabled = True
        return _fail("interrupted", INTERRUPTED)
    except click.UsageError as error:
        see = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        return _fail(error.format_message() + see)
    except (KanonLabError, click.ClickException) as error:
        return _fail(str(error))
    except (MemoryError, ImportError) as error:
        if isinstance(error, ImportError) and not _UNLOADED.search(str(error)):
            raise
        return _fail("not enough memory; close other programs, or use a smaller file or one year or place of it")
    except BrokenPipeError:
        drop_output()
        return 0
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            return _fail("too many files are open; close other programs, or allow more (ulimit -n)")
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        return _fail(f"no space left on the disk{f' for {error.filename}' if error.filename else ''}; free some")


def _invoke(args: Sequence[str]) -> int:
    try:
        with cli.make_context("kanon-lab", list(args)) as context:
            cli.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as asked:
        click.echo(asked.ctx.get_help())
    return 0


def _fail(message: str, code: int = BAD_INPUT) -> int:
    click.echo(f"kanon-lab: {agreed(visible(' '.join(message.split())))}", err=True)
    return code
