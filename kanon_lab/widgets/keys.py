"""The explorer of what an outsider knows: a box for each key variable, and k."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from kanon_lab.classes import key_grid
from kanon_lab.digits import percent
from kanon_lab.errors import shortened
from kanon_lab.keys import as_spec
from kanon_lab.widgets.parts import WORDY, drawing, ipywidgets, status, table, template

if TYPE_CHECKING:
    import pandas as pd

    from kanon_lab.keys import KeySpec

K_MAX = 20


def explore_keys(
    frame: pd.DataFrame, spec: KeySpec | Iterable[str] | str, *, k: int = 1, known: Iterable[str] | None = None
) -> KeyExplorer:
    """An explorer of what an outsider knows and of k, for JupyterLab.

    Parameters
    ----------
    frame : DataFrame
        One row a record. Not changed.
    spec : KeySpec or sequence of str
        As in `kanon_lab.classes.class_table`; at most 12 key variables.
    k : int
        The k shown first, 1 to 20.
    known : iterable of str, optional
        The key variables known at first, perhaps none; by default all.

    Returns
    -------
    KeyExplorer
        As the last line of a cell it shows itself.

    Raises
    ------
    DataError, OptionError
        As in `kanon_lab.classes.key_grid`; or for a start that does not exist.
    MissingPackageError
        Where ipywidgets or altair is not installed.
    """
    spec = as_spec(spec)
    return KeyExplorer(key_grid(frame, spec, k_max=K_MAX), k=k, known=spec.key_variables if known is None else known)


class KeyExplorer:
    """Controls, a sentence, a chart and a table that follow them.

    Attributes
    ----------
    k : IntSlider
    knows : dict of str to Checkbox
        By key variable.
    sentence, chart, table
        What they change. The chart is a Vega-Lite output, which JupyterLab draws by itself.
    box
        All of them, as shown.
    """

    def __init__(self, grid: pd.DataFrame, *, k: int, known: Iterable[str]) -> None:
        from kanon_lab.charts import key_explorer

        known = tuple(known)
        self._grid, self._keys = grid, grid["keys"].iloc[-1]
        self._template = template(key_explorer(grid, k=k, known=known, controls=False))
        widgets = ipywidgets()
        self.k = widgets.IntSlider(k, 1, K_MAX, description="class of at most (k)", **WORDY)
        self.knows = {
            name: widgets.Checkbox(name in known, description=f"knows {name}", indent=False, layout={"width": "auto"})
            for name in self._keys
        }
        self.sentence, self.table, self.chart = widgets.HTML(), widgets.HTML(), widgets.Output()
        boxes = widgets.HBox(list(self.knows.values()), layout={"flex_flow": "row wrap", "grid_gap": "0 1.5em"})
        self.box = widgets.VBox([self.k, boxes, self.sentence, self.chart, self.table])
        for control in (self.k, *self.knows.values()):
            control.observe(self._refresh, "value")
        self._refresh()

    @property
    def known(self) -> tuple[str, ...]:
        """The key variables that are known."""
        return tuple(name for name in self._keys if self.knows[name].value)

    def _refresh(self, change: dict | None = None) -> None:
        from kanon_lab.charts.keys import moved

        self.sentence.value = status(self._sentence())
        self.table.value = self._table()
        self.chart.outputs = drawing(moved(self._template, self._grid, k=self.k.value, known=self.known))

    def _counts(self, known: tuple[str, ...]) -> tuple[int, float]:
        from kanon_lab.charts.keys import up_to

        records = int(up_to(self._grid, known)[self.k.value])
        return records, records / self._n

    @property
    def _n(self) -> int:
        return int(self._grid["n"].iloc[0])

    def _sentence(self) -> str:
        if not self.known:
            return f"Who knows nothing cannot tell the {self._n:,} records apart: they are one class."
        records, share = self._counts(self.known)
        small = "alone" if self.k.value == 1 else f"in a class of {self.k.value} records or fewer"
        count = f"<b>{records:,}</b> of {self._n:,} records (<b>{percent(share)}</b>)"
        return (
            f"For somebody who knows {escape(_listed(self.known))}, "
            f"{count if records else f'<b>none</b> of {self._n:,} records'} {'are' if records > 1 else 'is'} {small}."
        )

    def _table(self) -> str:
        """The chosen set, and what leaving out each of its variables would change."""
        known = self.known
        sets = {"what is known": known} | {
            f"without {name}": tuple(other for other in known if other != name) for name in known
        }
        rows = []
        for name, members in sets.items():
            records, share = self._counts(members)
            rows.append((name, f"{records:,}", percent(share)))
        small = "alone" if self.k.value == 1 else f"in a class of {self.k.value} or fewer"
        heads = ("Known", small, "of the records")
        return table("Records in small classes", heads, rows, chosen=0)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict:
        return self.box._repr_mimebundle_(**kwargs)


def _listed(names: tuple[str, ...]) -> str:
    *first, last = (shortened(str(name)) for name in names)
    return f"{', '.join(first)} and {last}" if first else last
