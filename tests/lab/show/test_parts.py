"""Sections as data, rendered as text and as HTML: nothing of a label is markup or a command, no column is lost."""

import re

import pandas as pd

from kanon_lab.digits import percent
from kanon_lab.show.colors import BLUE, DARK, GREY, INK
from kanon_lab.show.page import base_style
from kanon_lab.show.parts import (
    Bars,
    Bullets,
    Code,
    Group,
    Heading,
    Mark,
    Paragraph,
    Picture,
    Section,
    Table,
    folded,
    render_text,
)

HOSTILE = "<script>x</script> & \u202e\x1b[2J"
SHOWN = "&lt;script&gt;x&lt;/script&gt; &amp; \\u202e\\x1b[2J"


def test_html_of_every_part_is_escaped_and_keeps_its_marks():
    frame = pd.DataFrame({HOSTILE: [HOSTILE, "b"], "n": [1, 1234]})
    section = Section(HOSTILE, [Paragraph(HOSTILE, "kanon-caution"), Bullets([HOSTILE]), Code(HOSTILE)], name="first")
    heading, paragraph, bullets, code = section
    assert heading.html.strip() == f'<h2 id="first">{SHOWN}</h2>'
    assert paragraph.html.strip() == f'<p class="kanon-caution">{SHOWN}</p>'
    assert f"<li>{SHOWN}</li>" in bullets.html
    assert code.html.strip() == f'<pre class="kanon-scroll" tabindex="0">{SHOWN}</pre>'
    table = Table(frame, HOSTILE, number=lambda text: text.replace(",", ".")).html
    assert f"<caption><span>{SHOWN}</span></caption>" in table
    assert table.count('scope="col"') == table.count('scope="row"') == 2
    assert '<td class="number">1.234</td>' in table
    assert "<script" not in table


def test_a_section_is_its_heading_and_parts_and_without_parts_nothing():
    inner = Section("inner", [Paragraph("words")])
    assert [*Section("outer", [inner], name="outer")] == [
        Heading("outer", 2, "outer"),
        Heading("inner", 3),
        *inner.parts,
    ]
    assert [*Section("empty", [], name="empty")] == []


def test_text_is_wrapped_and_a_wide_table_is_parted_at_its_first_column():
    frame = pd.DataFrame({"step": [0, 1], **{f"measure number {i}": [i / 8, None] for i in range(9)}})
    path = "/".join(["folder"] * 20)
    lines = [*render_text(Section("A title", [Bullets(["word " * 30, path]), Table(frame, formats={"step": percent})]))]
    assert lines[:2] == ["", "A title"]
    assert path in lines
    assert all(len(line) <= 100 for line in lines if line != path)
    assert lines[3].startswith("  word")
    text = "\n".join(lines)
    assert text.count("step") == 2
    assert all(name in text for name in frame)
    assert "0.125" in text and " -" in text and "100%" in text


def test_texts_of_numbers_go_to_the_right_and_a_row_of_a_wide_table_is_one_line():
    assert [
        *render_text(Table.of_texts(["measure", "value"], [("k achieved", "1"), ("records", "1,119 (73.6%)")]))
    ] == [
        "measure             value",
        "k achieved              1",
        "records     1,119 (73.6%)",
    ]
    frame = pd.DataFrame({f"measure number {i}": [i / 8] for i in range(9)})
    assert len([*render_text(Table(frame, wide=True))]) == 2 < len([*render_text(Table(frame))])


def test_a_section_without_parts_prints_nothing():
    assert [*render_text(Section("empty", []))] == []


def test_pictures_are_escaped_and_say_what_they_draw():
    rows = [[HOSTILE, Mark(HOSTILE, 0.25, "kanon-met", 0.5), "text"], ["b", Mark("", None), HOSTILE]]
    bars = Bars(HOSTILE, ["name", "drawn", HOSTILE], rows).html
    assert bars.count('scope="row"') == 2 and bars.count('scope="col"') == 3
    assert "width:25.0%" in bars and "left:50.0%" in bars and bars.count("kanon-unknown") == 1
    columns = Picture("columns", HOSTILE, {"columns": [(0.5, "")], "ends": [HOSTILE]}).html
    plane = {"title": HOSTILE, "ticks": [(0, "0%"), (1, HOSTILE)]}
    points = [(0.5, 0.5, "kanon-own", HOSTILE, HOSTILE)]
    plane = Picture("plane", HOSTILE, {"x": plane, "y": plane, "points": points, "line": [(0, 1)]}).html
    numbers = {"numbers": [(HOSTILE, HOSTILE, "1")], "before": "before", "after": "after"}
    for html in (bars, columns, plane, Picture("numbers", HOSTILE, numbers).html):
        assert "<script" not in html and SHOWN in html
    assert all(f'role="img" aria-label="{SHOWN}"' in html for html in (columns, plane))


def test_a_folded_table_is_named_and_a_group_keeps_its_order():
    table = Table(pd.DataFrame({"n": [1]}), "The whole table")
    assert "<summary>Short</summary>" in folded(table, "Short").html
    assert "<summary>The whole table</summary>" in folded(table).html
    group = Group([Paragraph("first"), Paragraph("second")], "kanon-pair").html
    assert group.startswith('<div class="kanon-pair">') and group.index("first") < group.index("second")


def test_the_tokens_have_the_colours_of_the_charts_in_both_themes():
    pairs = dict(re.findall(r"--kanon-(mark|ink|quiet): light-dark\((#\w+, #\w+)\)", base_style()))
    assert pairs == {name: f"{light}, {DARK[light]}" for name, light in (("mark", BLUE), ("ink", INK), ("quiet", GREY))}
