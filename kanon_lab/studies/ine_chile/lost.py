"""What our text of the guide has lost."""

from __future__ import annotations

from kanon_lab.studies.claims import Claim


def lost_claims() -> dict[str, Claim]:
    """The verdict on what our text of the guide has not got, by the last part of its figure_id."""
    not_in_text = {
        "lost-release": "the table is cut off: the enclave of data is missing, and whether it is applicable",
        "lost-outputs": "the blocks show calls only; some results are told in the text, as claims",
        "lost-second-output": "the text ends with the heading of this output",
        "lost-rest": "the text stops inside section 8.2.2; these are announced, and not in it",
    }
    illegible = {
        "lost-footnote": "cut off within an interval; a part of it has moved to the paragraph that refers to it",
        "lost-side": "a word is missing; by the paragraph before it is the left",
        "lost-references": "most numbers of references, and all of citations, are question marks in the text",
    }
    figures = {f"figure-{number}" for number in ("5-1", "7-1", *(f"8-{place}" for place in range(1, 7)))}
    blocks = {
        f"code-{number}" for number in ("6-3", "6-5", "6-13", "6-15", "7-1", "7-6", "7-7", "7-8", "8-2", "8-4", "8-6")
    }
    return {
        **{name: Claim(reason=reason, verdict="not-in-text") for name, reason in not_in_text.items()},
        **{name: Claim(reason=reason, verdict="illegible") for name, reason in illegible.items()},
        **{name: Claim(reason="the picture is not in the text", verdict="not-in-text") for name in figures},
        **{name: Claim(reason="the code is not in the text", verdict="not-in-text") for name in blocks},
    }
