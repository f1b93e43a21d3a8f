"""Which numbers a network is trained in."""

import torch

from aninfonce_papers.engine.precision import fastest_precision, open_fabric


def test_bfloat16_only_where_the_processor_has_it(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for known, expected in (
        ({"avx512_bf16": True}, "bfloat16"),
        ({"amx_bf16": True, "avx512_bf16": False}, "bfloat16"),
        ({"avx512_bf16": False, "avx2": True}, "float32"),
    ):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda known=known: known, raising=False)
        assert fastest_precision() == expected
    # Versions of torch that cannot tell.
    monkeypatch.delattr(torch.cpu, "get_capabilities")
    assert fastest_precision() == "float32"


def test_products_are_short_and_weights_are_not():
    layer = torch.nn.Linear(4, 4)
    for precision, expected in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        fabric = open_fabric(precision)
        seen = []
        handle = layer.register_forward_hook(lambda _, inputs, output, seen=seen: seen.append(output.dtype))
        fabric.setup(layer)(torch.ones(2, 4))
        handle.remove()
        assert seen == [expected]
        assert layer.weight.dtype == torch.float32
