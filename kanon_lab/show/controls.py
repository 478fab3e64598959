"""The explorer of JupyterLab: the bindings of a chart become widgets; a sentence, chart and table follow them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

from kanon_lab.errors import MissingPackageError
from kanon_lab.show.page import DRAWING, VEGALITE_MIME, lite5

_WIDE = {"style": {"description_width": "14em"}, "layout": {"max_width": "100%", "width": "38em"}}
_CELL = "padding: 0.2em 0.8em"


@dataclass(frozen=True)
class Shown:
    """What an explorer shows in one state: HTML, and a Vega-Lite specification (none where nothing can be drawn)."""

    sentence: str
    table: str = ""
    drawing: dict[str, Any] | None = None
    more: str = ""


class Explorer:
    """Controls for JupyterLab, and a sentence, a chart and a table that follow them.

    Parameters
    ----------
    bindings : mapping of str to dict
        Each control as Vega binds it (``input``, ``name``, ``options``, ``min`` ...), with the ``value`` shown first,
        as from `bound`; ``disabled`` greys it out. A ``range`` that has ``options`` is a slider over these.
    tell : callable
        From the values of the controls to what is `Shown`.
    follow : callable, optional
        From the name of a control that has moved, and all values, to new bindings of those that follow it.
    button : (str, callable), optional
        Its words; and from the values to those that it moves the controls to, and its answer in words.

    Attributes
    ----------
    controls : dict of str to ipywidgets.Widget
        By the names of `bindings`.
    sentence, chart, table, more, answer
        What they change. The chart is a Vega-Lite output, which JupyterLab draws by itself.
    button, box
        The button; all together, as shown.
    """

    def __init__(
        self,
        bindings: Mapping[str, dict[str, Any]],
        tell: Callable[[dict[str, Any]], Shown],
        *,
        follow: Callable[[str, dict[str, Any]], dict[str, dict[str, Any]]] | None = None,
        button: tuple[str, Callable[[dict[str, Any]], tuple[dict[str, Any], str]]] | None = None,
    ) -> None:
        widgets = ipywidgets()
        self._tell, self._follow, self._moving = tell, follow, False
        self.controls = {name: _widget(binding) for name, binding in bindings.items()}
        self.sentence, self.table, self.more, self.answer = (widgets.HTML() for _ in range(4))
        self.chart = widgets.Output()
        boxes = [control for control in self.controls.values() if isinstance(control, widgets.Checkbox)]
        rows = [control for control in self.controls.values() if control not in boxes]
        if boxes:
            rows.append(widgets.HBox(boxes, layout={"flex_flow": "row wrap", "grid_gap": "0 1.5em"}))
        if button:
            words, act = button
            self.button = widgets.Button(description=words, layout={"width": "auto"})
            self.button.on_click(lambda _: self._act(act))
            rows.append(widgets.HBox([self.button, self.answer]))
        self.box = widgets.VBox([*rows, self.sentence, self.chart, self.table, self.more])
        for name, control in self.controls.items():
            control.observe(lambda _, name=name: self._moved(name), "value")
        self._refresh()

    @property
    def values(self) -> dict[str, Any]:
        """The value of each control."""
        return {name: control.value for name, control in self.controls.items()}

    @contextmanager
    def _moves(self) -> Iterator[None]:
        """Many controls may move in the block: one answer is enough."""
        self._moving = True
        try:
            yield
        finally:
            self._moving = False
        self._refresh()

    def _moved(self, name: str) -> None:
        if self._moving:
            return
        followers = self._follow(name, self.values) if self._follow else {}
        with self._moves():
            for follower, binding in followers.items():
                _rebind(self.controls[follower], binding)

    def _act(self, act: Callable[[dict[str, Any]], tuple[dict[str, Any], str]]) -> None:
        values, answer = act(self.values)
        with self._moves():
            for name, value in values.items():
                self.controls[name].value = value
        self.answer.value = _status(answer)

    def _refresh(self) -> None:
        shown = self._tell(self.values)
        self.answer.value, self.sentence.value = "", _status(shown.sentence)
        self.table.value, self.more.value = shown.table, shown.more
        outputs = []
        if shown.drawing is not None:
            data = {VEGALITE_MIME: shown.drawing, "text/plain": shown.drawing["description"]}
            outputs.append({"output_type": "display_data", "data": data, "metadata": {VEGALITE_MIME: DRAWING}})
        # One assignment swaps the old drawing for the new one; clearing and displaying would flicker and could pile up.
        self.chart.outputs = tuple(outputs)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict:
        return self.box._repr_mimebundle_(**kwargs)


def ipywidgets() -> Any:
    """The ipywidgets package, or a `MissingPackageError`."""
    try:
        import ipywidgets
    except ImportError:
        raise MissingPackageError("the explorers need the package ipywidgets: pip install 'kanon-lab[lab]'") from None
    return ipywidgets


def bound(spec: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The bindings of a specification by the names of their parameters, each with the value shown first."""
    return {param["name"]: param["bind"] | {"value": param["value"]} for param in spec["params"] if "bind" in param}


