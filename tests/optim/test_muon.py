import pytest
import torch

from aninfonce.optim.muon import Muon, orthogonalize


@pytest.mark.parametrize("shape", [(3, 16, 16), (2, 8, 24), (2, 24, 8)])
def test_orthogonalize_keeps_singular_vectors_and_levels_values(shape):
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    u, s, vh = torch.linalg.svd(matrices, full_matrices=False)
    result = orthogonalize(matrices, 5)
    levelled = torch.einsum("bki,bkl,blj->bij", u, result, vh.mT)
    off_diagonal = levelled - torch.diag_embed(levelled.diagonal(dim1=1, dim2=2))
    assert off_diagonal.abs().max() < 1e-8
    # The quintic leaves every value that is not tiny in this band.
    large = s > 0.05 * s.norm(dim=1, keepdim=True)
    values = levelled.diagonal(dim1=1, dim2=2)[large]
    assert values.min() > 0.6
    assert values.max() < 1.3


def test_one_step_is_nesterov_momentum_made_orthogonal():
    generator = torch.Generator().manual_seed(1)
    weights = [torch.nn.Parameter(torch.randn(6, 6, generator=generator)) for _ in range(3)]
    before = [w.detach().clone() for w in weights]
    gradients = [torch.randn(6, 6, generator=generator) for _ in weights]
    optimizer = Muon(weights, lr=0.1, momentum=0.9, iterations=5)
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.grad = gradient.clone()
    optimizer.step()
    for weight, old, gradient in zip(weights, before, gradients, strict=True):
        direction = gradient * 0.1 + 0.9 * (0.1 * gradient)
        expected = old - 0.1 * orthogonalize(direction[None], 5)[0]
        torch.testing.assert_close(weight.detach(), expected)


def test_state_survives_a_round_trip():
    def make():
        generator = torch.Generator().manual_seed(2)
        return [torch.nn.Parameter(torch.randn(5, 4, generator=generator)) for _ in range(2)]

    def steps(weights, optimizer, count, start):
        for k in range(start, start + count):
            for i, weight in enumerate(weights):
                weight.grad = torch.randn(5, 4, generator=torch.Generator().manual_seed(10 * k + i))
            optimizer.step()

    whole = make()
    steps(whole, Muon(whole, refresh=3), 4, 0)
    first = make()
    optimizer = Muon(first, refresh=3)
    steps(first, optimizer, 2, 0)
    second = [torch.nn.Parameter(w.detach().clone()) for w in first]
    resumed = Muon(second, refresh=3)
    resumed.load_state_dict(optimizer.state_dict())
    steps(second, resumed, 2, 2)
    assert all(torch.equal(a, b) for a, b in zip(whole, second, strict=True))


def test_convolution_kernels_are_flattened():
    kernel = torch.nn.Parameter(torch.zeros(4, 3, 2, 2))
    kernel.grad = torch.randn(4, 3, 2, 2)
    Muon([kernel], lr=1.0).step()
    assert torch.linalg.svdvals(kernel.detach().flatten(1)).max() < 1.3


def test_a_vector_is_refused_by_shape():
    with pytest.raises(ValueError, match=r"two dimensions or more.*\(3,\)"):
        Muon([torch.nn.Parameter(torch.zeros(3))])


def test_a_direction_is_kept_until_it_is_refreshed():
    generator = torch.Generator().manual_seed(3)
    weight = torch.nn.Parameter(torch.randn(6, 6, generator=generator))
    optimizer = Muon([weight], lr=0.1, refresh=2)
    moves = []
    for _ in range(4):
        before = weight.detach().clone()
        weight.grad = torch.randn(6, 6, generator=generator)
        optimizer.step()
        moves.append(before - weight.detach())
    torch.testing.assert_close(moves[0], moves[1])
    torch.testing.assert_close(moves[2], moves[3])
    assert (moves[1] - moves[2]).abs().max() > 0.01
