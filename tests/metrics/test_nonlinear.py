import numpy as np
import pytest
import torch
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler

from aninfonce.metrics import kernel_ridge_r2, linear_r2, mlp_r2

scores = pytest.mark.parametrize("score", [kernel_ridge_r2, mlp_r2])


@scores
def test_perfect(latents, score):
    result = score(latents, latents @ np.random.default_rng(0).normal(size=(5, 5)), partitions=[[0, 1], [4]])
    assert result.mean > 0.98
    assert min(result.per_partition.values()) > 0.98
    assert not result.flags


@scores
def test_sees_what_a_linear_readout_does_not(score):
    z = np.random.default_rng(0).uniform(-1, 1, size=(1200, 1))
    angle = 2.8 * z
    e = np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
    assert linear_r2(z, e).mean < 0.9
    assert score(z, e).mean > 0.98


@scores
def test_shuffled_is_not_rewarded(latents, shuffled, score):
    assert abs(score(latents, shuffled).mean) < 0.05


@scores
def test_constant_and_duplicated(latents, score):
    z, e = latents.copy(), np.concatenate([latents, latents[:, :1]], axis=1)
    z[:, 1], e[:, 1] = 0.1, 3.0
    result = score(z, e)
    assert result.constant_latents == (1,)
    assert result.per_dimension[1] == 0.0
    assert result.mean > 0.98
    assert result.rank_deficient
    assert result.flags == ("constant embedding dimensions [1]", "constant latents [1]")
    assert np.isfinite(result.per_dimension).all()

    collapsed = score(latents, np.ones((600, 2)))
    assert -0.05 < collapsed.mean <= 0.0
    nothing = score(np.ones((600, 2)), latents)
    assert nothing.per_dimension == (0.0, 0.0)


@scores
def test_latent_that_varies_in_one_half_only(latents, score):
    z = latents.copy()
    z[::2, 0], z[1::2, 1] = 0.5, 0.5
    result = score(z, latents)
    assert np.isfinite(result.per_dimension).all()
    assert result.per_dimension[0] < 0.0  # learned from constant rows, scored on the others
    assert result.constant_latents == (1,)  # of the rows that are scored


def test_kernel_ridge_against_sklearn(latents):
    e = np.tanh(latents @ np.random.default_rng(2).normal(size=(5, 4)))
    scaler = StandardScaler().fit(e[::2])
    centre = latents[::2].mean(axis=0)
    model = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.3 / 4)
    model.fit(scaler.transform(e[::2]), latents[::2] - centre)
    expected = r2_score(
        latents[1::2], model.predict(scaler.transform(e[1::2])) + centre, multioutput="raw_values"
    )
    result = kernel_ridge_r2(latents, e, alphas=[0.1], gammas=[0.3])
    assert result.per_dimension == pytest.approx(expected, abs=1e-9)


def test_kernel_ridge_chooses_per_latent(latents):
    z = np.stack(
        [latents[:, 0], np.sin(6 * latents[:, 3]), np.random.default_rng(0).normal(size=600)], axis=1
    )
    result = kernel_ridge_r2(z, latents[:, [0, 3]])
    assert len(result.settings["alpha"]) == len(result.settings["gamma"]) == 3
    assert result.settings["alpha"][2] > result.settings["alpha"][0]
    assert min(result.per_dimension[:2]) > 0.98


@scores
def test_cap_on_training_rows(latents, score):
    capped = score(latents, latents, max_train=40)
    assert f"{40 if score is kernel_ridge_r2 else 30} training rows" in capped.protocol
    assert 0.3 < capped.mean < score(latents, latents).mean


def test_mlp_is_reproducible_and_leaves_the_global_random_state_alone(latents):
    before = torch.get_rng_state()
    first = mlp_r2(latents, latents, epochs=3)
    assert torch.equal(before, torch.get_rng_state())
    assert first == mlp_r2(latents, latents, epochs=3)
    assert first != mlp_r2(latents, latents, epochs=3, generator=torch.Generator().manual_seed(1))


def test_smallest_input():
    z = np.arange(8.0)[:, None]
    for score in (kernel_ridge_r2, mlp_r2):
        assert np.isfinite(score(z, z).mean)


@pytest.mark.parametrize(
    ("score", "change", "message"),
    [
        (kernel_ridge_r2, dict(alphas=[]), r"`alphas` must hold at least one number, got \[\]"),
        (kernel_ridge_r2, dict(alphas=[0.0]), "`alphas` must be a finite number at least 1e-10, got 0"),
        (kernel_ridge_r2, dict(gammas=[-1.0]), "`gammas`.*got -1"),
        (kernel_ridge_r2, dict(max_train=1), "`max_train` must be a whole number of at least 4"),
        (mlp_r2, dict(width=0), "`width`"),
        (mlp_r2, dict(epochs=1.5), "`epochs`"),
        (mlp_r2, dict(embeddings=np.ones((5, 5))), "`embeddings` must have as many rows"),
        (mlp_r2, dict(latents=np.ones((7, 5)), embeddings=np.ones((7, 5))), "`latents` must have at least 8"),
    ],
)
def test_bad_input_is_refused_by_name(latents, score, change, message):
    with pytest.raises(ValueError, match=message):
        score(**(dict(latents=latents, embeddings=latents) | change))
