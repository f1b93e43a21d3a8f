"""What trained studies share: reading a metric in the scale of the latents, and when R² is reached."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from aninfonce.losses import LpInfoNCE
from aninfonce.processes import ProcessSettings, process
from aninfonce_papers.engine import Loss, find_study, plan
from aninfonce_papers.engine.execute import execute
from aninfonce_papers.engine.on_process import (
    SIZES,
    WIDE_SIZES,
    Outcome,
    ProcessPairs,
    metric_of_latents,
    on_process,
)
from aninfonce_papers.rusak2025.batches import RSquared
from aninfonce_papers.rusak2025.fig8 import steps_to
from aninfonce_papers.zimmermann2021.cl_ica import Recovery
from aninfonce_papers.zimmermann2021.marginals import distance_from_uniform


def test_metric_of_latents():
    """For h = zB the metric of h is BMBᵀ in z; a latent that h does not hold has none."""
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(500, 3, generator=generator)
    b = torch.randn(3, 3, generator=generator)
    m = torch.diag(torch.tensor([1.0, 2.0, 3.0]))
    expected = torch.diag(b @ m @ b.T).double()
    assert torch.allclose(metric_of_latents(z, z @ b + 7.0, m), expected, rtol=1e-4)
    assert torch.allclose(metric_of_latents(z, z @ b + 7.0, m.diagonal()), expected, rtol=1e-4)
    lost = metric_of_latents(z, z[:, :2], torch.ones(2))
    assert lost.tolist() == pytest.approx([1.0, 1.0, 0.0], abs=0.05)


def test_steps_are_counted_at_the_first_time():
    assert steps_to([10, 20, 30], [0.59, 0.81, 0.79]) == {f"steps to R² {v}": 20 for v in (0.6, 0.7, 0.8)}
    assert steps_to([10], [0.2]) == {}


def test_distance_from_uniform_in_two_dimensions_by_quadrature():
    angle = torch.linspace(-torch.pi, torch.pi, 20_001, dtype=torch.float64)
    density = (2.0 * angle.cos()).exp()
    density /= torch.trapezoid(density, angle)
    expected = 0.5 * torch.trapezoid((density - 0.5 / torch.pi).abs(), angle)
    assert distance_from_uniform(2, 2.0, 100_000, seed=0) == pytest.approx(expected.item(), abs=0.005)


def config(space="sphere", loss=None, **changes):
    sizes = replace(SIZES["laptop"], **changes)
    experiment = on_process("any", "fig2/25", sizes, RSquared(test_pairs=10), loss=loss, space=space)
    return experiment.training_config(0)


def test_optional_sizes():
    plain, wide = SIZES["laptop"].build(), WIDE_SIZES["laptop"].build()
    assert (plain.whiten, wide.whiten) == (False, True)
    assert wide.muon_lr == pytest.approx(4 * plain.muon_lr)
    assert wide.adam_lr == pytest.approx(4 * plain.adam_lr)
    assert wide.growth == ()


def test_a_process_by_its_settings_has_the_mixing_of_its_name():
    law = {"kind": "fisher-bingham", "concentration": [5.0] * 5 + [25.0] * 5}
    given = ProcessSettings(space="sphere", dim=10, conditional=law)
    draws = [
        ProcessPairs(process=chosen, candidates=50).open(3).sample(4, torch.Generator().manual_seed(0)).x
        for chosen in ("fig2/25", given)
    ]
    assert torch.equal(*draws)


@pytest.mark.parametrize(
    ("given", "growth"), [(True, ((0.5, 1024),)), (False, ()), (((0.3, 700),), ((0.3, 700),))]
)
def test_growth_of_the_batch(given, growth):
    assert replace(SIZES["laptop"], grows=given).build().growth == growth


def test_no_closing_pairs_means_no_closing_fit():
    found = config(closing_pairs=0)
    assert (found.unfolds, found.closes) == (True, False)


def test_a_held_concentration_stays_whatever_the_rates():
    found = config(held=True, rates=3.0)
    assert found.recipe.concentration_lr <= 1e-6
    assert not found.unfolds


def test_a_rate_of_its_own_wins_over_the_common_factor():
    recipe = replace(SIZES["laptop"], rates=3.0, adam_lr=0.02).build()
    assert (recipe.adam_lr, recipe.muon_lr) == (0.02, pytest.approx(0.3))


@pytest.mark.parametrize(
    ("loss", "options"),
    [
        (Loss(), {"positive_map": "softplus"}),
        (Loss(options={"positive_map": "exp"}), {"positive_map": "exp"}),
        (Loss(name="infonce"), {}),
    ],
)
def test_the_paper_moves_concentrations_as_its_code_does(loss, options):
    experiment = on_process("any", "fig2/25", SIZES["paper"], RSquared(test_pairs=10), loss=loss)
    found = experiment.training_config(0)
    assert (found.loss.options, found.encoder.name) == (options, "paper-mlp")
    assert config(loss=loss).loss.options == loss.options


def test_the_loss_of_the_latents_is_that_of_their_best_scale():
    """An encoder that is the identity can only be as good, at the best of all scales."""
    pairs = process("table1/row12", mixing="identity")
    loss = LpInfoNCE(2, candidates="anchors+self")

    def losses(scale):
        fitted = SimpleNamespace(embed=lambda x: scale * x, loss=loss, history=[])
        score = Recovery(test_pairs=2_048, losses=True)
        return score.measure(Outcome(pairs, fitted, score.fresh(pairs, 0), 0))

    found = [losses(scale) for scale in (0.3, 0.52, 0.9)]
    ours = [one["loss"] for one in found]
    best = found[0]["loss of the latents"]
    assert [one["loss of the latents"] for one in found] == [best] * 3
    assert min(ours) == pytest.approx(best, abs=0.02)
    assert ours[0] > best + 0.1
    assert ours[2] > best + 0.1


def test_hard_negatives_train_the_same_network_on():
    """No further steps to speak of: R² after is R² before, unless the encoder or its whitening is lost."""
    changes = {"recipe.steps": 60, "score.second.steps": 1}
    (task,) = plan([find_study("fig10")], "smoke", only=["B: hard*"], changes=changes)
    metrics = execute(task).metrics
    assert metrics["R²"] == pytest.approx(metrics["R² before"], abs=0.05)
    assert metrics["R² before"] > 0.3
