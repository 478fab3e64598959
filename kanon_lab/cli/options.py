"""The options that commands share, and the microdata file that they say how to read."""

import csv
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, partial, wraps
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kanon_lab import files
from kanon_lab.errors import KanonLabError, OptionError, shortened
from kanon_lab.roles import MISSING_POLICIES, KeySpec

if TYPE_CHECKING:
    from kanon_lab.data.microdata import MicrodataFile
    from kanon_lab.engines import CountedFile
    from kanon_lab.engines.release import Records
    from kanon_lab.measures import Population
    from kanon_lab.recipes.plan import Plan

_UNITS = ("", "KB", "MB", "GB")
_BYTES = re.compile("([0-9]{1,18})(|KB|MB|GB)", re.IGNORECASE)

_DECIMAL_COMMA = re.compile(r"[-+]?(?!(?!0)[0-9]{1,3},[0-9]{3}$)[0-9]+,[0-9]+")


class Command(click.Command):
    """A command whose help shows its examples right after its first sentence."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first sentence, the examples, and the rest."""
        first, _, rest = cleandoc(self.help or "").partition("\n\n")
        for text in filter(None, (first, self.epilog, rest)):
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(cleandoc(text))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write nothing: the examples are above."""


class Number(click.ParamType):
    """A number, with a point or a comma before its decimals; 1,234 is none, since it may mean either."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number that a text means."""
        try:
            return float(with_point(str(value)))
        except ValueError:
            self.fail(f"{value!r} is not a valid float.", param, ctx)


def with_point(text: str) -> str:
    """The text of a number with a point before its decimals, where it has a comma that can mean nothing else."""
    return text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text.strip()) else text


def _given(context: click.Context, parameter: click.Parameter, file: str) -> str:
    if file == "":
        raise OptionError("FILE is empty; name a file or a data set such as health-survey")
    return file