def drawn(chart: Any) -> dict[str, Any]:
    """Return the specification of a chart as JupyterLab draws it: its title says the result in words, as on a page."""
    return lite5(chart.to_dict())


def show_state(
    spec: dict[str, Any], values: Mapping[str, Any], state: str, table: str, rows: list[dict] | None = None
) -> Shown:
    """Return what an explorer shows where its sentence is what the alternative text says of a state, in plain text."""
    subject = spec["usermeta"]["live"]["description"]
    return Shown(escape(state), table, moved(spec, values, f"{subject} {state}", rows))


def moved(
    spec: dict[str, Any], values: Mapping[str, Any], description: str, rows: list[dict] | None = None
) -> dict[str, Any]:
    """Return the specification in another state, without controls: a slider cannot wait for a chart built anew."""
    free = ({key: value for key, value in param.items() if key != "bind"} for param in spec["params"])
    params = [param | {"value": values[param["name"]]} if param["name"] in values else param for param in free]
    data = {} if rows is None else {"data": spec["data"] | {"values": rows}}
    return spec | data | {"params": params, "description": description}


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], *, chosen: int) -> str:
    """A table of texts, whose first cells name the rows; the chosen row is bold."""
    head = "".join(f'<th scope="col" style="text-align: right; {_CELL}">{escape(text)}</th>' for text in heads)
    body = ""
    for number, cells in enumerate(rows):
        style, mark = ("font-weight: bold", ' aria-current="true"') if number == chosen else ("", "")
        name, *rest = map(escape, cells)
        values = "".join(f'<td style="text-align: right; {_CELL}">{text}</td>' for text in rest)
        body += f'<tr style="{style}"{mark}><th scope="row" style="{_CELL}">{name}</th>{values}</tr>'
    caption = f"<caption>{escape(caption)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _status(html: str) -> str:
    """A sentence that screen readers speak when it changes."""
    return f'<p role="status" style="font-size: 1.15em; line-height: 1.4; margin: 0.5em 0">{html}</p>'


def _widget(binding: dict[str, Any]) -> Any:
    """The widget of a binding."""
    widgets = ipywidgets()
    if binding["input"] == "checkbox":
        control = widgets.Checkbox(indent=False, layout={"width": "auto"})
    elif binding["input"] == "radio":
        control = widgets.ToggleButtons(style={**_WIDE["style"], "button_width": "6em"})
    elif binding["input"] == "select":
        control = widgets.Dropdown(**_WIDE)
    elif "options" in binding:
        control = widgets.SelectionSlider(options=binding["options"], **_WIDE)
    elif all(isinstance(binding[end], int) for end in ("min", "max", "step")):
        control = widgets.IntSlider(**_WIDE)
    else:
        control = widgets.FloatSlider(**_WIDE)
    _rebind(control, binding)
    return control


def _rebind(control: Any, binding: dict[str, Any]) -> None:
    """Give a control the words, choices, value and state of a binding."""
    control.description = binding["name"].removesuffix(": ")
    if "options" in binding:
        options = binding["options"]
        control.options = list(zip(map(str, binding.get("labels", options)), options))
    elif binding["input"] == "range":
        # In this order, the ends never cross.
        control.max = max(control.max, binding["max"])
        control.min, control.max, control.step = binding["min"], binding["max"], binding["step"]
        decimals = len(f"{control.step:.10f}".rstrip("0").partition(".")[2])
        control.readout_format = f".{decimals}f" if decimals else "d"
    control.value, control.disabled = binding["value"], binding.get("disabled", False)
