"""Charts of single chapters, as ``from kanon_lab.figures import spain``: their files stand beside the chapters.

In a checkout that is book/figures, in a wheel the package itself.
"""

from pathlib import Path

_INSIDE = Path(__file__).parent / "_book" / "figures"
__path__ = [str(_INSIDE if _INSIDE.is_dir() else Path(__file__).parents[1] / "book" / "figures")]
