# %% [markdown]
# # Reproduce a figure, and add an experiment of my own
#
# Every table and figure of the two papers is a *study*: a grid of experiments with the published values
# beside them. Here you run a part of Figure 2 of the AnInfoNCE paper, compare, and then add an experiment
# that is in neither paper. Needs `pip install "aninfonce[papers]"`.

# %%
import os
import tempfile

import matplotlib.pyplot as plt

from aninfonce_papers.engine import (
    Experiment,
    ResultStore,
    Score,
    Study,
    find_study,
    plan,
    run_sweep,
    study_names,
)
from aninfonce_papers.report import sections, write_report

QUICK = "ANINFONCE_QUICK" in os.environ  # set by the tests, which only want to see that every cell runs
PRESET = "smoke" if QUICK else "laptop"
FOLDER = tempfile.mkdtemp()  # keep one of your own: what is there is not run again

print(", ".join(study_names()))

# %% [markdown]
# ## What the study holds
#
# Figure 2 asks how well *content* (factors with a large Λ₂, which hardly change within a pair) and
# *style* (Λ₁ = 5, which change a lot) are recovered by AnInfoNCE and by InfoNCE.

# %%
fig2 = find_study("fig2")
for experiment in fig2.experiments(PRESET):
    known = {name: value.value for name, value in experiment.published.items()}
    print(f"{experiment.name:22s} about {experiment.seconds:3.0f} s   published: {known}")

# %% [markdown]
# ## Run a part of it
#
# Two experiments, about a minute each. The command line does the same: `aninfonce run fig2 --only
# "*Λ₂=25"`.

# %%
store = ResultStore(FOLDER)
rows = run_sweep(plan([fig2], PRESET, only=["*Λ₂=25"]), store)
(section,) = sections(rows)
for found in section.comparisons:
    if found.published is not None:
        known = found.published.value
        values = f"ours {found.mean:6.3f}, published {known:6.3f}"
        print(f"{found.cell:18s} {found.metric:14s} {values}  {found.verdict}")

# %%
figures = fig2.plot(rows)
figures["B-D"]

# %% [markdown]
# ## An experiment of my own
#
# An experiment is one typed value: pairs, encoder, loss, recipe and score. Change a part and you have
# another. Question: how small a batch will do? Everything but the batch size stays as in the study.

# %%
base = next(e for e in fig2.experiments(PRESET) if e.name == "AnInfoNCE Λ₂=25")
SIZES = (32, 64) if QUICK else (32, 128, 512)


def experiments(preset):
    return [
        base.model_copy(
            update={
                "name": f"batch {size}",
                "recipe": base.recipe.model_copy(update={"batch_size": size, "growth": ()}),
                "published": {},
            }
        )
        for size in SIZES
    ]


mine = Study("my-batches", "How small a batch will do?", "no paper", "no table", experiments, lambda rows: {})
own_store = ResultStore(tempfile.mkdtemp())  # the report below knows the papers' studies only
found = run_sweep(plan([mine], PRESET), own_store)
figure, panel = plt.subplots(figsize=(5, 3))
for part, mark in (("content", "o-"), ("style", "s-")):
    panel.plot(SIZES, [row.number(part) for row in found], mark, label=part)
panel.set(
    xlabel="pairs in a batch", ylabel="R²", xscale="log", xticks=SIZES, xticklabels=SIZES, ylim=(0, 1.02)
)
panel.minorticks_off()
panel.legend()
figure.tight_layout()

# %% [markdown]
# ## A score of my own
#
# A score decides what is done with the other parts and what is measured. It may ignore training
# altogether: here, how often a negative lies closer to the anchor than its positive, at the true factors.


# %%
class Mistaken(Score):
    pairs: int = 2000

    def run(self, experiment, seed):
        import torch

        world = experiment.pairs.open(seed)
        batch = world.sample(self.pairs, torch.Generator().manual_seed(seed))
        own = (batch.z - batch.z_pos).norm(dim=1)
        others = torch.cdist(batch.z_pos, batch.z).fill_diagonal_(float("inf")).min(dim=1).values
        return {"share": float((others < own).float().mean())}


def overlap(preset):
    return [
        Experiment(
            name=f"Λ₂={value}",
            pairs=base.pairs.model_copy(update={"process": f"fig2/{value}"}),
            score=Mistaken(),
        )
        for value in (5, 25, 200)
    ]


study = Study(
    "mistaken", "Positives mistaken for negatives", "no paper", "no table", overlap, lambda rows: {}
)
for row in run_sweep(plan([study], PRESET), own_store):
    print(row.cell, f"{row.number('share'):.0%} of 2000 pairs have a negative nearer than the positive")

# %% [markdown]
# ## A page to show
#
# Results are lines of JSON in the folder; the page puts them beside the published values. It shows
# studies that are registered, so a study of your own gets there once it has a module of its own
# (`docs/studies.md`).

# %%
page = write_report(FOLDER)
print(page)
