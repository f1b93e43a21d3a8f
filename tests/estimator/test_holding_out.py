"""Which rows are kept from training."""

import numpy as np
import pytest

from aninfonce.estimator.holding_out import later_rows


def held(session, share, seed=0):
    return later_rows(np.asarray(session), share, np.random.default_rng(seed))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.15, 0.5])
@pytest.mark.parametrize("lengths", [[100], [40, 60], [7, 13, 80]])
def test_the_end_of_each_of_a_few(lengths, share):
    session = np.repeat(np.arange(len(lengths)), lengths)
    found = held(session, share)
    assert found.sum() == int(share * 100)
    for number, length in enumerate(lengths):
        own = found[session == number]
        # Once held out, held out to the end.
        assert (np.diff(own.astype(int)) >= 0).all()
        assert abs(own.sum() - share * length) < 1.0 + 1e-9


def test_whole_ones_of_many():
    session = np.repeat(np.arange(50), 8)
    found = held(session, 0.2).reshape(50, 8)
    assert (found.all(axis=1) | ~found.any(axis=1)).all()
    assert found.any(axis=1).sum() == 10
    # Which, the generator decides.
    assert not np.array_equal(found, held(session, 0.2, seed=1).reshape(50, 8))


def test_one_long_session_among_many_is_not_all_there_is():
    session = np.concatenate([np.repeat(np.arange(30), 2), np.full(1000, 30)])
    found = held(session, 0.15)
    assert 0.1 < found.mean() <= 0.15
