"""What a command says of how a microdata file was read."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kanon_lab.errors import shortened

if TYPE_CHECKING:
    import pandas as pd


def reading_notes(frame: "pd.DataFrame") -> Iterator[str]:
    """Notes on columns whose cells may mean something else than they were taken for."""
    from kanon_lab.data import usual_marks
    from kanon_lab.data.microdata import double_spellings, nearly_numbers

    for name, marks in usual_marks(frame).items():
        yield f"{shortened(name)}: {', '.join(marks)} taken as a value; if it means missing, say so (--na)"
    for name in double_spellings(frame):
        yield f"{shortened(name)}: is text with two spellings of one number, such as 1 and 1.0, taken as two values"
    for name, count in nearly_numbers(frame).items():
        some = f"{count:,} of its cells are no numbers"
        yield f"{shortened(name)}: is text, since {some}; if they mean missing, say so (--na)"
