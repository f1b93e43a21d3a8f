"""Rules of the whole room."""

import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from aninfonce import plots
from aninfonce.plots.drawing import render


def test_plots_load_nothing_before_they_are_used():
    code = (
        "import sys, aninfonce.plots\n"
        "print([name for name in ('torch', 'numpy', 'matplotlib', 'jinja2') if name in sys.modules])\n"
        "from aninfonce.plots import concentration_plot, embedding_page\n"
        "print([name for name in ('torch', 'matplotlib', 'jinja2') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split("\n")[:2] == ["[]", "[]"]


def figures():
    return [
        plots.concentration_plot([1.0, 2.0], [[0.5, 2.0], [1.0, 3.0]], [[0, 1]]),
        plots.embedding_plot(np.eye(3), color=["a", "b", "b"]),
        plots.curve_plot([1, 2], [0.1, 0.2], best=2),
        plots.choice_plot([1, 2], [0.1, 0.2], [0.1, 0.1], 2, name="lag"),
        plots.attribution_plot(np.eye(2)),
    ]


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_every_figure_is_drawn_and_pyplot_stays_as_it_was(kind):
    before = dict(matplotlib.rcParams)
    for figure, again in zip(figures(), figures(), strict=True):
        content = render(figure, kind)
        assert content == render(again, kind)
        assert len(content) > 2000
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()
    assert dict(matplotlib.rcParams) == before


def test_no_tick_is_a_power_of_ten():
    """Not even where matplotlib is left to choose; ticks that were chosen stay."""
    figure = Figure()
    free, chosen = figure.subplots(1, 2)
    free.loglog([1, 20_000], [0.002, 3])
    chosen.plot([1, 2], [1, 100])
    chosen.set_yscale("log")
    chosen.set_yticks([1, 100], ["one", "hundred"])
    texts = re.findall(r">([^<>]+)</t(?:ext|span)>", render(figure, "svg").decode())
    assert {"10000", "0.01", "one", "hundred"} <= set(texts)
    assert not [text for text in texts if "×" in text or text == "−"]
    assert "10" in texts  # as a number of its own, not the base of a power
