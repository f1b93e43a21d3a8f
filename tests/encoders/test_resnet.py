import pytest
import torch
from torch import nn

from aninfonce.encoders import ProjectedEncoder, ResNet, build_encoder, projector, resnet


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize(
    ("depth", "stem", "parameters", "features"),
    [
        # the published totals, 11 689 512 and 25 557 032, less their classifiers 513 000 and 2 049 000
        (18, "imagenet", 11_176_512, 512),
        (50, "imagenet", 23_508_032, 2048),
        # the small stem has 3·64·(49 − 9) weights fewer
        (18, "cifar", 11_176_512 - 7_680, 512),
        (50, "cifar", 23_508_032 - 7_680, 2048),
    ],
)
def test_parameter_counts(depth, stem, parameters, features):
    with torch.device("meta"):
        backbone = ResNet(depth, stem=stem)
        assert count(backbone) == parameters
        assert backbone.out_features == features
        assert backbone(torch.empty(2, 3, 64, 64)).shape == (2, features)


@pytest.mark.parametrize(("depth", "convolutions"), [(18, 20), (50, 53)])
def test_number_of_convolutions(depth, convolutions):
    with torch.device("meta"):
        assert sum(isinstance(m, nn.Conv2d) for m in ResNet(depth).modules()) == convolutions


@pytest.mark.parametrize(("stem", "sizes"), [("imagenet", [16, 16, 8, 4, 2]), ("cifar", [64, 64, 32, 16, 8])])
def test_resolution_through_the_stages(stem, sizes):
    with torch.device("meta"):
        backbone = ResNet(18, stem=stem)
        x = backbone.stem(torch.empty(1, 3, 64, 64))
        found = [x.shape[-1]]
        for stage in backbone.stages:
            x = stage(x)
            found.append(x.shape[-1])
    assert found == sizes


def test_bottleneck_strides_in_its_3x3_convolution():
    with torch.device("meta"):
        first = ResNet(50).stages[1][0].residual
    convolutions = [layer for layer in first if isinstance(layer, nn.Conv2d)]
    assert [(layer.kernel_size[0], layer.stride[0]) for layer in convolutions] == [(1, 1), (3, 2), (1, 1)]


def test_initial_weights():
    backbone = ResNet(18, generator=torch.Generator().manual_seed(0))
    for module in backbone.modules():
        if isinstance(module, nn.Conv2d):
            fan_out = module.out_channels * module.kernel_size[0] ** 2
            n = module.weight.numel()
            # the relative error of a standard deviation is 1/√(2n); five of them
            assert module.weight.std().item() == pytest.approx((2 / fan_out) ** 0.5, rel=5 / (2 * n) ** 0.5)
        if isinstance(module, nn.BatchNorm2d):
            assert (module.weight == 1).all()
            assert (module.bias == 0).all()


def test_a_block_computes_its_residual_plus_shortcut():
    block = ResNet(18, stem="cifar").stages[1][0].eval()
    x = torch.randn(2, 64, 8, 8)
    conv1, _, _, conv2, _ = block.residual
    eps = 1e-5  # a fresh batch norm in eval mode divides by √(1 + eps)
    inner = torch.relu(conv1(x) / (1 + eps) ** 0.5)
    expected = torch.relu(conv2(inner) / (1 + eps) ** 0.5 + block.shortcut[0](x) / (1 + eps) ** 0.5)
    torch.testing.assert_close(block(x), expected)


def test_projector_as_published():
    shapes = [tuple(parameter.shape) for parameter in projector().parameters()]
    assert shapes == [(512, 512), (512,), (256, 512), (256,)]
    assert isinstance(projector()[1], nn.ReLU)


def test_with_and_without_projector():
    x = torch.randn(2, 1, 16, 16)
    projected = resnet(18, stem="cifar", in_channels=1, out_features=6, hidden=32)
    assert projected(x).shape == (2, 6)
    assert projected.backbone(x).shape == (2, 512)
    assert resnet(18, stem="cifar", in_channels=1)(x).shape == (2, 512)


def test_gradients_reach_every_parameter():
    encoder = build_encoder("resnet18", stem="cifar", out_features=4, head="learnable-sphere")
    encoder(torch.randn(4, 3, 16, 16))[:, 0].sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def test_seeds_and_state_dict_round_trip():
    before = torch.get_rng_state()
    first, again, other = (
        resnet(18, stem="cifar", out_features=4, generator=torch.Generator().manual_seed(seed))
        for seed in (0, 0, 1)
    )
    assert torch.equal(before, torch.get_rng_state())
    x = torch.randn(2, 3, 8, 8)
    for encoder in (first, again, other):
        encoder.eval()
    assert torch.equal(first(x), again(x))
    assert not torch.equal(first(x), other(x))
    other.load_state_dict(first.state_dict())
    assert torch.equal(first(x), other(x))


def test_any_backbone_and_projector():
    encoder = ProjectedEncoder(nn.Flatten(), nn.Linear(16, 3))
    assert encoder(torch.zeros(2, 4, 4)).shape == (2, 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ResNet(34), "`depth` must be one of 18, 50, got 34"),
        (lambda: ResNet(18, stem="vgg"), "`stem` must be one of 'imagenet', 'cifar', 'cifar-"),
        (lambda: ResNet(18, in_channels=0), "`in_channels`"),
        (lambda: ResNet(18, width=0), "`width`"),
        (lambda: ResNet(18)(torch.zeros(1, 1, 32, 32)), r"`x` must have shape \(N, 3, H, W\), got \(1, 1,"),
        (lambda: projector(512, 0), "`out_features`"),
        (lambda: build_encoder("resnet18", head="box"), "`features` must be given for the head 'box'"),
    ],
)
def test_bad_input_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_slim_network_has_a_share_of_the_channels():
    slim = ResNet(18, stem="cifar-half", width=16)
    images = torch.zeros(2, 3, 32, 32)
    assert slim.stem(images).shape == (2, 16, 16, 16)
    assert slim(images).shape == (2, slim.out_features) == (2, 128)
    assert ResNet(50, width=8).out_features == 256
