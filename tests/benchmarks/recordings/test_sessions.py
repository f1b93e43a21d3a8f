"""Blocks of time, and cells that fire where they should."""

import numpy as np
import pytest
from benchmarks.recordings.rats import every, readouts
from benchmarks.recordings.sessions import Session, blocks, session


def test_every_fifth_block_is_held_out_and_training_between_them_is_one_recording():
    block, held_out = blocks(12_000, 0.05)
    assert held_out.mean() == 0.2
    assert not held_out[:2400].any()
    assert held_out[2400:3000].all()
    assert block[0] == block[2399] != block[2400] == block[2999] != block[3000]


def test_sums_do_not_cross_borders():
    counts = np.repeat([[0.0], [1.0]], 50, axis=0).astype(np.float32)
    border = np.repeat([0, 1], 50)
    nothing = np.zeros(100)
    data = Session(counts, np.zeros((100, 2)), nothing, 0.05, border, border == 1)
    assert np.allclose(data.summed(9)[:, 0], 9 * counts[:, 0])


def test_position_is_read_from_an_embedding_that_holds_it():
    rng = np.random.default_rng(0)
    position = rng.uniform(size=(1000, 2))
    held_out = np.arange(1000) >= 800
    read = readouts(position @ rng.standard_normal((2, 2)), position, held_out)
    assert min(read["linear"]) > 0.999
    assert min(read["neighbours"]) > 0.95
    assert max(readouts(rng.standard_normal((1000, 2)), position, held_out)["linear"]) < 0.1


def test_rows_are_thinned_evenly():
    assert len(every(np.arange(25), 10)) == 9
    assert len(every(np.arange(10), 10)) == 10


def test_an_unknown_session_is_refused():
    with pytest.raises(ValueError, match=r"`case` must be one of sargolini-grid, .*, got 'mouse'"):
        session("mouse", 0)


def test_cells_fire_along_the_real_path():
    pytest.importorskip("ratinabox")
    session.cache_clear()
    data = session("sargolini-mixed", 0)
    session.cache_clear()
    assert np.array_equal(data.counts, session("sargolini-mixed", 0).counts)
    assert data.counts.shape == (len(data.position), 120)
    assert data.position.min() > 0
    assert data.position.max() < 1
    # Far below the peak of 20 Hz on average, and no cell silent.
    rates = data.counts.mean(axis=0) / data.frame
    assert 0.1 < rates.min() <= rates.max() < 20
