import pytest
import torch

from aninfonce.distributions import FisherBingham, Normal, Uniform, VonMisesFisher
from aninfonce.mixing import Identity, InvertibleMLP
from aninfonce.processes import Centred, DataGeneratingProcess, EnsembleProcess, HardNegatives, PairBatch
from aninfonce.spaces import Box, Sphere

SPHERE = Sphere(4)
CONCENTRATION = torch.tensor([5.0, 25.0, 5.0, 25.0])


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def make(conditional=lambda z: FisherBingham(z, CONCENTRATION), **more) -> DataGeneratingProcess:
    return DataGeneratingProcess(SPHERE, Uniform(SPHERE), conditional, **more)


def test_observations_are_the_mixed_latents():
    g = InvertibleMLP(4, candidates=50, generator=seeded(0))
    negatives = HardNegatives(lambda z: VonMisesFisher(z, 30.0), count=3)
    batch = make(mixing=g, negatives=negatives).sample(6, seeded(1))
    assert isinstance(batch, PairBatch)
    assert len(batch) == 6
    assert batch.z_neg.shape == batch.x_neg.shape == (6, 3, 4)
    assert torch.equal(batch.x, g(batch.z))
    assert torch.equal(batch.x_pos, g(batch.z_pos))
    assert torch.allclose(batch.x_neg[2, 1], g(batch.z_neg[2, 1:2])[0], atol=1e-6)
    # Each anchor's negatives surround that anchor.
    assert (batch.z_neg * batch.z[:, None]).sum(dim=-1).mean() > 0.8


def test_draws_are_reproducible_and_leave_global_state_alone():
    before = torch.get_rng_state()
    process = make()
    first, second = (process.sample(5, seeded(3)) for _ in range(2))
    assert torch.equal(first.x_pos, second.x_pos)
    assert torch.equal(before, torch.get_rng_state())


def test_partitions_group_equal_concentrations_in_increasing_order():
    assert make().partitions() == {"style": (0, 2), "content": (1, 3)}
    assert make(lambda z: VonMisesFisher(z, 3.0)).partitions() == {"all": (0, 1, 2, 3)}
    several = make(lambda z: FisherBingham(z, torch.tensor([7.5, 5.0, 25.0, 5.0])))
    assert several.partitions() == {"Λ=5": (1, 3), "Λ=7.5": (0,), "Λ=25": (2,)}
    box = Box(2)
    assert DataGeneratingProcess(box, Uniform(box), lambda z: Normal(z, 0.1)).partitions() == {"all": (0, 1)}


def test_batch_moves_and_slices():
    batch = make().sample(5, seeded(0))
    part = batch[1:3]
    assert torch.equal(part.z_pos, batch.z_pos[1:3])
    assert part.x_neg is None
    assert batch.to("meta").x.device.type == "meta"


def test_centred_marginal_has_its_density():
    pole = torch.tensor([1.0, 0.0, 0.0, 0.0])
    marginal = Centred(lambda loc: VonMisesFisher(loc, 6.0), pole)
    z = marginal.sample(20, seeded(0))
    expected = VonMisesFisher(pole.expand(20, -1), 6.0).log_prob(z)
    assert torch.allclose(marginal.log_prob(z), expected)


def test_ensemble_shares_the_mixing():
    g = InvertibleMLP(4, candidates=20, generator=seeded(0))
    members = [make(lambda z, k=k: VonMisesFisher(z, k), mixing=g) for k in (5.0, 50.0)]
    loose, tight = EnsembleProcess(members).sample(200, seeded(1))
    assert (tight.z - tight.z_pos).norm() < (loose.z - loose.z_pos).norm()
    with pytest.raises(ValueError, match="must share one mixing object"):
        EnsembleProcess([members[0], make(mixing=Identity())])
    with pytest.raises(ValueError, match="at least two processes, got 1"):
        EnsembleProcess(members[:1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make(lambda z: FisherBingham(z, torch.ones(3))), r"`concentration` must have shape \(4,\)"),
        (lambda: DataGeneratingProcess(SPHERE, Uniform(Sphere(3)), Normal), "`marginal` must have shape"),
        (
            lambda: DataGeneratingProcess(SPHERE, Uniform(Box(4, 5, 6)), Normal),
            "`marginal` must lie in Sphere",
        ),
        (lambda: HardNegatives(Normal, count=0), "`count` must be a whole number of at least 1"),
        (lambda: make().sample(0), "`n` must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
