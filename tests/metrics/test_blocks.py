import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

from aninfonce.metrics import block_orthogonality

once = settings(derandomize=True, deadline=None, max_examples=25)
TRUTH = np.array([25.0, 5.0, 5.0, 25.0, 100.0])
BLOCKS = ((1, 2), (0, 3), (4,))


def block_rotation(rng):
    """A random orthogonal map within each block of TRUTH."""
    rotation = np.zeros((5, 5))
    for block in BLOCKS:
        q, _ = np.linalg.qr(rng.normal(size=(len(block), len(block))))
        rotation[np.ix_(block, block)] = q
    return rotation


def test_perfect_block_rotation_in_another_order(latents):
    rotation = block_rotation(np.random.default_rng(0))
    order = np.array([4, 0, 2, 1, 3])
    learned = TRUTH * np.array([1.02, 0.97, 1.01, 0.99, 1.03])
    score = block_orthogonality(latents, (latents @ rotation.T + 1.5)[:, order], TRUTH, learned[order])
    assert score.residual == float(score) < 1e-12
    assert score.off_block_energy < 1e-24
    assert score.within_block_deviation < 1e-12
    assert score.blocks == BLOCKS
    assert score.fit_r2 == pytest.approx(1.0)
    assert not score.flags
    # The matching sends each block of latents onto its own embedding dimensions.
    for block in BLOCKS:
        assert {order[score.matching[i]] for i in block} == set(block)


def test_rotation_across_blocks_is_off_block(latents):
    c, s = np.cos(0.4), np.sin(0.4)
    mixing = np.eye(5)
    mixing[np.ix_([0, 4], [0, 4])] = [[c, -s], [s, c]]
    score = block_orthogonality(latents, latents @ mixing.T, TRUTH, TRUTH)
    np.testing.assert_allclose(score.map, mixing[np.ix_(range(5), range(5))], atol=1e-12)
    assert score.off_block_energy == pytest.approx(2 * s**2 / 5)
    # The polar factor of diag(c, 1) is the identity.
    assert score.within_block_deviation == pytest.approx(np.sqrt(2 * (1 - c) ** 2 / 5))
    assert score.residual == pytest.approx(np.sqrt((2 * s**2 + 2 * (1 - c) ** 2) / 5))


def test_scaling_is_within_block(latents):
    score = block_orthogonality(latents, latents * [1, 1, 1, 1, 1.5], TRUTH, TRUTH)
    assert score.per_block == pytest.approx((0.0, 0.0, 0.5), abs=1e-12)
    assert score.off_block_energy < 1e-24
    assert score.within_block_deviation == score.residual == pytest.approx(0.5 / np.sqrt(5))


def test_no_block_orthogonal_matrix_is_nearer(latents):
    mixing = np.random.default_rng(3).normal(size=(5, 5))
    score = block_orthogonality(latents, latents @ mixing.T, TRUTH, TRUTH)
    rng = np.random.default_rng(4)
    trials = [np.linalg.norm(score.map - block_rotation(rng)) / np.sqrt(5) for _ in range(500)]
    assert score.residual <= min(trials)


def test_equal_concentrations_allow_any_rotation(latents):
    rotation = ortho_group.rvs(5, random_state=0)
    score = block_orthogonality(latents, latents @ rotation, np.full(5, 5.0), np.linspace(4.9, 5.1, 5))
    assert score.residual < 1e-12
    assert score.blocks == ((0, 1, 2, 3, 4),)


def test_tolerance_joins_blocks(latents):
    truth = np.array([5.0, 5.01, 5.02, 25.0, 25.1])
    assert len(block_orthogonality(latents, latents, truth, truth).blocks) == 5
    assert block_orthogonality(latents, latents, truth, truth, tolerance=0.01).blocks == ((0, 1, 2), (3, 4))


def test_wrong_order_of_learned_concentrations_shows(latents):
    assert block_orthogonality(latents, latents, TRUTH, TRUTH[::-1].copy()).off_block_energy > 0.5


def test_shuffled_latents_give_no_map(latents, shuffled):
    score = block_orthogonality(latents, shuffled, TRUTH, TRUTH)
    assert score.residual > 0.8
    assert score.fit_r2 < 0.05


def test_degenerate_input_is_flagged(latents):
    z = latents.copy()
    z[:, 2] = 3.0
    constant = block_orthogonality(z, latents, TRUTH, TRUTH)
    assert constant.flags == ("constant latents [2]", "latents have rank 4 of 5: the map is not determined")
    duplicated = block_orthogonality(latents[:, [0, 0, 1, 2, 3]], latents, TRUTH, TRUTH)
    assert duplicated.flags == ("latents have rank 4 of 5: the map is not determined",)
    collapsed = block_orthogonality(latents, np.ones((600, 5)), TRUTH, TRUTH)
    assert collapsed.residual == pytest.approx(1.0)
    assert collapsed.fit_r2 == 0.0
    assert collapsed.flags == ("constant embedding dimensions [0, 1, 2, 3, 4]",)
    for score in (constant, duplicated, collapsed):
        assert np.isfinite(score.map).all()
        assert np.isfinite([score.residual, score.off_block_energy, score.within_block_deviation]).all()


def test_units_of_the_latents(latents):
    scale = 1e-30
    score = block_orthogonality(latents * scale, latents, TRUTH, TRUTH)
    np.testing.assert_allclose(score.map * scale, np.eye(5), atol=1e-12)
    assert not score.flags
    assert np.isfinite(block_orthogonality(latents * 1e-130, latents * 1e130, TRUTH, TRUTH).residual)


def test_tensors_and_zero_concentration(latents):
    z = torch.tensor(latents, dtype=torch.float32)
    truth = torch.tensor([0.0, 0.0, 5.0, 5.0, 25.0])
    score = block_orthogonality(z, z, truth, truth)
    assert score.residual < 1e-6
    assert score.blocks == ((0, 1), (2, 3), (4,))


@once
@given(seed=st.integers(0, 10_000))
def test_invariant_to_block_rotation_and_reordering(seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(60, 5))
    e = z + 0.3 * rng.normal(size=(60, 5))
    learned = TRUTH + np.array([0.1, 0.05, -0.05, -0.1, 2.0])
    order = rng.permutation(5)
    plain = block_orthogonality(z, e, TRUTH, learned)
    moved = block_orthogonality(z, (e @ block_rotation(rng).T)[:, order], TRUTH, learned[order])
    for name in ("residual", "off_block_energy", "within_block_deviation", "per_block", "fit_r2"):
        assert getattr(moved, name) == pytest.approx(getattr(plain, name), abs=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            dict(embeddings=np.ones((600, 6))),
            r"`embeddings` must have as many columns as `latents`, 5.*\(600, 6\)",
        ),
        (dict(embeddings=np.ones((60, 5))), "`embeddings` must have as many rows as `latents`, 600"),
        (
            dict(concentration=np.ones(4)),
            r"`concentration` must have as many entries as `latents`, 5.*\(4,\)",
        ),
        (dict(concentration_hat=np.ones((5, 1))), r"`concentration_hat`.*shape \(d,\).*\(5, 1\)"),
        (dict(concentration_hat=np.full(5, np.nan)), "`concentration_hat` must be finite"),
        (dict(concentration=-TRUTH), "`concentration` must be at least 0"),
        (dict(tolerance=-1.0), "`tolerance`"),
    ],
)
def test_bad_input_is_refused_by_name(latents, change, message):
    arguments = dict(latents=latents, embeddings=latents, concentration=TRUTH, concentration_hat=TRUTH)
    with pytest.raises(ValueError, match=message):
        block_orthogonality(**(arguments | change))
