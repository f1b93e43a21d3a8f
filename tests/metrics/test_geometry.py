import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from aninfonce.metrics import alignment, rankme, uniformity

once = settings(derandomize=True, deadline=None, max_examples=25)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class TestRankme:
    def test_against_the_singular_values(self, latents):
        singular = np.linalg.svd(latents, compute_uv=False)
        p = singular / singular.sum()
        assert rankme(latents) == pytest.approx(np.exp(-(p * np.log(p)).sum()))

    def test_collapse_duplication_and_nothing(self, latents):
        assert rankme(np.ones((50, 8))) == pytest.approx(1.0)
        assert rankme(np.zeros((50, 8))) == 0.0
        assert rankme(latents[:, :1] * np.ones(8)) == pytest.approx(1.0)
        assert rankme(np.tile(latents, 3)) == pytest.approx(rankme(latents))
        assert rankme(np.ones((1, 3))) == pytest.approx(1.0)

    @once
    @given(
        seed=st.integers(0, 10_000), n=st.integers(1, 9), d=st.integers(1, 9), scale=st.floats(1e-200, 1e200)
    )
    def test_bounds_rotation_and_scale(self, seed, n, d, scale):
        rng = np.random.default_rng(seed)
        e = rng.normal(size=(n, d))
        rotation, _ = np.linalg.qr(rng.normal(size=(d, d)))
        assert 1 - 1e-9 <= rankme(e) <= min(n, d) + 1e-9
        assert rankme(scale * e @ rotation) == pytest.approx(rankme(e))


class TestAlignment:
    def test_by_hand(self, latents):
        other = latents + 0.1 * np.random.default_rng(0).normal(size=latents.shape)
        distance = np.linalg.norm(unit(latents) - unit(other), axis=1)
        assert alignment(latents, other) == pytest.approx((distance**2).mean())
        assert alignment(latents, other, alpha=1) == pytest.approx(distance.mean())
        raw = np.linalg.norm(latents - other, axis=1)
        assert alignment(latents, other, normalize=False) == pytest.approx((raw**2).mean())

    def test_perfect_shuffled_constant(self, latents, shuffled):
        assert alignment(latents, latents) == 0.0
        assert alignment(np.ones((9, 2)), np.ones((9, 2))) == 0.0
        assert alignment(latents, shuffled) == pytest.approx(2.0, abs=0.2)
        assert alignment(np.zeros((9, 2)), np.zeros((9, 2))) == 0.0

    def test_bad_input_is_refused_by_name(self, latents):
        with pytest.raises(ValueError, match="`positives` must have as many rows as `embeddings`, 600"):
            alignment(latents, latents[:5])
        with pytest.raises(ValueError, match="`positives` must have as many columns"):
            alignment(latents, latents[:, :2])
        with pytest.raises(ValueError, match="`alpha`"):
            alignment(latents, latents, alpha=0)


class TestUniformity:
    @pytest.mark.parametrize("tile", [1, 50, 599, 600, 4096])
    def test_against_all_pairs(self, latents, tile):
        rows = latents if tile > 1 else latents[:30]
        expected = np.log(np.exp(-2 * pdist(unit(rows)) ** 2).mean())
        assert uniformity(rows, tile=tile) == pytest.approx(expected, abs=1e-12)
        raw = np.log(np.exp(-0.5 * pdist(rows) ** 2).mean())
        assert uniformity(rows, t=0.5, normalize=False, tile=tile) == pytest.approx(raw, abs=1e-12)

    def test_order_of_embeddings(self):
        rng = np.random.default_rng(0)
        uniform = rng.normal(size=(500, 4))
        half = np.abs(uniform)
        assert -4 < uniformity(uniform) < uniformity(half) < uniformity(np.ones((500, 4))) + 1e-12
        assert uniformity(np.ones((500, 4))) == pytest.approx(0.0, abs=1e-12)
        assert uniformity(np.zeros((5, 4))) == pytest.approx(0.0, abs=1e-12)

    def test_far_apart_rows_do_not_underflow(self):
        assert uniformity(np.array([[0.0], [100.0]]), normalize=False) == pytest.approx(-20_000)

    def test_memory_does_not_grow_with_the_square(self):
        e = np.random.default_rng(0).normal(size=(6000, 4))
        tracemalloc.start()
        uniformity(e, tile=256)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 6000**2 * 8 / 20

    @once
    @given(seed=st.integers(0, 10_000), d=st.integers(2, 5))
    def test_invariant_to_rotation_and_length(self, seed, d):
        rng = np.random.default_rng(seed)
        e = rng.normal(size=(20, d))
        rotation, _ = np.linalg.qr(rng.normal(size=(d, d)))
        moved = (e @ rotation) * rng.uniform(1e-3, 1e3, size=(20, 1))
        assert uniformity(moved) == pytest.approx(uniformity(e), abs=1e-9)

    def test_bad_input_is_refused_by_name(self):
        with pytest.raises(ValueError, match="`embeddings` must have at least 2 row"):
            uniformity(torch.ones(1, 3))
        with pytest.raises(ValueError, match="`t` must be a finite number above 0"):
            uniformity(torch.ones(3, 3), t=-1.0)
        with pytest.raises(ValueError, match=r"`embeddings` must be finite.*1 of 2 row"):
            uniformity(torch.tensor([[1.0], [float("nan")]]))
        with pytest.raises(ValueError, match=r"`embeddings` must be at most 1e140.*1e\+200"):
            uniformity(np.full((3, 3), 1e200), normalize=False)
