from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from aninfonce.metrics import mean_correlation_coefficient

once = settings(derandomize=True, deadline=None, max_examples=25)


def brute_force(z, e, correlate):
    """Best mean |correlation| over all one-to-one matchings, by trying them; k ≤ d."""
    table = [[abs(correlate(a, b)) for b in e.T] for a in z.T]
    return max(
        np.mean([table[i][j] for i, j in enumerate(choice)])
        for choice in permutations(range(e.shape[1]), z.shape[1])
    )


def pearson(a, b):
    return np.corrcoef(a, b)[0, 1]


def spearman(a, b):
    return spearmanr(a, b).statistic


@pytest.mark.parametrize(("method", "correlate"), [("pearson", pearson), ("spearman", spearman)])
@pytest.mark.parametrize("wide", [3, 5])
def test_against_all_matchings(latents, method, correlate, wide):
    rng = np.random.default_rng(0)
    z = latents[:100, :3]
    e = np.exp(z @ rng.normal(size=(3, wide))) + rng.normal(size=(100, wide))
    score = mean_correlation_coefficient(z, e, method=method)
    assert score.mean == float(score) == pytest.approx(brute_force(z, e, correlate), abs=1e-12)
    for i, (j, value, sign) in enumerate(zip(score.matching, score.per_dimension, score.signs, strict=True)):
        assert sign * value == pytest.approx(correlate(z[:, i], e[:, j]), abs=1e-12)
    assert len(set(score.matching)) == 3


def test_perfect(latents):
    score = mean_correlation_coefficient(latents, -3 * latents[:, ::-1] + 2)
    assert score.mean == pytest.approx(1.0)
    assert score.matching == (4, 3, 2, 1, 0)
    assert score.signs == (-1,) * 5
    assert not score.flags


def test_spearman_forgives_monotone_distortion(latents):
    assert mean_correlation_coefficient(
        latents, np.exp(3 * latents), method="spearman"
    ).mean == pytest.approx(1.0)
    assert mean_correlation_coefficient(latents, np.exp(3 * latents)).mean < 0.8


def test_rotation_within_a_block_lowers_it():
    z = np.random.default_rng(0).normal(size=(5000, 2))
    rotation = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    assert mean_correlation_coefficient(z, z @ rotation).mean == pytest.approx(np.sqrt(0.5), abs=0.02)


def test_shuffled(latents, shuffled):
    assert mean_correlation_coefficient(latents, shuffled).mean < 0.1


def test_constant_latents_and_embeddings_are_flagged(latents):
    z, e = latents.copy(), latents.copy()
    z[:, 1] = 0.1
    e[:, 3] = 7.0
    for method in ("pearson", "spearman"):
        score = mean_correlation_coefficient(z, e, method=method)
        assert score.constant_latents == (1,)
        assert score.constant_embeddings == (3,)
        assert score.per_dimension[1] == 0.0
        assert score.signs[1] == 0
        assert score.mean == pytest.approx((3 + score.per_dimension[3]) / 4)
        assert len(score.flags) == 2
    nothing = mean_correlation_coefficient(np.ones((10, 3)), np.ones((10, 4)))
    assert nothing.mean == 0.0
    assert nothing.per_dimension == (0.0,) * 3


def test_duplicated(latents):
    score = mean_correlation_coefficient(latents[:, [0, 0]], latents)
    assert score.matching[0] != score.matching[1]
    assert max(score.per_dimension) == pytest.approx(1.0)
    assert mean_correlation_coefficient(latents, latents[:, [0, 0, 1, 2, 3, 4]]).mean == pytest.approx(1.0)


def test_fewer_dimensions_than_latents_count_as_lost(latents):
    score = mean_correlation_coefficient(latents, latents[:, [3, 1]])
    assert score.matching == (None, 1, None, 0, None)
    assert score.mean == pytest.approx(2 / 5)


