"""Hidden key values that another cell of the same record spells out: a remark such as "moved here from Arica".

Such cells may be few, too few for a guess that is learnt from other records. But a value in words, or of four digits
and more, that is that of the record itself says what it says without others.
"""

from __future__ import annotations

import re
from math import log

import numpy as np
import pandas as pd

from kanon_lab.columns import as_text, coded
from kanon_lab.recipes.guessing import Guess, Target, divergence, log_choices

# Columns with more different texts are not read.
_MOST_TEXTS = 20_000
_TOKEN = re.compile(r"\w+")
# A value that may stand in a text by accident: a short number, or one letter.
_SHORT = re.compile(r"\d{0,3}|\w")
# Luck explains what counts less than once in a thousand times, for all columns and keys that are tried.
_EVIDENCE = log(1_000)
# That such cells stand in hidden records only counts where the values alone are luck at most once in twenty times.
_ALONE = log(20)


class Spelling:
    """The values of a key that a text may spell out."""

    def __init__(self, key: pd.Series):
        words = {as_text(value).casefold(): code for code, value in enumerate(coded(key).values)}
        self.words = {word: code for word, code in words.items() if not _SHORT.fullmatch(word)}

    def written(self, codes: np.ndarray, texts: pd.Index) -> np.ndarray:
        """For each record the code (in the order of the values) of the one key value in its cell; else -1.

        The cell is the value, or has it among its words; `codes` are positions in the different `texts`, -1 for none.
        """
        if not self.words or len(texts) > _MOST_TEXTS:
            return np.full(len(codes), -1, dtype=np.int64)
        of_text = [self._code_in(as_text(text).casefold()) for text in texts]
        return np.array([*of_text, -1], dtype=np.int64)[codes]

    def _code_in(self, text: str) -> int:
        """The code of the one value that a text has; -1 for none or several."""
        codes = {self.words[word] for word in (text, *_TOKEN.findall(text)) if word in self.words}
        return codes.pop() if len(codes) == 1 else -1


def guess_written(written: np.ndarray, target: Target, tries: int) -> Guess | None:
    """The guess of hidden values by what cells of their records spell out; None if luck may explain it.

    By luck a record has the value that its cell spells out as often as records of the file have it, or as often as the
    best guess without the column is right. That such cells stand in hidden records only is evidence too.
    """
    asked = (written >= 0) & target.wanted
    n, right = int(asked.sum()), int((written == target.codes)[asked].sum())
    if not right:
        return None
    known = target.codes[target.codes >= 0]
    of_value = np.bincount(known, minlength=written.max() + 1) / len(known)
    usual = (target.right_without(way)[asked].mean() for way in range(len(target.without)))
    by_luck, share = float(max(of_value[written[asked]].mean(), *usual)), right / n
    if share <= by_luck:
        return None
    evidence = n * divergence(share, by_luck)
    if (written >= 0).sum() == n and evidence > _ALONE:
        evidence += log_choices(len(written), n) - log_choices(int(target.wanted.sum()), n)
    if evidence < _EVIDENCE + log(max(tries, 1)):
        return None
    removed = (share - by_luck) / (1 - by_luck)
    return Guess(np.where(asked, written, -1), removed, np.where(asked, removed / share, 0.0), removed * n)
