"""What several processes compute and send on paper, and the page that says so."""

import pytest
from benchmarks.scaling import MARKS, PAGE, SETTINGS, on_paper, page


def test_the_page_is_that_of_the_kept_results():
    assert all(mark in PAGE.read_text(encoding="utf-8") for mark in MARKS)
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("setting", SETTINGS)
def test_one_process_receives_nothing(setting):
    counts = on_paper(setting, 1)
    assert all(value == 0 for name, value in counts.items() if name.endswith("mb"))
    assert all(value > 0 for name, value in counts.items() if name.endswith("mflop"))


@pytest.mark.parametrize("setting", SETTINGS)
def test_work_shrinks_and_what_is_received_stays_bounded(setting):
    two, many = on_paper(setting, 2), on_paper(setting, 64)
    assert many["encoder_mflop"] == pytest.approx(two["encoder_mflop"] / 32)
    assert many["loss_mflop"] == pytest.approx(two["loss_mflop"] / 32)
    assert many["optimiser_mflop"] == two["optimiser_mflop"]
    assert all(many[name] < 2 * two[name] for name in two if name.endswith("mb"))
