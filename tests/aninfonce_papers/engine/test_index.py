"""What `aninfonce list` shows, kept beside the studies."""

from aninfonce_papers.engine import study_names
from aninfonce_papers.engine.index import build_index, read_index


def test_the_file_is_up_to_date():
    assert list(read_index()) == study_names(own_data=True)
    assert read_index() == build_index(), "run `python -m aninfonce_papers.engine.index`"
