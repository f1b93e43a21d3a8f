"""The light tunnel moves as asked, and shows what its simulators show."""

import numpy as np
import pytest

pytest.importorskip("causalchamber", reason="the light tunnel needs causalchamber")

from aninfonce.datasets import TUNNEL_READINGS
from aninfonce_papers.worlds.tunnel import HIGH, LOW, VIEWS, look, malus, step_pairs, walk

SCALES = (0.8, 0.55, 0.38, 0.27, 0.18)


def at_random(rows=50, seed=0):
    return np.random.default_rng(seed).uniform(LOW, HIGH, size=(rows, len(LOW)))


def test_of_the_angles_only_malus_is_seen_without_their_sensors():
    factors = at_random()
    other = factors.copy()
    # Both turned by as much, and the other way round: the light does not tell.
    other[:, 3:] = 20.0 - factors[:, 3:]
    np.testing.assert_allclose(malus(other), malus(factors), atol=1e-9)
    for view in ("light sensors", "camera"):
        np.testing.assert_allclose(look(other, view), look(factors, view), rtol=1e-5, atol=1e-6)
    moved = np.abs(look(other, "all sensors") - look(factors, "all sensors")).max(axis=0)
    assert [name for name, change in zip(TUNNEL_READINGS, moved, strict=True) if change > 1] == [
        "angle_1",
        "angle_2",
    ]


def test_the_third_sensor_follows_malus():
    crossed, aligned = np.array([[200.0, 100, 50, 45, -45], [200, 100, 50, 30, 30]])
    third = TUNNEL_READINGS.index("ir_3")
    dark, bright = look(np.stack([crossed, aligned]), "all sensors")[:, third]
    assert dark < 0.1 * bright


def test_a_picture_is_one_hexagon_of_one_colour():
    """So it holds three numbers, however many pixels it has."""
    pictures = look(at_random(), "camera", pixels=16)
    assert pictures.shape == (50, 3, 16, 16)
    assert pictures.dtype == np.float32
    seen = pictures.max(axis=(2, 3), keepdims=True)
    lit = (pictures > 0).any(axis=(0, 1))
    np.testing.assert_array_equal(pictures, seen * lit)
    assert 0 < lit.sum() < lit.size / 2


@pytest.mark.parametrize("view", VIEWS)
def test_a_seed_decides(view):
    first, second, other = (step_pairs(SCALES, 20, seed, view) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.x_pos, second.x_pos)
    assert not np.array_equal(first.x, other.x)
    np.testing.assert_array_equal(first.x, look(first.factors, view))


def test_steps_are_as_large_as_asked_and_stay_in_the_box():
    """Angles are read off their sensors, which are linear: 5000 steps scatter by 1 % of their spread."""
    small = (0.02,) * 5
    pairs = step_pairs(small, 5000, 0, "all sensors")
    angles = [TUNNEL_READINGS.index(name) for name in ("angle_1", "angle_2")]
    degrees = (pairs.x_pos - pairs.x)[:, angles] / 1.42261211
    np.testing.assert_allclose(degrees.std(axis=0), 90 * 0.02, rtol=0.04)
    assert (pairs.factors >= LOW).all()
    assert (pairs.factors <= HIGH).all()


def test_a_walk_forgets_as_asked():
    phi = (0.5, 0.7, 0.85, 0.9, 0.95)
    walked = walk(phi, 20_000, 0, "light sensors")
    assert walked.x_pos is None
    z = walked.factors - walked.factors.mean(axis=0)
    found = (z[1:] * z[:-1]).mean(axis=0) / (z**2).mean(axis=0)
    np.testing.assert_allclose(found, phi, atol=0.02)
    np.testing.assert_allclose(z.std(axis=0), (HIGH - LOW) / 6, rtol=0.1)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: step_pairs([0.1], 10, 0, "camera"), "`scales`"),
        (lambda: walk([0.5] * 4, 10, 0, "camera"), "`phi`"),
        (lambda: walk([1.0] * 5, 10, 0, "camera"), "`phi`"),
        (lambda: look(at_random(), "ears"), "`view`"),
        (lambda: look(at_random()[:, :3], "camera"), "`factors`"),
        (lambda: look(at_random(), "camera", pixels=0), "`pixels`"),
    ],
)
def test_bad_input_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=name):
        call()
