"""Worlds in which something turns are what they say, and the study measures what it says."""

import numpy as np
import pytest

from aninfonce.alignment import linear_modes, recording_modes
from aninfonce.metrics import linear_r2
from aninfonce_papers.beyond.methods import second_order
from aninfonce_papers.beyond.oscillators import block_r2, frequency_errors
from aninfonce_papers.beyond.turning import make_turning
from aninfonce_papers.engine import find_study


def test_rotating_sources_turn_as_asked():
    world = make_turning("rotating", [0.3, 1.2], [0.95, 0.9], [0.6], 20_000, 0, candidates=10)
    modes = linear_modes(world.z[:-1], world.z[1:])
    np.testing.assert_allclose(modes.angle, [0, 1.2, 1.2, 0.3, 0.3], atol=0.02)
    np.testing.assert_allclose(modes.modulus, [0.6, 0.9, 0.9, 0.95, 0.95], atol=0.03)
    np.testing.assert_allclose(world.z.std(axis=0), 1.0, atol=0.1)
    assert world.blocks == [[0, 1], [2, 3], [4]]


def test_second_order_sources_turn_as_asked_over_their_lag():
    world = make_turning("ar2", [0.4, 1.0], [0.9, 0.95], [], 20_000, 0, candidates=10)
    assert world.lag == 2
    modes = linear_modes(world.z[:-2], world.z[2:])
    np.testing.assert_allclose(np.sort(modes.angle[::2]), [0.8, 2.0], atol=0.03)
    # A row holds now and before: the second half of x is the first, one row earlier.
    np.testing.assert_array_equal(world.x[1:, 2:], world.x[:-1, :2])
    np.testing.assert_array_equal(world.z[1:, [1, 3]], world.z[:-1, [0, 2]])


def test_a_slow_source_seen_twice_is_no_decay_to_those_who_look_back():
    """Errors that leave R² at .98 make two decays of it for a regression on the row alone."""
    experiments = find_study("oscillators").experiments("laptop")
    pairs = next(found.pairs for found in experiments if found.name.startswith("AR(2), hardly"))
    angles, sizes = pairs.angles, pairs.sizes
    world = make_turning("ar2", angles, sizes, [], 10_000, 0, candidates=10)
    noisy = world.z + 0.15 * np.random.default_rng(0).normal(size=world.z.shape)
    assert linear_r2(world.z, noisy).mean == pytest.approx(0.98, abs=0.005)
    found = [
        len(linear_modes(z[:-2], z[2:], clusters=np.arange(len(z) - 2) // 100).oscillators)
        for z in (world.z, noisy)
    ]
    assert found == [3, 2]
    assert len(recording_modes(noisy, 2).oscillators) == 3


@pytest.mark.parametrize(
    ("changes", "name"), [({"sizes": []}, "`sizes`"), ({"kind": "ar2"}, "`phi`"), ({"kind": "no"}, "`kind`")]
)
def test_bad_worlds_are_refused_by_name(changes, name):
    given = {"kind": "rotating", "angles": [0.3], "sizes": [0.9], "phi": [0.5], "rows": 10, "seed": 0}
    with pytest.raises(ValueError, match=name):
        make_turning(**{**given, **changes}, candidates=10)


def test_sobi_tells_apart_what_one_lag_does_not():
    world = make_turning("rotating", [], [], [0.5, 0.9], 8000, 0, candidates=10)
    x = world.z @ [[1.0, 0.4], [-0.3, 1.0]]
    for lags in ((1,), (1, 2, 4)):
        assert block_r2(world.z[4000:], second_order(x, 4000, lags).embedding, [[0], [1]]) > 0.98


def test_blocks_that_are_mixed_score_less():
    z = np.random.default_rng(0).normal(size=(2000, 4))
    mixed = z @ np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    assert block_r2(z, z[:, [1, 0, 3, 2]], [[0, 1], [2, 3]]) == pytest.approx(1.0)
    assert block_r2(z, mixed, [[0, 1], [2, 3]]) < 0.9


def test_a_frequency_that_is_missed_counts_as_wholly_wrong():
    assert frequency_errors([0.9], [0.1])["error of frequencies"] == 1.0
    assert frequency_errors([0.104], [0.1])["frequencies found"] == 1.0
