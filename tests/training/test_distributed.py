"""Two processes with the same global batch train like one."""

import os
import subprocess
import sys

import pytest
import yaml
from lightning_fabric import Fabric

from aninfonce.training import fit
from aninfonce.training.checkpoints import newest_snapshot
from aninfonce.training.open_data import open_data
from tests.ports import reserved_port
from tests.training.small import small_config

# Fifty steps through both phases and a growing batch, at rates that do not blow up rounding too soon.
CONFIG = small_config(
    recipe={"steps": 50, "close": None, "muon_lr": 0.02, "adam_lr": 1e-3}, checkpoint_every=0
)
TORCHRUN = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port")


def _train(tmp_path, launcher, precision):
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(CONFIG.model_dump(mode="json")))
    (tmp_path / "train.py").write_text("from aninfonce.cli import main\nmain()\n")
    options = ["--accelerator", "cpu", "--devices", "2", "--strategy", "ddp", "--precision", precision]
    with reserved_port() as port:
        launcher = [*launcher, str(port)] if launcher else []
        done = subprocess.run(
            [sys.executable, *launcher, "train.py", "train", "config.yaml", "--out", "run", *options],
            cwd=tmp_path,
            env={**os.environ, "OMP_NUM_THREADS": "1", "MASTER_PORT": str(port)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    # Every process scores the same held-out pairs: there is nothing to gather, and nothing to warn of.
    assert "gather_distributed" not in done.stderr
    return newest_snapshot(tmp_path / "run")[1]


# In float32 rounding grows over fifty steps (Adam divides by small numbers); in float64 nothing hides.
@pytest.mark.process
@pytest.mark.parametrize(
    ("launcher", "precision", "tolerance"),
    [((), "32-true", 1e-3), (TORCHRUN, "64-true", 1e-10)],
    ids=["fabric", "torchrun"],
)
def test_two_processes_equal_one(tmp_path, launcher, precision, tolerance):
    fabric = Fabric(accelerator="cpu", devices=1, precision=precision)
    fit(open_data(CONFIG.data), CONFIG, directory=tmp_path / "one", fabric=fabric)
    one = newest_snapshot(tmp_path / "one")[1]
    two = _train(tmp_path, launcher, precision)
    weights = [name for name in one.tensors if name.startswith(("encoder.", "loss."))]
    assert len(weights) == 9
    for name in weights:
        difference = (two.tensors[name] - one.tensors[name]).abs().max()
        assert difference < tolerance, name
    for name in ("loss", "held_out_loss", "optimal_loss"):
        losses = [[row[name] for row in s.facts["history"] if name in row] for s in (one, two)]
        assert len(losses[0]) > 1
        assert max(abs(a - b) for a, b in zip(*losses, strict=True)) < tolerance, name
