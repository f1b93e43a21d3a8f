"""Starts, networks of one's own, pictures, and two fits that are one."""

import copy
import pickle

import numpy as np
import pytest
import torch
from scipy.stats import truncnorm
from sklearn.base import clone
from torch import nn

from aninfonce.alignment.space_choice import SpaceChoice
from aninfonce.estimator import ContrastiveICA, contrastive_ica, fitting
from aninfonce.processes import process
from aninfonce.training import phases
from tests.estimator.small import UNFINISHED, autoregressive, make_pairs, quick

pytestmark = UNFINISHED


@pytest.fixture(scope="module")
def recording():
    return autoregressive([0.3, 0.9], 300)[1]


def own_network(features=6, columns=2):
    generator = torch.Generator().manual_seed(5)
    network = nn.Sequential(nn.Linear(features, 12), nn.Tanh(), nn.Linear(12, columns))
    with torch.no_grad():
        for weight in network.parameters():
            weight.copy_(0.3 * torch.randn(weight.shape, generator=generator))
    return network


# Every new way to fit, by what it adds to `quick`.
WAYS = {
    "several lags": {"lag": (1, 3)},
    "lag chosen": {"lag": "auto"},
    "window": {"window": 3},
    "columns chosen": {"n_components": "auto", "max_steps": 10},
    "starts": {"n_init": 2},
    "refits": {"refits": 1},
    "own network": {"encoder": own_network(), "encoder_options": None},
    "box": {"space": "box"},
    "dropout": {"input_dropout": 0.2, "whiten": "scale"},
}


@pytest.mark.parametrize("way", WAYS)
def test_two_fits_with_one_seed_are_equal_bit_for_bit(way, recording, tmp_path):
    """And so are what is cloned, what was pickled and what was saved."""
    ica = quick(**{"n_components": 2, **WAYS[way]}).fit(recording)
    torch.rand(3)  # the state of the global generator is nobody's business
    again = clone(ica).fit(recording)
    encoder = WAYS[way].get("encoder")
    loaded = ContrastiveICA.load(ica.save(tmp_path / "ica"), encoder=encoder)
    for other in (again, pickle.loads(pickle.dumps(ica)), loaded):
        np.testing.assert_array_equal(other.transform(recording), ica.transform(recording))
        np.testing.assert_array_equal(other.concentrations_, ica.concentrations_)
        np.testing.assert_array_equal(other.concentrations_interval_, ica.concentrations_interval_)
        np.testing.assert_array_equal(other.refit_agreement_, ica.refit_agreement_)
        np.testing.assert_array_equal(other.time_constants_, ica.time_constants_)
        assert (other.lag_, other.space_) == (ica.lag_, ica.space_)
        assert other.score(recording) == ica.score(recording)
        for name in ("lag_curve_", "n_components_curve_"):
            curve, same = getattr(ica, name), getattr(other, name)
            assert (curve is None) == (same is None)
            if curve is not None:
                np.testing.assert_array_equal(curve.scores, same.scores)
                assert curve.chosen == same.chosen


def test_of_several_starts_the_best_held_out_score_is_kept(recording, monkeypatch):
    seen = []
    fit = fitting.Run.fit

    def remembered(run):
        fitted = fit(run)
        # The linear map that each starts from is a run of its own.
        if fitted.config.encoder.options.get("depth") != 0:
            seen.append((run.stopping.best_score, fitted.config.seed))
        return fitted

    monkeypatch.setattr(fitting.Run, "fit", remembered)
    # A network is kept, whether it is ahead of the linear map or not.
    monkeypatch.setattr(contrastive_ica, "no_worse_than_linear", lambda run: (run, None))
    ica = quick(n_components=2, n_init=4).fit(recording)
    assert len(seen) == 4
    assert len({seed for _, seed in seen}) == 4
    assert ica.config_.seed == max(seen)[1]
    assert ica.held_out_curve_.max() == max(seen)[0]


@UNFINISHED
def test_each_start_has_a_linear_map_of_its_own(recording, monkeypatch):
    """Networks that start from the same one end in the same place."""
    seeds, start = [], fitting.Run.start_from_linear

    def noted(run, fitted):
        seeds.append(fitted.config.seed)
        start(run, fitted)

    monkeypatch.setattr(fitting.Run, "start_from_linear", noted)
    quick(n_components=2, n_init=3, max_steps=3, random_state=0).fit(recording)
    assert len(set(seeds)) == 3


def test_starts_need_something_held_out_to_choose_by(recording):
    for changes in ({"validation_fraction": 0.0}, {}):
        rows = recording if changes else recording[:100]
        with pytest.raises(ValueError, match="`n_init` must be 1 where no pairs are held out to choose by"):
            quick(n_components=2, n_init=2, **changes).fit(rows)


