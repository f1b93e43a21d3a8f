"""What must work wherever the wheel is installed; `tools.installs` runs this in each environment.

It takes nothing from the repository: only the wheel, its dependencies and the standard library. The
arguments are the extras that were asked for.
"""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Packages of the distribution that need an extra, or a graphics card, to be imported.
NEEDS = {"aninfonce.augment": "images", "aninfonce_papers": "papers"}
CONFIG = """
data: {process: fig2/25}
recipe: {steps: 5, close: {pairs: 1024, concentration_pairs: 1024}}
"""


def public_modules(package: str, extras: set[str]) -> Iterator[str]:
    """Walk through all modules whose path has no underscore in front, as far as the extras reach."""
    if NEEDS.get(package, "papers") not in extras and package in NEEDS:
        return
    yield package
    module = importlib.import_module(package)
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if not found.name.startswith("_"):
            yield from public_modules(f"{package}.{found.name}", extras)


def import_everything(extras: set[str]) -> int:
    """Import all modules, and every name that a lazy package gives out."""
    count = 0
    for package in ("aninfonce", "aninfonce_papers"):
        for name in public_modules(package, extras):
            module = importlib.import_module(name)
            for public in getattr(module, "__all__", ()):
                getattr(module, public)
            count += 1
    return count


def fit_something(folder: Path) -> None:
    """Fit, transform, save and load; draw a plot."""
    import numpy as np

    from aninfonce import ContrastiveICA

    rng = np.random.default_rng(0)
    rows = np.cumsum(rng.normal(size=(600, 2)), axis=0) * 0.1
    seen = np.tanh(np.sin(rows) @ rng.normal(size=(2, 4)))
    ica = ContrastiveICA(2, max_steps=20, random_state=0).fit(seen)
    found = ica.transform(seen)
    assert found.shape == (600, 2)
    assert np.isfinite(found).all()
    ica.save(folder / "ica")
    again = ContrastiveICA.load(folder / "ica").transform(seen)
    assert (again == found).all()
    ica.plot_concentration().savefig(folder / "plot.png")
    np.savez(folder / "pairs.npz", x=seen[:-1], x_pos=seen[1:])


def run(folder: Path, *words: str, fails: bool = False) -> str:
    """Run the command as a user would; gives what it said on standard error."""
    here = Path(sys.executable).with_name("aninfonce")
    done = subprocess.run([here, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert bool(done.returncode) == fails, f"aninfonce {' '.join(words)}\n{done.stdout}{done.stderr}"
    return done.stderr


def run_commands(folder: Path, extras: set[str]) -> None:
    """Run all commands that the extras allow."""
    (folder / "config.yaml").write_text(CONFIG)
    commands = [
        ["--version"],
        ["--help"],
        ["train", "--help"],
        ["train", "config.yaml", "--out", "run"],
        ["evaluate", "run"],
        ["embed", "ica", "pairs.npz", "--out", "embedded.npy"],
        ["audit", "--encoder", "ica", "--data", "pairs.npz", "--out", "audit"],
    ]
    studies = [
        ["list"],
        ["run", "fig5", "--preset", "smoke", "--out", "rows"],
        ["report", "rows", "--out", "page"],
    ]
    if "papers" in extras:
        commands += studies
    for words in commands:
        run(folder, *words)
    if "papers" not in extras:
        # Without its extra, `list` cannot know the studies.
        said = run(folder, "list", fails=True)
        assert "aninfonce[papers]" in said, said


def use_extras(folder: Path, extras: set[str]) -> None:
    """Use one thing of each extra that a user may ask for."""
    if "images" in extras:
        import torch

        from aninfonce.augment import simclr

        assert simclr("cifar10")(torch.rand(4, 3, 32, 32), 0).images.shape == (4, 3, 32, 32)
    if "parquet" in extras:
        import numpy as np
        import pyarrow
        from pyarrow import parquet

        with np.load(folder / "pairs.npz") as pairs:
            columns = {f"{name}_{k}": pairs[name][:, k] for name in pairs for k in range(4)}
        parquet.write_table(pyarrow.table(columns), folder / "pairs.parquet")
        run(folder, "embed", "ica", "pairs.parquet", "--out", "again.npy")
    if "onnx" in extras:
        import numpy as np
        import onnxruntime
        import torch

        from aninfonce import ContrastiveICA

        encoder = ContrastiveICA.load(folder / "ica").encoder_.eval()
        rows = torch.randn(8, 4)
        program = torch.export.export(encoder, (rows,))
        torch.onnx.export(program, dynamo=True).save(folder / "encoder.onnx")
        session = onnxruntime.InferenceSession(folder / "encoder.onnx")
        (out,) = session.run(None, {session.get_inputs()[0].name: rows.numpy()})
        assert np.allclose(out, encoder(rows).detach(), atol=1e-4)
    for name in ("ray", "wandb"):
        if name in extras:
            importlib.import_module(name)
    if "tensorboard" in extras:
        run(folder, "train", "config.yaml", "--out", "board", "--tensorboard")


def main() -> None:
    """Do it all in a folder that is thrown away."""
    extras = set(sys.argv[1:])
    print(import_everything(extras), "modules imported")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fit_something(folder)
        run_commands(folder, extras)
        use_extras(folder, extras)
    print("fitted, trained, embedded, audited")


if __name__ == "__main__":
    main()