class TestNoisePadding:
    def test_is_the_kitti_protocol(self, latents):
        z, e = latents[:, :3], latents @ np.random.default_rng(1).normal(size=(5, 6))
        noise = torch.randn((600, 3), generator=torch.Generator().manual_seed(7), dtype=torch.float64).numpy()
        padded = np.concatenate([z, noise], axis=1)
        table = np.abs([[spearman(a, b) for b in e.T] for a in padded.T])
        best = max(permutations(range(6)), key=lambda choice: sum(table[i, j] for i, j in enumerate(choice)))
        score = mean_correlation_coefficient(
            z, e, method="spearman", padding="noise", generator=torch.Generator().manual_seed(7)
        )
        assert score.matching == best[:3]
        assert score.per_dimension == pytest.approx([table[i, best[i]] for i in range(3)], abs=1e-12)

    def test_equal_dimensions_need_no_noise(self, latents):
        generator = torch.Generator().manual_seed(0)
        padded = mean_correlation_coefficient(latents, latents, padding="noise", generator=generator)
        assert padded.per_dimension == mean_correlation_coefficient(latents, latents).per_dimension

    def test_never_beats_the_free_matching(self, latents, shuffled):
        generator = torch.Generator().manual_seed(0)
        free = mean_correlation_coefficient(latents[:, :2], shuffled)
        padded = mean_correlation_coefficient(latents[:, :2], shuffled, padding="noise", generator=generator)
        assert padded.mean <= free.mean + 1e-12

    def test_leaves_the_global_random_state_alone(self, latents):
        before = torch.get_rng_state()
        generator = torch.Generator().manual_seed(0)
        mean_correlation_coefficient(latents[:, :2], latents, padding="noise", generator=generator)
        assert torch.equal(before, torch.get_rng_state())

    def test_needs_a_generator(self, latents):
        with pytest.raises(ValueError, match=r"`generator` must be a torch.Generator.*None"):
            mean_correlation_coefficient(latents, latents, padding="noise")


@once
@given(seed=st.integers(0, 10_000), d=st.integers(1, 5), method=st.sampled_from(["pearson", "spearman"]))
def test_invariant_to_permutation_sign_and_scale(seed, d, method):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(40, 3))
    e = rng.normal(size=(40, d)) + z[:, :1]
    moved = e[:, rng.permutation(d)] * rng.choice([-1, 1], size=d) * 10 ** rng.uniform(-3, 3, size=d) + 1
    assert mean_correlation_coefficient(z, moved, method=method).mean == pytest.approx(
        mean_correlation_coefficient(z, e, method=method).mean, abs=1e-9
    )


@once
@given(seed=st.integers(0, 10_000), n=st.integers(3, 6), k=st.integers(1, 5), d=st.integers(1, 5))
def test_never_nan(seed, n, k, d):
    rng = np.random.default_rng(seed)
    z, e = rng.integers(0, 2, size=(n, k)), rng.integers(0, 2, size=(n, d))
    for method in ("pearson", "spearman"):
        score = mean_correlation_coefficient(z, e, method=method)
        assert 0.0 <= min(score.per_dimension) <= max(score.per_dimension) <= 1.0
        assert 0.0 <= score.mean <= 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(embeddings=np.ones((5, 2))), "`embeddings` must have as many rows as `latents`, 600"),
        (dict(latents=np.ones(600)), r"`latents`.*\(600,\)"),
        (dict(latents=np.full((600, 2), np.inf)), "`latents` must be finite.*600 of 600"),
        (dict(latents=np.ones((2, 1)), embeddings=np.ones((2, 1))), "`latents` must have at least 3 row"),
        (dict(method="kendall"), "`method` must be one of 'pearson', 'spearman'"),
        (dict(padding="zeros"), "`padding` must be one of 'none', 'noise'"),
    ],
)
def test_bad_input_is_refused_by_name(latents, change, message):
    with pytest.raises(ValueError, match=message):
        mean_correlation_coefficient(**(dict(latents=latents, embeddings=latents) | change))
