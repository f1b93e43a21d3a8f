# %% [markdown]
# # My images, and what my encoder lost
#
# A contrastive encoder learns to ignore whatever its augmentations change. That may be what you want, or
# it may be the very thing you need later. Here you train a small encoder on two views of each image, once
# with the usual loss and once with AnInfoNCE, and ask both what they kept.
#
# Set `FOLDER` to pictures of your own, one folder per class. Left empty, scikit-learn's 1797 handwritten
# digits serve. Needs `pip install "aninfonce[images]"`.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

from aninfonce.augment import ViewSource, fixed, simclr
from aninfonce.datasets import load_images
from aninfonce.diagnostics import audit
from aninfonce.losses import AnInfoNCE, NTXent

FOLDER = ""
SIZE = 16  # pixels

QUICK = "ANINFONCE_QUICK" in os.environ  # set by the tests, which only want to see that every cell runs
STEPS = 20 if QUICK else 600

# %%
if FOLDER:
    pictures = load_images(FOLDER, size=SIZE)
    images, labels = torch.as_tensor(np.asarray(pictures.images)).float() / 255, np.asarray(pictures.labels)
else:
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = torch.from_numpy(digits.images).float()[:, None] / 16
    images = nn.functional.interpolate(images, size=SIZE, mode="bilinear")
    labels = digits.target
order = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
train, held_out = order[: len(order) // 2], order[len(order) // 2 :]
channels = images.shape[1]

# %% [markdown]
# ## Two views of each image
#
# SimCLR's augmentations, with what was drawn for each image on record.

# %%
views = simclr("mnist" if channels == 1 else "cifar10")
source = ViewSource(images[train], views, seed=0)
drawn = source.views(8)
figure, axes = plt.subplots(2, 8, figsize=(9, 2.5))
for row, batch in zip(axes, (drawn.pairs.x, drawn.pairs.x_pos), strict=True):
    for panel, image in zip(row, batch, strict=True):
        panel.imshow(image.permute(1, 2, 0).squeeze(), cmap="gray")
        panel.axis("off")
figure.suptitle("eight images, two views each (one below the other)")
print("blur of the first views:", drawn.parameters["blur.sigma"].numpy().round(2))


# %% [markdown]
# ## Train twice
#
# An ordinary PyTorch loop. AnInfoNCE has parameters of its own, Λ̂: they go to the optimiser too, with a
# learning rate of their own.


# %%
def train_encoder(loss):
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv2d(channels, 32, 3, stride=2, padding=1),
        nn.GELU(),
        nn.Conv2d(32, 64, 3, stride=2, padding=1),
        nn.GELU(),
        nn.Flatten(),
        nn.Linear(64 * (SIZE // 4) ** 2, 16),
    )
    groups = [{"params": network.parameters()}]
    if isinstance(loss, AnInfoNCE):
        groups += loss.param_groups(lr=2e-2)
    optimizer = torch.optim.Adam(groups, lr=2e-3)
    pairs = ViewSource(images[train], views, seed=0)
    for _ in range(STEPS):
        batch = pairs.next(256)
        value = loss(network(batch.x), network(batch.x_pos))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    return network.eval()


encoders = {
    "NT-Xent": train_encoder(NTXent(temperature=0.5)),
    "AnInfoNCE": train_encoder(AnInfoNCE(16, candidates="both", symmetric=True, initial=2.0)),
}

# %% [markdown]
# ## What did they keep?
#
# The audit looks at images that were held back. For each augmentation it fits two probes that tell
# whether it was applied: one reads the pixels, the other the embedding. What the first sees and the
# second does not is lost.

# %%
names = ("crop", "blur") if QUICK else ("crop", "flip", "blur", "brightness")
changes = {
    name: (lambda x, name=name: fixed(name)(torch.as_tensor(x, dtype=torch.float32), 0).images)
    for name in names
}
reports = {}
for name, network in encoders.items():

    def embed(x, network=network):
        with torch.no_grad():
            return nn.functional.normalize(network(torch.as_tensor(x, dtype=torch.float32)), dim=1)

    reports[name] = audit(
        embed, images[held_out].numpy(), changes, labels=labels[held_out], max_pairs=250 if QUICK else 4096
    )
    print(name, "\n", reports[name], "\n", sep="")

# %% [markdown]
# The two side by side: how well each augmentation, and the class, can be read off the embedding.

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True)
for panel, (name, report) in zip(axes, reports.items(), strict=True):
    report["readout"].draw(panel)
    panel.set(title=f"{name}: classes {report['classes'].value:.0%}")
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), frameon=False)
figure.tight_layout()

# %% [markdown]
# A report shows itself as a table at the end of a cell:

# %%
reports["NT-Xent"]

# %% [markdown]
# The page with plots, intervals and advice, to keep or to send: `write_audit(report, "audit")`, or from
# the command line, for any function from images to embeddings,
#
# ```
# aninfonce audit --encoder mine:embed --data my/pictures --size 64 --out audit
# ```
#
# `--fail-on-concern` makes it a check for CI.

# %%
import tempfile

from aninfonce.diagnostics import write_audit

page = write_audit(reports["AnInfoNCE"], tempfile.mkdtemp(), name="AnInfoNCE on my images")
print(page)

# %% [markdown]
# **Next:** if you need what was lost, show the encoder pairs that share it. `GroupedViews` trains on
# several kinds of pairs in turn, each with a Λ̂ of its own (`docs/images.md`).
