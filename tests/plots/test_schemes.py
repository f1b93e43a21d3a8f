"""Colours of drawings on light and on dark pages."""

import re

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from aninfonce.plots import embedding_plot
from aninfonce.plots._axes import ACCENT, CYCLE, MAIN, SOFT
from aninfonce.plots.drawing import inline_svg
from aninfonce.plots.pages import page_template
from aninfonce.plots.schemes import INK, PAPER, on_dark


def contrast(one, two):
    def light(colour):
        parts = np.array(to_rgb(colour))
        linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    low, high = sorted((light(one), light(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", ["#000000", "#666666", MAIN, ACCENT, SOFT, *CYCLE, "#440154"])
def test_what_is_read_on_white_is_read_on_dark_paper(colour):
    assert contrast(on_dark(colour), PAPER["dark"]) > 3


@pytest.mark.parametrize("pale", ["#ffffff", "#eeeeee", "#fbdcd6", "#d9f0dd"])
def test_backgrounds_stay_behind(pale):
    assert contrast(on_dark(pale), PAPER["dark"]) < 1.6
    assert contrast(on_dark(pale), INK["dark"]) > 7


def test_all_colours_of_a_drawing_follow_the_page():
    figure = embedding_plot(np.arange(12.0).reshape(6, 2))
    drawn = inline_svg(figure, "cloud", "a cloud")
    plain = re.findall(r"(?:fill|stroke): (#\w{6})", drawn)
    assert len(plain) > 10
    assert len(plain) == drawn.count("light-dark(")
    assert f"light-dark(#ffffff, {PAPER['dark']})" in drawn
    # Text without a colour of its own takes that of the drawing.
    assert re.match(r'<svg [^>]*style="[^"]*fill: light-dark\(#000000, ' + INK["dark"], drawn)


def test_the_style_sheet_has_the_same_paper_and_ink():
    style = page_template("style.css").render()
    light, dark = style.split("prefers-color-scheme: dark", 1)
    assert f"--ink: {INK['light']}" in light
    assert f"--ink: {INK['dark']}" in dark
    assert f"--paper: {PAPER['dark']}" in dark