def test_a_network_of_your_own_stays_as_it_is(recording, tmp_path):
    network = own_network()
    before = copy.deepcopy(network.state_dict())
    ica = quick(n_components=2, encoder=network, encoder_options=None).fit(recording)
    ica.partial_fit(recording)
    assert ica.encoder is network
    for name, weight in network.state_dict().items():
        assert torch.equal(weight, before[name])
    assert ica.transform(recording).shape == (300, 2)
    path = ica.save(tmp_path / "ica")
    again = ContrastiveICA.load(path, encoder=own_network())
    np.testing.assert_array_equal(again.transform(recording), ica.transform(recording))
    with pytest.raises(ValueError, match="`encoder` must be a module of the kind that was trained"):
        ContrastiveICA.load(path)
    named = quick(n_components=2, max_steps=2).fit(recording).save(tmp_path / "named")
    with pytest.raises(ValueError, match="only if that was one of your own"):
        ContrastiveICA.load(named, encoder=own_network())


def test_a_network_of_the_wrong_size_is_told(recording):
    with pytest.raises(
        ValueError, match=r"`n_components` must be the number of columns that `encoder` gives"
    ):
        quick(n_components=3, encoder=own_network(), encoder_options=None).fit(recording)
    with pytest.raises(ValueError, match=r"columns that `encoder` gives, got 'auto'"):
        quick(n_components="auto", encoder=own_network(), encoder_options=None).fit(recording)
    with pytest.raises(ValueError, match=r"`encoder` must take rows of shape \(n, 18\)"):
        quick(n_components=2, window=3, encoder=own_network(), encoder_options=None).fit(recording)


def moving_spot(n=300, seed=0):
    """Pictures (n, 1, 8, 8) of a spot that walks about, and where it is."""
    z, _ = autoregressive([0.9, 0.97], n, seed=seed)
    place = 4 + 1.2 * z
    grid = np.arange(8.0)
    columns = np.exp(-((grid - place[:, :1]) ** 2) / 3)
    rows = np.exp(-((grid - place[:, 1:]) ** 2) / 3)
    return (rows[:, :, None] * columns[:, None, :])[:, None].astype(np.float32), z


def test_pictures(tmp_path):
    X, _ = moving_spot()
    options = {"n_components": 2, "encoder": "small-conv", "encoder_options": {"width": 4}, "max_steps": 10}
    ica = quick(**options).fit(X)
    assert ica.transform(X).shape == (300, 2)
    assert ica.transform(X).dtype == np.float32
    assert np.isfinite(ica.score(X))
    again = ContrastiveICA.load(ica.save(tmp_path / "ica"))
    np.testing.assert_array_equal(again.transform(X), ica.transform(X))
    one, two = ica.transform([X[:100], X[100:]])
    np.testing.assert_allclose(np.concatenate([one, two]), ica.transform(X), atol=1e-5)
    assert quick(**options).partial_fit(X).partial_fit(X).transform(X).shape == (300, 2)
    assert quick(**options).fit(X, X[::-1]).transform(X).shape == (300, 2)
    assert quick(**options).fit(X, augment=lambda x: x + 0.1).transform(X).shape == (300, 2)
    with pytest.raises(ValueError, match="`encoder` must take pictures"):
        quick(n_components=2).fit(X)


def test_uniform_factors_are_said_to_fill_a_box():
    """Steps that stay between the ends: the theorem of flat space holds, and the columns are uniform.

    The sixth moment of n uniform numbers, brought to unit variance, has a standard error of 5.4/√n: .13 for
    the 1800 held-out rows. The ends of the range that counts are 3.4 of these away: 1 in 1000, two columns.
    """
    rng = np.random.default_rng(0)
    z, scale = rng.uniform(-1, 1, size=(12_000, 2)), np.array([0.15, 0.4])
    later = truncnorm.rvs((-1 - z) / scale, (1 - z) / scale, loc=z, scale=scale, random_state=rng)
    mixing = rng.normal(size=(2, 3))
    wide = {"max_steps": 150, "batch_size": 256, "encoder_options": {"width": 32, "depth": 2}}
    ica = quick(n_components=2, **wide).fit(z @ mixing, later @ mixing)
    assert ica.space_ == ica.space_evidence_.space == "box"
    np.testing.assert_allclose(ica.space_evidence_.sixth_moments, 27 / 7, atol=0.44)
    assert ica.config_.space == "auto"


def test_numbers_of_numpy_are_numbers(recording, tmp_path):
    parameters = {
        "n_components": np.int64(2),
        "lag": np.array([1, 2]),
        "window": np.int64(1),
        "rate": np.float32(50.0),
        "n_init": np.int32(1),
        "refits": np.int64(0),
        "input_dropout": np.float64(0.0),
    }
    ica = quick(**parameters).fit(recording)
    plain = quick(n_components=2, lag=[1, 2], rate=50.0).fit(recording)
    np.testing.assert_array_equal(ica.transform(recording), plain.transform(recording))
    np.testing.assert_array_equal(ica.time_constants_, plain.time_constants_)
    assert ica.lag_ == (1, 2)
    assert all(type(lag) is int for lag in ica.lags_)
    again = ContrastiveICA.load(ica.save(tmp_path / "ica"))
    assert again.lag_ == (1, 2)
    np.testing.assert_array_equal(again.time_constants_, ica.time_constants_)


def test_paired_rows_have_no_lag():
    ica = quick().fit(*make_pairs(200))
    assert ica.lag_ is None
    assert ica.lags_ == ()
    assert ica.time_constants_ is None


