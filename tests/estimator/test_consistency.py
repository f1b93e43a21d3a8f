"""Two runs agree on real pairs and not on broken ones."""

import numpy as np
import pytest

from aninfonce.estimator import ContrastiveICA, consistency
from tests.estimator.small import UNFINISHED, autoregressive, make_pairs, quick

pytestmark = UNFINISHED


@pytest.fixture(scope="module")
def runs():
    X, X_pos = make_pairs(1500)
    # A network that bends: nearly linear ones of three inputs agree by chance, whatever the pairs.
    network = {"width": 32, "depth": 2, "slope": 0.2}
    options = {"max_steps": 200, "batch_size": 256, "encoder_options": network}
    return [quick(random_state=seed, **options).fit(X, X_pos) for seed in (0, 1)]


def test_runs_agree_and_broken_pairs_do_not(runs):
    found = consistency(*runs, *make_pairs(1000, seed=1))
    assert found.agreement > 0.85
    assert found.linear > 0.9
    assert found.control < 0.5
    assert found.blocks == ((0,), (1,), (2,))
    assert found.flags == ()


def test_rotated_within_a_block_is_permitted_and_across_is_not(runs):
    X = make_pairs(500, seed=1)[0]
    a = runs[0]

    class Turned(ContrastiveICA):
        def transform(self, X):
            z = a.transform(X)
            c, s = np.cos(0.7), np.sin(0.7)
            return np.column_stack([c * z[:, 0] - s * z[:, 1], s * z[:, 0] + c * z[:, 1], -z[:, 2]])

    turned = Turned()
    turned.blocks_ = a.blocks_
    across = consistency(a, turned, X, control=False)
    assert across.linear > 0.999
    assert across.agreement < 0.9
    assert across.per_column[2] > 0.999
    turned.blocks_ = [np.array([0, 1]), np.array([2])]
    assert consistency(a, turned, X, control=False).agreement > 0.999


def test_one_run_twice_is_flagged(runs):
    found = consistency(runs[0], runs[0], make_pairs(100)[0], control=False)
    assert found.agreement == pytest.approx(1.0)
    assert found.control is None
    assert "one run" in found.flags[0]


def test_bad_input_is_named(runs):
    X, X_pos = make_pairs(100)
    other = quick(n_components=2).fit(X, X_pos)
    with pytest.raises(ValueError, match="`est_b` must have the 3 columns"):
        consistency(runs[0], other, X)
    with pytest.raises(ValueError, match="give X_pos"):
        consistency(*runs, X)


def test_windows_end_where_groups_do():
    _, X = autoregressive([0.5, 0.9], 300)
    groups = np.repeat([0, 1, 2], 100)
    options = {"n_components": 2, "window": 5, "max_steps": 5}
    runs = [quick(random_state=seed, **options).fit(X, groups=groups) for seed in (0, 1)]
    by_labels = consistency(*runs, X, groups=groups, control=False)
    by_list = consistency(*runs, np.split(X, 3), control=False)
    assert by_labels == by_list


def test_runs_of_several_starts_have_a_control():
    """Broken pairs hold nothing out by which the best start could be chosen: `n_init` was refused."""
    X, X_pos = make_pairs(200)
    runs = [quick(random_state=seed, n_init=2, max_steps=3).fit(X, X_pos) for seed in (0, 1)]
    assert consistency(*runs, X, X_pos).control is not None
