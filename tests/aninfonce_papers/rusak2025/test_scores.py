"""What each study measures, where the answer is known or can be computed in another way."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.stats import vonmises_fisher

from aninfonce.extending import stream
from aninfonce.losses import AnInfoNCE
from aninfonce.processes import PairBatch, process
from aninfonce_papers.beyond import conditional_form, exactness, nonuniform
from aninfonce_papers.engine import Experiment
from aninfonce_papers.engine.on_process import Outcome, ProcessPairs, recovery
from aninfonce_papers.rusak2025 import batches, fig2, fig5, fig6_uniformity, fig8, fig11, fig12, theorem

WORLD = process("fig2/25", mixing="identity")
Z = WORLD.sample(4_000, torch.Generator().manual_seed(0)).z


def outcome(embed, history=(), concentration=None, loss=None):
    """Stand in for a training that ended with a given encoder of the latents themselves."""
    fitted = SimpleNamespace(embed=embed, history=list(history), concentration=concentration, loss=loss)
    return Outcome(WORLD, fitted, PairBatch(Z, Z, Z, Z), 0)


def content_alone(x):
    return x[:, 5:]


def test_style_and_content_are_told_apart():
    truth = torch.tensor([25.0] * 5 + [5.0] * 5)
    found = fig2.StyleAndContent(test_pairs=1).measure(outcome(content_alone, concentration=truth))
    assert found["content"] == pytest.approx(1.0)
    # Of a point on the sphere, the length of the content tells nothing about the direction of the style.
    assert abs(found["style"]) < 0.02
    assert (found["D: Λ̂ style"], found["D: Λ̂ content"]) == (5.0, 25.0)


def test_a_rotation_within_blocks_is_what_the_theorem_promises():
    turn = torch.linalg.qr(torch.randn(5, 5, generator=torch.Generator().manual_seed(1))).Q
    whole = torch.block_diag(turn, turn)
    score, truth = theorem.BlockOrthogonality(test_pairs=1), WORLD.concentration
    good = score.measure(outcome(lambda x: x @ whole, concentration=truth))
    assert good["distance from block-orthogonal"] < 1e-4
    assert good["error of Λ̂"] == pytest.approx(0.0, abs=1e-6)
    mixed = torch.linalg.qr(torch.randn(10, 10, generator=torch.Generator().manual_seed(1))).Q
    bad = score.measure(outcome(lambda x: x @ mixed, concentration=1.1 * truth))
    assert bad["distance from block-orthogonal"] > 0.3
    assert bad["error of Λ̂"] == pytest.approx(0.1)


def test_peak_and_end():
    history = [{"step": step, "r2": r2} for step, r2 in ((10, 0.3), (20, 0.9), (30, 0.5))]
    found = fig12.PeakAndEnd(test_pairs=1).measure(outcome(content_alone, history))
    assert found["peak R²"] == 0.9
    assert found["end R²"] == pytest.approx(0.5, abs=0.02)
    assert found["end R², content"] == pytest.approx(1.0)
    r2 = batches.RSquared(test_pairs=1).measure(outcome(content_alone))["R²"]
    assert r2 == pytest.approx(found["end R²"])


def test_steps_to_levels_are_those_of_the_history():
    history = [{"step": step, "r2": r2} for step, r2 in ((100, 0.55), (200, 0.72), (300, 0.91))]
    found = fig8.StepsToLevels(test_pairs=1).measure(outcome(content_alone, history))
    levels = {name: value for name, value in found.items() if name.startswith("steps to")}
    assert levels == {
        f"steps to R² {level}": step for level, step in ((0.6, 200), (0.7, 200), (0.8, 300), (0.9, 300))
    }
    assert found["end R²"] == 0.91
    # Where a step averages over several batches, each counts.
    found = fig8.StepsToLevels(test_pairs=1, batches=20).measure(outcome(content_alone, history))
    assert (found["steps to R² 0.6"], found["curves"]["steps"]) == (4_000, [2_000, 4_000, 6_000])


def test_concentrations_in_the_scale_of_the_latents():
    """For h = 2z the metric Λ/4 of h is Λ of z."""
    truth = WORLD.concentration.float()
    loss = AnInfoNCE(10, initial=truth / 4, normalize=False)
    doubled = outcome(lambda x: 2 * x, concentration=truth / 4, loss=loss)
    found = conditional_form.StyleAndContent(test_pairs=1).measure(doubled)
    assert (found["Λ̂ style"], found["Λ̂ content"]) == (pytest.approx(5.0), pytest.approx(25.0))
    assert nonuniform.MetricOfLatents(test_pairs=1).measure(doubled)["Λ̂"] == pytest.approx(15.0)
    trained = exactness.TrainedConcentration(test_pairs=1).measure(outcome(lambda x: x, concentration=truth))
    assert (trained["Λ̂ style"], trained["Λ̂ content"], trained["R²"]) == (5.0, 25.0, pytest.approx(1.0))


def test_recovery_of_the_latents_themselves_is_whole():
    assert recovery(Z, Z) == {"R² [%]": pytest.approx(100.0), "MCC [%]": pytest.approx(100.0)}
    assert recovery(Z, Z.roll(1, dims=0))["R² [%]"] < 2.0


@pytest.mark.parametrize("degrees", [20.0, 60.0])
def test_overlap_of_two_isotropic_laws(degrees):
    """With one Λ for all axes the law is von Mises–Fisher, and the overlap 2 P(nearer to the other)."""
    pairs = fig5.TwoAnchors(concentration=(9.0, 9.0, 9.0), degrees=degrees)
    experiment = Experiment(name="any", pairs=pairs, score=fig5.Overlap(samples=40_000))
    here, there = (law.loc[0].numpy() for law in pairs.laws(1))
    x = vonmises_fisher(here, 9.0).rvs(200_000, random_state=0)
    expected = 2 * np.mean(x @ there > x @ here)
    assert experiment.run(0)["overlap"] == pytest.approx(expected, abs=0.015)


def test_overlap_and_nearest_positives_by_brute_force():
    pairs = ProcessPairs(process="fig8/25")
    found = Experiment(name="any", pairs=pairs, score=fig8.Overlap(samples=500)).run(3)
    batch = process("fig8/25", mixing="identity").sample(500, stream(3, "pairs"))
    z, z_pos = batch.z.numpy(), batch.z_pos.numpy()
    for size in (50, 250):
        hits = [
            all(z[i] @ z_pos[i] > z[i] @ z[j] for j in range(start, start + size) if j != i)
            for start in range(0, 500, size)
            for i in range(start, start + size)
        ]
        assert found[f"positive nearest, batch {size}"] == pytest.approx(np.mean(hits))
    assert sum(found["positives"]) == pytest.approx(1.0, abs=1e-3)


def test_domains_that_are_alike_and_apart():
    """Of 400 answers by chance, the share right scatters by .025."""
    generator = torch.Generator().manual_seed(0)
    north, south = torch.randn(2, 400, 5, generator=generator)
    assert fig6_uniformity.domain_accuracy(north, south, 0) == pytest.approx(0.5, abs=0.1)
    assert fig6_uniformity.domain_accuracy(north, south + 6.0, 0) > 0.97


def test_columns_that_neither_kind_shares():
    z = torch.randn(3_000, 6, generator=torch.Generator().manual_seed(0))
    order = [4, 0, 5, 1, 3, 2]
    assert fig11._alternating(z, z[:, order]) == [0, 2, 4]