def test_a_network_starts_as_a_linear_map(recording, monkeypatch):
    """What it gives before its first step is what the linear map gives, far from zero too."""
    first = []
    fit = fitting.Run.fit

    def remembered(run):
        x = run.trainer.source.fresh(50).x
        first.append((run.trainer.embedding(x).detach(), run.trainer.loss.concentration.detach().clone()))
        fitted = fit(run)
        run._shift(-1.0)
        first.append((fitted.encoder(x).detach(), fitted.loss.concentration.detach().clone()))
        run._shift(1.0)
        return fitted

    monkeypatch.setattr(fitting.Run, "fit", remembered)
    quick(n_components=2, space="flat").fit(recording + 100.0)
    _, linear, start, _ = first
    assert len(first) == 4
    torch.testing.assert_close(start[0], linear[0], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(start[1], linear[1])


@pytest.mark.parametrize("changes", [{"space": "sphere"}, {"loss": "infonce"}, {"validation_fraction": 0.0}])
def test_where_there_is_no_linear_map_to_start_from(changes, recording, monkeypatch):
    def refuse(run, fitted):
        raise AssertionError

    monkeypatch.setattr(fitting.Run, "start_from_linear", refuse)
    quick(n_components=2, **changes).fit(recording)


def test_a_sphere_is_trained_from_random_weights_that_bend(monkeypatch):
    calls = []
    train = fitting.train_on_kinds

    def noted(kinds, held_out, parameters, seed, **options):
        calls.append((parameters["encoder_options"].get("slope"), options.get("from_linear", True)))
        return train(kinds, held_out, parameters, seed, **options)

    monkeypatch.setattr(fitting, "train_on_kinds", noted)
    pairs = process("fig2/25", seed=0).sample(2000, torch.Generator().manual_seed(0))
    ica = ContrastiveICA(10, max_steps=60, batch_size=256, random_state=0)
    ica.fit(pairs.z.numpy(), pairs.z_pos.numpy())
    assert ica.space_ == "sphere"
    # From a linear map, the linear map itself, and the run that is kept.
    assert calls == [(None, True), (None, True), (0.2, False)]
    assert ica.nonlinear_gain_ is None


def test_a_shell_that_is_too_rough_to_tell_halfway_is_found_at_the_end(monkeypatch):
    """One of ten runs on 100 000 pairs of the papers' sphere stayed in flat space."""
    monkeypatch.setattr(phases, "choose_space", lambda h: SpaceChoice("flat", 0.5))
    pairs = process("fig2/25", seed=0).sample(2000, torch.Generator().manual_seed(0))
    ica = ContrastiveICA(10, max_steps=60, batch_size=256, random_state=0)
    found = []
    train = fitting.train_on_kinds

    def noted(*given, **options):
        found.append(options.get("from_linear", True))
        return train(*given, **options)

    monkeypatch.setattr(fitting, "train_on_kinds", noted)
    ica.fit(pairs.z.numpy(), pairs.z_pos.numpy())
    assert found == [True, True, False]


class Answers(nn.Module):
    """Gives what a function makes of its embedding."""

    def __init__(self, change):
        super().__init__()
        self.linear, self.change = nn.Linear(6, 2), change

    def forward(self, x):
        return self.change(self.linear(x))


@pytest.mark.parametrize("change", [lambda z: (z, 1), lambda z: z / 0, lambda z: None])
def test_a_network_that_gives_no_numbers_is_refused(recording, change):
    with pytest.raises(ValueError, match="`encoder` must give a tensor of finite numbers"):
        quick(n_components=2, encoder=Answers(change), encoder_options=None).fit(recording)


def test_any_loss_can_train_a_network_that_ends_in_no_linear_layer(recording, tmp_path):
    """Sorting columns takes a linear layer at the end: one is appended."""
    network = nn.Sequential(nn.Linear(6, 2), nn.Tanh())
    settings = {"n_components": 2, "encoder": network, "encoder_options": None, "max_steps": 5}
    ica = quick(loss="infonce", **settings).fit(recording)
    assert (np.diff(ica.concentration_) >= 0).all()
    again = ContrastiveICA.load(ica.save(tmp_path / "saved"), encoder=copy.deepcopy(network))
    np.testing.assert_array_equal(again.transform(recording), ica.transform(recording))


def test_partial_fit_goes_on_with_the_layer_that_fit_put_behind(recording):
    network = nn.Sequential(nn.Linear(6, 2), nn.Tanh())
    ica = quick(n_components=2, encoder=network, encoder_options=None, max_steps=5).fit(recording)
    before = ica.score(recording)
    assert ica.partial_fit(recording).score(recording) > before - 0.5
    with pytest.raises(ValueError, match="`n_components` must stay 2 between calls"):
        ica.set_params(n_components=3).partial_fit(recording)


def test_networks_for_pictures_and_rows_are_not_mistaken_for_each_other(recording):
    with pytest.raises(ValueError, match=r"`encoder` must be one for rows \(N, D\), got 'small-conv'"):
        quick(n_components=2, encoder="small-conv", encoder_options=None).fit(recording)
