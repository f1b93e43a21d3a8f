"""The claims on the committed rows: complete, and about rows that exist."""

import re
from pathlib import Path

import pytest

from aninfonce_papers.claims import LEGEND, Evidence, Verdict, ledger
from aninfonce_papers.claims.evidence import BENCHMARKS, printed_values
from aninfonce_papers.engine import ResultStore
from tests.aninfonce_papers.claims.rows import seeds

ROOT = Path(__file__).parents[3]
# Everything that the two papers claim, and what we found, by where it stands.
REQUIRED = [
    *(f"Figure 2 {panel}" for panel in "ABCD"),
    *(f"Figure 3 {panel}" for panel in "ABCD"),
    "Figure 4 A",
    "Figure 4 B",
    "Figure 5",
    *(f"Figure 6 {panel}" for panel in "ABCD"),
    "Figure 7",
    "Figure 8",
    "Figure 9",
    "Figure 10 A",
    "Figure 10 B",
    "Figure 11",
    "Figure 12",
    "Table 1, CIFAR-10",
    "Table 1, ImageNet",
    "Appendix G, table",
    "Appendix G, domains",
    "Causal3DIdent, Table 2",
    "Causal3DIdent, Table 3",
    "Theorem 3.1",
    "Corollary B.1",
    "Corollary B.2",
    *(f"cl-ica, Table {table}" for table in (1, 2, 3, 4)),
    *(f"cl-ica, Table {table}, {baseline}" for table in (1, 2, 4) for baseline in ("identity", "supervised")),
    "cl-ica, Figure 2",
    "A potential β",
    "Exactness",
    "Conditional form",
    "Folding",
    "Λ̂ per group",
    "Recordings",
]


@pytest.fixture(scope="module")
def evidence():
    rows = ResultStore(ROOT / "results").rows()
    return Evidence(rows, ROOT / "benchmarks" / "results")


@pytest.fixture(scope="module")
def lines(evidence):
    return [line for chapter in ledger(evidence) for line in chapter.lines]


@pytest.mark.parametrize("where", REQUIRED)
def test_every_figure_and_table_has_a_claim(lines, where):
    assert any(line.claim.where.startswith(where) for line in lines)


def test_a_claim_is_about_rows_that_exist_or_says_that_it_was_not_run(lines):
    for line in lines:
        if line.finding.verdict is not Verdict.NOT_RUN:
            lost = [one.value for one in line.finding.measured if not one.ran]
            assert not lost, line.claim.where


def test_values_without_rows_stand_in_the_grid_of_their_study(evidence, lines):
    unknown = [
        one.value for line in lines for one in line.finding.measured if not one.ran and one.published is None
    ]
    # The one that no study has: its pictures cannot be fetched.
    assert [(value.study, value.cell) for value in unknown] == [("domain", "ImageNet")]


def test_what_is_not_reached_has_a_reason(lines):
    lost = [
        line.claim for line in lines if line.finding.verdict is Verdict.NOT_REACHED and not line.claim.reason
    ]
    assert not lost


def test_published_values_of_rows_are_those_of_the_studies(lines):
    for line in lines:
        for one in line.finding.measured:
            if one.ran and one.published and not one.value.study.startswith(BENCHMARKS):
                printed = printed_values(one.value.study).get((one.value.cell, one.value.metric))
                assert printed is not None, one.value
                assert one.published.value == printed.value, one.value


def test_no_smoke_run_counts(lines):
    assert {preset for line in lines for preset in line.presets} <= {
        "laptop",
        "overnight",
        "paper",
        "benchmark",
    }


def test_ten_lines_lead(evidence):
    assert sum(len(chapter.leading) for chapter in ledger(evidence)) == 10


def test_methods_that_are_meant_to_fail_do(lines):
    failing = [line for line in lines if line.claim.rule.words.startswith("meant to fail")]
    assert len(failing) > 5
    assert {line.finding.verdict for line in failing} == {Verdict.REPRODUCED}


def test_claims_of_other_data_say_so(lines):
    for line in lines:
        if {"table3", "table4", "causal3dident"} & set(line.studies):
            assert re.search("that we rendered|generated|not at hand", line.claim.caveat), line.claim.sentence


def test_sentences_stand_once(lines):
    told = [(line.claim.where, line.claim.sentence) for line in lines]
    assert len(set(told)) == len(told)


def test_without_rows_nothing_was_run():
    chapters = ledger(Evidence([]))
    assert {verdict for chapter in chapters for verdict in chapter.counts} == {Verdict.NOT_RUN}
    assert all(line.seeds == (0, 0) and line.presets == () for chapter in chapters for line in chapter.lines)


def test_rows_of_no_claim_change_nothing():
    chapters = ledger(Evidence(seeds("a", 0.5)))
    assert all(chapter.counts == {Verdict.NOT_RUN: len(chapter.lines)} for chapter in chapters)


def test_counts_are_in_the_order_of_the_legend(evidence):
    assert list(LEGEND) == list(Verdict)
    for chapter in ledger(evidence):
        assert sum(chapter.counts.values()) == len(chapter.lines)
        assert list(chapter.counts) == [verdict for verdict in Verdict if verdict in chapter.counts]
