"""Memory that is used again from call to call: pieces do not overlap, and nobody sees another's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from aninfonce.losses import AnInfoNCE, NTXent
from aninfonce.losses.kernel import scratch
from aninfonce.losses.kernel.scratch import Scratch


def test_pieces_of_a_pass_do_not_overlap_and_the_next_pass_gets_them_again():
    like = torch.empty(0)
    memory = Scratch(like, 3 * 300 * 301)
    pieces = [memory.take(300, 301) for _ in range(3)]
    for index, piece in enumerate(pieces):
        piece.fill_(index)
    assert [piece.unique().tolist() for piece in pieces] == [[0.0], [1.0], [2.0]]
    assert all(piece.is_contiguous() for piece in pieces)
    again = Scratch(like, 3 * 300 * 301).take(300, 301)
    assert again.data_ptr() == pieces[0].data_ptr()


def test_what_does_not_fit_is_fresh_and_what_is_kept_is_bounded():
    like = torch.empty(0, dtype=torch.float64)
    memory = Scratch(like, 2**24)
    large = memory.take(2**24)
    assert large.dtype == torch.float64
    kept = scratch._KEPT.memory["matrices"]
    assert len(kept) <= 2**23
    assert large.untyped_storage().data_ptr() != kept.untyped_storage().data_ptr()


def test_rows_stay_while_a_pass_over_a_matrix_begins():
    like = torch.empty(0)
    rows = Scratch(like, 300 * 301, "rows").take(300, 301).fill_(1.0)
    Scratch(like, 300 * 301).take(300, 301).fill_(2.0)
    assert rows.unique().tolist() == [1.0]


@pytest.mark.parametrize("loss", [AnInfoNCE(64), NTXent()])
@pytest.mark.parametrize("n", [200, 700])
def test_gradients_do_not_live_in_memory_that_the_next_call_overwrites(loss, n):
    generator = torch.Generator().manual_seed(0)
    first, second = (torch.randn(2, n, 64, generator=generator) for _ in range(2))
    leaf = first.clone().requires_grad_()
    value = loss(*leaf)
    loss(*second.clone().requires_grad_()).backward()
    value.backward()
    again = first.clone().requires_grad_()
    loss(*again).backward()
    torch.testing.assert_close(leaf.grad, again.grad, rtol=0, atol=0)


def test_threads_have_their_own():
    """Two threads at once find what each finds alone."""
    generator = torch.Generator().manual_seed(0)
    batches = [torch.randn(2, 700, 8, generator=generator) for _ in range(6)]

    def slope(views: torch.Tensor) -> torch.Tensor:
        leaf = views.clone().requires_grad_()
        (NTXent()(*leaf) + AnInfoNCE(8)(*leaf)).backward()
        return leaf.grad

    alone = [slope(views) for views in batches]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(slope, batches))
    torch.testing.assert_close(together, alone)


def test_memory_of_inference_mode_serves_outside_of_it():
    scratch._KEPT.memory.clear()
    z0, z1 = torch.randn(2, 600, 8, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        expected = AnInfoNCE(8)(z0, z1)
    leaf = z0.clone().requires_grad_()
    value = AnInfoNCE(8)(leaf, z1)
    value.backward()
    torch.testing.assert_close(value.detach(), expected.clone())
