"""Forms made of settings' own models: a control for each setting, and the line of a wrong entry beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

from kanon_lab.errors import KanonLabError, OptionError, visible
from kanon_lab.recipes.yaml_file import parse_yaml, yaml_line
from kanon_lab.settings import Settings, holds_names, read, row_of
from kanon_lab.show.controls import ipywidgets
from kanon_lab.terms import wordings

# Settings whose values are choices and no names of a file.
_OF_CHOICES = {"claim", "estimator", "method", "centre", "start", "missing", "by", "half", "dates", "closed"}
# Settings that are given as names in order, the most important first.
_ORDERED = ("importance",)
#: How wide a control and its label are.
WIDE = {"layout": {"width": "100%", "max_width": "44em"}, "style": {"description_width": "11em"}}
_ROWS = 8


@cache
def _properties(model: type[Settings]) -> dict[str, Any]:
    """The schema of each setting."""
    return model.model_json_schema()["properties"]


class FormWords:
    """What a form says: `say` from a key and parts, `setting` what a setting is called, `about` what it is."""

    language = "en"

    def say(self, key: str, /, **parts: Any) -> str:
        """A wording: of ``form_choose``, ``form_usual``, ``form_example``, ``form_how``, ``form_more``, yes and no."""
        raise NotImplementedError

    def setting(self, name: str) -> str:
        """What a setting is called."""
        return name

    def option(self, word: str) -> str:
        """What a choice is called: by words of its own, or as recipes call it."""
        return wordings("workbench").get(f"option_{word}", {}).get(self.language, word)

    def settings(self, settings: Mapping[str, Any]) -> str:
        """The settings of a step by what forms call them."""
        return visible(
            "; ".join(f"{self.setting(name)}: {self._value(name, value)}" for name, value in settings.items())
        )

    def _value(self, name: str, value: Any) -> str:
        """A value of a setting; of what is in order the names, the first first."""
        if isinstance(value, Mapping) and all(isinstance(place, int) for place in value.values()):
            value = sorted(value, key=value.__getitem__)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return ", ".join(value)
        if isinstance(value, str):
            return self.option(value) if name in _OF_CHOICES else value
        return yaml_line(value)

    def fault(self, line: str) -> str:
        """A line on what is wrong as HTML that screen readers speak; "" for none."""
        return f'<p role="alert" class="kanon-fault">{escape(line)}</p>' if line else ""

    def about(self, model: type[Settings], name: str) -> str:
        """What a setting is: by a sentence for readers of the page, or in English as its model says it."""
        for key in (f"says_{model.__name__}_{name}", f"says_{name}"):
            if words := wordings("workbench").get(key, {}).get(self.language):
                return words
        if self.language != "en":
            return ""
        return re.sub(r"\{doc\}`([\w-]+)`", r"\1", row_of(model, name)["says"]).replace("`", "")


class Field:
    """A setting of a model: its control, what it is, and the line on what is wrong with it."""

    def __init__(self, model: type[Settings], name: str, columns: Sequence[str], words: Any, label: str) -> None:
        widgets = ipywidgets()
        self.name, self._words, row = name, words, row_of(model, name)
        self.required = model.fields()[name].is_required() and not row["unless"]
        shape = _properties(model)[name]
        self._shape = [choice for choice in shape.get("anyOf", [shape]) if choice != {"type": "null"}]
        self._kinds = {choice.get("type") for choice in self._shape}
        self.control = self._control(widgets, model.fields()[name], row, columns, words)
        self.control.description, says = label, words.about(model, name)
        self.control.tooltip = says or label
        self.about = widgets.HTML(f'<span class="kanon-about">{escape(says)}</span>' if says else "")
        self.fault = widgets.HTML()
        self.box = widgets.VBox([self.control, self.about, self.fault])
        self.box.add_class("kanon-field")

    def _control(self, widgets: Any, field: Any, row: Mapping[str, str], columns: Sequence[str], words: Any) -> Any:
        """A menu where there is a choice, else a line in which a value is written as YAML has it."""
        if holds_names(field) and "array" in self._kinds:
            return widgets.SelectMultiple(options=[*columns], rows=min(len(columns), _ROWS), **WIDE)
        usual = row["unless"] or ("" if field.is_required() else words.option(_yaml(field.default)))
        first = words.say("form_choose") if self.required else words.say("form_usual", usual=usual)
        choices: list[Any] = [(words.option(word), word) for shape in self._shape for word in shape.get("enum", [])]
        if holds_names(field):
            choices = [(name, name) for name in columns]
        elif self._kinds == {"boolean"}:
            choices = [(words.say("yes"), True), (words.say("no"), False)]
        if choices:
            return widgets.Dropdown(options=[(first, ""), *choices], **WIDE)
        example = words.say("form_example", example=row["example"])
        return widgets.Text(placeholder=example, continuous_update=False, **WIDE)

    @property
    def value(self) -> Any:
        """The value that was entered, None without one; a `KanonLabError` where it cannot be read."""
        entered = self.control.value
        if isinstance(entered, tuple):
            return [*entered] or None
        if not isinstance(entered, str) or hasattr(self.control, "options"):
            return None if entered == "" else entered
        if self.name in _ORDERED and entered and not entered.lstrip().startswith("{"):
            names = [name.strip() for name in entered.split(",") if name.strip()]
            return {name: place for place, name in enumerate(names, 1)}
        if self._kinds == {"string"}:
            return entered or None
        bare = self._kinds == {"array"} and entered and not entered.lstrip().startswith("[")
        return parse_yaml(f"[{entered}]" if bare else entered, self.name)

    @value.setter
    def value(self, value: Any) -> None:
        options = getattr(self.control, "options", None)
        if isinstance(self.control.value, tuple):
            names = [value] if isinstance(value, str) else value or []
            self.control.value = tuple(name for name in names if name in (options or ()))
        elif options is not None:
            self.control.value = value if value in [option for _, option in options] else ""
        elif self.name in _ORDERED and isinstance(value, Mapping):
            self.control.value = ", ".join(sorted(value, key=value.__getitem__))
        else:
            self.control.value = "" if value is None else _yaml(value)

    def say(self, line: str) -> None:
        """Show a line on what is wrong, or none."""
        self.fault.value = self._words.fault(line)
        (self.box.add_class if line else self.box.remove_class)("kanon-wrong")


class Form:
    """The settings of a model as controls; `box` is shown.

    Parameters
    ----------
    model : type of Settings
    columns : sequence of str
        Columns to choose from.
    words : FormWords
    names : sequence of str, optional
        The settings to show; by default all.
    first : sequence of str
        Those that are shown though they need not be given; others that need not are folded away.
    label : callable, optional
        What a setting is called; by default as `words` have it.
    on_change : callable, optional
        Called with the name of a setting that was entered.
    """

    def __init__(
        self,
        model: type[Settings],
        columns: Sequence[str],
        words: Any,
        *,
        names: Sequence[str] | None = None,
        first: Sequence[str] = (),
        label: Callable[[str], str] | None = None,
        on_change: Callable[[str], None] = lambda name: None,
    ) -> None:
        widgets = ipywidgets()
        self.model, self._words, called = model, words, label or words.setting
        self.fields = {name: Field(model, name, columns, words, called(name)) for name in names or model.fields()}
        self.fault = widgets.HTML()
        kinds = [name for name in model.kinds if name in self.fields]
        options = [(called(kind), kind) for kind in kinds]
        self.kind = widgets.Dropdown(options=options, description=words.say("form_how"), **WIDE)
        now = [field for name, field in self.fields.items() if field.required or name in first]
        later = [field for name, field in self.fields.items() if field not in now and name not in kinds]
        now, later = (now, later) if now or kinds else (later, [])
        more = widgets.Accordion([widgets.VBox([field.box for field in later])], selected_index=None)
        more.set_title(0, words.say("form_more"))
        of_kinds = [self.kind, *(self.fields[name].box for name in kinds)] if kinds else []
        self.box = widgets.VBox([*(field.box for field in now), *of_kinds, *([more] if later else []), self.fault])
        self.kind.observe(lambda _: self._choose(), "value")
        self._choose()
        for name, field in self.fields.items():
            field.control.observe(lambda _, name=name: on_change(name), "value")

    def _choose(self) -> None:
        """Show the settings that go with the chosen kind."""
        for name, field in self.fields.items():
            field.box.layout.display = None if self._goes(name) else "none"

    def _goes(self, name: str) -> bool:
        goes = self.model.goes_with(name)
        return not goes or self.kind.value in goes

    @property
    def values(self) -> dict[str, Any]:
        """The settings as a recipe has them; an `OptionError` on the first that is wrong, shown beside its field."""
        for field in self.fields.values():
            field.say("")
        self.fault.value = ""
        try:
            entered = {name: field.value for name, field in self.fields.items() if self._goes(name)}
        except KanonLabError as error:
            self.say(str(error))
            raise OptionError(str(error)) from None
        return {name: value for name, value in entered.items() if value is not None}

    @values.setter
    def values(self, values: Mapping[str, Any]) -> None:
        if kind := next((name for name in self.model.kinds if name in values), None):
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
        """Show a line on what is wrong: beside the field in view that it names first, or else below all."""
        in_view = filter(self._goes, self.fields)
        places = {name: re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", line) for name in in_view}
        named = [(place.start(), name) for name, place in places.items() if place]
        if named:
            self.fields[min(named)[1]].say(line)
        else:
            self.fault.value = self._words.fault(line)


def _yaml(value: Any) -> str:
    """A value as it is entered: a text by itself, all else as YAML in one line."""
    return value if isinstance(value, str) else yaml_line([*value] if isinstance(value, tuple) else value)
