"""What pictures are made of: boxes, lines, bands, dots and words, placed by rows and by shares of the width."""

from __future__ import annotations

from kanon_lab.show.colors import BLACK, GREY
from kanon_lab.show.style import alt, finish

# Pixels: a row, and the widest that a picture gets (a telephone leaves some 340).
ROW, _WIDEST = 22, 600
_LAYERS = ("band", "box", "line", "dot", "word")


class Scene:
    """A drawing without axes: x is a share of the width, y counts rows from the top."""

    def __init__(self) -> None:
        self.marks: dict[str, list[dict]] = {name: [] for name in _LAYERS}

    def box(
        self, x: tuple, y: tuple, color: str = GREY, *, fill: bool = True, dashed: bool = False, tint: float = 0.18
    ) -> None:
        """An outlined box, tinted or not."""
        look = {"stroke": color, "fill": color, "opacity": tint if fill else 0, "dash": [4, 3] if dashed else [1, 0]}
        self.marks["box"].append({"x": x[0], "x2": x[1], "y": y[0], "y2": y[1], **look})

    def line(self, start: tuple, end: tuple, color: str = GREY, *, dashed: bool = False, width: float = 1.5) -> None:
        """A line from one (x, y) to another."""
        look = {"stroke": color, "wide": width, "dash": [4, 3] if dashed else [1, 0]}
        self.marks["line"].append({"x": start[0], "y": start[1], "x2": end[0], "y2": end[1], **look})

    def dot(
        self, x: float, y: float, color: str = BLACK, *, shape: str = "circle", full: bool = True, size: int = 70
    ) -> None:
        """A mark, full or hollow."""
        look = {"stroke": color, "fill": color, "opacity": float(full), "shape": shape, "size": size}
        self.marks["dot"].append({"x": x, "y": y, **look})

    def word(
        self, x: float, y: float, text: str, *, align: str = "left", bold: bool = False, color: str = BLACK
    ) -> None:
        """Words in the middle of their row, whose lines are parted by line breaks."""
        look = {"align": align, "weight": "bold" if bold else "normal", "fill": color}
        self.marks["word"].append({"x": x, "y": y, "text": text, **look})

    def band(self, start: float, end: float, left: tuple, right: tuple, color: str) -> None:
        """A band that flows from the rows `left`, at the x of `start`, to the rows `right`, at that of `end`."""
        name = str(len(self.marks["band"]))
        for step in range(21):
            way = step / 20
            bend = way * way * (3 - 2 * way)
            low, high = (a + bend * (b - a) for a, b in zip(left, right))
            place = {"x": start + way * (end - start), "y": low, "y2": high}
            self.marks["band"].append({"name": name, **place, "fill": color})

    def chart(self, heading: str, note: str, description: str, rows: float) -> alt.LayerChart:
        """The drawing, so many rows high, with its title and alternative text."""
        wide = alt.Scale(domain=[0, 1], range=[0, alt.ExprRef(f"min(width, {_WIDEST})")], nice=False)
        high = alt.Scale(domain=[0, rows], range=[0, rows * ROW], nice=False)
        x, y = alt.X("x:Q", scale=wide, axis=None), alt.Y("y:Q", scale=high, axis=None)
        expr = alt.ExprRef
        colors = {name: alt.value(expr(f"datum.{name}")) for name in ("fill", "stroke")}
        ends = {"x2": "x2:Q", "y2": "y2:Q"}
        marks = {
            "band": lambda base: base.mark_area(opacity=0.55).encode(
                y=y.stack(None), y2="y2:Q", detail="name:N", fill=alt.Fill("fill:N", scale=None)
            ),
            "box": lambda base: base.mark_rect(
                fillOpacity=expr("datum.opacity"), strokeDash=expr("datum.dash"), strokeWidth=1.5, cornerRadius=3
            ).encode(**ends, **colors),
            "line": lambda base: base.mark_rule(strokeDash=expr("datum.dash"), strokeWidth=expr("datum.wide")).encode(
                **ends, stroke=colors["stroke"]
            ),
            "dot": lambda base: base.mark_point(
                fillOpacity=expr("datum.opacity"),
                shape=expr("datum.shape"),
                size=expr("datum.size"),
                strokeWidth=1.5,
                opacity=1,
            ).encode(**colors),
            "word": lambda base: base.mark_text(
                align=expr("datum.align"),
                fontWeight=expr("datum.weight"),
                baseline="middle",
                fontSize=expr("width < 420 ? 11 : 12"),
                lineBreak="\n",
            ).encode(text="text:N", fill=colors["fill"]),
        }
        layers = [
            draw(alt.Chart(alt.InlineData(values=self.marks[name])).encode(x=x, y=y))
            for name, draw in marks.items()
            if self.marks[name]
        ]
        chart = alt.layer(*layers)
        return finish(chart, title=heading, subtitle=note, description=description, height=round(rows * ROW))
