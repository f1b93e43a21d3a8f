"""Several real processes give what one process gives with the whole batch."""

import copy
import warnings

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

from aninfonce.losses import (
    AnInfoNCE,
    EnsembleAnInfoNCE,
    InfoNCE,
    LinearDynamics,
    LpInfoNCE,
    NTXent,
    SigLIP,
    SpectralContrastive,
    TriCL,
    gather,
)
from aninfonce.training.process_exit import leave_process_group
from tests.losses.moved import draw as rows

D = 3
# Rows each process holds, and how many shared negatives.
SPLITS = {1: (7,), 2: (4, 3), 3: (2, 1, 4)}
POOLS = {1: (5,), 2: (2, 3), 3: (0, 4, 1)}


def make_losses(gathered):
    torch.manual_seed(0)
    options = {"gather_distributed": gathered}
    losses = {
        "aninfonce": AnInfoNCE(D, **options),
        "aninfonce+self": AnInfoNCE(D, candidates="anchors+self", **options),
        "symmetric+potential": AnInfoNCE(
            D, candidates="both", symmetric=True, potential=True, learn_temperature=True, **options
        ),
        "positives": InfoNCE(candidates="positives", symmetric=True, temperature=0.3, **options),
        "sum": InfoNCE(reduction="sum", **options),
        "ntxent": NTXent(**options),
        "l1": LpInfoNCE(1, **options),
        "sigmoid": SigLIP(temperature=0.5, bias=-2.0, **options),
        "sigmoid sum": SigLIP(reduction="sum", normalize=False, **options),
        "spectral": SpectralContrastive(**options),
        "tricl": TriCL(D, **options),
        "tricl spectral": TriCL(D, form="spectral", **options),
        "ensemble": EnsembleAnInfoNCE(D, 2, **options),
        "per anchor": AnInfoNCE(D, **options),
        "shared": AnInfoNCE(D, **options),
        "dynamics": LinearDynamics(D, candidates="positives", **options),
        "Λ̂ per anchor": AnInfoNCE(D, concentration="per-anchor", potential=True, **options),
        "Λ̂ per anchor, symmetric": AnInfoNCE(
            D, concentration="per-anchor", candidates="both", symmetric=True, normalize=False, **options
        ),
        "alone": InfoNCE(candidates="none", **options),
    }
    generator = torch.Generator().manual_seed(1)
    for loss in losses.values():
        loss.double()
        with torch.no_grad():
            for parameter in loss.parameters():
                parameter += 0.3 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return losses


def arguments(name, mine, pool):
    """The part of the whole batch that `mine` and `pool` select."""
    z0, z1 = rows(7, D, seed=1)[mine], rows(7, D, seed=2)[mine]
    if name == "ensemble":
        return [z0, z1], [z1, z0 + 1]
    if name == "per anchor":
        return z0, z1, rows(7, 2, D, seed=3)[mine]
    if name in ("shared", "alone"):
        return z0, z1, rows(5, D, seed=4)[pool]
    return z0, z1


def flat(args):
    return [t for arg in args for t in (arg if isinstance(arg, list) else [arg])]


def evaluate(name, loss, mine, pool):
    args = arguments(name, mine, pool)
    leaves = [t.requires_grad_() for t in flat(args)]
    value = loss(*args)
    value.backward()
    return value.detach(), [t.grad for t in leaves], [p.grad for p in loss.parameters()]


def part(sizes, rank):
    return slice(sum(sizes[:rank]), sum(sizes[: rank + 1]))


def worker(rank, world, meeting):
    dist.init_process_group("gloo", init_method=meeting.as_uri(), rank=rank, world_size=world)
    if world > 1:
        torch.set_num_threads(1)
    mine, pool = part(SPLITS[world], rank), part(POOLS[world], rank)
    whole = {n: evaluate(n, loss, slice(None), slice(None)) for n, loss in make_losses(False).items()}
    for name, loss in make_losses(True).items():
        value, grads, parameter_grads = evaluate(name, loss, mine, pool)
        expected, all_grads, all_parameter_grads = whole[name]
        torch.testing.assert_close(value, expected, msg=f"{name}: value")
        for k, (grad, all_grad) in enumerate(zip(grads, all_grads, strict=True)):
            share = all_grad[pool if name in ("shared", "alone") and k == 2 else mine]
            # Averaging over processes, as DistributedDataParallel does, takes the factor out.
            torch.testing.assert_close(grad / world, share, msg=f"{name}: input {k}")
        for grad, all_grad in zip(parameter_grads, all_parameter_grads, strict=True):
            dist.all_reduce(grad)
            torch.testing.assert_close(grad / world, all_grad, msg=f"{name}: parameter")
    _check_training_step(rank, world)
    _check_warning(world)
    leave_process_group()
    dist.destroy_process_group()


def _check_training_step(rank, world):
    """One step as users write it: encoder and loss in DistributedDataParallel, uneven batches."""
    torch.manual_seed(0)
    encoder, loss = torch.nn.Linear(D, D).double(), AnInfoNCE(D, gather_distributed=True).double()
    whole = copy.deepcopy(encoder), AnInfoNCE(D).double()
    mine = part(SPLITS[world], rank)
    x0, x1 = rows(7, D, seed=1), rows(7, D, seed=2)
    parallel_encoder, parallel_loss = DistributedDataParallel(encoder), DistributedDataParallel(loss)
    both = parallel_encoder(torch.cat([x0[mine], x1[mine]]))
    parallel_loss(*both.chunk(2)).backward()
    whole[1](whole[0](x0), whole[0](x1)).backward()
    for module, expected in zip((encoder, loss), whole, strict=True):
        for parameter, other in zip(module.parameters(), expected.parameters(), strict=True):
            torch.testing.assert_close(parameter.grad, other.grad)


def _check_warning(world):
    z0, z1 = rows(4, D, seed=1), rows(4, D, seed=2)
    gather._warned = False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # On the same rows everywhere, by itself: neither copies as negatives nor a warning.
        with gather.alone():
            values = [NTXent(gather_distributed=gathered)(z0, z1) for gathered in (False, True)]
        assert not caught
        assert values[0] == values[1]
        for _ in range(2):
            NTXent()(rows(4, D, seed=1), rows(4, D, seed=2))
    assert len([w for w in caught if "gather_distributed=True" in str(w.message)]) == (world > 1)


@pytest.mark.process
@pytest.mark.parametrize("world", [1, 2, 3])
def test_many_processes_equal_one(world, tmp_path):
    # They meet at a file: a free port may be taken before they listen on it.
    meeting = tmp_path / "meeting"
    if world == 1:
        worker(0, world, meeting)
    else:
        mp.spawn(worker, args=(world, meeting), nprocs=world)


def test_without_processes_gathering_changes_nothing():
    z0, z1 = rows(4, D, seed=1), rows(4, D, seed=2)
    torch.testing.assert_close(NTXent(gather_distributed=True)(z0, z1), NTXent()(z0, z1))
