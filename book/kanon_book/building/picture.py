"""Draw the picture at the top of the README: how likely one is alone in a town, by its size.

The numbers are those of the notebook `identify`, which is run for it; the same versions and fonts give the same bytes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd
import vl_convert

from kanon_book.building.stamps import command_line
from kanon_book.figures.town import town_explorer
from kanon_book.places import CHAPTERS
from kanon_lab.files import write_text
from kanon_lab.notebooks import find_notebooks, recorded, run_notebook

PICTURE = CHAPTERS / "how-anonymous.svg"


def drawn(table: pd.DataFrame) -> str:
    """The picture (SVG) of the table that the notebook records with its chart."""
    towns = pd.DataFrame({"population": table["inhabitants"]})
    for dates in ("day", "month", "year"):
        towns[dates] = table[f"alone by {dates} (%)"] / 100
    return vl_convert.vegalite_to_svg(town_explorer(towns).to_json(), vl_version="5.20")


def main() -> None:
    command_line("kanon_book.building.picture", __doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        executed = Path(folder) / "identify.ipynb"
        run_notebook(find_notebooks()["identify"], executed)
        table = recorded(executed)["town-explorer"]
    write_text(PICTURE, drawn(table))
    print(f"{PICTURE.name}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
