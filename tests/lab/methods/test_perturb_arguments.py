"""What every perturbation refuses in one line, and the kinds of columns that all of them take."""

import numpy as np
import pandas as pd
import pytest

from kanon_lab.errors import KanonLabError, OptionError, about
from kanon_lab.methods import add_noise, microaggregate, pram, rank_swap, shuffle

METHODS = [add_noise, microaggregate, pram, rank_swap, shuffle]
FILE = pd.DataFrame({"x": np.arange(60) % 7 + 0.5, "s": ["a", "b"] * 30})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("frame", [None, [1], FILE["x"], FILE.to_numpy(), {"x": [1]}])
def test_a_frame_is_a_dataframe(method, frame):
    with (
        pytest.raises(OptionError, match=f"^the file: a DataFrame is needed, not {type(frame).__name__}$"),
        about("the file"),
    ):
        method(frame, "x")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("names", [np.array("x"), np.array(5), 5, None])
def test_names_are_a_list(method, names):
    with pytest.raises(OptionError, match="^variables must be names of columns"):
        method(FILE, names)
    with pytest.raises(OptionError, match="^strata must be names of columns"):
        method(FILE, "x", strata=names)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["Sparse[float64]", "Sparse[float32]", "Sparse[int64]"])
def test_sparse_columns_are_columns(method, dtype):
    values = (FILE["x"] * 2).astype(int)
    seen, dense = (
        method(FILE.assign(x=column), "x").frame["x"] for column in (values.astype(dtype), values.astype(float))
    )
    assert np.asarray(seen, dtype=float).tolist() == np.asarray(dense).tolist()


@pytest.mark.parametrize("method", METHODS)
def test_dictionaries_of_arrow_are_strata(method):
    pa = pytest.importorskip("pyarrow")
    kind = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    encoded = pd.Series(pd.array(pa.array(FILE["s"].tolist()).dictionary_encode().to_pylist(), dtype=kind))
    seen, plain = (method(file, "x", strata="s").frame["x"] for file in (FILE.assign(s=encoded), FILE))
    pd.testing.assert_series_equal(seen, plain)


def test_half_a_character_and_a_k_of_many_digits_are_refused_in_a_short_line():
    halves = pd.DataFrame({"x": pd.Series(["a", "\ud800", "b"] * 20, dtype=object)})
    with pytest.raises(
        KanonLabError, match=r"column x: row 1 \(and 19 more\): a text with half of a character; correct it"
    ):
        pram(halves, "x")
    for k in (10**400, 10**5000):
        with pytest.raises(OptionError, match=r"^k_required must be below 2 \*\* 63"):
            microaggregate(FILE, "x", k_required=k)
