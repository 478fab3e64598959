"""The inverse solver, the labelling rule and the fitting of a synthetic country, on small generated populations."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spain_model import assign_labels, draw_whole, fit_margins, sizes_in_class

from kanon_book.studies import (
    Reconstruction,
    compare_cells,
    compare_reconstructions,
    one_person_transfers,
    printed_row,
    printed_table,
    reconstruct_cells,
)
from kanon_book.studies.inverse import PRINTED_RANGES, apportion
from kanon_lab.errors import DataError, OptionError
from kanon_lab.population import PERIODS, persons_by_k

cell_lists = st.lists(st.integers(0, 60), min_size=2, max_size=8).filter(any)


def found(cells, seed=0):
    """A Reconstruction that holds the given cells, and their own table as the printed one."""
    table = printed_table(cells)
    return Reconstruction(np.sort(cells), int(np.sum(cells)), table, table, 0, seed)


class TestPrintedTable:
    @given(cell_lists)
    def test_rounds_every_k_and_then_sums(self, cells):
        table = printed_table(np.array(cells))
        for row, periods in zip(table, PERIODS.values()):
            rounded = np.rint(persons_by_k(np.array(cells), periods, 100).sum(axis=0))
            assert row.tolist() == [rounded[first - 1 : last].sum() for first, last in PRINTED_RANGES]

    @given(cell_lists, st.randoms(use_true_random=False))
    def test_does_not_depend_on_the_order_of_the_cells(self, cells, random):
        shuffled = random.sample(cells, len(cells))
        assert (printed_table(np.array(shuffled)) == printed_table(np.array(cells))).all()

    def test_many_states_at_once_equal_one_by_one(self):
        states = np.random.default_rng(1).integers(0, 500, (5, 4))
        assert (printed_table(states) == [printed_table(state) for state in states]).all()

    def test_row_of_an_unknown_municipality_is_an_error(self):
        figures = pd.DataFrame({"table": ["Cuadro 2"], "row": ["Madrid"], "column": ["1"], "printed": ["0"]})
        with pytest.raises(DataError, match="Ólvega"):
            printed_row(figures, "Ólvega")


class TestReconstructCells:
    @settings(max_examples=8)
    @given(cell_lists)
    def test_finds_cells_that_give_the_table_of_known_cells(self, cells):
        cells = np.array(cells)
        result = reconstruct_cells(printed_table(cells), int(cells.sum()), pyramid=np.ones(len(cells)))
        assert result.equal == 27
        assert result.cells.sum() == cells.sum()
        assert result.cells.min() >= 0
        assert (printed_table(result.cells) == printed_table(cells)).all()

    def test_a_town_of_36_cells_and_the_same_again_from_the_same_seed(self):
        rng = np.random.default_rng(5)
        pyramid = np.linspace(900, 200, 36)
        cells = np.rint(pyramid * rng.uniform(0.6, 1.4, 36)).astype(int)
        results = [
            reconstruct_cells(printed_table(cells), int(cells.sum()), pyramid=pyramid, seed=seed, max_rounds=1500)
            for seed in (3, 3)
        ]
        assert results[0].equal == 27
        assert (results[0].cells == results[1].cells).all()

    def test_a_table_that_no_cells_give_is_returned_with_what_is_off(self):
        impossible = np.full((3, 9), 50)
        result = reconstruct_cells(impossible, 40, pyramid=np.ones(4), max_rounds=3)
        assert result.equal < 27
        assert result.persons_off == np.abs(printed_table(result.cells) - impossible).sum()
        assert result.rounds == 3

    @pytest.mark.parametrize(
        ("printed", "total", "pyramid", "fault"),
        [
            (np.zeros((2, 9), int), 10, np.ones(4), "printed"),
            (np.full((3, 9), -1), 10, np.ones(4), "printed"),
            (np.zeros((3, 9), int), 0, np.ones(4), "total"),
            (np.zeros((3, 9), int), 10, np.zeros(4), "pyramid"),
        ],
    )
    def test_bad_input_is_named(self, printed, total, pyramid, fault):
        with pytest.raises(OptionError, match=f"^{fault}"):
            reconstruct_cells(printed, total, pyramid=pyramid)


class TestAssignLabels:
    @given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), min_size=1, max_size=6))
    def test_no_other_order_is_closer_to_the_scaled_pyramid(self, pairs):
        cells, pyramid = np.array(pairs).T
        scaled = pyramid * cells.sum() / pyramid.sum()
        chosen = assign_labels(cells, pyramid)
        assert sorted(chosen) == sorted(cells)
        least = min(((np.array(order) - scaled) ** 2).sum() for order in permutations(cells))
        assert ((chosen - scaled) ** 2).sum() <= least + 1e-9

    def test_needs_as_many_groups_as_cells(self):
        with pytest.raises(OptionError):
            assign_labels(np.arange(3), np.arange(4))


class TestCompare:
    def test_cells_are_compared_in_ascending_order(self):
        frame = compare_cells(np.array([3, 1, 2]), np.array([2, 2, 2]))
        assert frame["difference"].tolist() == [-1, 0, 1]

    @given(st.lists(st.integers(0, 30), min_size=2, max_size=5).filter(any))
    def test_transfers_agree_with_the_table_before_and_after(self, cells):
        cells = np.array(cells)
        frame = one_person_transfers(cells)
        assert len(frame) == (cells > 0).sum() * (len(cells) - 1)
        for row in frame.itertuples():
            moved = cells.copy()
            moved[[row.giver, row.taker]] += [-1, 1]
            change = printed_table(moved) - printed_table(cells)
            assert (row.figures_changed, row.persons_changed) == ((change != 0).sum(), np.abs(change).sum())

    def test_a_transfer_between_cells_one_person_apart_changes_nothing(self):
        frame = one_person_transfers(np.array([10, 9]))
        assert frame.loc[frame["giver"] == 0, "figures_changed"].tolist() == [0]

    def test_pairs_of_reconstructions(self):
        frame = compare_reconstructions([found([5, 9, 4]), found([4, 7, 7], 1), found([4, 5, 9], 2)])
        assert frame["persons_moved"].tolist() == [2, 0, 2]
        assert frame["cells_different"].tolist() == [2, 0, 2]
        assert frame["largest_difference"].tolist() == [2, 0, 2]


class TestFitted:
    @given(st.integers(0, 10_000), st.lists(st.floats(0.001, 1000), min_size=1, max_size=20))
    def test_apportion_adds_up_and_stays_within_one_person(self, total, weights):
        parts = apportion(total, np.array(weights))
        assert parts.sum() == total
        assert np.abs(parts - total * np.array(weights) / np.sum(weights)).max() < 1

    @given(st.integers(1, 200), st.floats(0, 1), st.integers(1, 5000), st.integers(0, 5000))
    def test_sizes_of_a_class_add_up_within_its_bounds(self, count, position, smallest, span):
        total = count * smallest + round(position * count * span)
        sizes = sizes_in_class(count, total, smallest, smallest + span)
        assert sizes.sum() == total
        assert smallest <= sizes.min() and sizes.max() <= smallest + span
        assert (np.diff(sizes) <= 0).all()

    def test_sizes_out_of_reach_are_an_error(self):
        with pytest.raises(OptionError):
            sizes_in_class(3, 400, 1, 100)

    @given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(2, 12))
    def test_drawn_persons_keep_both_margins(self, seed, places, groups):
        rng = np.random.default_rng(seed)
        known = rng.poisson(40, (places, groups)) + 1
        rows, columns = known.sum(axis=1), known.sum(axis=0)
        expected = fit_margins(rng.uniform(0.5, 2, known.shape), rows, columns)
        assert np.allclose(expected.sum(axis=0), columns) and np.allclose(expected.sum(axis=1), rows)
        drawn = draw_whole(expected, rows, columns, rng)
        assert (drawn.sum(axis=1) == rows).all() and (drawn.sum(axis=0) == columns).all()
        assert drawn.min() >= 0

    def test_margins_of_different_totals_are_an_error(self):
        with pytest.raises(OptionError):
            fit_margins(np.ones((2, 2)), np.array([1, 2]), np.array([2, 2]))
