import torch

from aninfonce.alignment import check_folding
from aninfonce.alignment.folding import mean_absolute_coordinate, own_loss
from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.spaces import Sphere

TRUTH = torch.tensor([5.0] * 3 + [25.0] * 3)


def test_a_lost_sign_is_seen_and_a_whole_sphere_passes():
    generator = torch.Generator().manual_seed(0)
    z = Uniform(Sphere(6)).sample(8192, generator)
    loss = own_loss(TRUTH, block=256, generator=generator)
    whole = check_folding(z, TRUTH, loss, block=256, generator=generator)
    assert not whole.folded
    assert abs(whole.gap) < 0.05
    assert whole.smallest_variance > 0.9
    folded = z.clone()
    folded[:, 2] = folded[:, 2].abs()
    found = check_folding(folded, TRUTH, loss + 0.3, block=256, generator=generator)
    assert found.folded
    assert found.gap > 0.2
    assert abs(found.smallest_variance - (1 - 2 / torch.pi)) < 0.1
    # A fold that is centred again shows in its variance.
    assert check_folding(folded - folded.mean(dim=0), TRUTH, loss, block=256, generator=generator).folded


def test_mean_absolute_coordinate_against_draws():
    z = Uniform(Sphere(7)).sample(100_000, torch.Generator().manual_seed(1))
    assert abs(float(z[:, 0].abs().mean()) - mean_absolute_coordinate(7)) < 0.005


def test_own_loss_is_that_of_the_truth():
    generator = torch.Generator().manual_seed(2)
    z = Uniform(Sphere(6)).sample(16_384, generator)
    z_pos = FisherBingham(z, TRUTH).sample(generator)
    logits = -0.5 * ((z[:, None, :] - z[None, :256]) ** 2 * TRUTH).sum(-1)[:256]
    positive = -0.5 * ((z - z_pos) ** 2 * TRUTH).sum(-1)[:256]
    logits.fill_diagonal_(-torch.inf)
    naive = torch.logsumexp(torch.cat([positive[:, None], logits], dim=1), dim=1) - positive
    value = own_loss(TRUTH, block=256, generator=generator)
    # Standard error of the single batch: its spread over √256.
    assert abs(value - float(naive.mean())) < 5 * float(naive.std()) / 16
