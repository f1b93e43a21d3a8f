import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from aninfonce.metrics import linear_r2

once = settings(derandomize=True, deadline=None, max_examples=25)


def nonlinear(z):
    rng = np.random.default_rng(3)
    return np.tanh(z @ rng.normal(size=(z.shape[1], 7))) + 0.2 * rng.normal(size=(len(z), 7))


def test_perfect(latents):
    mixing = np.random.default_rng(0).normal(size=(5, 5))
    for fit in ("held-out", "same"):
        score = linear_r2(latents, latents @ mixing + 4.0, fit=fit)
        assert score.per_dimension == pytest.approx([1.0] * 5, abs=1e-12)
        assert not score.flags
        assert not score.rank_deficient


def test_same_is_the_papers_protocol(latents):
    e = nonlinear(latents)
    model = LinearRegression().fit(e, latents)
    expected = r2_score(latents, model.predict(e), multioutput="raw_values")
    score = linear_r2(latents, e, fit="same")
    assert score.per_dimension == pytest.approx(expected, abs=1e-12)
    assert score.mean == float(score) == pytest.approx(expected.mean(), abs=1e-12)


def test_held_out_is_cross_fitted_over_even_and_odd_rows(latents):
    e = nonlinear(latents)
    predicted = np.empty_like(latents)
    predicted[1::2] = LinearRegression().fit(e[::2], latents[::2]).predict(e[1::2])
    predicted[::2] = LinearRegression().fit(e[1::2], latents[1::2]).predict(e[::2])
    expected = r2_score(latents, predicted, multioutput="raw_values")
    assert linear_r2(latents, e).per_dimension == pytest.approx(expected, abs=1e-12)


def test_held_out_does_not_reward_a_wide_embedding_of_noise():
    rng = np.random.default_rng(1)
    z, noise = rng.normal(size=(200, 2)), rng.normal(size=(200, 90))
    assert linear_r2(z, noise, fit="same").mean > 0.3
    assert linear_r2(z, noise).mean < 0.0


def test_shuffled(latents, shuffled):
    assert abs(linear_r2(latents, shuffled).mean) < 0.05


def test_constant_latent_is_flagged_and_left_out_of_the_mean(latents):
    z = latents.copy()
    z[:, 2] = 0.1
    score = linear_r2(z, latents, partitions={"varies": [0, 2], "constant": [2]})
    assert score.constant_latents == (2,)
    assert score.per_dimension[2] == 0.0
    assert score.mean == pytest.approx(1.0)
    assert score.per_partition == {"varies": pytest.approx(1.0), "constant": 0.0}
    assert any("constant latents [2]" in flag for flag in score.flags)


def test_all_constant_on_either_side(latents):
    nothing = np.full((600, 3), 1 / 3)
    score = linear_r2(nothing, latents)
    assert score.mean == 0.0
    assert score.constant_latents == (0, 1, 2)
    collapsed = linear_r2(latents, nothing)
    assert collapsed.rank_deficient
    assert -0.05 < collapsed.mean <= 0.0
    assert linear_r2(latents, nothing, fit="same").per_dimension == pytest.approx([0.0] * 5, abs=1e-12)


def test_collapse_up_to_float32_rounding_is_a_collapse(latents):
    rng = np.random.default_rng(5)
    collapsed = np.float32(0.3) * (1 + rng.choice([0, 6e-8], size=(600, 4)))
    score = linear_r2(latents, collapsed.astype(np.float32))
    assert score.rank_deficient
    assert "embedding has rank 0 of 4" in score.flags


def test_duplicated_dimensions_change_nothing_and_are_flagged(latents):
    e = nonlinear(latents)
    doubled = np.concatenate([e, e, e[:, :1] - 2 * e[:, 1:2]], axis=1)
    score = linear_r2(latents, doubled)
    assert score.per_dimension == pytest.approx(linear_r2(latents, e).per_dimension, abs=1e-9)
    assert score.rank_deficient
    assert "embedding has rank 7 of 15" in score.flags


def test_duplicated_latents_score_alike(latents):
    z = latents[:, [0, 0, 1]]
    score = linear_r2(z, nonlinear(latents))
    assert score.per_dimension[0] == score.per_dimension[1]


def test_more_dimensions_than_rows_is_minimum_norm_and_flagged():
    rng = np.random.default_rng(2)
    z, e = rng.normal(size=(40, 2)), rng.normal(size=(40, 120))
    centred = (e[::2] - e[::2].mean(axis=0)) / e[::2].std(axis=0)
    weights = np.linalg.pinv(centred) @ (z[::2] - z[::2].mean(axis=0))
    odd = (e[1::2] - e[::2].mean(axis=0)) / e[::2].std(axis=0) @ weights + z[::2].mean(axis=0)
    centred = (e[1::2] - e[1::2].mean(axis=0)) / e[1::2].std(axis=0)
    weights = np.linalg.pinv(centred) @ (z[1::2] - z[1::2].mean(axis=0))
    even = (e[::2] - e[1::2].mean(axis=0)) / e[1::2].std(axis=0) @ weights + z[1::2].mean(axis=0)
    predicted = np.stack([even, odd], axis=1).reshape(40, 2)
    score = linear_r2(z, e)
    assert score.per_dimension == pytest.approx(r2_score(z, predicted, multioutput="raw_values"), abs=1e-9)
    assert len(score.flags) == 2
    assert linear_r2(z, e, fit="same").mean == pytest.approx(1.0)
    assert any("interpolates" in flag for flag in linear_r2(z, e, fit="same").flags)


