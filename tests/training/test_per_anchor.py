"""A run whose Λ̂ depends on the anchor: by name, from a seed, on disk and back, flat and on the sphere."""

import pytest
import torch

from aninfonce.losses import AnInfoNCE
from aninfonce.similarities import PerAnchor
from aninfonce.training import TrainingConfig, TrainingInterrupted, fit, load_config, load_fitted
from aninfonce.training.config import parse_config
from aninfonce.training.reporters import Reporter
from tests.training.small import small_config

OPTIONS = {"concentration": "per-anchor", "potential": True}


def pairs():
    generator = torch.Generator().manual_seed(0)
    z, noise = torch.randn(2, 1000, 3, generator=generator)
    return z, z + 0.3 * (0.5 * z[:, :1]).exp() * noise


def config(**changes):
    return small_config(
        data=None, dim=3, loss={"name": "aninfonce", "options": OPTIONS}, log_every=5, **changes
    )


class StopAt(Reporter):
    def __init__(self, step):
        self.step = step

    def row(self, row):
        if row["step"] == self.step:
            raise KeyboardInterrupt


@pytest.mark.parametrize("space", ["flat", "sphere"])
def test_a_seed_decides_and_the_disk_keeps_it(space, tmp_path):
    settings = config(space=space)
    first, second = fit(pairs(), settings, directory=tmp_path), fit(pairs(), settings)
    state = first.loss.state_dict()
    assert all(torch.equal(value, second.loss.state_dict()[name]) for name, value in state.items())
    kept = load_fitted(tmp_path)
    z = first.embed(pairs()[0])
    torch.testing.assert_close(kept.loss.concentration_at(z), first.loss.concentration_at(z))
    assert isinstance(kept.loss.similarity, PerAnchor)
    assert float(first.loss.concentration_at(z).detach().std(dim=0).max()) > 0
    if space == "flat":
        torch.testing.assert_close(z.std(dim=0), torch.ones(3), rtol=0.1, atol=0)


@pytest.mark.parametrize("step", [20, 45])
def test_it_goes_on_where_it_was_stopped(step, tmp_path):
    settings = config(space="flat")
    whole = fit(pairs(), settings)
    with pytest.raises((KeyboardInterrupt, TrainingInterrupted)):
        fit(pairs(), settings, directory=tmp_path, reporters=[StopAt(step)])
    found = fit(pairs(), settings, directory=tmp_path, resume=True)
    for part in ("encoder", "loss"):
        expected, mine = (getattr(run, part).state_dict() for run in (whole, found))
        assert all(torch.equal(value, mine[name]) for name, value in expected.items())


def test_closing_in_flat_space_changes_no_similarity(monkeypatch):
    """Columns are brought to unit variance, turned and sorted, and every logit stays."""
    from aninfonce.training import phases

    seen, close_flat = {}, phases.close_flat
    x, x_pos = pairs()

    def value(embedding, loss):
        with torch.no_grad():
            return loss(embedding(x[:300]), embedding(x_pos[:300]))

    def watched(embedding, last, loss, *rest):
        seen["before"] = value(embedding, loss)
        found = close_flat(embedding, last, loss, *rest)
        seen["after"] = value(embedding, loss)
        seen["found"] = found
        return found

    monkeypatch.setattr(phases, "close_flat", watched)
    fit((x, x_pos), config(space="flat"))
    torch.testing.assert_close(seen["after"], seen["before"], rtol=1e-4, atol=1e-4)
    assert seen["found"].shape == (1, 3)
    assert bool((seen["found"].diff() >= 0).all())


def test_auto_is_flat_and_the_sphere_has_no_fits_for_it():
    assert not config(space="sphere").closes
    assert not config(space="sphere").unfolds
    assert not config(space="auto").unfolds
    assert config(space="flat").closes
    run = fit(pairs(), config(space="auto", recipe={"steps": 5, "close": None}))
    assert run.config.space == "flat"


def test_a_loss_of_ones_own_is_known_for_what_it_is():
    loss = AnInfoNCE(3, normalize=False, **OPTIONS)
    run = fit(pairs(), config(space="sphere", recipe={"steps": 5}), loss=loss)
    assert run.config.loss.per_anchor
    assert run.loss is loss


def test_yaml_names_it(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text(
        "dim: 3\nspace: flat\nloss: {name: aninfonce, options: {concentration: per-anchor}}\n"
        "data: {process: fig2/25}\n"
    )
    assert load_config(path).loss.per_anchor


@pytest.mark.parametrize(
    ("options", "message"),
    [({"concentration": "both"}, "concentration"), ({"concentration": "per-anchor", "kinds": 2}, "'one'")],
)
def test_what_makes_no_sense_is_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        parse_config({"loss": {"name": "aninfonce", "options": options}})
    assert not TrainingConfig().loss.per_anchor
