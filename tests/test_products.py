"""Products of matrices: whichever library multiplies, the numbers are those of a product."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from aninfonce import _products
from aninfonce._products import add_product, biased_product, is_quick, product


def matrices(m: int, n: int, k: int, dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(size, k, generator=generator, dtype=dtype) for size in (m, n))


# Below and above where oneDNN serves, if it is there.
@pytest.mark.parametrize(("m", "n", "k"), [(3, 5, 2), (130, 300, 67), (700, 513, 10)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("as_given", ["by rows", "by columns", "in parts", "both by columns"])
def test_numbers_are_those_of_a_product(m, n, k, dtype, as_given):
    rows, columns = matrices(m, n, k, dtype)
    if as_given in ("by columns", "both by columns"):
        columns = columns.T.contiguous().T
    if as_given == "both by columns":
        rows = rows.T.contiguous().T
    if as_given == "in parts":
        rows, columns = (torch.cat([x, x], dim=1)[:, :k] for x in (rows, columns))
    expected = rows.double() @ columns.double().T
    tolerance = 1e-12 if dtype is torch.float64 else 1e-6
    memory = torch.empty(m, n, dtype=dtype)
    for found in (product(rows, columns), product(rows, columns, memory)):
        assert found.dtype is dtype
        assert (found.double() - expected).norm() < tolerance * expected.norm()
    of_rows, of_columns = torch.randn(m, 1, dtype=dtype), torch.randn(n, 1, dtype=dtype)
    found = biased_product(rows, columns, of_rows, of_columns, memory).double()
    expected = expected + of_rows + of_columns.T
    assert (found - expected).norm() < tolerance * expected.norm()


@pytest.mark.filterwarnings("ignore:TF32 acceleration")  # of torch, about its own flags
def test_what_onednn_is_not_made_for_is_left_to_torch():
    rows, columns = matrices(256, 256, 64)
    assert not is_quick(rows[:4], columns)  # too small
    assert not is_quick(rows.double(), columns.double())
    assert not is_quick(rows.to("meta"), columns.to("meta"))
    assert not is_quick(rows, torch.cat([columns, columns], dim=1)[:, :64])
    assert not is_quick(rows.requires_grad_(), columns)
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False):
        assert not is_quick(rows, columns)


def test_a_torch_without_the_operation_multiplies_as_ever(monkeypatch):
    rows, columns = matrices(256, 256, 64)
    expected = torch.mm(rows, columns.T)
    monkeypatch.setattr(_products, "_linear", lambda: None)
    assert torch.equal(product(rows, columns), expected)


@pytest.mark.parametrize("maker", ["GenuineIntel", "AuthenticAMD"])
def test_intels_processors_are_left_to_mkl(monkeypatch, tmp_path, maker):
    about = tmp_path / "cpuinfo"
    about.write_text(f"processor\t: 0\nvendor_id\t: {maker}\n")
    monkeypatch.setattr(_products, "_CPUINFO", about)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    assert _products._is_intels() == (maker == "GenuineIntel")
    found = _products._linear.__wrapped__()
    assert found is None or maker == "AuthenticAMD"
    monkeypatch.setattr(_products, "_CPUINFO", tmp_path / "none")  # another system: Python knows the name
    monkeypatch.setattr(_products.platform, "processor", lambda: f"Family 6 Model 85, {maker}")
    assert _products._is_intels() == (maker == "GenuineIntel")


def test_a_product_is_added_to_what_is_there():
    rows, columns = matrices(300, 200, 70)
    for left in (rows, rows.T.contiguous().T):
        out = torch.ones(300, 200)
        add_product(out, left, columns.T)
        torch.testing.assert_close(out, 1 + rows @ columns.T, rtol=1e-5, atol=1e-4)


@pytest.mark.skipif(_products._linear() is None, reason="this processor gains nothing by oneDNN")
def test_onednn_serves_where_it_is_the_quicker():
    assert is_quick(*matrices(256, 256, 64))
