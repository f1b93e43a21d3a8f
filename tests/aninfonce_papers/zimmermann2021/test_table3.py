"""Table 3: the protocol of its score, what is compared on which data, and its recipe."""

import numpy as np
import pytest
import torch

from aninfonce.sources import SequenceSource
from aninfonce_papers.engine import find_study, plan
from aninfonce_papers.engine.execute import execute
from aninfonce_papers.report.compare import compare
from aninfonce_papers.worlds.videos import generate_videos, save_videos
from aninfonce_papers.worlds.videos.masks import GENERATED, KITTI, MaskVideos
from aninfonce_papers.zimmermann2021.table3 import STUDY, metric, score_frames


def source(n=600, seed=0):
    """Frames that are their own latents: rows of three numbers."""
    latents = np.random.default_rng(seed).normal(size=(n, 3)).astype(np.float32)
    return SequenceSource([latents], [latents])


def others(z, columns, seed=1):
    return torch.randn(len(z), columns, generator=torch.Generator().manual_seed(seed))


def test_the_score_of_a_perfect_embedding():
    """Spearman: a monotone change of each factor costs nothing, and neither do order, sign and noise."""
    pairs = source()
    perfect = score_frames(
        pairs, lambda z: torch.cat([others(z, 7), z[:, [2]] ** 3, -z[:, [0]], z[:, [1]].exp()], 1), 500, 0
    )
    assert perfect.mean == pytest.approx(1.0, abs=1e-9)
    assert perfect.matching == (8, 9, 7)
    assert perfect.protocol == "spearman, latents padded with noise"


def test_the_score_of_a_constant_embedding():
    constant = score_frames(source(), lambda z: torch.ones(len(z), 10), 500, 0)
    assert constant.mean == 0.0
    assert len(constant.constant_embeddings) == 10


def test_the_score_of_a_duplicated_factor():
    """One factor ten times over: it is matched once, the other two find nothing of theirs."""
    duplicated = score_frames(source(5000), lambda z: z[:, [0]].repeat(1, 10), 4000, 0)
    assert duplicated.per_dimension[0] == pytest.approx(1.0, abs=1e-9)
    assert max(duplicated.per_dimension[1:]) < 0.06


def test_the_noise_competes_for_the_dimensions():
    """Ten dimensions of noise: the three factors do not get the best of all ten."""
    pairs = source(300)
    scores = [score_frames(pairs, lambda z: others(z, 10), 250, seed).mean for seed in range(5)]
    assert 0.01 < np.mean(scores) < 0.12


def test_frames_are_drawn_from_all_but_the_last():
    seen = []
    pairs = SequenceSource([np.arange(30, dtype=np.float32)[:, None].repeat(3, 1)] * 2)
    pairs.latents = pairs.frames
    score_frames(pairs, lambda z: seen.append(z) or z, 20, 0)
    score_frames(pairs, lambda z: seen.append(z) or z, 10_000, 0)
    assert [len(z) for z in seen] == [20, 58]
    assert float(seen[1].max()) == 28


def test_published_values():
    """The table as printed, once more."""
    printed = {
        ".05 s": "66.1 4.5 77.1 1.0 74.1 4.4 58.3 5.4 59.9 5.5",
        ".15 s": "79.6 5.8 79.4 1.9 80.9 3.8 60.2 8.7 68.4 6.7",
    }
    for preset in ("smoke", "laptop", "paper"):
        for time, values in printed.items():
            cells = [cell for cell in STUDY.experiments(preset) if time in cell.name]
            known = [cell.published[metric(KITTI)] for cell in cells]
            assert [v for p in known for v in (p.value, p.spread)] == [float(v) for v in values.split()]
            assert {cell.published[metric(GENERATED)].goal for cell in cells} == {"shown"}
            assert {cell.pairs.largest_gap for cell in cells} == {1 if time == ".05 s" else 5}


def test_a_file_decides_what_is_compared(tmp_path):
    """The same cell on a file: labelled by what the file holds, and judged only if that is KITTI Masks."""
    made = generate_videos(6, longest=12)
    judged = {}
    for name, label in (("kitti", KITTI), ("made", GENERATED), ("other", "my own")):
        path = save_videos(MaskVideos(made.masks, made.latents, label), tmp_path / f"{name}.npz")
        changes = {
            "pairs.data": str(path),
            "recipe.steps": 1,
            "recipe.warmup": 0,
            "recipe.batch_size": 4,
            "score.test_frames": 20,
        }
        (task,) = plan([STUDY], "laptop", only=["Δt .05 s: Normal, unbounded"], changes=changes)
        row = execute(task)
        assert row.error is None
        assert 0 < row.metrics[metric(label)] < 100
        judged[name] = [line.verdict for line in compare([row]) if line.metric == metric(label)]
    assert judged["kitti"][0] in ("differs", "as published")
    assert judged["made"] == judged["other"] == [""]


def test_a_missing_file_is_named(tmp_path):
    changes = {"pairs.data": str(tmp_path / "nowhere.pickle")}
    (task,) = plan([find_study("table3")], "smoke", only=["Δt .05 s: Laplace, box"], changes=changes)
    assert "nowhere.pickle must be a file" in execute(task).error


def test_recipes():
    found = {experiment.name: experiment.recipe for experiment in STUDY.experiments("laptop")}
    fast, slow = (found[f"Δt .15 s: {name}"] for name in ("Laplace, box", "SlowVAE, unbounded"))
    assert (fast.optimizer, slow.optimizer) == ("muon", "adam")
    assert (fast.growth, fast.close) == ((), None)
    paper = STUDY.experiments("paper")[1].recipe
    assert (paper.optimizer, paper.adam_lr, paper.decay) == ("adam", 1e-4, "none")
    assert (paper.steps, paper.batch_size, paper.adam_betas) == (300_000, 32, (0.9, 0.999))


@pytest.mark.parametrize(("preset", "temperature"), [("laptop", 0.1), ("paper", 1.0)])
def test_a_short_training_starts_colder_in_a_box(preset, temperature):
    boxes = [found for found in STUDY.experiments(preset) if found.name.endswith(", box")]
    assert len(boxes) == 4
    for found in boxes:
        config = found.training_config(0)
        assert (config.loss.options["temperature"], config.space) == (temperature, "box")
        # The published protocol scores on the frames that were trained on.
        assert config.held_out == 0.0
