# %% [markdown]
# # The loss in my own loop, on one device and on many
#
# You have a training loop and two views of everything. Here is what changes when AnInfoNCE takes the
# place of your contrastive loss, which negatives it counts, how to take batches that do not fit, and how
# to use several processes or GPUs without changing the result.

# %%
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from torch import nn

from aninfonce import AnInfoNCE, NTXent, process
from aninfonce.losses import cached_backward
from aninfonce.metrics import linear_r2

QUICK = "ANINFONCE_QUICK" in os.environ  # set by the tests, which only want to see that every cell runs
STEPS = 30 if QUICK else 600

# %% [markdown]
# ## One line changes, and one is new
#
# `loss(z0, z1)` takes the embeddings of two views, (N, d) each, as NT-Xent does. The new line: the loss
# has parameters, Λ̂, one for each column of the embedding. Hand them to the optimiser, with a learning
# rate of their own.

# %%
world = process("fig2/25", mixing="identity")  # any source of pairs will do; here the truth is known
pairs = torch.Generator().manual_seed(0)


def build():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(10, 128), nn.LeakyReLU(0.2), nn.Linear(128, 10))


def train(encoder, loss):
    groups = [{"params": encoder.parameters()}]
    if isinstance(loss, AnInfoNCE):
        groups += loss.param_groups(lr=2e-2)  # the new line
    optimizer = torch.optim.Adam(groups, lr=5e-3)
    history = []
    for _ in range(STEPS):
        batch = world.sample(512, pairs)
        value = loss(encoder(batch.x), encoder(batch.x_pos))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        if isinstance(loss, AnInfoNCE):
            history.append(loss.concentration.detach().clone())
    return history


def score(encoder):
    test = world.sample(4096, pairs)
    with torch.no_grad():
        embedded = nn.functional.normalize(encoder(test.x), dim=1)
    found = linear_r2(test.z, embedded, partitions=world.partitions()).per_partition
    return {part: round(value, 3) for part, value in found.items()}


usual, ours = build(), build()
train(usual, NTXent(temperature=0.5))
loss = AnInfoNCE(dim=10)
history = train(ours, loss)
print("NT-Xent  ", score(usual))
print("AnInfoNCE", score(ours))

# %%
figure, panel = plt.subplots(figsize=(6, 3))
panel.plot(torch.stack(history).numpy())
panel.set(xlabel="step", ylabel="Λ̂ of each column")
figure.tight_layout()

# %% [markdown]
# `loss.components(z0, z1)` splits the value into alignment and uniformity. Log both: a collapse shows
# there first.
#
# ## Which rows are the negatives?
#
# For anchor `z0[i]` the positive is `z1[i]`. The default takes the other anchors as negatives, which is
# what the theorem asks for. If you compare with SimCLR, count as SimCLR does:

# %%
z0, z1 = (nn.functional.normalize(torch.randn(64, 10), dim=1) for _ in range(2))
for options in (
    {},
    {"candidates": "positives"},
    {"candidates": "both", "symmetric": True},  # as SimCLR, lightly and the authors' code count
):
    print(options or "default", round(AnInfoNCE(10, **options)(z0, z1).item(), 3))

# %% [markdown]
# ## Batches that do not fit
#
# The loss itself never holds the N × N matrix, so its memory grows with N only. If the *encoder* runs out
# of memory, `cached_backward` takes the batch through it in pieces. The gradients are the same, for the
# price of a second forward pass.

# %%
big = world.sample(2048, pairs)
encoder, loss = build(), AnInfoNCE(10)
loss(encoder(big.x), encoder(big.x_pos)).backward()
whole = encoder[0].weight.grad.clone()
encoder.zero_grad()
cached_backward(encoder, loss, big.x, big.x_pos, chunk=256)
print("largest difference of a gradient:", float((encoder[0].weight.grad - whole).abs().max()))
assert torch.allclose(encoder[0].weight.grad, whole, atol=1e-6)

# %% [markdown]
# ## Many processes, many GPUs
#
# With `gather_distributed=True` every anchor meets the negatives of all processes. The value is that of
# the whole batch, and the gradients are right after the averaging that `DistributedDataParallel` does. Λ̂
# is a parameter like any other, so the loss is wrapped too.
#
# A notebook is one process, so the script goes to a file, and `torchrun` starts it twice. On a machine
# with GPUs, take `nccl` in place of `gloo` and move model and data to `cuda:{rank}`; nothing else
# changes. (It has been tested on CPUs only.)

# %%
SCRIPT = """
import sys
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from aninfonce import AnInfoNCE
from aninfonce.training.process_exit import leave_process_group

dist.init_process_group("gloo")
rank, processes = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)  # the same weights and data everywhere
encoder = DDP(torch.nn.Linear(10, 4))
loss = DDP(AnInfoNCE(4, gather_distributed=True))
x0 = torch.randn(256, 10)
x1 = x0 + 0.1 * torch.randn(256, 10)
own = slice(rank * 256 // processes, (rank + 1) * 256 // processes)  # each process has its share
value = loss(encoder(x0[own]), encoder(x1[own]))
value.backward()
if rank == 0:
    torch.save([value.detach(), encoder.module.weight.grad, loss.module.similarity.raw.grad], sys.argv[1])
leave_process_group()  # all wait for each other; with gloo, Python's own way out can abort a finished process
"""
folder = Path(tempfile.mkdtemp())
(folder / "many.py").write_text(SCRIPT)
command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
done = subprocess.run(
    [*command, folder / "many.py", folder / "gradients.pt"], capture_output=True, text=True, check=False
)
assert done.returncode == 0, done.stderr

# %% [markdown]
# The same in this one process, on the whole batch:

# %%
torch.manual_seed(0)
encoder, loss = nn.Linear(10, 4), AnInfoNCE(4)
x0 = torch.randn(256, 10)
x1 = x0 + 0.1 * torch.randn(256, 10)
value = loss(encoder(x0), encoder(x1))
value.backward()
alone = [value.detach(), encoder.weight.grad, loss.similarity.raw.grad]
for name, one, two in zip(
    ("value", "gradient of the encoder", "gradient of Λ̂"),
    alone,
    torch.load(folder / "gradients.pt"),
    strict=True,
):
    print(f"{name}: largest difference {float((one - two).abs().max()):.1e}")
    assert torch.allclose(one, two, atol=1e-6)

# %% [markdown]
# **Next:** hard negatives, a potential for data that is not uniform, similarities of your own
# (`docs/losses.md`); the loss inside Lightning, lightly, pytorch-metric-learning and CEBRA
# (`docs/drop-in.md`).
