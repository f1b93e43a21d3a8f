"""No advice tells a user to do what the run did."""

import numpy as np
import pytest
import torch
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from aninfonce.diagnostics import audit
from aninfonce.diagnostics.training_facts import TrainingFacts, run_of
from aninfonce.encoders.embedding import Embedding
from aninfonce.losses import AnInfoNCE, EnsembleAnInfoNCE, LpInfoNCE, NTXent
from aninfonce.training import Fitted, TrainingConfig
from tests.diagnostics.cases import DIM, clean, flat, same
from tests.diagnostics.test_power import two_kinds
from tests.estimator.small import UNFINISHED, make_pairs, quick

pytestmark = UNFINISHED


def fitted(loss, space="sphere", columns=DIM):
    """A run that ended in the first columns as they are."""
    body = nn.Linear(DIM, columns, bias=False)
    with torch.no_grad():
        body.weight.copy_(torch.eye(DIM)[:columns])
    config = TrainingConfig(space=space, dim=columns)
    return Fitted(Embedding(body, nn.Identity()), loss, None, None, [], config, 0, 0.0)


def test_what_is_known():
    assert run_of(lambda rows: rows) == TrainingFacts()
    assert run_of(nn.Linear(2, 2)).loss is None
    known = run_of(fitted(AnInfoNCE(DIM, potential=True), "box"))
    assert (known.loss, known.anisotropic, known.potential, known.flat) == ("AnInfoNCE", True, True, True)
    assert run_of(fitted(EnsembleAnInfoNCE(DIM, 2))).ensemble
    assert not run_of(fitted(NTXent())).anisotropic
    X, X_pos = make_pairs(300)
    assert run_of(quick().fit(X, X_pos)).loss == "AnInfoNCE"
    # Where "auto" ended counts, not that it was asked for.
    found = quick(space="auto").fit(np.random.default_rng(0).normal(size=(400, 3)))
    assert (found.space, found.space_, run_of(found).space, run_of(found).flat) == (
        "auto",
        "flat",
        "flat",
        True,
    )
    assert run_of(make_pipeline(StandardScaler(), quick(loss="infonce")).fit(X)).loss == "InfoNCE"


def test_a_run_with_aninfonce_is_not_told_to_train_with_it():
    x, x_pos = clean([5.0, 5.0, 5.0, 25.0, 25.0], n=1000)
    changes = {"moved": lambda rows: rows + torch.eye(DIM).numpy()[4]}
    own, other, unknown = (
        audit(encoder, (x, x_pos), changes, latents=x)
        for encoder in (
            fitted(AnInfoNCE(4), columns=4),
            fitted(NTXent(), columns=4),
            lambda rows: rows[:, :4],
        )
    )
    for report in (own, other, unknown):
        assert report["identifiability"].concern
        assert report["readout"].concern
        assert report["spectrum"].interval[0] > 1.5
    assert "train with AnInfoNCE" not in str(own)
    assert "more columns" in own["identifiability"].advice
    assert own["spectrum"].status == "fine"
    assert "allows for" in own["spectrum"].advice
    for name in ("identifiability", "readout", "spectrum"):
        assert "train with AnInfoNCE instead of NTXent" in other[name].advice
        assert "train with AnInfoNCE, unless this encoder was" in unknown[name].advice
    assert (own.loss, own.to_dict()["loss"], unknown.loss) == ("AnInfoNCE", "AnInfoNCE", None)


def test_uniformity_asks_for_no_second_potential_and_no_sphere_in_a_box():
    x, x_pos = clean(n=600)
    crowded = [rows + 0.5 for rows in (x, x_pos)]
    without = audit(fitted(AnInfoNCE(DIM)), crowded)["uniformity"]
    assert without.concern
    assert "add a candidate potential" in without.advice
    having = audit(fitted(AnInfoNCE(DIM, potential=True)), crowded)["uniformity"]
    assert having.concern
    assert "potential" not in having.advice
    assert audit(fitted(AnInfoNCE(DIM), "box"), crowded)["uniformity"].status == "not judged"


@pytest.mark.parametrize(
    ("loss", "steps", "never"),
    [
        (LpInfoNCE(1), lambda rng, shape: rng.laplace(size=shape), "(LpInfoNCE)"),
        (EnsembleAnInfoNCE(DIM, 2), two_kinds, "EnsembleAnInfoNCE"),
    ],
)
def test_the_form_of_the_conditional_asks_for_another_loss_than_the_runs(loss, steps, never):
    assert never in audit(same, flat(steps))["conditional"].advice
    own = audit(fitted(loss, "unbounded"), flat(steps))["conditional"]
    assert own.concern
    assert never not in own.advice
