"""Marks of a plot that tell their numbers."""

import re

import pytest
from matplotlib.figure import Figure

from aninfonce.plots.drawing import inline_svg


def titles(figure):
    return re.findall(r"<title>(.*?)</title>", inline_svg(figure, "a", "what it shows"), re.DOTALL)


def test_numbers_words_and_labels():
    figure = Figure()
    axes = figure.add_subplot()
    axes.plot([1.0, 2.0], [0.123456, 1.0], "o", label="ours & <theirs>")
    axes.set(xlabel="Λ", yticks=[0, 1], yticklabels=["zero", "one"])
    assert titles(figure) == ["ours &amp; &lt;theirs&gt;\nΛ 1\n0.1235", "ours &amp; &lt;theirs&gt;\nΛ 2\none"]


@pytest.mark.parametrize("style", ["-", ","])
def test_lines_and_clouds_stay_as_they_are(style):
    figure = Figure()
    figure.add_subplot().plot(range(500), range(500), style)
    assert titles(figure) == []


def test_marks_that_are_cut_off_leave_all_without():
    figure = Figure()
    figure.add_subplot().plot([1.0, float("nan"), 2.0], [1.0, 1.0, 1.0], "o")
    assert titles(figure) == []


def test_the_element_says_what_it_is():
    figure = Figure()
    figure.add_subplot().plot([1.0], [1.0], "o")
    text = inline_svg(figure, "a", 'with "quotes"')
    assert text.startswith("<svg ")
    assert 'aria-label="with &quot;quotes&quot;"' in text