def test_partitions_as_sequence_or_mapping(latents):
    e = latents[:, :2]
    by_name = linear_r2(latents, e, partitions={"kept": [0, 1], "lost": (2, 3, 4)})
    by_order = linear_r2(latents, e, partitions=[np.array([0, 1]), torch.tensor([2, 3, 4])])
    assert list(by_name.per_partition) == ["kept", "lost"]
    assert by_name.per_partition["kept"] == pytest.approx(1.0)
    assert by_name.per_partition["lost"] < 0.01
    assert list(by_order.per_partition.items()) == list(
        zip("01", by_name.per_partition.values(), strict=True)
    )


def test_extreme_scales_neither_overflow_nor_vanish(latents):
    scales = np.array([1e300, 1e-300, 1.0, 1e8, 1e-8])
    assert linear_r2(latents * scales, latents[:, ::-1] * scales).mean == pytest.approx(1.0)


def test_an_outlier_beyond_all_scales_stays_finite(latents):
    for size in (1e20, 1e100, 1e300):
        e = latents.copy()
        e[3, 0] = size
        for fit in ("held-out", "same"):
            score = linear_r2(latents, e, fit=fit)
            assert np.isfinite(score.per_dimension).all()
            assert score.rank_deficient == (fit == "held-out")


def test_ill_conditioned_embedding(latents):
    # a condition number of 1e9, whose square would leave nothing of the normal equations
    left, _, right = np.linalg.svd(np.random.default_rng(0).normal(size=(5, 5)))
    score = linear_r2(latents, latents @ (left * np.logspace(0, -9, 5)) @ right)
    assert score.mean == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_tensors_of_any_float_type(latents, dtype):
    z = torch.tensor(latents, dtype=dtype)
    e = (2 * z).requires_grad_()
    assert linear_r2(z, e).mean == pytest.approx(1.0, abs=1e-9)


def test_integer_and_boolean_latents():
    z = np.random.default_rng(0).integers(0, 5, size=(100, 2))
    assert linear_r2(np.concatenate([z, z > 2], axis=1), np.concatenate([z, z > 2], axis=1)).mean > 0.999
    assert linear_r2(z > 2, z > 2).mean > 0.999


def test_repr_is_short(latents):
    score = linear_r2(latents[:, :2], latents, partitions={"a": [0]})
    assert repr(score) == (
        "R2Score(mean=1, per_dimension=(1, 1), per_partition={'a': 1}, protocol='linear, held-out halves')"
    )


@once
@given(seed=st.integers(0, 10_000), scale=st.floats(1e-3, 1e3), wide=st.integers(1, 6))
def test_invariant_to_invertible_affine_maps(seed, scale, wide):
    rng = np.random.default_rng(seed)
    z, e = rng.normal(size=(60, 3)), rng.normal(size=(60, wide))
    e[:, 0] += z[:, 0]
    # well away from singular: an orthogonal map times scales within a factor of ten
    orthogonal, _ = np.linalg.qr(rng.normal(size=(wide, wide)))
    mapped = e @ (orthogonal * rng.uniform(1, 10, size=wide)) * scale + rng.normal(size=wide)
    for fit in ("held-out", "same"):
        assert linear_r2(z, mapped, fit=fit).per_dimension == pytest.approx(
            linear_r2(z, e, fit=fit).per_dimension, abs=1e-8
        )


@once
@given(seed=st.integers(0, 10_000), n=st.integers(4, 12), k=st.integers(1, 4), d=st.integers(1, 20))
def test_never_nan_never_above_one(seed, n, k, d):
    rng = np.random.default_rng(seed)
    z, e = rng.integers(0, 2, size=(n, k)), rng.integers(-1, 2, size=(n, d))
    for fit in ("held-out", "same"):
        score = linear_r2(z, e, fit=fit)
        assert np.isfinite([score.mean, *score.per_dimension]).all()
        assert max(score.per_dimension) <= 1.0


def nan_rows(z):
    z = z.copy()
    z[[3, 7], [0, 1]] = np.nan
    return z


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda z: dict(latents=z[:-1]),
            r"`embeddings` must have as many rows as `latents`, 599.*\(600, 5\)",
        ),
        (lambda z: dict(latents=z[:, 0]), r"`latents`.*shape \(N, d\).*\(600,\).*reshape"),
        (lambda z: dict(embeddings=nan_rows(z)), r"`embeddings` must be finite.*2 of 600 row"),
        (lambda z: dict(latents=torch.tensor(nan_rows(z))), r"`latents` must be finite.*2 of 600 row"),
        (lambda z: dict(latents=z[:0], embeddings=z[:0]), r"`latents` must have at least 4 row.*\(0, 5\)"),
        (lambda z: dict(embeddings=z[:, :0]), r"`embeddings`.*1 column.*\(600, 0\)"),
        (lambda z: dict(latents=z.astype(complex)), "`latents` must be an array"),
        (lambda z: dict(latents="z"), "`latents` must be an array.*'z'"),
        (lambda z: dict(latents=[[1.0], [2.0, 3.0]]), "`latents` must be an array"),
        (lambda z: dict(fit="train"), "`fit` must be one of 'held-out', 'same', got 'train'"),
        (lambda z: dict(partitions={"a": [5]}), r"`partitions\['a'\]`.*from 0 to 4.*\[5\]"),
        (lambda z: dict(partitions={"a": []}), r"`partitions\['a'\]` must be a non-empty"),
        (lambda z: dict(partitions={"a": [1, 1]}), r"`partitions\['a'\]`.*distinct"),
        (lambda z: dict(partitions=[[True, False]]), r"`partitions\['0'\]`"),
        (lambda z: dict(partitions=3), "`partitions` must be a mapping.*got 3"),
    ],
)
def test_bad_input_is_refused_by_name(latents, change, message):
    arguments = dict(latents=latents, embeddings=latents) | change(latents)
    with pytest.raises(ValueError, match=message):
        linear_r2(**arguments)
