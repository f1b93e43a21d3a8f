"""The loss modules: defaults, parameters, state and agreement with the loops."""

import io

import pytest
import torch

from aninfonce.functional import decorrelation, info_nce, spectral_contrastive
from aninfonce.losses import (
    AlternatingLoss,
    AnInfoNCE,
    CandidatePotential,
    EnsembleAnInfoNCE,
    InfoNCE,
    LpInfoNCE,
    NTXent,
    SpectralContrastive,
    TriCL,
)
from aninfonce.similarities import Anisotropic, Dot
from tests.losses import loop_reference as loops

N, D = 6, 3


def views(*lead, n=N, d=D, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(*lead, n, d, generator=generator, dtype=torch.float64) for _ in range(2))


def by_loops(z0, z1, **options):
    rows = loops.info_nce_rows(z0.tolist(), z1.tolist(), **options)
    return pytest.approx(loops.mean(a + u for a, u in rows), abs=1e-7)


def ratio_loss(z0, z1, negatives, ratio, **options):
    options |= {"negatives_log_ratio": ratio, "positives_log_ratio": z0[:, 0]}
    return info_nce(z0, z1, negatives, **options)


def test_defaults_equal_loops():
    z0, z1 = views()
    ones = loops.anisotropic([1.0] * D)
    assert AnInfoNCE(D)(z0, z1).item() == by_loops(z0, z1, similarity=ones, normalize=True)
    assert InfoNCE()(z0, z1).item() == by_loops(z0, z1, normalize=True)
    assert NTXent()(z0, z1).item() == by_loops(
        z0, z1, normalize=True, temperature=0.5, symmetric=True, candidates="both"
    )
    for p in (1, 2, 3):
        assert LpInfoNCE(p)(z0, z1).item() == by_loops(z0, z1, similarity=loops.negative_lp(p))
    assert LpInfoNCE(1, candidates="anchors+self")(z0, z1).item() == by_loops(
        z0, z1, similarity=loops.negative_lp(1), candidates="anchors+self"
    )


def test_published_counting_starts_at_the_published_value():
    """2N − 1 logits: N = 1000 constant embeddings give ln 1999."""
    z = torch.ones(1000, 2)
    loss = AnInfoNCE(2, candidates="both", symmetric=True)
    assert loss(z, z).item() == pytest.approx(7.6004, abs=1e-4)


def test_ensemble_is_the_sum_of_its_members():
    z0, z1 = views(2)
    loss = EnsembleAnInfoNCE(D, 2)
    first, second = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([3.0, 1.0, 0.5])
    with torch.no_grad():
        for member, value in zip(loss.losses, (first, second), strict=True):
            member.similarity.raw.copy_(value.log())
    expected = [
        loops.mean(
            a + u
            for a, u in loops.info_nce_rows(
                z0[k].tolist(), z1[k].tolist(), similarity=loops.anisotropic(value.tolist()), normalize=True
            )
        )
        for k, value in enumerate((first, second))
    ]
    assert loss(z0, z1).item() == pytest.approx(sum(expected), abs=1e-6)
    assert loss(list(z0), list(z1)).item() == pytest.approx(sum(expected), abs=1e-6)
    torch.testing.assert_close(loss.concentration, torch.stack([first, second]))
    assert len(loss.param_groups(0.1)) == 2
    with pytest.raises(ValueError, match="one tensor for each of 2 kinds"):
        loss(z0[:1], z1[:1])


@pytest.mark.parametrize("form", ["infonce", "spectral"])
def test_tricl_equals_loops(form):
    z0, z1 = views()
    scale = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
    loss = TriCL(D, form=form, temperature=0.8, decorrelation_weight=0.3, initial=scale)
    similarity = loops.scaled(scale.tolist())
    if form == "spectral":
        contrast = loops.spectral(z0.tolist(), z1.tolist(), similarity)
    else:
        rows = loops.info_nce_rows(
            z0.tolist(),
            z1.tolist(),
            similarity=similarity,
            temperature=0.8,
            symmetric=True,
            candidates="both",
        )
        contrast = loops.mean(a + u for a, u in rows)
    expected = contrast + 0.3 * loops.decorrelation(z0.tolist() + z1.tolist())
    value = loss(z0, z1)
    assert value.item() == pytest.approx(expected, abs=1e-12)
    torch.testing.assert_close(torch.stack(loss.components(z0, z1)).sum(), value)
    value.backward()
    assert (loss.similarity.raw.grad != 0).all()


def test_spectral_equals_loops_and_gradients():
    z0, z1 = views()
    expected = pytest.approx(loops.spectral(z0.tolist(), z1.tolist()), abs=1e-12)
    assert SpectralContrastive()(z0, z1).item() == expected
    leaves = [z.clone().requires_grad_() for z in (z0, z1)]
    scale = torch.ones(D, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda a, b, s: sum(spectral_contrastive(a, b, scale=s)), (*leaves, scale)
    )
    assert torch.autograd.gradcheck(decorrelation, leaves[:1])


