import pytest
import torch
from torch import nn

from aninfonce.encoders import MLP, build_encoder, encoder_names, register_encoder, registry


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch):
    monkeypatch.setattr(registry, "_BUILDERS", dict(registry._BUILDERS))


@pytest.mark.parametrize(
    ("name", "options", "shape"),
    [
        ("mlp", dict(in_features=3), (2, 3)),
        ("paper-mlp", dict(in_features=3), (2, 3)),
        ("kitti-conv", {}, (2, 1, 64, 64)),
        ("resnet18", dict(stem="cifar"), (2, 3, 8, 8)),
        ("resnet50", dict(stem="cifar"), (2, 3, 8, 8)),
        ("small-conv", {}, (2, 3, 28, 28)),
        ("glimpse", {}, (2, 3, 28, 28)),
    ],
)
def test_every_encoder_by_name(name, options, shape):
    encoder = build_encoder(
        name, out_features=5, head="sphere", generator=torch.Generator().manual_seed(0), **options
    )
    embedding = encoder(torch.randn(shape))
    assert embedding.shape == (2, 5)
    torch.testing.assert_close(embedding.norm(dim=1), torch.ones(2))


def test_all_names_are_tested_above():
    assert encoder_names() == (
        "glimpse",
        "kitti-conv",
        "mlp",
        "paper-mlp",
        "resnet18",
        "resnet50",
        "small-conv",
    )


def test_a_module_is_returned_unchanged():
    mine = nn.Linear(2, 2)
    assert build_encoder(mine) is mine
    with pytest.raises(ValueError, match=r"`options` must be empty.*\['width'\]"):
        build_encoder(mine, width=3)


def test_register():
    @lambda builder: register_encoder("tiny", builder)
    def tiny(in_features, out_features):
        return MLP(in_features, out_features, width=2, depth=1)

    assert "tiny" in encoder_names()
    assert build_encoder("tiny", in_features=3, out_features=1)(torch.zeros(4, 3)).shape == (4, 1)
    with pytest.raises(ValueError, match="`name` must not be taken, got 'tiny'"):
        register_encoder("tiny", MLP)
    register_encoder("tiny", MLP, replace=True)
    assert build_encoder("tiny", in_features=3, out_features=1).layers[0].out_features == 128


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: build_encoder("vit"),
            "`encoder` must be a module or one of 'glimpse', 'kitti-conv', .*got 'vit'",
        ),
        (lambda: build_encoder(None), "`encoder` must be a module or one of .*got None"),
        (lambda: build_encoder("mlp", in_features=3), "'mlp' must be among in_features, .*out_features"),
        (
            lambda: build_encoder("mlp", in_features=3, out_features=3, heads="box"),
            r"'mlp' must be among.*'heads'",
        ),
        (lambda: build_encoder("resnet18", depth=50), "'resnet18' must be among"),
        (lambda: register_encoder("", MLP), "`name` must be a non-empty string"),
        (lambda: register_encoder("x", 3), "`builder` must be a class or function.*got 3"),
    ],
)
def test_bad_input_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_builder_that_returns_no_module_is_refused():
    register_encoder("broken", lambda: 3)
    with pytest.raises(ValueError, match="'broken' must build a module, got 3"):
        build_encoder("broken")
