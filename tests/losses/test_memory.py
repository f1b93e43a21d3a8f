"""No tensor of the size of N × N is ever made, forward or backward."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from aninfonce.losses import (
    AnInfoNCE,
    InfoNCE,
    LinearDynamics,
    LpInfoNCE,
    NTXent,
    SigLIP,
    SpectralContrastive,
    TriCL,
)

N, D = 3000, 4


class Largest(TorchDispatchMode):
    """Remembers the most numbers that the memory of any tensor had room for.

    In float32, whatever the tensor calls them: memory that a thread keeps from call to call is made as bytes.
    """

    elements = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self.elements = max(self.elements, leaf.untyped_storage().nbytes() // 4)
        return result


@pytest.mark.parametrize(
    "loss",
    [
        AnInfoNCE(D),
        AnInfoNCE(D, candidates="both", symmetric=True, potential=True),
        AnInfoNCE(D, reduction="none"),
        InfoNCE(candidates="positives"),
        NTXent(),
        LpInfoNCE(1),
        LpInfoNCE(3),
        SigLIP(),
        LinearDynamics(D),
        AnInfoNCE(D, concentration="per-anchor", potential=True),
        TriCL(D),
        SpectralContrastive(),
    ],
)
def test_memory_is_linear_in_the_batch(loss):
    generator = torch.Generator().manual_seed(0)
    z0, z1 = (torch.randn(N, D, generator=generator).requires_grad_() for _ in range(2))
    with Largest() as largest:
        loss(z0, z1).sum().backward()
    assert z0.grad is not None
    assert 0 < largest.elements < N * N / 4
