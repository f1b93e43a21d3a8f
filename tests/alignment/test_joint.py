from __future__ import annotations

import numpy as np
import pytest
import torch

from aninfonce.alignment.joint import joint_diagonalisation


def _turned(diagonals: torch.Tensor, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    d = diagonals.shape[1]
    turn = torch.linalg.qr(torch.randn(d, d, generator=generator, dtype=torch.float64))[0]
    return turn @ torch.diag_embed(diagonals.double()) @ turn.T, turn


def test_one_matrix_gives_its_eigenvectors() -> None:
    matrices, _ = _turned(torch.tensor([[3.0, 1.0, 2.0]]))
    found = joint_diagonalisation(matrices)
    values, _ = torch.linalg.eigh(matrices[0])
    assert torch.allclose(found.diagonals[0], values)
    assert torch.allclose(found.axes.T @ matrices[0] @ found.axes, torch.diag(values), atol=1e-12)


@pytest.mark.parametrize(("d", "count"), [(2, 2), (5, 3), (12, 4)])
def test_commuting_matrices_are_diagonalised_exactly(d: int, count: int) -> None:
    diagonals = torch.rand(count, d, generator=torch.Generator().manual_seed(1))
    matrices, turn = _turned(diagonals)
    found = joint_diagonalisation(matrices)
    assert found.residual < 1e-12
    assert torch.allclose(found.axes.T @ found.axes, torch.eye(d, dtype=torch.float64), atol=1e-10)
    assert (found.axes.T @ turn).abs().max(dim=0).values.min() > 1 - 1e-9
    assert (found.diagonals[0].diff() >= 0).all()


def test_what_one_matrix_leaves_free_another_fixes() -> None:
    # Each has a pair of equal eigenvalues; only together do they have one set of axes.
    matrices, turn = _turned(torch.tensor([[1.0, 1.0, 2.0], [1.0, 3.0, 3.0]]))
    found = joint_diagonalisation(matrices)
    assert (found.axes.T @ turn).abs().max(dim=0).values.min() > 1 - 1e-9


def test_noise_is_left_over_and_said() -> None:
    matrices, _ = _turned(torch.rand(3, 6, generator=torch.Generator().manual_seed(2)))
    noise = torch.randn(3, 6, 6, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    assert 1e-5 < joint_diagonalisation(matrices + 0.05 * noise).residual < 0.2


def test_other_shapes_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="`matrices` must have shape"):
        joint_diagonalisation(torch.eye(3))


def test_matrices_with_common_axes_are_diagonalised():
    rng = np.random.default_rng(1)
    axes = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    matrices = np.stack([axes @ np.diag(rng.standard_normal(5)) @ axes.T for _ in range(6)])
    found = joint_diagonalisation(torch.from_numpy(matrices)).axes.numpy()
    turned = found.T @ matrices @ found
    assert np.allclose(turned, turned * np.eye(5), atol=1e-8)
    assert np.allclose(found.T @ found, np.eye(5))
