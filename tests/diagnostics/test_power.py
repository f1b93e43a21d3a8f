"""Each finding fires where its violation is injected, and stays quiet where it is not."""

import numpy as np
import pytest

from aninfonce.diagnostics import audit
from aninfonce.diagnostics.audit import FINDINGS
from aninfonce.diagnostics.sample import make_sample
from tests.diagnostics.cases import DIM, N, clean, flat, same

BY_NAME = {look.__name__: look for look in FINDINGS}


def look(name, data, encoder=same, **options):
    return BY_NAME[name](make_sample(encoder, data, **options))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_clean_case_is_quiet(seed):
    x, x_pos = clean(seed=seed)
    report = audit(
        same,
        (x, x_pos),
        augmentations={"shift": lambda rows: rows + 0.5, "nothing": same},
        latents=x,
        labels=x[:, 0] > 0,
        seed=seed,
    )
    assert [finding.name for finding in report.findings] == list(BY_NAME)
    assert report.concerns == ()
    for finding in report.findings:
        low, high = finding.interval
        assert low <= finding.value <= high
        assert finding.advice.count(".") == 1
        assert finding.advice.endswith(".")


@pytest.mark.parametrize(("factor", "concern"), [(1.0, False), (4.0, True), (16.0, True)])
def test_homogeneity(factor, concern):
    rng = np.random.default_rng(0)
    z = rng.uniform(-(3**0.5), 3**0.5, size=(N, 3))
    values = 16.0 * factor ** (np.array([1.0, -1.0, 0.0]) * z[:, :1] / (2 * 3**0.5))
    found = look("homogeneity", (z, z + rng.normal(size=z.shape) / np.sqrt(values)))
    assert found.concern == concern
    assert found.status == ("concern" if concern else "fine")
    varies = max(found.details["varies_by"])
    assert 0.6 * factor < varies < 2.2 * factor
    assert ('concentration="per-anchor"' in found.advice) == concern


def test_an_edge_of_the_anchors_is_no_lack_of_homogeneity():
    rng = np.random.default_rng(0)
    z = rng.exponential(size=(N, 3))
    assert not look("homogeneity", (z, z + [0.5, 0.4, 0.3] * rng.normal(size=z.shape))).concern


def test_a_sphere_bends_steps_that_are_alike_in_flat_space():
    rng = np.random.default_rng(0)
    z = rng.uniform(-2, 2, size=(N, 2))

    def bent(rows):
        lifted = np.c_[rows, np.ones(len(rows))]
        return lifted / np.linalg.norm(lifted, axis=1, keepdims=True)

    pairs = z, z + 0.3 * rng.normal(size=z.shape)
    assert not look("homogeneity", pairs).concern
    assert look("homogeneity", pairs, encoder=bent).concern


def test_identifiability():
    x, x_pos = clean()
    found = look("identifiability", (x, x_pos), encoder=lambda rows: rows[:, :3], latents=x)
    assert found.concern
    assert "[3, 4]" in found.advice
    assert found.interval[0] < 0.6 < found.interval[1]


def test_classes():
    x, x_pos = clean()
    noise = np.random.default_rng(0).integers(3, size=N)
    assert look("classes", (x, x_pos), labels=noise).concern
    lost = look("classes", (x, x_pos), encoder=lambda rows: rows[:, 1:], labels=x[:, 0] > 0)
    assert lost.concern


def test_readout():
    def moved(rows):
        return rows + np.eye(DIM)[0]

    def wider(rows):
        return rows * np.array([3.0, 1, 1, 1, 1])

    data, options = clean(), {"augmentations": {"moved": moved, "wider": wider, "same": same}}
    assert not look("readout", data, **options).concern
    found = look("readout", data, encoder=lambda rows: rows[:, 1:], **options)
    assert found.concern
    assert "moved, wider was" in found.advice
    assert not found.details["same"]["lost"]  # it never showed in the data
    assert look("readout", data) is None


def test_collapse():
    thin = np.diag([1.0, 1.0, 1e-2, 1e-2, 1e-2])
    assert look("collapse", clean(), encoder=lambda rows: rows @ thin).concern
    dead = look("collapse", clean(), encoder=lambda rows: np.c_[rows, np.ones(len(rows))])
    assert dead.concern
    assert dead.details["dead_columns"] == [DIM]


def test_spectrum():
    found = look("spectrum", clean([5.0, 5.0, 5.0, 25.0, 25.0]))
    assert found.concern
    assert "3 of 5 directions" in found.advice
    # The largest of several estimates over the smallest: a little more than the true 5, on most seeds.
    assert 4.5 < found.value < 6.5
    # Seen through a rotation, too.
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(DIM, DIM)))[0]
    turned = look("spectrum", clean([5.0, 5.0, 5.0, 25.0, 25.0]), encoder=lambda rows: rows @ turn)
    np.testing.assert_allclose(turned.value, found.value, rtol=1e-3)


def test_overlap():
    never = look("overlap", clean(1e5))
    assert never.concern
    assert "never meet" in never.advice
    x, x_pos = clean()
    broken = look("overlap", (x, np.roll(x_pos, 1, axis=0)))
    assert broken.concern
    assert abs(broken.details["one_negative_nearer"] - 0.5) < 0.02


