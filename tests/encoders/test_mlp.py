from itertools import pairwise

import pytest
import torch
from torch import nn

from aninfonce.encoders import MLP, build_encoder, paper_mlp


def linear_layers(module):
    return [layer for layer in module.modules() if isinstance(layer, nn.Linear)]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def with_head(n_in, n_out, **options):
    return build_encoder("mlp", in_features=n_in, out_features=n_out, **options)


def test_default_architecture():
    encoder = MLP(10, 11)
    assert [(layer.in_features, layer.out_features) for layer in linear_layers(encoder)] == [
        (10, 128),
        (128, 128),
        (128, 128),
        (128, 11),
    ]
    slopes = [layer.negative_slope for layer in encoder.modules() if isinstance(layer, nn.LeakyReLU)]
    assert slopes == [0.2] * 3
    assert encoder(torch.randn(5, 10)).shape == (5, 11)


@pytest.mark.parametrize("n", [2, 10])
def test_the_papers_architecture(n):
    encoder = paper_mlp(n, n)
    sizes = [n, 10 * n, 50 * n, 50 * n, 50 * n, 50 * n, 10 * n, n]
    expected = sum((a + 1) * b for a, b in pairwise(sizes))
    assert sum(parameter.numel() for parameter in encoder.parameters()) == expected
    slopes = {layer.negative_slope for layer in encoder.modules() if isinstance(layer, nn.LeakyReLU)}
    assert slopes == {0.01}
    assert isinstance(encoder.layers[-1], nn.Linear)


def test_computes_what_it_says():
    encoder = MLP(3, 2, width=4, depth=1, slope=0.1, generator=generator()).double()
    first, last = linear_layers(encoder)
    x = torch.randn(6, 3, dtype=torch.float64)
    hidden = x @ first.weight.T + first.bias
    hidden = torch.where(hidden > 0, hidden, 0.1 * hidden)
    torch.testing.assert_close(encoder(x), hidden @ last.weight.T + last.bias)


def test_depth_zero_is_linear():
    assert len(linear_layers(MLP(3, 2, depth=0))) == 1


@pytest.mark.parametrize("head", ["none", "sphere", "learnable-sphere", "box"])
def test_gradients_reach_every_parameter(head):
    encoder = with_head(4, 3, width=16, head=head, generator=generator())
    encoder(torch.randn(32, 4, generator=generator(1)))[:, 0].sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("build", [MLP, paper_mlp])
def test_weights_come_from_the_generator_alone(build):
    before = torch.get_rng_state()
    first, again, other = (build(3, 3, generator=generator(seed)) for seed in (0, 0, 1))
    assert torch.equal(before, torch.get_rng_state())
    for a, b, c in zip(first.parameters(), again.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
        assert not torch.equal(a, c)


def test_without_a_generator_it_is_torch_default():
    torch.manual_seed(5)
    encoder = MLP(3, 2, depth=1, width=7)
    torch.manual_seed(5)
    plain = nn.Sequential(nn.Linear(3, 7), nn.Linear(7, 2))
    for a, b in zip(encoder.parameters(), plain.parameters(), strict=True):
        assert torch.equal(a, b)


def test_one_generator_serves_two_different_encoders():
    shared = generator()
    a, b = MLP(3, 3, generator=shared), MLP(3, 3, generator=shared)
    assert not torch.equal(a.layers[0].weight, b.layers[0].weight)


def test_state_dict_round_trip():
    source, target = (with_head(4, 3, head="box", generator=generator(seed)) for seed in (0, 1))
    x = torch.randn(5, 4)
    assert not torch.equal(source(x), target(x))
    target.load_state_dict(source.state_dict())
    assert torch.equal(source(x), target(x))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_type_follows_the_module(dtype):
    encoder = with_head(4, 3, head="sphere", generator=generator()).to(dtype)
    assert encoder(torch.randn(5, 4, dtype=dtype)).dtype == dtype


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MLP(0, 3), "`in_features` must be a whole number of at least 1, got 0"),
        (lambda: MLP(3, 2.5), "`out_features`"),
        (lambda: MLP(3, 3, width=0), "`width`"),
        (lambda: MLP(3, 3, depth=-1), "`depth` must be a whole number of at least 0"),
        (lambda: MLP(3, 3, hidden=(4, 0)), "`hidden`"),
        (lambda: MLP(3, 3, hidden=128), "`hidden` must be a width for each layer"),
        (lambda: MLP(3, 3, slope=float("nan")), "`slope`"),
        (lambda: with_head(3, 3, head="cube"), "`head`"),
        (lambda: MLP(3, 3, generator=0), "`generator` must be a torch.Generator or None, got 0"),
        (lambda: paper_mlp(True, 3), "`in_features`"),
        (lambda: MLP(3, 3)(torch.zeros(2, 4)), r"`x` must have shape \(N, 3\), got \(2, 4\)"),
        (lambda: MLP(3, 3)(torch.zeros(3)), r"`x` must have shape \(N, 3\), got \(3,\)"),
    ],
)
def test_bad_input_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_last_layer_may_see_the_inputs():
    encoder = MLP(3, 2, width=8, depth=2, skip=True, generator=generator())
    x = torch.randn(5, 3)
    first, second, last = linear_layers(encoder)
    assert last.in_features == 3 + 8
    hidden = nn.functional.leaky_relu(second(nn.functional.leaky_relu(first(x), 0.2)), 0.2)
    torch.testing.assert_close(
        encoder(x), x @ last.weight[:, :3].T + hidden @ last.weight[:, 3:].T + last.bias
    )
    # A linear map has nothing to skip.
    assert [layer.in_features for layer in linear_layers(MLP(3, 2, depth=0, skip=True))] == [3]
