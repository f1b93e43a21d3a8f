"""What the audit takes, gives back and refuses."""

import json

import numpy as np
import pytest
import torch

from aninfonce.diagnostics import audit
from aninfonce.processes import process
from tests.diagnostics.cases import DIM, clean, same
from tests.estimator.small import UNFINISHED, make_pairs, quick


def test_encoders_of_every_kind_agree():
    x, x_pos = (part.astype(np.float32) for part in clean(n=400))
    layer = torch.nn.Linear(DIM, DIM, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.eye(DIM))
    layer.train()
    as_module = audit(layer, (x, x_pos))
    assert layer.training
    as_function = audit(same, (x, x_pos))
    on_tensors = audit(layer, (torch.from_numpy(x), torch.from_numpy(x_pos)))
    for other in (as_function, on_tensors):
        for a, b in zip(as_module.findings, other.findings, strict=True):
            assert a.value == pytest.approx(b.value, rel=1e-4)
    assert as_module.pairs == 400


@UNFINISHED
def test_an_estimator_is_an_encoder():
    X, X_pos = make_pairs(400)
    assert audit(quick().fit(X, X_pos), (X, X_pos)).dim == 3


def test_data_of_every_kind():
    world = process("fig2/25", mixing="identity")
    assert audit(same, world, max_pairs=500)["identifiability"].value > 0.99
    batch = world.sample(500, torch.Generator().manual_seed(0))
    assert audit(same, batch)["identifiability"].value > 0.99
    assert audit(same, lambda: (batch.x, batch.x_pos)).pairs == 500
    moved = audit(same, batch.x.numpy(), {"a": lambda x: x + 1, "b": lambda x: x - 1})
    assert moved["shift"].concern
    assert not moved["readout"].concern


def test_frames_are_arrays():
    pandas = pytest.importorskip("pandas")
    x, x_pos = clean(n=300)
    columns = list("abcde")
    frame, frame_pos = (pandas.DataFrame(part, columns=columns, index=range(7, 307)) for part in (x, x_pos))
    labels = pandas.Series(x[:, 0] > 0, index=range(7, 307))
    changes = {"moved": lambda rows: rows + 1.0}
    of_arrays = audit(same, (x, x_pos), changes, x, x[:, 0] > 0).to_dict()
    assert audit(same, (frame, frame_pos), changes, frame, labels).to_dict() == of_arrays
    as_frames = {"moved": lambda rows: pandas.DataFrame(rows + 1)}
    assert audit(torch.nn.Linear(DIM, 2), frame, as_frames).pairs == 300
    # An estimator sees the names that it was fitted with, and minds them.
    ica = quick().fit(frame, frame_pos)
    assert audit(ica, (frame, frame_pos), changes).dim == 3
    assert audit(quick().fit(x, x_pos), (frame, frame_pos)).dim == 3
    turned = columns[::-1]
    with pytest.raises(ValueError, match="feature names"):
        audit(ica, (frame[turned], frame_pos[turned]))
    with pytest.raises(ValueError, match="same columns"):
        audit(same, (frame, frame_pos[turned]))
    with pytest.raises(ValueError, match="`data` must hold numbers"):
        audit(same, (frame.astype(str), frame_pos.astype(str)))


def test_images_are_flattened_for_the_readout():
    x = np.random.default_rng(0).normal(size=(1000, 1, 4, 4))
    report = audit(lambda rows: rows.reshape(len(rows), -1)[:, :3], x, {"brighter": lambda rows: rows + 1})
    assert report["readout"].details["brighter"]["in_x"] > 0.9


def test_the_report_reads_well():
    report = audit(lambda x: x[:, :2], clean(n=400), latents=clean(n=400)[0])
    lines = str(report).splitlines()
    assert len(lines) == len(report.findings)
    assert lines[0].startswith("! Identifiability: ")
    assert json.loads(json.dumps(report.to_dict()))["pairs"] == 400
    with pytest.raises(KeyError, match="none of"):
        report["weather"]
    for finding in report.findings:
        axis = finding.figure().axes[0]
        assert axis.has_data()


def test_as_few_pairs_as_it_takes():
    assert len(audit(same, clean(n=200)).findings) == 8


def test_the_same_seed_gives_the_same_report():
    assert audit(same, clean(n=400)).to_dict() == audit(same, clean(n=400)).to_dict()


def test_a_wide_embedding():
    wide = np.random.default_rng(0).normal(size=(DIM, 100))
    report = audit(lambda x: x @ wide, clean(n=600))
    assert report["collapse"].concern
    assert report["spectrum"].details["variance_kept"] > 0.999


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"encoder": 3}, "`encoder` must be a module"),
        ({"encoder": lambda x: x[:, 0]}, "`encoder` must give numbers of shape"),
        ({"encoder": lambda x: x * np.nan}, "`encoder` must give finite numbers"),
        ({"data": clean(n=50)}, "`data` must hold at least 200 pairs"),
        ({"data": clean(n=300)[0]}, "`data` must be pairs"),
        ({"data": "mnist"}, "`data` must be pairs"),
        ({"latents": np.ones((10, 2))}, "`latents` must have 300 rows"),
        ({"labels": np.ones(10)}, "`labels` must have 300 rows"),
        ({"augmentations": {"cut": lambda x: x[:, :2]}}, "must keep the shape"),
        ({"augmentations": 3}, "`augmentations` must be a dictionary of functions, got 3"),
        ({"data": (np.ma.masked_array(clean(n=300)[0], mask=True), clean(n=300)[1])}, "no masked values"),
        ({"max_pairs": 10}, "`max_pairs`"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        audit(**{"encoder": same, "data": clean(n=300), **arguments})


def test_a_notebook_shows_the_findings():
    x, x_pos = clean([5.0, 5.0, 25.0, 25.0, 25.0], n=400)
    report = audit(lambda rows: rows[:, 1:], (x, x_pos), latents=x)
    text = report._repr_html_()
    assert f"{report.pairs} pairs, {report.dim} columns" in text
    assert text.count("<tr>") == 1 + len(report.findings)
    assert text.count(">look here</td>") == len(report.concerns) > 0
    for finding in report.findings:
        assert f">{finding.title}</td>" in text
    assert text.index("look here") < text.index(">fine<")
