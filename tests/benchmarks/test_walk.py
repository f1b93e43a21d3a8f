from benchmarks.walk import files_of

from aninfonce.processes import process


def test_settings_are_read_before_the_first_batch_and_not_again():
    world = process("fig2/25", candidates=100)
    files = files_of(lambda: world.sample(8))
    assert "processes/process.py" in files
    assert "processes/process_settings.py" not in files
