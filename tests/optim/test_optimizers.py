from torch import nn

from aninfonce.encoders import MLP
from aninfonce.losses import AnInfoNCE, InfoNCE
from aninfonce.optim import Muon
from aninfonce.optim.optimizers import build_optimizers
from aninfonce.training import Recipe


def test_every_parameter_has_exactly_one_optimizer():
    encoder, loss = MLP(3, 2, width=8, depth=3), AnInfoNCE(2)
    adam, muon = build_optimizers(encoder, loss, Recipe())
    assert isinstance(muon, Muon)
    held = [p for o in (adam, muon) for g in o.param_groups for p in g["params"]]
    assert len(held) == len({id(p) for p in held}) == len([*encoder.parameters(), *loss.parameters()])
    assert [tuple(p.shape) for p in muon.param_groups[0]["params"]] == [(8, 8), (8, 8)]
    assert adam.param_groups[1]["params"][0] is loss.similarity.raw
    assert adam.param_groups[1]["initial_lr"] == Recipe().concentration_lr


def test_adam_alone_and_a_loss_without_parameters():
    optimizers = build_optimizers(nn.Linear(3, 2), InfoNCE(), Recipe(name="paper"))
    assert len(optimizers) == 1
    assert len(optimizers[0].param_groups) == 1
