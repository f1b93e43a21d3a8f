"""Decays and oscillators of a linear system are found, told apart, and told from noise."""

import numpy as np
import pytest

from aninfonce.alignment import linear_modes, recording_modes
from aninfonce.metrics import linear_r2

ANGLES, SIZES, PHI = (0.3, 1.3), (0.95, 0.85), (0.6,)


def turn(angle, size):
    return size * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def follow(operator, rows, seed):
    """Rows (T, d) of unit variance: z⁺ = Az + noise, with A a matrix whose blocks only turn and shrink."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(rows + 200, len(operator))) * np.sqrt(1 - (operator**2).sum(axis=1))
    z = np.zeros_like(noise)
    for row in range(1, len(z)):
        z[row] = operator @ z[row - 1] + noise[row]
    return z[200:]


def system():
    operator = np.zeros((5, 5))
    for place, (angle, size) in enumerate(zip(ANGLES, SIZES, strict=True)):
        operator[2 * place : 2 * place + 2, 2 * place : 2 * place + 2] = turn(angle, size)
    operator[4, 4] = PHI[0]
    return operator


def stretches(rows, length=45):
    return np.arange(rows) // length


def test_modes_come_out_of_any_linear_mixture():
    z = follow(system(), 20_000, 0)
    rng = np.random.default_rng(1)
    h = z @ rng.normal(size=(5, 5)) + 3.0
    modes = linear_modes(h[:-1], h[1:], clusters=stretches(len(h) - 1))
    np.testing.assert_allclose(modes.modulus, [0.6, 0.85, 0.85, 0.95, 0.95], atol=0.02)
    np.testing.assert_allclose(modes.angle, [0.0, 1.3, 1.3, 0.3, 0.3], atol=0.01)
    assert [pair.tolist() for pair in modes.oscillators] == [[1, 2], [3, 4]]
    e = modes(h)
    for columns, sources in (([0], [4]), ([1, 2], [2, 3]), ([3, 4], [0, 1])):
        assert linear_r2(z[:, sources], e[:, columns]).mean > 0.99
        np.testing.assert_allclose(np.atleast_2d(np.cov(e[:, columns].T)), np.eye(len(columns)), atol=1e-3)
    # The prediction is as good as the truth's, and nothing goes from one mode to another.
    unexplained = np.var(e[1:] - e[:-1] @ modes.operator, axis=0)
    np.testing.assert_allclose(unexplained, 1 - modes.modulus**2, atol=0.02)
    assert np.count_nonzero(modes.operator) == 9


def test_the_second_column_follows_the_first_by_a_quarter_of_a_turn():
    z = follow(turn(0.4, 0.95), 10_000, 0)
    for h in (z, z * [1.0, -1.0]):
        modes = linear_modes(h[:-1], h[1:])
        np.testing.assert_allclose(modes.operator, turn(0.4, 0.95).T, atol=0.02)


def test_the_first_step_turns_what_turns_by_more_than_a_right_angle_and_leaves_the_rest():
    z = follow(system(), 20_000, 0)
    mixing, centre = np.random.default_rng(1).normal(size=(5, 5)), np.arange(5.0)
    h = z @ mixing + centre
    np.testing.assert_allclose(linear_modes(h[:-1], h[1:]).first_step()[0], np.eye(5), atol=1e-9)
    # Over two rows, the second oscillator turns by 2.6.
    operator, offset = linear_modes(h[:-2], h[2:], clusters=stretches(len(h) - 2)).first_step()
    truth = np.eye(5)
    truth[2:4, 2:4] = turn(2 * ANGLES[1], 1.0).T
    np.testing.assert_allclose(mixing @ operator @ np.linalg.inv(mixing), truth, atol=0.05)
    np.testing.assert_allclose(h.mean(axis=0) @ operator + offset, h.mean(axis=0), atol=0.05)


def test_times_and_frequencies_are_those_of_the_lag():
    z = follow(turn(0.1, 0.98), 20_000, 0)
    modes = linear_modes(z[:-4], z[4:], clusters=stretches(len(z) - 4))
    times, turns = modes.time_constants(4.0), modes.frequencies(4.0)
    assert times[0, 1] < -1 / np.log(0.98) < times[0, 2]
    assert turns[0, 1] < 0.1 / (2 * np.pi) < turns[0, 2]
    assert turns[0, 0] == pytest.approx(0.1 / (2 * np.pi), rel=0.03)


def test_intervals_cover_and_decays_are_not_taken_for_oscillators():
    """60 recordings each: 95 % intervals miss in at most 8; two equal decays never seem to turn in 60."""
    missed, alarms = np.zeros(2), 0
    for seed in range(60):
        z = follow(turn(0.3, 0.95), 1500, seed)
        modes = linear_modes(z[:-1], z[1:], clusters=stretches(len(z) - 1), draws=150)
        for place, (ends, truth) in enumerate(((modes.angle_interval, 0.3), (modes.modulus_interval, 0.95))):
            missed[place] += not ends[0, 0] <= truth <= ends[0, 1]
        still = follow(np.diag([0.9, 0.9, 0.5]), 1500, seed)
        alarms += bool(
            linear_modes(still[:-1], still[1:], clusters=stretches(len(still) - 1), draws=150).oscillators
        )
    assert (missed <= 8).all()
    assert alarms <= 2


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_errors_of_rows_are_not_taken_for_forgetting(noise):
    """40 recordings each: 95 % intervals miss in at most 7; of a regression on rows with errors, all."""
    missed, missed_by_regression = np.zeros(2), 0
    for seed in range(40):
        z = follow(turn(0.3, 0.95), 1500, seed)
        z = z + noise * np.random.default_rng(1000 + seed).normal(size=z.shape)
        modes = recording_modes(z, draws=150)
        for place, (ends, truth) in enumerate(((modes.angle_interval, 0.3), (modes.modulus_interval, 0.95))):
            missed[place] += not ends[0, 0] <= truth <= ends[0, 1]
        plain = linear_modes(z[:-1], z[1:], clusters=stretches(len(z) - 1), draws=150)
        missed_by_regression += not plain.modulus_interval[0, 0] <= 0.95 <= plain.modulus_interval[0, 1]
    assert (missed <= 7).all()
    assert missed_by_regression == 40 if noise else missed_by_regression <= 7


def test_directions_that_earlier_rows_tell_little_of_are_regressed():
    """A quick decay without errors: earlier rows would make it uncertain, and do not."""
    z = follow(np.diag([0.2, 0.3]), 2000, 0)
    found, plain = recording_modes(z), linear_modes(z[8:-1], z[9:])
    np.testing.assert_allclose(found.modulus, plain.modulus, atol=0.01)
    np.testing.assert_allclose(found.regression, found.operator, atol=1e-9)


def test_guesses_ahead_forget_errors_once_and_sources_with_every_step():
    z = follow(turn(0.3, 0.95), 20_000, 0)
    seen = z + 0.5 * np.random.default_rng(1).normal(size=z.shape)
    modes = recording_modes(seen)
    e = modes(seen)
    np.testing.assert_array_equal(modes.ahead(0), np.eye(2))
    for steps in (1, 3, 6):
        best = np.linalg.lstsq(e[:-steps], e[steps:], rcond=None)[0]
        np.testing.assert_allclose(modes.ahead(steps), best, atol=0.03)
    assert np.allclose(modes.still(), modes.still().T)
    assert not np.allclose(modes.ahead(1), modes.ahead(1).T, atol=0.1)


def test_what_would_grow_is_kept_from_it():
    grows = np.exp(0.01 * np.arange(400.0))[:, None] * [[1.0, -1.0]]
    modes = recording_modes(grows + 1e-3 * np.random.default_rng(0).normal(size=grows.shape), draws=20)
    assert np.abs(np.linalg.eigvals(modes.operator)).max() < 1.0
    assert 0.99 < modes.modulus.max() < 1.0


def test_shares_are_of_what_each_mode_explains_by_itself():
    z = follow(system(), 20_000, 0)
    modes = linear_modes(z[:-1], z[1:])
    assert [columns.tolist() for columns in modes.columns] == [[0], [1, 2], [3, 4]]
    # Channels on one scale, and one that does not vary: the decay is half of the first, all of the second.
    x = np.stack([z[:, 4] + z[:, 0], 100 * z[:, 4], np.full(len(z), 3.0)], axis=1)
    np.testing.assert_allclose(modes.shares(z, x), [0.75, 0.0, 0.0, 0.25, 0.25], atol=0.02)


def test_a_column_of_noise_reaches_down_to_nothing_and_one_that_alternates_turns_half():
    z = follow(np.diag([0.0, -0.8]), 3000, 0)
    modes = linear_modes(z[:-1], z[1:])
    assert modes.modulus_interval[0, 0] == 0.0
    assert modes.angle[1] == pytest.approx(np.pi)
    assert modes.frequencies()[1].tolist() == pytest.approx([0.5, 0.5, 0.5])
    assert not modes.oscillators


@pytest.mark.parametrize(
    ("h", "h_pos", "name"),
    [
        (np.zeros(5), np.zeros(5), "`h`"),
        (np.zeros((3, 4)), np.zeros((3, 4)), "`h`"),
        (np.full((9, 2), np.nan), np.zeros((9, 2)), "`h`"),
        (np.zeros((9, 2)), np.zeros((9, 3)), "`h_pos`"),
    ],
)
def test_bad_input_is_refused_by_name(h, h_pos, name):
    with pytest.raises(ValueError, match=name):
        linear_modes(h, h_pos)


@pytest.mark.parametrize("earlier", [np.zeros(9), np.zeros((8, 2)), np.full((9, 2), np.nan), [[1.0]] * 9])
def test_earlier_rows_that_do_not_belong_are_refused_by_name(earlier):
    h = np.random.default_rng(0).normal(size=(9, 2))
    with pytest.raises(ValueError, match="`earlier` must be finite numbers"):
        linear_modes(h, h, earlier=earlier)


@pytest.mark.parametrize(
    ("e", "lag", "name"),
    [(np.zeros((9, 2)), 2, "`e`"), (np.zeros(90), 1, "`e`"), (np.zeros((90, 2)), 0, "`lag`")],
)
def test_a_recording_that_is_too_short_is_refused_by_name(e, lag, name):
    with pytest.raises(ValueError, match=name):
        recording_modes(e, lag)
