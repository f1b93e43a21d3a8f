"""What is run: lags on worlds of lags, numbers of columns on worlds of numbers."""

import numpy as np
from benchmarks.recordings.choices import METHODS, WORLDS, belongs, main, sampled, settings_of

from benchmarks.recordings import choices as module


def test_a_method_tells_the_estimator_what_to_choose():
    assert settings_of("lag 4", 5) == {"n_components": 5, "lag": 4}
    assert settings_of("lag auto", 5) == {"n_components": 5, "lag": "auto"}
    assert settings_of("columns auto", 5) == {"n_components": "auto"}


def test_every_world_has_a_method_that_chooses():
    for world in WORLDS:
        assert any(belongs(world, method) and method.endswith("auto") for method in METHODS)
    assert not belongs("3 factors", "lag 1")
    assert not belongs("sampled × 1", "columns auto")


def test_sources_sampled_more_often_forget_as_fast_in_time():
    np.testing.assert_allclose(np.array(sampled(8)) ** 8, sampled(1))


def test_missing_cells_are_listed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(module, "run_cell", None)
    arguments = ["--results", str(tmp_path / "none.jsonl"), "--seeds", "2", "--dry-run"]
    assert main([*arguments, "--worlds", "3 factors", "sampled × 1"]) == 0
    printed = capsys.readouterr().out
    assert "3 factors columns auto 1" in printed
    assert f"{2 * len(METHODS)} of {2 * len(METHODS)} are missing" in printed
