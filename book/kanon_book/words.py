"""What the pages of the book say in both languages (``words.csv``)."""

from __future__ import annotations

from functools import partial

from kanon_lab import terms

wordings = partial(terms.wordings, package=__package__)
texts = partial(terms.texts, package=__package__)
