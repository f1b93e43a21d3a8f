# %% [markdown]
# # My recording
#
# From a table of numbers over time to its hidden sources, each with a time constant and an interval. Set
# `FILE` to a recording of your own: `.npy`, or `.csv` with one row per moment and one column per channel.
# Left empty, the notebook makes a recording whose sources are known, so that you can see whether they are
# found.

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from aninfonce import ContrastiveICA
from aninfonce.estimator import consistency
from aninfonce.metrics import mean_correlation_coefficient

FILE = ""
RATE = 50.0  # rows per second
SOURCES = 4  # how many to look for; "auto" tries 1, 2, 3, … and takes several times as long

QUICK = "ANINFONCE_QUICK" in os.environ  # set by the tests, which only want to see that every cell runs
ROWS, STEPS = (1500, 40) if QUICK else (12_000, None)

# %%
truth = None
if FILE:
    X = np.load(FILE) if Path(FILE).suffix == ".npy" else np.loadtxt(FILE, delimiter=",", skiprows=1)
else:
    rng = np.random.default_rng(0)
    kept = np.array([0.6, 0.85, 0.95, 0.99])  # what is left of each source one row later
    truth = np.zeros((ROWS, 4))
    for t in range(1, ROWS):
        truth[t] = kept * truth[t - 1] + np.sqrt(1 - kept**2) * rng.normal(size=4)
    X = np.tanh(0.6 * truth @ rng.normal(size=(4, 10))) + 0.02 * rng.normal(size=(ROWS, 10))
split = int(0.8 * len(X))
past, future = X[:split], X[split:]  # the last fifth is for checking: nothing is fitted on it

figure, panel = plt.subplots(figsize=(9, 3))
panel.plot(np.arange(500) / RATE, X[:500] + 3 * np.arange(X.shape[1]), linewidth=0.7)
panel.set(title=f"{X.shape[1]} channels, the first 500 rows", xlabel="seconds", yticks=[])
figure.tight_layout()

# %% [markdown]
# ## Fit
#
# Two neighbouring rows of a recording share their causes: that is all the supervision there is. By
# default a row's partner is the next row. Change `lag=` if the recording is sampled much faster than
# anything in it changes; `lag="auto"` finds one. Several sessions go in as a list, and rows with gaps
# need `gaps="skip"`.

# %%
ica = ContrastiveICA(SOURCES, rate=RATE, max_steps=STEPS, random_state=0).fit(past)
ica

# %% [markdown]
# ## How slow is each source?
#
# Columns are sorted from fast to slow. A time constant is the time after which a source's correlation
# with itself has fallen to 1/e, about 37 %. Bars are 95 % intervals. Columns that share a colour have
# intervals that overlap: the order of time alone cannot tell these apart.

# %%
for value, (low, high) in zip(ica.time_constants_, ica.time_constants_interval_, strict=True):
    print(f"{value:6.3f} s   (95 %: {low:.3f} to {high:.3f})")
if truth is not None:
    print("the truth:", (-1 / np.log(kept) / RATE).round(3))
ica.plot_concentration()

# %% [markdown]
# The slowest source is the least certain: it forgets itself only a hundred times in this recording. Times
# are read from lags at which the encoder's errors, which differ from row to row, are forgotten and the
# source is not. Λ̂ is about neighbouring rows and has these errors in it: for slow columns it is too small.
#
# ## Look at the sources

# %%
found = ica.transform(future)
shown = min(1000, len(found))
figure, axes = plt.subplots(found.shape[1], 1, figsize=(9, 1.3 * found.shape[1]), sharex=True, squeeze=False)
for k, panel in enumerate(axes[:, 0]):
    panel.plot(np.arange(shown) / RATE, found[:shown, k], linewidth=0.7)
    panel.set(ylabel=f"column {k}")
axes[-1, 0].set(xlabel="seconds, in the part that was held back")
figure.tight_layout()

# %% [markdown]
# Which channels is each column read from?

# %%
from aninfonce.plots import attribution_plot

attribution_plot(ica.attribution(past[:1000]), [f"channel {k}" for k in range(X.shape[1])])

# %% [markdown]
# ## Is it real?
#
# **Held-out bits.** How much better than guessing does a row tell its partner from 511 others, in the
# part that was held back? 0 is guessing, 9 is certainty.

# %%
print(f"{ica.score(future):.2f} bits; beyond the best linear map: {ica.nonlinear_gain_}")
ica.plot_held_out()

# %% [markdown]
# **A second run, and a control.** Two runs from different random starts should agree. Two runs on
# shuffled pairs should not; if they do, the shape of the data alone brings runs together, and agreement
# proves nothing.

# %%
other = ContrastiveICA(SOURCES, rate=RATE, max_steps=STEPS, random_state=1).fit(past)
check = consistency(ica, other, future)
print(f"agreement {check.agreement:.3f}, control {check.control:.3f}")

# %% [markdown]
# **Beside the truth,** where it is known: the mean correlation of each true source with a column of its
# own, in the part that was held back.

# %%
if truth is not None:
    pca = PCA(SOURCES).fit(past).transform(future)
    before = mean_correlation_coefficient(truth[split:], pca).mean
    after = mean_correlation_coefficient(truth[split:], found).mean
    print(f"PCA {before:.2f}, ContrastiveICA {after:.2f}")
    if not QUICK:
        assert before < 0.8 < 0.95 < after

# %% [markdown]
# ## Keep it
#
# A folder of safetensors and JSON; nothing in it is executed when it is loaded. `aninfonce embed` and
# `aninfonce audit` read it too.

# %%
import tempfile

folder = Path(tempfile.mkdtemp()) / "ica"
ica.save(folder)
assert np.array_equal(ContrastiveICA.load(folder).transform(future), found)

# %% [markdown]
# **Next:** what to choose when (`docs/howto/choosing.md`), or sources that oscillate
# (`docs/howto/dynamics.md`).