def names(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> list[str]:
    """Names in comma-separated texts; a name in double quotes may have commas."""
    listed: list[str] = []
    for text in texts:
        try:
            (row,) = csv.reader([text], skipinitialspace=True, strict=True)
        except (csv.Error, ValueError):
            row = []
        listed += [name.strip() for name in row or [""]]
    if not all(listed):
        text = shortened(",".join(texts))
        raise OptionError(f"{parameter.opts[0]} {text!r}: write names of columns between commas, such as a,b,c")
    return listed


def one_name(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> str | None:
    """The one name given, or None; a name may have commas."""
    if len(texts) > 1:
        raise OptionError(f"{parameter.opts[0]} is given {len(texts)} times; name one column")
    name = texts[0].strip() if texts else None
    if name == "":
        raise OptionError(f"{parameter.opts[0]} is empty; name a column, or leave it out")
    return name


def whole_numbers(context: click.Context, parameter: click.Parameter, text: str, most: int = 1000) -> list[int]:
    """The whole numbers from 1 on in a comma-separated text, and no more than so many of them."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) <= 18 and int(part) > 0 for part in parts) or len(parts) > most:
        wanted = "a whole number from 1 on, such as 3" if most == 1 else "whole numbers from 1 on, such as 2,3,5"
        raise OptionError(f"{parameter.opts[0]} {shortened(text)!r}: write {wanted}")
    return [int(part) for part in parts]


def whole_number(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """One whole number from 1 on, where it is given."""
    return None if text is None else whole_numbers(context, parameter, text, most=1)[0]


def _codes(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, list[str]]:
    """Codes by variable from texts such as P3=88,99."""
    codes: dict[str, list[str]] = {}
    for place, text in enumerate(texts, 1):
        name, _, listed = text.rpartition("=")
        parts = [code.strip() for code in listed.split(",")]
        if not name.strip() or not all(parts):
            raise OptionError(f"--missing-codes, number {place}: write a variable and its codes, such as P3=88,99")
        codes.setdefault(name.strip(), []).extend(parts)
    return codes


def _sign(context: click.Context, parameter: click.Parameter, sign: str | None) -> str | None:
    """A sign between thousands."""
    from kanon_lab.data.delimited import check_thousands

    check_thousands(sign)
    return sign


def _limited(context: click.Context, parameter: click.Parameter, text: str | None) -> None:
    """Let files that the command reads take so many bytes of memory."""
    if text is not None:
        size = _BYTES.fullmatch(text.strip())
        if size is None or not int(size[1]):
            raise OptionError(f"--memory {shortened(text)!r}: write a whole number of bytes, or one such as 8GB")
        context.with_resource(files.limited(int(size[1]) * 1000 ** _UNITS.index(size[2].upper())))


file_argument = click.argument("file", callback=_given)
optional_file_argument = click.argument("file", required=False, callback=_given)
_keys = partial(
    click.option,
    "--keys",
    multiple=True,
    callback=names,
    metavar="A,B,...",
    help="Key variables: what an intruder may know. Repeatable. Quote a name that has a comma: '\"a,b\",c'.",
)
keys_option, keys_unless_counted_option = _keys(required=True), _keys()
missing_option = click.option(
    "--missing",
    type=click.Choice([*MISSING_POLICIES]),
    default="wildcard",
    show_default=True,
    help="What a missing key value means: it matches any value, it is a value of its own, or it is an error.",
)
na_option = click.option(
    "--na",
    multiple=True,
    metavar="TEXT",
    help="Treat this text, such as NA, as missing. Repeatable.  [default: only empty cells]",
)
missing_codes_option = click.option(
    "--missing-codes",
    multiple=True,
    metavar="V=CODE,...",
    callback=_codes,
    help="Treat these codes of a variable as missing, such as P3=88,99. Repeatable.  [default: none]",
)
thousands_option = click.option(
    "--thousands",
    metavar="SIGN",
    callback=_sign,
    help="Sign between thousands in a csv file: . or , or ' or a space.  [default: none; but a point if "
    "the column leaves no doubt, as in 1.234.567 or 1.234,5]",
)
sheet_option = click.option(
    "--sheet", metavar="NAME", help="Sheet of an xlsx file, by its name or its number.  [default: the first]"
)
keep_codes_option = click.option(
    "--keep-missing-codes",
    is_flag=True,
    help="Keep codes that a file of SPSS, Stata or SAS declares as missing, such as 9 or .a, as values of their own.  "
    "[default: they are missing]",
)
max_bytes_option = click.option(
    "--memory",
    "max_bytes",
    metavar="N",
    callback=_limited,
    expose_value=False,
    help=f"Limit the memory for reading or counting a file to N, such as 8GB.  [default: {files.MAX_BYTES // 10**9}GB]",
)
engine_option = click.option(
    "--engine",
    type=click.Choice(["auto", "memory", "duckdb", "spark"]),
    default="auto",
    show_default=True,
    help="Count the records in memory, by DuckDB or by Spark. auto uses DuckDB, if it is installed, for large files "
    "and folders of parts, and says so.",
)
spill_option = click.option(
    "--spill",
    metavar="FOLDER",
    help="Folder for data that an engine cannot keep in memory.  [default: the folder for temporary files]",
)
fail_on_cautions_option = click.option(
    "--fail-on-cautions",
    is_flag=True,
    help="Like --fail, but for a caution: a risk that no limit covers. Give both options to fail on either.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for programs.")


def column_option(option: str, text: str) -> Callable:
    """An option that names one column."""
    return click.option(option, multiple=True, callback=one_name, metavar="COLUMN", help=text)


@dataclass(frozen=True)
class Source:
    """The microdata file of a command, and how its options say to read it."""

    file: str
    na: tuple[str, ...]
    missing_codes: dict[str, list[str]]
    engine: str = "memory"
    spill: str | None = None
    thousands: str | None = None
    sheet: str | None = None
    keep_missing_codes: bool = False

    @cached_property
    def counted_by(self) -> str:
        """The engine; where it was found by the size of the file, and is not memory, standard error says so."""
        if self.engine != "auto":
            return self.engine
        from kanon_lab.engines import choose_engine

        engine = choose_engine(self.file)
        if engine != "memory":
            click.echo(f"kanon-lab: counted by {engine}, since it is large or a folder of parts (--engine)", err=True)
        return engine

    def is_streamed(self, plan: "Plan", out: str | Path | None, *, neutralise: bool = False) -> bool:
        """Whether an engine protects the file; an `OptionError` where it is to, and does not what is asked for."""
        from kanon_lab.recipes.streamed import check_streamed

        if self.engine == "memory":
            return False
        try:
            check_streamed(plan, self.file, out)
            if neutralise:
                remedy = "protect in memory (--engine memory)"
                raise OptionError(f"--neutralise: an engine does not look for formulas; {remedy}")
        except OptionError:
            if self.engine == "auto":
                return False
            raise
        return self.counted_by != "memory"

    def _options(self, usual: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Options for reading: the `usual` ones, such as those of a recipe, hold where the command has none."""
        chosen = {
            "na": self.na,
            "missing_codes": self.missing_codes,
            "thousands": self.thousands,
            "sheet": self.sheet,
            "keep_missing_codes": self.keep_missing_codes,
            **more,
        }
        return usual | {name: value for name, value in chosen.items() if value}

    def _by_engine(self, usual: dict[str, Any]) -> dict[str, Any]:
        """The same for an engine, which takes signs of csv files together."""
        from kanon_lab.data.delimited import Dialect

        options = self._options(usual, memory=files.limit(), spill=self.spill)
        if options.pop("sheet", None) is not None:
            raise OptionError("--sheet: an engine reads no workbook; leave it out, or use --engine memory")
        options.pop("keep_missing_codes", None)  # the formats that an engine reads declare none
        if (sign := options.pop("thousands", None)) is not None:
            options["dialect"] = replace(options.get("dialect") or Dialect(), thousands=sign)
        return options

    def count(self, spec: KeySpec, **usual: Any) -> "CountedFile":
        """The records counted by the engine; `usual` as in `read`."""
        from kanon_lab.engines import count_records

        options = self._by_engine(usual)
        return count_records(self.file, spec, engine=self.counted_by, progress=True, **options)

    def opened(self, grouped: list[str], **usual: Any) -> "AbstractContextManager[Records]":
        """The records held open by the engine; `usual` as of `opened_records`, those for reading as in `read`."""
        from kanon_lab.engines.release import opened_records

        options = self._by_engine(usual)
        return opened_records(self.file, grouped, engine=self.counted_by, progress=True, **options)

    def read_population(self, file: str, count: str | None, spec: KeySpec) -> "Population":
        """The keys of a population in another file, whose cells mean what they mean in this one."""
        from kanon_lab.recipes.population_file import check_population, read_population

        reading = self._options({}, max_bytes=files.limit())
        population = read_population(file, spec.key_variables, count=count, reading=reading)
        check_population(population, spec)
        return population

    def read(self, **usual: Any) -> "MicrodataFile":
        """The file; `usual` options of `read_file`, such as those of a recipe, hold where the command has none."""
        from kanon_lab.data.microdata import read_file

        return read_file(self.file, **self._options(usual, max_bytes=files.limit()))


def reads_microdata(*others: str) -> Callable:
    """The options that say how to read FILE, which the command gets as its `source`.

    Its errors call FILE, and the files of `others` of its parameters, by name: where they lie is not for every reader.
    """

    def wrap(command: Callable) -> Callable:
        @wraps(command)
        def called(*args: Any, file: str, na: tuple, missing_codes: dict, **values: Any) -> Any:
            how = {name: values.pop(name) for name in ("thousands", "sheet", "keep_missing_codes")}
            by_engine = {name: values.pop(name) for name in ("engine", "spill") if name in values}
            try:
                return command(*args, source=Source(file, na, missing_codes, **by_engine, **how), **values)
            except KanonLabError as error:
                paths = (file, *(values[name] for name in others), *by_engine.values())
                raise type(error)(without_folders(str(error), *paths)) from None

        return na_option(
            missing_codes_option(keep_codes_option(thousands_option(sheet_option(max_bytes_option(called)))))
        )

    return wrap


def without_folders(text: str, *paths: str | None) -> str:
    """A text in which these paths, and others in their folders, are called by their names."""
    for path in filter(None, paths):
        typed = path.rpartition("/")[0]
        for folder in {typed, str(Path(path).parent), str(Path(path).absolute().parent)} - {"", ".", "/"}:
            text = re.sub(rf"(?<![\w./-]){re.escape(str(KanonLabError(folder)))}/", "", text)
    return text


def reading_notes(file: "MicrodataFile | CountedFile") -> list[str]:
    """What was found in a file, and columns whose cells may mean something else than they were taken for."""
    from kanon_lab.data.microdata import reading_notes

    return list(reading_notes(file))
