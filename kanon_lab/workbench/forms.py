"""Forms made of the settings' own models: a control for each setting, and the line of a wrong entry beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets

from kanon_lab.errors import KanonLabError, OptionError
from kanon_lab.recipes.yaml_file import parse_yaml, yaml_line
from kanon_lab.settings import Settings, holds_names, read, row_of
from kanon_lab.terms import wordings
from kanon_lab.workbench.speech import Speech

# Settings that are given as names in order, the most important first.
_ORDERED = ("importance",)
_WIDE = {"layout": {"width": "100%", "max_width": "44em"}, "style": {"description_width": "11em"}}
_ROWS = 8


class Field:
    """A setting: its control, what it is, and the line on what is wrong with it.

    Parameters
    ----------
    model : type of Settings
    name : str
    columns : sequence of str
        Names to choose from, where it names columns.
    speech : Speech
    label : str
        What it is called.
    """

    def __init__(self, model: type[Settings], name: str, columns: Sequence[str], speech: Speech, label: str) -> None:
        self.name, self._row = name, row_of(model, name)
        self.required = model.fields()[name].is_required() and not self._row["unless"]
        self._shape = _shape(model, name)
        self.control = self._control(model, columns, speech, label)
        says = re.sub(r"\{doc\}`([\w-]+)`", r"\1", _says(model, name, self._row["says"], speech)).replace("`", "")
        self.control.tooltip = says
        self.about = widgets.HTML(f'<span class="kanon-about">{escape(says)}</span>')
        self.fault = widgets.HTML()
        self.box = widgets.VBox([self.control, self.about, self.fault])
        self.box.add_class("kanon-field")

    def _control(self, model: type[Settings], columns: Sequence[str], speech: Speech, label: str) -> Any:
        wide = {"description": label, **_WIDE}
        field = model.fields()[self.name]
        usual = self._row["unless"] or ("" if field.is_required() else _yaml(field.default))
        kinds = {shape.get("type") for shape in self._shape}
        if holds_names(field) and "array" in kinds:
            rows = min(len(columns), _ROWS)
            return widgets.SelectMultiple(options=[*columns], rows=rows, **wide)
        first = [(speech.say("form_choose") if self.required else speech.say("form_usual", usual=usual), None)]
        if holds_names(field):
            return widgets.Dropdown(options=[*first, *((name, name) for name in columns)], value=None, **wide)
        if choices := [word for shape in self._shape for word in shape.get("enum", [])]:
            return widgets.Dropdown(options=[*first, *((word, word) for word in choices)], value=None, **wide)
        if kinds == {"boolean"}:
            truth = [(speech.say("yes"), True), (speech.say("no"), False)]
            return widgets.Dropdown(options=[*first, *truth], value=None, **wide)
        example = speech.say("form_example", example=self._row["example"])
        return widgets.Text(placeholder=example, continuous_update=False, **wide)

    @property
    def value(self) -> Any:
        """The value that was entered, None without one; an `OptionError` where it cannot be read."""
        entered = self.control.value
        if isinstance(self.control, widgets.SelectMultiple):
            return [*entered] or None
        if not isinstance(entered, str) or isinstance(self.control, widgets.Dropdown):
            return entered
        if self.name in _ORDERED and entered and not entered.lstrip().startswith("{"):
            names = [name.strip() for name in entered.split(",") if name.strip()]
            return {name: place for place, name in enumerate(names, 1)}
        kinds = {shape.get("type") for shape in self._shape}
        if kinds == {"string"}:
            return entered or None
        bare = kinds == {"array"} and entered and not entered.lstrip().startswith("[")
        return parse_yaml(f"[{entered}]" if bare else entered, self.name)

    @value.setter
    def value(self, value: Any) -> None:
        if isinstance(self.control, widgets.SelectMultiple):
            names = [value] if isinstance(value, str) else value or []
            self.control.value = tuple(name for name in names if name in self.control.options)
        elif isinstance(self.control, widgets.Dropdown):
            options = [option for _, option in self.control.options]
            self.control.value = value if value in options else None
        elif self.name in _ORDERED and isinstance(value, Mapping):
            self.control.value = ", ".join(sorted(value, key=value.__getitem__))
        else:
            self.control.value = "" if value is None else _yaml(value)

    def say(self, line: str) -> None:
        """Show a line on what is wrong, or none."""
        self.fault.value = fault(line)
        (self.box.add_class if line else self.box.remove_class)("kanon-wrong")


class Form:
    """The settings of a model as controls.

    Parameters
    ----------
    model : type of Settings
    columns : sequence of str
        Columns to choose from.
    speech : Speech
    names : sequence of str, optional
        The settings to show; by default all.
    first : sequence of str
        Those that are shown though they need not be given; others that need not are folded away.
    label : callable, optional
        What a setting is called.
    on_change : callable, optional
        Called with the name of a setting that was entered.
    """

    def __init__(
        self,
        model: type[Settings],
        columns: Sequence[str],
        speech: Speech,
        *,
        names: Sequence[str] | None = None,
        first: Sequence[str] = (),
        label: Callable[[str], str] | None = None,
        on_change: Callable[[str], None] = lambda name: None,
    ) -> None:
        self.model = model
        called = label or speech.setting
        self.fields = {name: Field(model, name, columns, speech, called(name)) for name in names or model.fields()}
        self.fault = widgets.HTML()
        kinds = [name for name in model.kinds if name in self.fields]
        self.kind = widgets.Dropdown(
            options=[(speech.setting(kind), kind) for kind in kinds], description=speech.say("form_how"), **_WIDE
        )
        now = [field for name, field in self.fields.items() if field.required or name in first]
        later = [field for name, field in self.fields.items() if field not in now and name not in kinds]
        now, later = (now, later) if now or kinds else (later, [])
        more = widgets.Accordion([widgets.VBox([field.box for field in later])], selected_index=None)
        more.set_title(0, speech.say("form_more"))
        of_kinds = [self.kind, *(self.fields[name].box for name in kinds)] if kinds else []
        self.box = widgets.VBox([*(field.box for field in now), *of_kinds, *([more] if later else []), self.fault])
        self.kind.observe(lambda _: self._choose(), "value")
        self._choose()
        for name, field in self.fields.items():
            field.control.observe(lambda _, name=name: on_change(name), "value")

    def _choose(self) -> None:
        """Show the settings that go with the chosen kind."""
        for name, field in self.fields.items():
            goes = self.model.goes_with(name)
            field.box.layout.display = "none" if goes and self.kind.value not in goes else None

    @property
    def values(self) -> dict[str, Any]:
        """The settings as a recipe has them; an `OptionError` on the first that is wrong, shown beside its field."""
        entered: dict[str, Any] = {}
        for field in self.fields.values():
            field.say("")
        self.fault.value = ""
        try:
            for name, field in self.fields.items():
                goes = self.model.goes_with(name)
                if (not goes or self.kind.value in goes) and (value := field.value) is not None:
                    entered[name] = value
        except KanonLabError as error:
            self.say(str(error))
            raise OptionError(str(error)) from None
        return entered

    @values.setter
    def values(self, values: Mapping[str, Any]) -> None:
        kind = next((name for name in self.model.kinds if name in values), None)
        if kind is not None:
            self.kind.value = kind
        for name, field in self.fields.items():
            field.value = values.get(name)

    def read(self, usual: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The settings, checked; `usual` are those that the file has where none is entered."""
        values = self.values
        try:
            read(self.model, {**(usual or {}), **values})
        except KanonLabError as error:
            self.say(str(error))
            raise
        return values

    def say(self, line: str) -> None:
        """Show a line on what is wrong: beside the field that it names first, or else below all."""
        places = {name: re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", line) for name in self.fields}
        named = [(place.start(), name) for name, place in places.items() if place]
        field = self.fields[min(named)[1]] if named else None
        if field is None:
            self.fault.value = fault(line)
        else:
            field.say(line)


def fault(line: str) -> str:
    """A line on what is wrong as HTML that screen readers speak; "" for none."""
    return f'<p role="alert" class="kanon-fault">{escape(line)}</p>' if line else ""


def _says(model: type[Settings], name: str, english: str, speech: Speech) -> str:
    """What a setting is, in the language of the page."""
    rows = wordings("workbench")
    row = rows.get(f"says_{model.__name__}_{name}") or rows.get(f"says_{name}")
    return english if row is None or speech.language == "en" else row[speech.language]


def _shape(model: type[Settings], name: str) -> list[dict[str, Any]]:
    """The types of a setting as its schema has them, null left out."""
    shape = model.model_json_schema()["properties"][name]
    return [choice for choice in shape.get("anyOf", [shape]) if choice != {"type": "null"}]


def _yaml(value: Any) -> str:
    """A value as it is entered: a text by itself, all else as YAML in one line."""
    return value if isinstance(value, str) else yaml_line([*value] if isinstance(value, tuple) else value)
