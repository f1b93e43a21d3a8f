"""What `aninfonce list` shows, kept beside the studies."""

from aninfonce.studies import study_names
from aninfonce.studies.index import build_index, read_index


def test_the_file_is_up_to_date():
    assert list(read_index()) == study_names(own_data=True)
    assert read_index() == build_index(), "run `python -m aninfonce.studies.index`"
