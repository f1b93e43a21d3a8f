"""Half precision, autocast and degenerate rows."""

import copy

import pytest
import torch

from aninfonce.functional import info_nce
from aninfonce.losses import AnInfoNCE, NTXent, TriCL


def views(n=16, d=4, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(n, d, generator=generator).to(dtype) for _ in range(2))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_input_is_computed_in_float32(dtype):
    z0, z1 = views(dtype=dtype)
    for loss in (AnInfoNCE(4, initial=20.0), NTXent(0.1), TriCL(4)):
        value = loss(z0, z1)
        assert value.dtype == torch.float32
        torch.testing.assert_close(value, loss(z0.float(), z1.float()))
    leaf = z0.clone().requires_grad_()
    AnInfoNCE(4)(leaf, z1).backward()
    assert leaf.grad.dtype == dtype


def test_autocast_changes_nothing():
    z0, z1 = views()
    for loss in (AnInfoNCE(4, initial=200.0, potential=True), NTXent(0.05), TriCL(4, form="spectral")):
        expected = loss(z0, z1)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            torch.testing.assert_close(loss(z0, z1), expected, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("symmetric", [False, True])
def test_potentials_work_in_every_precision(dtype, symmetric):
    """In float32 at least, on the parameters as they are: half precision rounds them, but not β."""
    loss = AnInfoNCE(4, potential=True, symmetric=symmetric)
    with torch.no_grad():
        for parameter in loss.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    kept = torch.float32 if dtype == torch.float64 else dtype
    for module in (loss, copy.deepcopy(loss).to(kept), copy.deepcopy(loss).double()):
        leaf, z1 = views(dtype=dtype)
        value = module(leaf.requires_grad_(), z1)
        value.backward()
        working = torch.promote_types(dtype, torch.float32)
        assert value.dtype == working
        assert leaf.grad.dtype == dtype
        assert all(p.grad.isfinite().all() and p.grad.dtype == p.dtype for p in module.parameters())
        exact = copy.deepcopy(module).double()(leaf.double(), z1.double())
        torch.testing.assert_close(value.double(), exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_a_potential_of_the_users_own_gets_its_own_precision(dtype):
    z0, z1 = views(dtype=dtype)
    value = info_nce(z0, z1, potential=torch.nn.Sequential(torch.nn.Linear(4, 1), torch.nn.BatchNorm1d(1)))
    assert value.dtype == torch.promote_types(dtype, torch.float32)


def test_double_stays_double():
    z0, z1 = views(dtype=torch.float64)
    assert AnInfoNCE(4)(z0, z1).dtype == torch.float64


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("fill", [0.0, "subnormal"])
def test_zero_vectors_stay_finite(dtype, fill):
    z0, z1 = views(dtype=dtype)
    value = 0.0 if fill == 0.0 else torch.finfo(dtype).tiny / 4
    z0[3], z1[5] = value, value
    for loss in (AnInfoNCE(4, initial=50.0), NTXent(0.1)):
        leaves = [z.clone().requires_grad_() for z in (z0, z1)]
        result = loss(*leaves)
        result.backward()
        assert result.isfinite()
        assert all(leaf.grad.isfinite().all() for leaf in leaves)


def test_float32_is_close_to_float64():
    z0, z1 = views(64, 10)
    single = info_nce(z0, z1, temperature=0.1, normalize=True, candidates="both", symmetric=True)
    double = info_nce(
        z0.double(), z1.double(), temperature=0.1, normalize=True, candidates="both", symmetric=True
    )
    torch.testing.assert_close(single.double(), double, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("length", [1e18, 1e20, 1e30, 1e37])
def test_long_rows_count_by_their_direction(length):
    z0, z1 = views()
    expected = NTXent(0.1)(z0, z1)
    torch.testing.assert_close(NTXent(0.1)(z0 * length, z1 * length), expected, rtol=1e-5, atol=0)
