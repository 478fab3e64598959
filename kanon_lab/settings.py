"""Settings as models: their names and types, one line for every fault, and the schema and tables made from them.

A setting is a field of a model, made by `setting`: its type, default, description in the Markdown of the book, and an
example. Only modules that read settings import this one: pydantic takes long to load.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from kanon_lab.errors import KanonLabError, OptionError, described, meant, misspelt, shortened
from kanon_lab.roles import KeySpec, names_of

Check = Callable[[Any, str], Any]
# Beyond the range of floats.
_TOO_LARGE = 2**1023
# Settings of a whole file, which no part of it has.
_OF_FILES = (*(role.name for role in fields(KeySpec)), "limits", "risks", "language", "household_level")


class Settings(BaseModel):
    """Settings that belong together; one that is null is as if it were not there."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    #: Settings of which exactly one must be given, and which others each goes with; what is in none goes with all.
    kinds: ClassVar[dict[str, tuple[str, ...]]] = {}
    #: What the settings look like, for who gives something else.
    such_as: ClassVar[str] = "names with values"

    @classmethod
    def misplaced(cls, name: str) -> str | None:
        """What to say of a setting that belongs elsewhere."""
        return f"{name} belongs at the top of the recipe, beside key_variables" if name in _OF_FILES else None

    def check(self) -> None:
        """Raise an `OptionError` where settings that can be by themselves cannot be together."""

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            raise _fault(f"must be {cls.such_as}, not {described(values)}")
        known = cls.fields()
        for place, name in enumerate(values, 1):
            if name not in known:
                misplaced = not _same_word(name, known) and cls.misplaced(str(name))
                raise _fault(misplaced or unknown(name, known, place))
        values = {name: value for name, value in values.items() if value is not None}
        kind = [name for name in cls.kinds if name in values]
        if cls.kinds and len(kind) != 1:
            raise _fault(f"give one of {', '.join(cls.kinds)}")
        for name in values:
            if (goes := cls.goes_with(name)) and kind[0] not in goes:
                raise _fault(f"{name} goes with {' or '.join(goes)}, not with {kind[0]}")
        for name, field in known.items():
            if name not in values and field.is_required():
                raise _fault(f"{name} is not given; write it, such as {name}: {row_of(cls, name)['example']}")
        return values

    @model_validator(mode="after")
    def _check_together(self) -> Settings:
        try:
            self.check()
        except OptionError as error:
            raise _fault(str(error)) from None
        return self

    @classmethod
    def goes_with(cls, name: str) -> list[str]:
        """The kinds that a setting goes with; none where it goes with all."""
        return [kind for kind, others in cls.kinds.items() if name in (kind, *others)]

    @classmethod
    def fields(cls) -> dict[str, FieldInfo]:
        """The settings by the names that they are written under."""
        return {field.alias or name: field for name, field in cls.model_fields.items()}

    @property
    def fields_set(self) -> dict[str, Any]:
        """The settings that are given, by the names that they are written under."""
        fields = type(self).model_fields.items()
        return {field.alias or name: getattr(self, name) for name, field in fields if name in self.model_fields_set}

    @property
    def columns(self) -> list[str]:
        """The columns that are named, as far as their fields are of `COLUMN` or `COLUMNS`."""
        values = (getattr(self, name) for name, field in type(self).model_fields.items() if holds_names(field))
        return [name for value in values for name in ([value] if isinstance(value, str) else value or ())]


Model = TypeVar("Model", bound=Settings)
# What a setting of a plain type must be, by pydantic's name of the fault.
_MUST_BE = {"bool_type": "true or false", "string_type": "text (a number in quotes)"}


def read(model: type[Model], values: Any) -> Model:
    """Settings by their model; an `OptionError` that says the first fault and where it is."""
    check_numbers(values)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
    place, text = [part for part in fault["loc"] if isinstance(part, str)], fault["msg"]
    setting = fault.get("ctx", {}).get("name")
    if fault["type"] in _MUST_BE:
        setting = place[-1]
        text = f"{setting} must be {_MUST_BE[fault['type']]}, not {described(fault['input'])}"
    if setting in place:  # the text names the setting itself
        place = place[: len(place) - 1 - place[::-1].index(setting)]
    raise OptionError(": ".join([*map(shortened, place), text]))


def check_numbers(values: Any) -> None:
    """Raise an `OptionError` where a whole number among settings is too large for any computation."""
    for name, value in values.items() if isinstance(values, Mapping) else ():
        if any(isinstance(part, int) and abs(part) >= _TOO_LARGE for part in parts_of(value)):
            raise OptionError(f"{shortened(str(name))}: a number has hundreds of digits; write a smaller one")


