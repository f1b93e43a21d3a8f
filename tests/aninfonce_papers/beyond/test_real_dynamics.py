"""The study of a walk, on a walk that is made up: the real one is not there in every test."""

import numpy as np
import pytest
from scipy.signal import lfilter

from aninfonce.alignment import linear_modes
from aninfonce_papers.beyond import real_dynamics
from aninfonce_papers.beyond.real_dynamics import bits_beyond_no_change, leading_turn, mean_r2, readout
from aninfonce_papers.engine import find_study
from aninfonce_papers.worlds.walking import Walking


@pytest.fixture
def walk(monkeypatch):
    """Give a leg that swings .8 times a second, and less at twice that, seen by twelve noisy channels."""
    rng = np.random.default_rng(0)
    phase = 2 * np.pi * 0.8 * np.arange(1500) / 60 + np.cumsum(rng.normal(size=1500)) * 0.03
    first, second = (np.stack([np.cos(turns * phase), np.sin(turns * phase)], axis=1) for turns in (1, 2))
    waves = np.concatenate([first, 0.5 * second], axis=1)
    motion = waves @ rng.normal(size=(4, 12)) + 0.1 * rng.normal(size=(1500, 12))
    angle = 0.4 * np.sin(phase)
    field = np.stack([np.cos(angle), np.sin(angle), np.cos(0.5 * angle), np.sin(0.5 * angle)], axis=1)
    monkeypatch.setattr(real_dynamics, "open_walking", lambda: Walking(motion, field, 60.0))


def cells(preset="smoke"):
    return {cell.name: cell for cell in find_study("real-dynamics").experiments(preset)}


@pytest.mark.usefixtures("walk")
def test_every_method_runs_and_those_that_know_turns_find_the_stride():
    rows = {name: cell.run(0) for name, cell in cells().items()}
    for name in ("linear dynamics", "dynamic mode decomposition"):
        assert rows[name]["error of frequency"] < 0.1, name
        assert rows[name]["frequency [Hz], low"] < 0.8 < rows[name]["frequency [Hz], high"]
    ahead = {name: row["direction R², 0.8 s ahead"] for name, row in rows.items()}
    # A lag is a fifth of a second there: four of them are well over half a stride.
    assert ahead["dynamic mode decomposition"] > ahead["AMUSE"] + 0.2
    assert all("held-out bits" in rows[name] for name in ("linear dynamics", "flat"))
    assert all("frequency [Hz]" not in rows[name] for name in ("PCA", "SOBI", "AMUSE"))


@pytest.mark.usefixtures("walk")
def test_no_row_to_look_at_is_learned_from(monkeypatch):
    """Whatever comes later, what is found in the first part stays the same."""
    cell = cells()["SOBI"]
    before = cell.score.find(cell.pairs.open(), 1125, 12, 0)
    opened = cell.pairs.open()
    later = opened._replace(motion=opened.motion.copy())
    later.motion[1125:] = 7.0
    after = cell.score.find(later, 1125, 12, 0)
    np.testing.assert_allclose(before.embedding[:1125], after.embedding[:1125])
    np.testing.assert_allclose(before.ahead(2), after.ahead(2))


@pytest.mark.usefixtures("walk")
def test_stacked_rows_are_of_the_past():
    alone, stacked = (
        cells()[f"dynamic mode decomposition{name}"].pairs.open() for name in ("", ", three rows")
    )
    assert stacked.motion.shape == (1500 - 8, 36)
    for place, back in enumerate((0, 4, 8)):
        np.testing.assert_array_equal(
            stacked.motion[:, 12 * place : 12 * place + 12], alone.motion[8 - back : 1500 - back]
        )
    np.testing.assert_array_equal(stacked.field, alone.field[8:])


def test_bits_count_what_a_prediction_saves():
    """A quarter of a turn a row: "no change" leaves √2 times the distance from the middle, and the noise."""
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(20_000, 2)) @ [1.0, 1j]
    turned = lfilter([1.0], [1.0, -0.9j], drawn)
    e = np.stack([turned.real, turned.imag], axis=1)
    step = np.array([[0.0, 0.9], [-0.9, 0.0]])
    # Errors of the prediction are the noise, of unit spread in both columns.
    left = (1 + 0.9**2) * e.var(axis=0).mean() + 1
    assert bits_beyond_no_change(e, step, 1) == pytest.approx(np.log2(left), abs=0.1)
    assert bits_beyond_no_change(e, np.eye(2), 1) == 0.0


def test_a_readout_of_other_rows():
    rng = np.random.default_rng(0)
    e = rng.normal(size=(200, 3))
    y = e @ rng.normal(size=(3, 2)) + 5.0
    assert mean_r2(y[100:], readout(e[:100], y[:100])(e[100:])) == pytest.approx(1.0)
    assert mean_r2(y, np.broadcast_to(y.mean(axis=0), y.shape)) == pytest.approx(0.0)


def test_where_nothing_turns_there_is_no_frequency():
    decay = np.random.default_rng(0).normal(size=(3000, 2))
    decay[1:] += [0.5, 0.9] * decay[:-1]
    assert leading_turn(linear_modes(decay[:-1], decay[1:]), np.ones(2), 0.1, 0.8) == {"oscillators": 0}


def test_the_leading_oscillator_is_that_of_the_largest_share_however_long_others_last():
    """A harmonic that lasts longer, and a stride of which more is seen."""
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(2, 8000, 2)) @ [1.0, 1j]
    waves = [
        lfilter([1.0], [1.0, -size * np.exp(1j * angle)], row)
        for row, size, angle in zip(drawn, (0.9, 0.98), (0.3, 0.6), strict=True)
    ]
    z = np.stack([part / part.std() for wave in waves for part in (wave.real, wave.imag)], axis=1)
    x = z @ (rng.normal(size=(4, 12)) * [[2.0], [2.0], [1.0], [1.0]])
    modes = linear_modes(z[:-1], z[1:])
    shares = modes.shares(z, x)
    found = leading_turn(modes, shares, 1.0, 0.3 / (2 * np.pi))
    assert found["oscillators"] == 2
    assert found["error of frequency"] < 0.03
    assert found["share of the motion"] == shares.max() > 0.5
    other = leading_turn(modes, shares[::-1], 1.0, 0.3 / (2 * np.pi))
    assert other["error of frequency"] > 0.9
    assert other["an oscillator has it"]