def test_components_sum_to_the_loss():
    z0, z1 = views()
    for loss in (AnInfoNCE(D), NTXent(), LpInfoNCE(1), SpectralContrastive(), TriCL(D)):
        torch.testing.assert_close(torch.stack(loss.components(z0, z1)).sum(), loss(z0, z1))


def test_state_dict_holds_concentration():
    loss = AnInfoNCE(D, initial=torch.tensor([1.0, 2.0, 3.0]), potential=True)
    stream = io.BytesIO()
    torch.save(loss.state_dict(), stream)
    stream.seek(0)
    other = AnInfoNCE(D, potential=True)
    other.load_state_dict(torch.load(stream, weights_only=True))
    torch.testing.assert_close(other.concentration, torch.tensor([1.0, 2.0, 3.0]))


def test_param_groups_hold_every_parameter_once():
    loss = AnInfoNCE(D, potential=True, symmetric=True, learn_temperature=True)
    groups = loss.param_groups(0.01, potential_lr=0.002)
    assert [group["lr"] for group in groups] == [0.01, 0.002]
    found = [id(p) for group in groups for p in group["params"]]
    assert sorted(found) == sorted(map(id, loss.parameters()))
    assert "lr" not in loss.param_groups(0.01)[1]
    assert InfoNCE().param_groups(0.1) == []
    torch.optim.SGD(loss.param_groups(0.01), lr=0.1)


def test_learned_temperature_gets_a_gradient():
    z0, z1 = views()
    loss = NTXent(0.3, learn_temperature=True)
    assert float(loss.temperature.detach()) == pytest.approx(0.3)
    loss(z0, z1).backward()
    assert loss.log_temperature.grad != 0
    assert "log_temperature" in loss.state_dict()
    assert list(NTXent().parameters()) == []


def test_softplus_is_an_option():
    loss = AnInfoNCE(D, initial=3.0, positive_map="softplus")
    torch.testing.assert_close(loss.concentration, torch.full((D,), 3.0))


def test_concentration_follows_the_optimizer():
    z0, z1 = views()
    loss = AnInfoNCE(D)
    optimizer = torch.optim.Adam(loss.param_groups(lr=0.1))
    before = loss(z0, z1).item()
    for _ in range(20):
        optimizer.zero_grad()
        loss(z0, z1).backward()
        optimizer.step()
    assert loss(z0, z1).item() < before


def test_a_fresh_potential_changes_nothing_and_learns():
    z0, z1 = (z.float() for z in views())
    plain, with_potential = AnInfoNCE(D), AnInfoNCE(D, potential=True)
    torch.testing.assert_close(plain(z0, z1), with_potential(z0, z1))
    with_potential(z0, z1).backward()
    assert with_potential.potentials[0].layers[-1].weight.grad.abs().sum() > 0


def test_one_potential_for_each_direction():
    assert len(AnInfoNCE(D, potential=True).potentials) == 1
    assert len(AnInfoNCE(D, potential=True, symmetric=True).potentials) == 2
    with pytest.raises(ValueError, match="each direction, 2 with symmetric=True"):
        InfoNCE(potential=CandidatePotential(D), symmetric=True)