def parts_of(value: Any) -> Iterator[Any]:
    """The values in nested lists and mappings, however deep, and the names of mappings."""
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, Mapping):
            left += [*part, *part.values()]
        elif isinstance(part, (list, tuple)):
            left += part
        else:
            yield part


def unknown(name: object, known: Iterable[str], place: int) -> str:
    """What to say of a setting that is none of those known; only its `place` where its name may be a category."""
    known = sorted(known)
    word = _same_word(name, known)
    remedy = f"did you mean {word}?" if word else meant(name, known, f"there are {', '.join(known)}")
    shown = shortened(str(name)) if word or name in _all_names(Settings) else misspelt(name, known, f"(number {place})")
    return f"unknown setting {shown}; {remedy}"


def _all_names(model: type[Settings]) -> set[str]:
    """The names of all settings of a model and of those made from it."""
    return {*model.fields()}.union(*map(_all_names, model.__subclasses__()))


def _same_word(name: object, known: Iterable[str]) -> str | None:
    """The only known name of which this name is one word, such as key_variables for keys; None without exactly one."""
    word = str(name).casefold().rstrip("s")
    alike = [setting for setting in known if word in (part.rstrip("s") for part in setting.split("_"))]
    return alike[0] if len(alike) == 1 else None


def _fault(text: str, name: str = "") -> PydanticCustomError:
    return PydanticCustomError("fault", "{text}", {"text": text, "name": name})


def setting(default: Any, says: str, example: str, *, unless: str = "", **options: Any) -> Any:
    """A field of a model, with a description of the setting and an example.

    Parameters
    ----------
    default : object
        Default value; ``...`` if the setting is required.
    says : str
        Description, in the Markdown of the book.
    example : str
        An example of its value, as YAML.
    unless : str
        The default in words, where `default` does not show it; "-" where nothing is to be said.
    **options
        Others of `pydantic.Field`.
    """
    return Field(default, description=says, examples=[example], json_schema_extra={"unless": unless}, **options)


def row_of(model: type[Settings], name: str) -> dict[str, str]:
    """The description, default (in words) and example of a setting."""
    field = model.fields()[name]
    if not field.description or not field.examples or not isinstance(field.json_schema_extra, dict):
        raise LookupError(f"{model.__name__}: {name} does not say what it is; make it by setting(...)")
    unless = str(field.json_schema_extra.get("unless", ""))
    return {"says": field.description, "unless": unless, "example": field.examples[0]}


@dataclass(frozen=True)
class CheckedBy:
    """How a setting of a type is read: `check` returns what the model holds for a value and its name, or raises.

    The schema for editors shows that type, or `written` where the file may hold other types too.
    """

    check: Check
    written: Any = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        shape = handler(source) if self.written is None else handler.generate_schema(self.written)
        return core_schema.with_info_plain_validator_function(self._read, json_schema_input_schema=shape)

    def _read(self, value: Any, info: ValidationInfo) -> Any:
        try:
            return self.check(value, str(info.field_name))
        except KanonLabError as error:
            raise _fault(str(error), str(info.field_name)) from None


def chosen_from(choices: Iterable[str]) -> CheckedBy:
    """How a setting is read that is one of some words."""
    words = tuple(choices)

    def check(value: Any, name: str) -> str:
        if not isinstance(value, str) or value not in words:
            close = f"; {near}" if (near := meant(value, words, "")) else ""
            raise OptionError(f"{name} must be one of {', '.join(words)}, not {described(value)}{close}")
        return value

    return CheckedBy(check, Literal[words])


def _one_or_more(value: Any, setting: str) -> list[str]:
    if not (names := names_of(value, setting)):
        raise OptionError(f"{setting} must be the name of a column, or a list of names")
    return list(names)


def _one_name(value: object, setting: str) -> str:
    if not isinstance(value, str) or not value:
        raise OptionError(f"{setting} must be the name of a column, not {described(value)}")
    return value


_NAMES = "names columns"
Several = list[str] | str
COLUMN = Annotated[str, CheckedBy(_one_name), _NAMES]
COLUMNS = Annotated[list[str], CheckedBy(_one_or_more, Several), _NAMES]


def holds_names(field: FieldInfo) -> bool:
    """Whether a setting names columns."""
    parts = (field, *get_args(field.annotation))
    return any(_NAMES in getattr(part, "metadata", getattr(part, "__metadata__", ())) for part in parts)


