"""The supervised baseline does with its inputs what its recipe says."""

import torch

from aninfonce.processes import process
from aninfonce.training import Recipe
from aninfonce_papers.models.supervised import fit_supervised


def test_inputs_are_decorrelated_if_the_recipe_says_so():
    world = process("table2/row1", candidates=1)
    batch = world.sample(2_000, torch.Generator().manual_seed(1))
    errors = {}
    for whiten in (False, True):
        recipe = Recipe(steps=60, batch_size=64, whiten=whiten)
        model = fit_supervised(world, recipe, seed=0, head="box")
        errors[whiten] = float((model(batch.x) - batch.z).square().mean())
    # One draw per layer leaves a mixing that is badly conditioned: the first layer is slow to undo it.
    assert errors[True] < 0.7 * errors[False]