def test_hard_negatives_reach_the_function():
    z0, z1 = views()
    negatives, _ = views(N, n=2, seed=1)
    loss = InfoNCE(candidates="none", temperature=0.3)
    expected = info_nce(z0, z1, negatives, temperature=0.3, candidates="none", normalize=True)
    torch.testing.assert_close(loss(z0, z1, negatives), expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda a, b: info_nce(a, b, temperature=0.0),
            "`temperature` must be a finite number above 0, got 0",
        ),
        (lambda a, b: info_nce(a, b, temperature=torch.tensor(-1.0)), "`temperature` .* above 0, got -1"),
        (lambda a, b: info_nce(a, b, temperature=torch.ones(2)), "`temperature` must be one number"),
        (lambda a, b: NTXent(temperature=-1), "`temperature` must be a finite number above 0"),
        (lambda a, b: info_nce(a[:1], b[:1]), "no anchor has a negative: got 1 pair"),
        (lambda a, b: info_nce(a, b, candidates="none"), "no anchor has a negative"),
        (lambda a, b: SpectralContrastive()(a[:1], b[:1]), "no anchor has a negative"),
        (lambda a, b: info_nce(a, b[:3]), r"`z1` must have shape \(6, 3\), got \(3, 3\)"),
        (lambda a, b: info_nce(a, b[:, :2]), r"`z1` must have shape \(6, 3\), got \(6, 2\)"),
        (lambda a, b: info_nce(a[0], b[0]), "`z0` must be a floating-point tensor of shape"),
        (lambda a, b: info_nce(a.long(), b), "`z0` must be a floating-point tensor"),
        (lambda a, b: info_nce(a * torch.nan, b), "`z0` must be finite, got NaN or infinity in 6 of 6 row"),
        (lambda a, b: info_nce(a, b.to("meta")), "got `z0` on cpu, `z1` on meta"),
        (lambda a, b: info_nce(a, b, b[:, None, :2]), r"`negatives` must be .* \(6, K, 3\) or \(M, 3\)"),
        (lambda a, b: info_nce(a, b, b[:3, None]), r"`negatives` must be"),
        (lambda a, b: info_nce(a, b, b.to("meta")), "`negatives` on meta"),
        (lambda a, b: info_nce(a, None), "`z1` must be a floating-point tensor"),
        (lambda a, b: info_nce(a, b, b[:, :1]), r"`negatives` must have shape \(N, 3\), got \(6, 1\)"),
        (lambda a, b: ratio_loss(a, b, b, b), r"`negatives_log_ratio` must have shape \(6,\)"),
        (lambda a, b: ratio_loss(a, b, b, b[:, 0] * torch.inf), "`negatives_log_ratio` must be finite"),
        (lambda a, b: ratio_loss(a, b, None, b[:, 0]), "go together, and with `negatives`"),
        (lambda a, b: info_nce(a, b, b, negatives_log_ratio=b[:, 0]), "go together"),
        (lambda a, b: ratio_loss(a, b, b, b[:, 0], symmetric=True), "once for each direction"),
        (lambda a, b: info_nce(a, b, candidates="all"), "`candidates` must be one of"),
        (lambda a, b: info_nce(a, b, reduction="max"), "`reduction` must be one of"),
        (lambda a, b: info_nce(a, b, potential=lambda z: z), r"`potential` must map \(12, 3\) to \(12,\)"),
        (lambda a, b: info_nce(a, b, symmetric="no"), "`symmetric` must be True or False, got 'no'"),
        (lambda a, b: AnInfoNCE(3, symmetric="no"), "`symmetric` must be True or False, got 'no'"),
        (lambda a, b: InfoNCE(normalize=None), "`normalize` must be True or False, got None"),
        (lambda a, b: AnInfoNCE(0), "`dim` must be a whole number"),
        (lambda a, b: AnInfoNCE(3, initial=0.0), "`initial` must be a finite number above 0"),
        (lambda a, b: AnInfoNCE(3, initial=-torch.ones(3)), "`initial` must be above 0"),
        (lambda a, b: AnInfoNCE(3, initial=torch.ones(2)), r"`initial` must have shape \(3,\)"),
        (lambda a, b: AnInfoNCE(3, positive_map="relu"), "`positive_map` must be one of"),
        (lambda a, b: LpInfoNCE(0.5), "`p` must be a finite number at least 1"),
        (lambda a, b: TriCL(3, form="other"), "`form` must be one of"),
        (lambda a, b: AnInfoNCE(1)(a, b), r"`z0` must have 1 column\(s\) for `dim=1`, got shape \(6, 3\)"),
        (lambda a, b: AnInfoNCE(4)(a, b), r"`z0` must have 4 column\(s\) for `dim=4`, got shape \(6, 3\)"),
        (lambda a, b: AnInfoNCE(4)(a[:, :1], b[:, :1]), r"`z0` must have 4 column\(s\)"),
        (lambda a, b: EnsembleAnInfoNCE(4, 2)([a, a], [b, b]), r"`z0` must have 4 column\(s\)"),
        (lambda a, b: TriCL(1)(a, b), r"`z0` must have 1 column\(s\)"),
        (lambda a, b: TriCL(1, form="spectral")(a, b), r"`z0` must have 1 column\(s\)"),
        (lambda a, b: spectral_contrastive(a, b, scale=a[0, :1]), r"`scale` must have shape \(3,\)"),
        (lambda a, b: info_nce(a, b, potential=CandidatePotential(1)), r"`z` must have 1 column\(s\)"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call(*views())


def test_similarity_may_be_shared_or_frozen():
    similarity = Anisotropic(D)
    similarity.raw.requires_grad_(False)
    z0, z1 = views()
    loss = InfoNCE(similarity)
    assert not loss(z0, z1).requires_grad
    assert isinstance(InfoNCE().similarity, Dot)


def test_kinds_that_take_turns_are_each_contrasted_with_their_own():
    parts = EnsembleAnInfoNCE(D, 2)
    z0, z1 = torch.randn(2, 8, D, generator=torch.Generator().manual_seed(0))
    one, other = (loss(z0[i::2], z1[i::2]) for i, loss in enumerate(parts.losses))
    assert AlternatingLoss(parts)(z0, z1).item() == pytest.approx((one + other).item() / 2)