def _needed(model: type[Settings], name: str) -> bool:
    """Whether a setting must be given: not where that of the file stands in for it."""
    return model.fields()[name].is_required() and not row_of(model, name)["unless"]


def table(model: type[Settings], more: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """The settings of a model as a table in Markdown, with `more` columns; those that say nothing are left out."""
    # What must be given comes first, and what many steps have comes last.
    names = sorted(model.fields(), key=lambda name: (not _needed(model, name), name in ("strata", "seed")))
    table_rows: list[dict[str, str]] = []
    for name in names:
        field, text = model.fields()[name], row_of(model, name)
        usual = "" if field.is_required() or name in model.kinds else f"`{_yaml(field.default)}`"
        goes = [] if name in model.kinds else model.goes_with(name)
        required = "; required" if _needed(model, name) else ""
        row = {
            "Setting": f"`{name}`",
            "Meaning": f"{text['says']}{required}: `{name}: {text['example']}`",
            "Goes with": ", ".join(f"`{kind}`" for kind in goes),
            "Default": "" if text["unless"] == "-" else text["unless"] or usual,
        }
        table_rows.append(row | {title: column[name] for title, column in (more or {}).items()})
    titles = [title for title in table_rows[0] if any(row[title] for row in table_rows)]
    lines = [titles, ["---"] * len(titles), *([row[title] for title in titles] for row in table_rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _yaml(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_yaml, value))}]"
    return str(value) if not isinstance(value, str) or re.fullmatch(r"\w[\w -]*", value) else f'"{value}"'


def schema(model: type[Settings], steps: Mapping[str, type[Settings]], **parts: type[Settings]) -> dict[str, Any]:
    """The JSON Schema of the settings of a file, for editors.

    Parameters
    ----------
    model : type
        Of the file.
    steps : mapping of str to type
        By its name the model of each step; they stand under the settings ``steps``.
    **parts
        By the name of a setting its model, where the file is read in parts.
    """
    definitions: dict[str, Any] = {}

    def schema_of(part: type[Settings]) -> dict[str, Any]:
        shape = part.model_json_schema(ref_template="#/$defs/{model}")
        types = [
            kind for field in part.model_fields.values() for kind in (field.annotation, *get_args(field.annotation))
        ]
        inner = {kind.__name__: kind for kind in types if isinstance(kind, type) and issubclass(kind, Settings)}
        definitions.update({name: _described(kind, inner[name]) for name, kind in shape.pop("$defs", {}).items()})
        return _described(shape, part)

    whole = schema_of(model)
    definitions |= {name: schema_of(part) for name, part in parts.items()}
    shapes = {name: {"$ref": f"#/$defs/{name}"} if name in parts else schema_of(step) for name, step in steps.items()}
    properties = {name: {"anyOf": [shape, {"type": "null"}]} for name, shape in shapes.items()}
    single = {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": False}
    definitions["step"] = single | {"properties": properties}
    for model_schema in (whole, *(definitions[name] for name in parts)):
        for name, part in model_schema["properties"].items():
            if name in parts:
                part["anyOf"][0] = {"$ref": f"#/$defs/{name}"}
            elif name == "steps":
                part["anyOf"][0]["items"] = {"$ref": "#/$defs/step"}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole, "$defs": definitions}


# What pydantic says of a field, which the schema says otherwise.
_OWN = ("title", "default", "description", "examples", "unless")


def _described(whole: dict[str, Any], model: type[Settings]) -> dict[str, Any]:
    """The schema of one model with what is told of each setting, in plain text; any may be null."""
    properties = {}
    for name, part in whole["properties"].items():
        text = row_of(model, name)
        says = re.sub(r"\{doc\}`([\w-]+)`", r"the chapter \1", text["says"])
        says += f". Default: {text['unless']}" if text["unless"] not in ("", "-") else ""
        shape = {key: value for key, value in part.items() if key not in _OWN}
        described = f"{says}. Example: {name}: {text['example']}"
        choices = [choice for choice in shape.get("anyOf", [shape]) if choice != {"type": "null"}]
        properties[name] = {"description": described, "anyOf": [*choices, {"type": "null"}]}
    whole = {key: value for key, value in whole.items() if key not in ("title", "description")}
    whole |= {"properties": properties, "required": [name for name in properties if _needed(model, name)]}
    return whole | ({"oneOf": [{"required": [kind]} for kind in model.kinds]} if model.kinds else {})
