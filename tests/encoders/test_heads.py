import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from aninfonce.encoders import BoxHead, LearnableSphereHead, SphereHead, build_head, to_sphere

TYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
once = settings(derandomize=True, deadline=None, max_examples=25)


def rows(dtype, seed=0):
    return torch.randn(64, 8, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


class TestToSphere:
    @pytest.mark.parametrize("dtype", TYPES)
    def test_unit_length_in_the_type_of_the_input(self, dtype):
        x = rows(dtype)
        unit = to_sphere(x)
        assert unit.dtype == dtype
        expected = x.double() / x.double().norm(dim=1, keepdim=True)
        torch.testing.assert_close(unit.double(), expected, atol=2 * torch.finfo(dtype).eps, rtol=0)

    @pytest.mark.parametrize("dtype", TYPES)
    @pytest.mark.parametrize("length", [0.0, "smallest", 1e-4, 1e4])
    def test_zero_tiny_and_large_rows_have_finite_values_and_gradients(self, dtype, length):
        length = torch.finfo(dtype).smallest_normal if length == "smallest" else length
        x = torch.full((3, 4), length, dtype=dtype, requires_grad=True)
        unit = to_sphere(x)
        assert torch.isfinite(unit).all()
        unit.sum().backward()
        assert torch.isfinite(x.grad).all()
        if length == 0.0:
            assert (unit == 0).all()

    def test_half_precision_sums_in_float32(self):
        # 300² + 300² overflows float16
        unit = to_sphere(torch.full((1, 2), 300.0, dtype=torch.float16))
        torch.testing.assert_close(unit, torch.full((1, 2), math.sqrt(0.5), dtype=torch.float16))

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
    @pytest.mark.parametrize("length", [1e15, 1e17, 1e19, 1e20, 1e28, 1e33, 1e38])
    def test_long_rows_have_a_direction_and_a_gradient(self, dtype, length):
        x = (rows(dtype) * length / 4).clamp(-1e38, 1e38).requires_grad_()
        unit = to_sphere(x)
        reference = x.detach().double() / x.detach().double().norm(dim=1, keepdim=True)
        torch.testing.assert_close(unit.double(), reference, atol=2 * torch.finfo(dtype).eps, rtol=0)
        unit[:, 0].sum().backward()
        assert torch.isfinite(x.grad).all()

    def test_stays_in_float32_under_autocast(self):
        layer = nn.Linear(8, 8)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = layer(rows(torch.float32))
            assert hidden.dtype == torch.bfloat16
            for head in ("sphere", "learnable-sphere", "box"):
                assert build_head(head, 8)(hidden).dtype == torch.float32

    def test_gradient_is_tangent_and_exact(self):
        x = rows(torch.float64)[:4].requires_grad_()
        assert torch.autograd.gradcheck(to_sphere, x)

    @once
    @given(scale=st.floats(1e-3, 1e6), seed=st.integers(0, 1000))
    def test_invariant_to_length(self, scale, seed):
        x = rows(torch.float64, seed)
        torch.testing.assert_close(to_sphere(scale * x), to_sphere(x))


@pytest.mark.parametrize("dtype", TYPES)
def test_ranges_types_and_gradients(dtype):
    x = (20 * rows(dtype)).requires_grad_()
    tolerance = 8 * torch.finfo(dtype).eps
    sphere = SphereHead(radius=3.0)(x)
    learnable = LearnableSphereHead(radius=0.5).to(dtype)
    box = BoxHead(8, bound=2.0).to(dtype)
    assert (sphere.double().norm(dim=1) - 3).abs().max() < 3 * tolerance
    assert learnable.radius.item() == pytest.approx(0.5, rel=max(tolerance, 1e-6))
    assert (learnable(x).double().norm(dim=1) - learnable.radius.double()).abs().max() < tolerance
    assert (box(x) >= 0).all()
    assert box.bound.tolist() == pytest.approx([2.0] * 8, rel=max(tolerance, 1e-6))
    assert (box(x) <= box.bound).all()
    for head in (learnable, box):
        out = head(x)
        assert out.dtype == dtype
        out.sum().backward()
        for parameter in head.parameters():
            assert parameter.grad.abs().max() > 0
            assert torch.isfinite(parameter.grad).all()
    assert torch.isfinite(x.grad).all()


def test_radius_and_bound_are_learned():
    target = 2.5
    head = LearnableSphereHead()
    box = BoxHead(2)
    optimizer = torch.optim.Adam([*head.parameters(), *box.parameters()], lr=0.05)
    x = rows(torch.float32)[:, :2]
    for _ in range(200):
        optimizer.zero_grad()
        wanted = (box(x) - torch.tensor([0.2, 3.0]) * x.sigmoid()).square().mean()
        ((head(x) - target * to_sphere(x)).square().mean() + wanted).backward()
        optimizer.step()
    assert head.radius.item() == pytest.approx(target, rel=0.02)
    assert box.bound.tolist() == pytest.approx([0.2, 3.0], rel=0.05)


def test_build_head_by_name_or_module():
    assert isinstance(build_head("none", 3), nn.Identity)
    assert isinstance(build_head("sphere", 3), SphereHead)
    assert isinstance(build_head("learnable-sphere", 3), LearnableSphereHead)
    assert build_head("box", 3).bound.tolist() == [1.0, 1.0, 1.0]
    mine = nn.Tanh()
    assert build_head(mine, 3) is mine


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SphereHead(0.0), "`radius` must be a finite number above 0"),
        (lambda: LearnableSphereHead(-1.0), "`radius`"),
        (lambda: BoxHead(0), "`features`"),
        (lambda: BoxHead(2, bound=math.inf), "`bound`"),
        (lambda: BoxHead(2)(torch.zeros(4, 3)), r"`x` must have shape \(N, 2\), got \(4, 3\)"),
        (lambda: build_head("ball", 3), "`head` must be one of 'none', 'sphere', .*'ball'"),
        (lambda: build_head(None, 3), "`head` must be a module or one of .*None"),
    ],
)
def test_bad_input_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()
