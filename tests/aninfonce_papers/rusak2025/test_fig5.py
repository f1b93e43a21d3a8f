"""Two anchors are as far apart as they are said to be."""

import pytest
import torch

from aninfonce_papers.rusak2025.fig5 import TwoAnchors


@pytest.mark.parametrize("degrees", [10.0, 60.0, 120.0])
def test_the_angle_between_the_anchors(degrees):
    here, there = TwoAnchors(concentration=(3.0, 3.0, 8.0), degrees=degrees).laws(1)
    for law in (here, there):
        assert float(law.loc.norm()) == pytest.approx(1.0)
    cosine = float((here.loc * there.loc).sum())
    assert torch.rad2deg(torch.tensor(cosine).acos()).item() == pytest.approx(degrees, abs=1e-3)
