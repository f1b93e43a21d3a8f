import torch

from aninfonce.alignment import sphering_map
from aninfonce.encoders import to_sphere


def test_an_ellipsoid_becomes_a_round_sphere_up_to_rotation():
    generator = torch.Generator().manual_seed(0)
    z = to_sphere(torch.randn(50_000, 6, generator=generator, dtype=torch.float64))
    mixing = torch.randn(6, 6, generator=generator, dtype=torch.float64)
    h = z @ mixing.T + torch.randn(6, generator=generator, dtype=torch.float64)
    mapping = sphering_map(h, iterations=30)
    # What is left between z and the result is orthogonal.
    whole = mapping.matrix @ mixing
    assert torch.linalg.matrix_norm(whole @ whole.T - torch.eye(6, dtype=torch.float64)) < 0.05
    torch.testing.assert_close(
        mapping(h).norm(dim=1), torch.ones(50_000, dtype=torch.float64), atol=0.05, rtol=0
    )


def test_a_round_sphere_stays():
    z = to_sphere(torch.randn(20_000, 4, generator=torch.Generator().manual_seed(1)))
    mapping = sphering_map(z)
    assert (mapping.matrix - torch.eye(4)).abs().max() < 0.03
    assert mapping.centre.abs().max() < 0.02


def test_the_radius_does_not_matter():
    generator = torch.Generator().manual_seed(2)
    z = to_sphere(torch.randn(20_000, 5, generator=generator))
    noisy = z * (1 + 0.3 * torch.rand(20_000, 1, generator=generator))
    directions = to_sphere(sphering_map(noisy)(noisy))
    assert (directions - z).norm(dim=1).max() < 0.1
