# %% [markdown]
# # The first recovered factors
#
# Ten minutes, one CPU, no labels. You will make data whose causes are known, train two encoders that see
# only the data, and look at which causes each of them found. Everything runs top to bottom as it is.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np
import torch

from aninfonce import process
from aninfonce.metrics import linear_r2, mean_correlation_coefficient
from aninfonce.training import TrainingConfig, fit

QUICK = "ANINFONCE_QUICK" in os.environ  # set by the tests, which only want to see that every cell runs
STEPS, CLOSING = (20, 1024) if QUICK else (1000, 16_384)

# %% [markdown]
# ## A world with ten hidden factors
#
# A row of ten hidden numbers, *z*, is a point on a sphere. A random nonlinear network turns it into an
# observation *x* of ten channels, and that is all a model gets to see. Observations come in pairs: the
# hidden numbers of the second, *z*⁺, are drawn close to those of the first. How close differs from factor
# to factor, and is given by one number each, Λ (lambda), the inverse variance of the step from *z* to
# *z*⁺. In this world the factors are:
#
# - five with Λ = 5, which change a lot within a pair. The papers call them *style*;
# - five with Λ = 25, which change little. They are the *content*.

# %%
world = process("fig2/25", seed=0)
test = world.sample(2000, torch.Generator().manual_seed(1))
print("observations:", tuple(test.x.shape), "and their partners:", tuple(test.x_pos.shape))
print("Λ of the ten factors:", world.concentration.tolist())

figure, axes = plt.subplots(1, 3, figsize=(10, 3))
for panel, (name, column) in zip(axes, {"style": 0, "content": 9}.items(), strict=False):
    panel.scatter(test.z[:, column], test.z_pos[:, column], s=2)
    panel.set(title=f"a {name} factor (hidden)", xlabel="first of the pair", ylabel="second")
axes[2].scatter(test.x[:, 0], test.x[:, 1], s=2, c=test.z[:, 9])
axes[2].set(title="what a model sees", xlabel="channel 0", ylabel="channel 1")
figure.tight_layout()

# %% [markdown]
# ## Train with AnInfoNCE
#
# The loss asks: which of these rows is the partner of this one? It compares two embedded rows by −½ Σ Λ̂ᵢ
# (difference in column i)², and learns the weights Λ̂ along with the encoder.

# %%
recipe = {"steps": STEPS, "close": {"pairs": CLOSING, "concentration_pairs": CLOSING}}
ours = fit(world, TrainingConfig(recipe=recipe))
print("learned Λ̂, sorted:", ours.concentration.sort().values.numpy().round(1))

# %% [markdown]
# Five small numbers and five larger ones: nobody told the loss that there are two kinds of factors. (This
# notebook trains for 1000 steps. `aninfonce demo` trains for longer and comes closer to 5 and 25.)
#
# ## Train with plain InfoNCE
#
# The usual contrastive loss weighs all columns alike.

# %%
plain = fit(
    world, TrainingConfig(loss="infonce", recipe={"steps": STEPS, "muon_lr": 0.03, "adam_lr": 0.0024})
)

# %% [markdown]
# ## What did each of them find?
#
# Only now do we look at the hidden factors. A linear map from the embedding to each factor is fitted on
# one half of the test rows and scored on the other half. R² is 1 if the factor can be read off perfectly
# and 0 if not at all.

# %%
found = {
    name: linear_r2(test.z, model.embed(test.x), partitions=world.partitions())
    for name, model in {"InfoNCE": plain, "AnInfoNCE": ours}.items()
}
figure, panel = plt.subplots(figsize=(8, 3))
for shift, (name, score) in zip((-0.2, 0.2), found.items(), strict=True):
    panel.bar(np.arange(10) + shift, score.per_dimension, width=0.4, label=name)
    print(f"{name:10s}", {part: round(value, 3) for part, value in score.per_partition.items()})
panel.set(xticks=range(10), xlabel="hidden factor (0–4 style, 5–9 content)", ylabel="R²", ylim=(0, 1.02))
panel.legend(loc="center left", bbox_to_anchor=(1, 0.5))
figure.tight_layout()

# %%
if not QUICK:
    assert found["AnInfoNCE"].per_partition["style"] > 0.95
    assert found["InfoNCE"].per_partition["style"] < 0.3

# %% [markdown]
# InfoNCE keeps the content and loses the style: what changes a lot within pairs does not help to tell
# partners apart under a similarity that weighs all columns alike. AnInfoNCE keeps both.
#
# ## And without the answers?
#
# With your own data there is no *z* to compare with. These can be read without it:

# %%
print("Has the embedding folded, so that the sign of a factor is lost?", ours.folded)
both = mean_correlation_coefficient(
    ours.embed(test.x), fit(world, TrainingConfig(recipe=recipe, seed=1)).embed(test.x)
)
print("Correlation of each column with one of a second run:", round(both.mean, 2))

# %% [markdown]
# That correlation stays well below 1, and should: factors that share the same Λ can be rotated into each
# other without changing a single pair, so a single column of the style block means nothing by itself.
# What two runs do agree on is the block as a whole. Where all Λ differ, columns agree too: try
# `process("fig2/linspace")` above.
#
# **Next:** your own recording (`my_recording.ipynb`), or the theory on one page (`docs/theory.md`).
