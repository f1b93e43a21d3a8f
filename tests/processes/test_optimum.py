import math

import numpy as np
import pytest
import torch

from aninfonce.processes import ProcessSettings, optimal_loss, process

PUBLISHED_BLOCKS = {"kind": "approximate-fisher-bingham", "concentration": (5,) * 5 + (25,) * 5}


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def best(name: str, negatives: int, seed: int = 0, counting: str = "forward", **changes):
    built = process(name, mixing="identity", **changes)
    batches = 8 if counting == "published" else 20
    return optimal_loss(built, negatives, counting=counting, batches=batches, generator=seeded(seed))


# Prototype values at d = 10, Λ = (5, 25), N = 1000, each ±0.01; ours add a standard error of 0.01 to 0.02.
@pytest.mark.parametrize(
    ("negatives", "counting", "changes", "expected"),
    [
        (999, "forward", {}, 3.68),
        (1998, "published", {}, 4.36),
        (1998, "published", {"conditional": PUBLISHED_BLOCKS}, 4.32),
    ],
)
def test_known_values(negatives, counting, changes, expected):
    result = best("fig2/25", negatives, counting=counting, **changes)
    assert abs(result.value - expected) < 3 * math.hypot(result.standard_error, 0.01)


def test_forward_value_equals_a_plain_float64_loop():
    built = process("fig2/25", mixing="identity")
    batch = built.sample(12, seeded(7))
    z, z_pos = batch.z.double().numpy(), batch.z_pos.double().numpy()
    lam = built.concentration.double().numpy()

    def similarity(a, b):
        return -0.5 * float(lam @ (a - b) ** 2)

    losses = []
    for i in range(12):
        logits = [similarity(z[i], z_pos[i])] + [similarity(z[i], z[j]) for j in range(12) if j != i]
        losses.append(np.log(np.exp(logits).sum()) - logits[0])

    class Fixed:
        """The process that hands out this one batch."""

        negatives, marginal, conditional = None, built.marginal, staticmethod(built.conditional)

        @staticmethod
        def sample(n, generator=None):
            return batch if n == 12 else built.sample(n, generator)

    result = optimal_loss(Fixed(), 11, batches=2)
    assert result.value == pytest.approx(np.mean(losses), abs=1e-5)
    assert result.standard_error == 0.0


def test_limit_is_approached_with_more_negatives():
    gaps = [(r := best("fig2/25", n, seed=1)).value - r.limit for n in (50, 1000)]
    assert gaps[1] < gaps[0]
    assert 0 < gaps[1] < 0.1


def test_no_information_gives_log_of_the_candidates():
    law = {"kind": "fisher-bingham", "concentration": 0.0}
    built = ProcessSettings(space="sphere", dim=5, conditional=law, mixing="identity").build()
    result = optimal_loss(built, 63, generator=seeded(0))
    assert result.value == pytest.approx(math.log(64), abs=1e-5)
    assert result.limit == pytest.approx(math.log(64), abs=1e-5)


def test_marginal_density_enters_the_optimal_critic():
    # With z, z⁺ jointly normal the divergence is known: Σ½[σ² + z² − 1 − log σ²] with σ = 1, E z² = 1.
    result = optimal_loss(process("table1/row12", mixing="identity"), 50, generator=seeded(0))
    assert result.limit == pytest.approx(math.log(51) - 10 * 0.5, abs=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: best("fig2/25", 0), "`n_negatives` must be a whole number of at least 1, got 0"),
        (lambda: best("fig2/25", 5, counting="published"), "`n_negatives` must be even"),
        (lambda: best("fig2/25", 5, counting="theirs"), "`counting` must be one of 'forward', 'published'"),
        (lambda: best("fig10", 5), "`process` must have no hard negatives"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_conditional_without_density_is_named():
    with pytest.raises(NotImplementedError, match="Projected has no density"):
        best("table1/row3", 5)
