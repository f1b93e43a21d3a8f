"""Losses under `torch.compile` and `torch.func`, and on a device that has no numbers."""

from __future__ import annotations

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from aninfonce.losses import AnInfoNCE, InfoNCE, LpInfoNCE, NTXent, SigLIP
from aninfonce.losses.kernel import probes

D = 4
LOSSES = {
    "aninfonce": lambda: AnInfoNCE(D),
    "flat": lambda: AnInfoNCE(D, normalize=False),
    "rows": lambda: AnInfoNCE(D, reduction="none"),
    "potential": lambda: AnInfoNCE(D, candidates="both", symmetric=True, potential=True),
    "positives": lambda: InfoNCE(candidates="positives"),
    "ntxent": NTXent,
    "temperature": lambda: NTXent(learn_temperature=True),
    "l1": lambda: LpInfoNCE(1),
    "l3": lambda: LpInfoNCE(3),
    "sigmoid": SigLIP,
}
every_loss = pytest.mark.parametrize("name", list(LOSSES))


def views(*shape: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    z0 = torch.randn(*shape, generator=generator)
    return z0, z0 + 0.5 * torch.randn(*shape, generator=generator)


@every_loss
def test_func_grad_is_what_backward_finds(name):
    loss, (z0, z1) = LOSSES[name](), views(20, D)
    leaves = [z.clone().requires_grad_() for z in (z0, z1)]
    loss(*leaves).sum().backward()
    parameters = dict(loss.named_parameters())

    def value(p, a, b):
        return torch.func.functional_call(loss, p, (a, b)).sum()

    found = torch.func.grad(value, argnums=(0, 1, 2))({k: p.detach() for k, p in parameters.items()}, z0, z1)
    for key, parameter in parameters.items():
        torch.testing.assert_close(found[0][key], parameter.grad)
    for gradient, leaf in zip(found[1:], leaves, strict=True):
        torch.testing.assert_close(gradient, leaf.grad)


@every_loss
def test_vmap_takes_one_batch_after_the_other(name):
    loss, (z0, z1) = LOSSES[name](), views(3, 20, D)
    with torch.no_grad():
        expected = torch.stack([loss(a, b) for a, b in zip(z0, z1, strict=True)])
        torch.testing.assert_close(torch.func.vmap(loss)(z0, z1), expected)
    slopes = torch.func.vmap(torch.func.grad(lambda a, b: loss(a, b).sum()))(z0, z1)
    torch.testing.assert_close(slopes[2], torch.func.grad(lambda a, b: loss(a, b).sum())(z0[2], z1[2]))


# torch's own forward mode is built on what torch calls deprecated.
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", ["aninfonce", "ntxent", "sigmoid"])
def test_other_derivatives_are_refused_with_a_reason(name):
    loss, (z0, z1) = LOSSES[name](), views(20, D)
    with pytest.raises(RuntimeError, match="no forward-mode derivatives"):
        torch.func.jvp(loss, (z0, z1), (z0, z1))
    with pytest.raises(RuntimeError, match="first derivatives only"):
        torch.func.jacrev(torch.func.grad(loss))(z0, z1)


# torch's compiler looks at `.grad` of all that enters a graph.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
@every_loss
def test_compiled_code_calls_the_kernel_as_it_is(name):
    """Graphs before and after it; values and gradients are those of the same code not compiled."""
    loss, (z0, z1) = LOSSES[name](), views(20, D)
    torch.manual_seed(0)
    encoder = torch.nn.Linear(D, D)

    def step(a, b):
        return loss(encoder(a), encoder(b)).sum() * 2

    torch._dynamo.reset()
    try:
        # A trained temperature is computed in a graph of its own.
        assert torch._dynamo.explain(step)(z0, z1).graph_break_count <= 2
        results = []
        for function in (step, torch.compile(step, backend="aot_eager")):
            encoder.zero_grad()
            value = function(z0, z1)
            value.backward()
            results.append((value.detach(), encoder.weight.grad.clone()))
        torch.testing.assert_close(results[0], results[1])
    finally:
        torch._dynamo.reset()


class Devices(TorchDispatchMode):
    """Remembers where tensors were made, and by which operation."""

    def __init__(self) -> None:
        super().__init__()
        self.elsewhere: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor) and leaf.device.type != "meta":
                self.elsewhere.append(str(func))
        return result


@every_loss
@pytest.mark.parametrize("n", [20, 700])
def test_a_device_is_never_left_and_waited_for_once(monkeypatch, name, n):
    """The `meta` device stands for a GPU: to ask it for a number is an error, but in the one place."""
    waits = []

    def look(values):
        waits.append(len(values))
        return [1.0] * len(values)

    monkeypatch.setattr(probes, "look", look)
    loss = LOSSES[name]().to("meta")
    z0, z1 = (torch.empty(n, D, device="meta").requires_grad_() for _ in range(2))
    with Devices() as devices:
        value = loss(z0, z1)
        assert len(waits) == 1
        value.sum().backward()
    assert not devices.elsewhere
    assert len(waits) == 1
    assert all(leaf.grad.device.type == "meta" for leaf in (z0, z1, *loss.parameters()))
