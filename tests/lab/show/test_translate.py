"""Charts in another language: what is compared in a chart is written alike everywhere in it."""

from __future__ import annotations

from kanon_lab.digits import local
from kanon_lab.show.translate import translate_chart


def test_labels_without_letters_are_written_alike_in_a_scale_and_in_an_expression():
    spec = {
        "transform": [{"as": "band", "calculate": "['<1%', '1–5%'][datum.share > 0.01 ? 1 : 0]"}],
        "encoding": {"color": {"field": "band", "scale": {"domain": ["<1%", "1–5%"]}}},
    }
    chart = translate_chart(spec, local)
    domain = chart["encoding"]["color"]["scale"]["domain"]
    assert domain == ["<1\N{NO-BREAK SPACE}%", "1–5\N{NO-BREAK SPACE}%"]
    assert all(f"'{label}'" in chart["transform"][0]["calculate"] for label in domain)


def test_a_format_in_an_expression_stays():
    assert translate_chart({"calculate": "format(datum.share, '.1%')"}, local) == {
        "calculate": "format(datum.share, '.1%')"
    }
