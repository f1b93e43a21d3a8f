"""The study of the light tunnel measures what it says, and follows the audit's advice."""

import numpy as np
import pytest

pytest.importorskip("causalchamber", reason="the light tunnel needs causalchamber")

from aninfonce import ContrastiveICA, ContrastiveICAWarning
from aninfonce.diagnostics import audit
from aninfonce_papers.beyond import light_tunnel
from aninfonce_papers.beyond.light_tunnel import directions_without_news, scores
from aninfonce_papers.engine import find_study
from aninfonce_papers.worlds.tunnel import malus, step_pairs


def truth(rows=2000):
    rng = np.random.default_rng(0)
    factors = rng.uniform(-90, 90, size=(rows, 5))
    return np.concatenate([factors, malus(factors)[:, None]], axis=1)


def cell(name, **changes):
    (found,) = (one for one in find_study("light-tunnel").experiments("smoke") if one.name == name)
    for path, value in changes.items():
        found = found.edited(path.replace("__", "."), value)
    return found


def test_lights_and_what_is_seen_of_angles_count_by_themselves():
    known = truth()
    everything = scores(known, known[:, [4, 3, 2, 1, 0]])
    assert everything["R²"] == pytest.approx(1.0)
    assert everything["mean correlation"] == pytest.approx(1.0)
    seen = scores(known, known[:, [5, 2, 1, 0]])
    assert seen["R², lights"] == pytest.approx(1.0)
    assert seen["R², cos²"] == pytest.approx(1.0)
    assert seen["mean correlation, lights and cos²"] == pytest.approx(1.0)
    assert abs(seen["R², angles"]) < 0.02
    assert seen["R²"] == pytest.approx(0.6, abs=0.02)


def test_no_regression_finds_angles_in_light():
    """Two angles that are turned alike shine alike: even with the truth at hand nothing tells them."""
    for method in ("linear", "nonlinear"):
        found = cell(f"light sensors, steps: {method} regression").run(0)
        assert found["R², lights"] > 0.999
        assert found["R², angles"] < 0.1
    assert found["R², cos²"] > 0.98
    assert cell("all sensors, steps: linear regression").run(0)["R², angles"] > 0.999


def test_columns_without_news_are_counted():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(2000, 2))
    x, x_pos = (np.column_stack([shared, rng.normal(size=2000)]) for _ in range(2))
    x_pos[:, :2] += 0.5 * rng.normal(size=(2000, 2))
    assert directions_without_news(audit(lambda rows: rows, (x, x_pos))) == 1
    assert directions_without_news(audit(lambda rows: rows[:, :2], (x, x_pos))) == 0


def test_as_advised_leaves_out_columns_until_all_have_news(monkeypatch):
    answers = iter([2, 1])
    monkeypatch.setattr(light_tunnel, "directions_without_news", lambda report: next(answers, 0))
    found = cell("light sensors, steps: ours, as advised", score__steps=2).run(0)
    assert (found["columns"], found["directions without news"]) == (2, 0)
    assert {"θ₁", "θ₂"} <= set(found["factors lost"])


@pytest.mark.filterwarnings("ignore::aninfonce.ContrastiveICAWarning")
def test_the_estimator_says_that_pictures_hold_three_numbers():
    """As the study's remarks have it."""
    pairs = step_pairs((0.5,) * 5, 600, 0, "camera")
    model = ContrastiveICA(5, encoder="small-conv", encoder_options={"width": 2}, max_steps=2, device="cpu")
    with pytest.warns(ContrastiveICAWarning, match=r"3 independent direction.* Try n_components=3"):
        model.fit(pairs.x, pairs.x_pos)
