"""The bags of a forest: drawn by counter, told again from the seed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from unit.rows.growing import assert_same_forest, mixed_table

from weald import engine
from weald.data.codes import encode
from weald.rows.bags import BagRecord
from weald.rows.growth import GrowOptions, TreeBags
from weald.rows.memory import grow_classification_tree, grow_regression_tree


class TestDraw:
    @pytest.mark.parametrize(("n_draws", "n_rows"), [(1, 1), (10, 10), (7, 100), (100, 3), (5000, 5000)])
    def test_counts_add_up(self, n_draws, n_rows):
        counts = engine.draw_bag(3, 5, n_draws, n_rows)
        assert counts.shape == (n_rows,)
        assert counts.dtype == np.uint32
        assert counts.sum() == n_draws

    @pytest.mark.parametrize("n_rows", [10, 1000])
    def test_a_row_is_in_a_bag_as_often_as_it_should_be(self, n_rows):
        n_bags = 20_000 // n_rows
        bags = np.array([engine.draw_bag(0, t, n_rows, n_rows) for t in range(n_bags)])
        expected = 1 - (1 - 1 / n_rows) ** n_rows
        assert expected == pytest.approx({10: 0.6513, 1000: 0.6323}[n_rows], abs=5e-5)
        assert abs((bags > 0).mean() - expected) < 4 * np.sqrt(0.632 * 0.368 / bags.size)

    def test_every_row_is_drawn_alike(self):
        total = sum(engine.draw_bag(1, t, 100, 100).astype(np.int64) for t in range(400))
        assert total.sum() == 40_000
        assert np.abs(total - 400).max() < 4.5 * np.sqrt(400)
        # Pearson's statistic of 100 equal cells: mean 99, standard deviation 14.
        assert 50 < ((total - 400) ** 2 / 400).sum() < 160

    def test_trees_and_seeds_have_bags_of_their_own(self):
        bags = [engine.draw_bag(seed, tree, 200, 200) for seed in range(4) for tree in range(4)]
        assert len({bag.tobytes() for bag in bags}) == 16
        together = np.corrcoef(np.array(bags, float))[np.triu_indices(16, 1)]
        assert np.abs(together).max() < 4.5 / np.sqrt(200)

    def test_threads_that_draw_at_once_draw_the_same(self):
        alone = [engine.draw_bag(9, t, 3000, 3000) for t in range(20)]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda t: engine.draw_bag(9, t, 3000, 3000), range(20)))
        for first, second in zip(alone, together, strict=True):
            np.testing.assert_array_equal(first, second)


class TestRecord:
    def test_without_draws_every_row_counts_once(self):
        assert BagRecord(0, 4, 0).counts(7).tolist() == [1, 1, 1, 1]
        present = np.array([True, False, True, True])
        assert BagRecord(0, 4, 0).counts(7, present).tolist() == [1, 0, 1, 1]

    def test_absent_rows_are_never_drawn(self):
        present = np.arange(50) % 3 > 0
        counts = BagRecord(2, 50, 33).counts(1, present)
        assert not counts[~present].any()
        np.testing.assert_array_equal(counts[present], engine.draw_bag(2, 1, 33, int(present.sum())))

    def test_of_trees(self):
        bags = BagRecord(5, 40, 30).of_trees(3, 7, 0.25)
        assert bags == TreeBags(n_trees=3, first_tree=7, n_draws=30, seed=5, min_weight_share=0.25)
        assert BagRecord(5, 40, 0).of_trees(3).n_draws is None


class TestGrowth:
    """Trees have the rows that the record tells, however many threads grow them, at once or in parts."""

    def codes(self, n=300):
        return encode(mixed_table(0, n), max_bins=None, n_threads=1)

    def grow(self, criterion, bags, **more):
        codes, rng = self.codes(), np.random.default_rng(4)
        y = rng.normal(size=300)
        options = GrowOptions(criterion=criterion, max_columns=2, **more)
        if criterion in ("gini", "entropy"):
            return grow_classification_tree(codes, (y > 0).astype(np.int32), 2, None, options, bags).forest
        return grow_regression_tree(codes, np.abs(y), None, options, bags).forest

    @pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error", "poisson"])
    def test_threads_never_show(self, criterion):
        for n_trees in (3, 12):
            bags = TreeBags(n_trees=n_trees, n_draws=300, seed=8)
            one = self.grow(criterion, bags)
            for n_threads in (2, 5):
                assert_same_forest(one, self.grow(criterion, bags, n_threads=n_threads), f"{n_threads}")

    @pytest.mark.parametrize("splitter", ["best", "random"])
    def test_parts_are_the_trees_of_the_whole(self, splitter):
        from weald.model.join import joined

        whole = self.grow("gini", TreeBags(n_trees=9, n_draws=200, seed=8), splitter=splitter)
        parts = [
            self.grow("gini", TreeBags(n_trees=n, first_tree=first, n_draws=200, seed=8), splitter=splitter)
            for first, n in ((0, 2), (2, 6), (8, 1))
        ]
        assert_same_forest(whole, joined(parts), "parts")

    def test_roots_have_the_rows_of_the_record(self):
        record = BagRecord(8, 300, 120)
        forest = self.grow("gini", record.of_trees(6))
        roots = forest.tree_start[:-1]
        assert (forest.cover[roots] == 120).all()
        assert forest.count[roots].tolist() == [np.count_nonzero(record.counts(t)) for t in range(6)]

    def test_no_row_with_weight(self):
        options = GrowOptions(criterion="gini")
        bags = TreeBags(n_trees=2, n_draws=5, seed=0)
        with pytest.raises(Exception, match="no row has a positive weight"):
            grow_classification_tree(self.codes(), np.zeros(300, np.int32), 2, np.zeros(300), options, bags)