def test_uniformity():
    def one_sided(rows):
        moved = rows + 0.3 * np.eye(DIM)[0]
        return moved / np.linalg.norm(moved, axis=1, keepdims=True)

    def crowded(rows):
        stretched = rows * np.array([2.0, 1, 1, 1, 1])
        return stretched / np.linalg.norm(stretched, axis=1, keepdims=True)

    found = look("uniformity", clean(), encoder=one_sided)
    assert found.concern
    assert found.details["rayleigh_p"] < 1e-6
    found = look("uniformity", clean(), encoder=crowded)
    assert found.concern
    assert found.details["rayleigh_p"] > 1e-3
    assert found.details["bingham_p"] < 1e-6


def two_kinds(rng, shape):
    """Steps of two modes along the first direction."""
    side = np.where(rng.random((shape[0], 1)) < 0.5, 1.0, -1.0)
    return rng.normal(size=shape) * 0.3 + side * np.eye(DIM)[0]


def test_conditional():
    assert not look("conditional", flat(lambda rng, shape: rng.normal(size=shape))).concern
    heavy = look("conditional", flat(lambda rng, shape: rng.laplace(size=shape)))
    assert heavy.concern
    assert "heavier tails" in heavy.advice
    assert heavy.interval[0] < 3 < heavy.interval[1] + 2
    # Of different size, or any rotation of the directions would do as well, and mix them to something normal.
    sizes = np.array([0.3, 0.5, 0.8, 1.3, 2.0])
    light = look("conditional", flat(lambda rng, shape: sizes * rng.uniform(-1, 1, size=shape)))
    assert light.concern
    assert "lighter tails" in light.advice
    bimodal = look("conditional", flat(two_kinds))
    assert bimodal.concern
    assert sum(bimodal.details["two_modes"]) >= 1
    skewed = look("conditional", flat(lambda rng, shape: np.array([3, 1, 1, 1, 1]) * rng.gumbel(size=shape)))
    assert skewed.concern


def test_shift():
    x, x_pos = clean()
    assert look("shift", (x, x_pos + 0.3)).concern
    assert look("shift", (x, 1.5 * x_pos), encoder=lambda rows: rows).concern


def test_calibration():
    """Steps of two sizes: where they are small the model is not sure enough, elsewhere too sure."""

    def mixed(rng, shape):
        return rng.normal(size=shape) * np.where(rng.random((shape[0], 1)) < 0.5, 0.2, 2.5)

    found = look("calibration", flat(mixed))
    assert found.concern
    assert found.details["p"] < 0.01
    assert not look("calibration", clean(seed=4)).concern


def test_a_ratio_to_nothing_has_no_value_and_is_never_fine():
    """A column of noise among few pairs: the smallest Λ̂ cannot be told from 0."""
    (x, x_pos), noise = clean(n=400), np.random.default_rng(0).normal(size=(2, 400, 1))
    found = look("spectrum", (np.c_[x, 0.5 * noise[0]], np.c_[x_pos, 0.5 * noise[1]]))
    assert found.value is None
    assert found.interval[1] == np.inf
    assert found.status != "fine"
    assert "share nothing" in found.advice
    assert "at least" in str(found)
    broken = look("spectrum", (x, np.roll(x_pos, 1, axis=0)))
    assert broken.status == "undetermined"
    assert "ratio is undetermined" in broken.advice


def test_readout_is_judged_by_what_the_data_show():
    """Noise that the data show well and the embedding hardly, though still better than by guessing."""
    x = np.random.default_rng(0).normal(size=(4000, 10))

    def noisy(rows):
        return rows + np.random.default_rng(1).normal(size=rows.shape)

    found = look("readout", x, encoder=lambda rows: rows[:, :1], augmentations={"noisy": noisy})
    row = found.details["noisy"]
    assert row["low"] > 0.5
    assert row["in_x"] > 0.75
    assert found.concern
    assert found.interval[0] > 0.5
    nothing = look("readout", x, augmentations={"same": same})
    assert nothing.status == "not judged"
    assert "do not show whether same was applied" in nothing.advice


def test_a_constant_embedding_is_a_collapse_and_nothing_else_is_judged():
    x, x_pos = clean()
    changes = {"moved": lambda rows: rows + 1}
    report = audit(lambda rows: np.ones((len(rows), 3)), (x, x_pos), changes, x, labels=x[:, 0] > 0)
    first, *others = report.findings
    assert first.name == "collapse"
    assert first.concern
    assert first.value == 0
    assert {finding.name for finding in others} == set(BY_NAME) - {"collapse"}
    for finding in others:
        assert finding.status == "not judged"
        assert "the embedding is constant" in finding.advice
    assert "stronger augmentations" not in str(report)
    assert "AnInfoNCE" not in str(report)


def test_one_direction_is_no_spectrum():
    x, x_pos = clean(n=400)
    twice = audit(lambda rows: rows[:, [0, 0]], (x, x_pos))
    assert twice["collapse"].concern
    assert twice["spectrum"].status == "not judged"
    assert twice["uniformity"].status == "not judged"
