"""Lines of the ledger as words, and as small plots."""

import xml.etree.ElementTree as ET

from aninfonce_papers.claims import Chapter, Claim, Line, Measured, Value
from aninfonce_papers.claims.rules import at_least, at_least_published, order_holds
from aninfonce_papers.engine import Published
from aninfonce_papers.report import telling
from aninfonce_papers.report.sparkline import sparkline
from tests.aninfonce_papers.claims.rows import evidence, of, row, seeds


def line(rule, *rows, **others):
    return Line(Claim("Figure 1", "It works.", rule, **others), rule.judge(evidence(*rows)))


def test_a_bound_is_told_with_its_seeds():
    told = line(at_least(of("a"), 0.3), seeds("a", 0.4, 0.6))
    assert telling.beside(told) == "a, R² 0.5000 ± 0.1414"
    assert telling.sizes(told) == "2 seeds, laptop"
    assert telling.held(told) == ""
    assert telling.sizes(line(at_least(of("a"), 0.3), seeds("a", 0.4))) == "1 seed, laptop"
    both = line(at_least(of("a", "b"), 0.3), seeds("a", 0.4), seeds("b", 0.4, 0.6, preset="paper"))
    assert telling.sizes(both) == "1 to 2 seeds, laptop and paper"
    assert telling.held(both) == "2 of 2"


def test_an_order_tells_both_sides():
    high, low = of("high", "low")
    told = line(order_holds((high, low), (low, high)), seeds("high", 0.9), seeds("low", 0.1))
    assert telling.held(told) == "1 of 2"
    assert telling.beside(told) == "worst: low, R² 0.1000; high, R² 0.9000"


def test_the_reason_is_told_only_where_it_is_needed():
    reason = {"reason": "Too short."}
    assert telling.why(line(at_least(of("a"), 0.9), seeds("a", 0.5), **reason)) == "Too short."
    assert telling.why(line(at_least(of("a"), 0.1), seeds("a", 0.5), **reason)) == ""
    assert telling.why(line(at_least(of("a"), 0.1), **reason)) == ""


def test_what_was_not_run_tells_the_printed_range():
    told = line(at_least_published(of("unrun")))
    assert telling.beside(told) == "published 0.5000 to 0.5000"
    assert telling.sizes(told) == telling.held(told) == ""
    assert telling.beside(line(at_least(of("nowhere"), 0.1))) == ""


def test_published_values_go_by_the_name_of_their_study():
    value = Value("theorem", "one block", "error of Λ̂")
    published = {value.metric: Published(0.0, goal="lower")}
    rows = [row(value.cell, None, study=value.study, metrics={value.metric: 0.01}, published=published)]
    told = line(at_least_published([value], 0.05), rows)
    assert telling.beside(told) == "one block, error of Λ̂ 0.0100 (promised 0.0000)"


def test_verdicts_are_counted():
    good, bad = line(at_least(of("a"), 0.1), seeds("a", 0.5)), line(at_least(of("a"), 0.9), seeds("a", 0.5))
    chapter = Chapter("ours", (bad, good, good))
    assert telling.counted(chapter) == "2 reproduced, 1 not reached"
    assert chapter.leading == ()


def test_a_small_plot_has_a_mark_for_each_value():
    values = [
        Measured(Value("s", "a <b>", "R²"), "laptop", (0.4, 0.6), Published(1.0)),
        Measured(Value("s", "b", "R²"), "laptop", (0.2,)),
        Measured(Value("s", "c", "R²"), published=Published(0.8)),
        Measured(Value("s", "d", "R²")),
    ]
    drawn = ET.fromstring(sparkline(values))
    groups = drawn.findall("g")
    assert [[mark.get("class") for mark in group if mark.tag != "title"] for group in groups] == [
        ["theirs", "spread", "ours"],
        ["ours"],
        ["theirs"],
    ]
    assert groups[0].findtext("title") == "a <b>, R²\npublished 1.000\nours 0.5000 ± 0.1414"
    # Higher is further up, and nothing leaves the frame.
    height = {mark.get("class"): float(mark.get("cy")) for mark in groups[0].findall("circle")}
    assert 0 < height["theirs"] < height["ours"] < 34
    assert 0 < float(groups[0].find("circle").get("cx")) < float(groups[2].find("circle").get("cx")) < 140
    assert sparkline(values[3:]) == ""


def test_decades_are_drawn_on_a_logarithmic_axis():
    values = [Measured(Value("s", str(n), "steps"), "laptop", (n,)) for n in (1e2, 1e4, 1e6)]
    heights = [float(mark.get("cy")) for mark in ET.fromstring(sparkline(values)).iter("circle")]
    assert heights[0] - heights[1] == heights[1] - heights[2]
    same = [Measured(Value("s", "a", "R²"), "laptop", (0.5,))]
    assert float(ET.fromstring(sparkline(same)).find(".//circle").get("cy")) == 17.0
