"""Encoders in files that run without this package."""

import copy
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.estimator.small import UNFINISHED, make_pairs, quick

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "export.md"


@UNFINISHED
@pytest.mark.process
@pytest.mark.parametrize("space", ["flat", "sphere"])
def test_an_exported_encoder_needs_torch_alone(space, tmp_path):
    """Whitening and head are inside; a process that cannot import this package gets the same embeddings."""
    X, X_pos = make_pairs(300)
    X, X_pos = 3.0 * X + 7.0, 3.0 * X_pos + 7.0
    ica = quick(space=space).fit(X, X_pos)
    encoder = copy.deepcopy(ica.encoder_).double().eval()
    rows = torch.from_numpy(np.asarray(X, dtype=np.float64))
    sizes = ({0: torch.export.Dim("rows")},)
    torch.export.save(torch.export.export(encoder, (rows[:2],), dynamic_shapes=sizes), tmp_path / "e.pt2")
    np.save(tmp_path / "x.npy", rows.numpy())
    script = (
        "import sys; sys.modules['aninfonce'] = None\n"
        "import numpy as np, torch\n"
        "embed = torch.export.load('e.pt2').module()\n"
        "x = torch.from_numpy(np.load('x.npy'))\n"
        "np.savez('z.npz', whole=embed(x).detach(), one=embed(x[:1]).detach())\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    with np.load(tmp_path / "z.npz") as found:
        np.testing.assert_allclose(found["whole"], ica.transform(rows.numpy()), atol=1e-9)
        np.testing.assert_allclose(found["one"], ica.transform(rows[:1].numpy()), atol=1e-9)


# What torch's exporter itself does is not ours to mend.
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_the_page_as_far_as_onnx():
    for name in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    blocks = re.findall(r"```py(?:thon)?\n(.*?)```", PAGE.read_text(), re.S)
    assert len(blocks) == 5
    names = {}
    for block in blocks:
        exec(block, names)
    assert names["onnx_path"].exists()
