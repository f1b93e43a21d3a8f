"""Λ̂ trained alone goes where the optimum is known to be."""

import pytest

from aninfonce_papers.engine import find_study


def alone(cell, steps):
    (found,) = (one for one in find_study("exactness").experiments("laptop") if one.name == cell)
    return found.edited("score.steps", steps).run(0)


def test_the_forward_loss_keeps_the_truth_and_a_symmetric_one_does_not():
    """Averages of 150 noisy steps lie within 4 % of Λ; on the same pairs, .1 of the style is the bias."""
    forward, published = alone("exact, forward", 300), alone("exact, as published", 300)
    assert forward["Λ̂ style"] == pytest.approx(5.0, rel=0.04)
    assert forward["Λ̂ content"] == pytest.approx(25.0, rel=0.04)
    assert published["Λ̂ style"] - forward["Λ̂ style"] > 0.05


def test_one_step_stays_near_the_start():
    found = alone("exact, forward", 1)
    assert found["Λ̂ style"] == pytest.approx(5.0, rel=0.01)
    assert found["Λ̂ content"] == pytest.approx(25.0, rel=0.01)
