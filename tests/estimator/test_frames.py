"""Rows as an encoder sees them, and the way from what was given to what comes back."""

import numpy as np
import pytest

from aninfonce.estimator.frames import read_rows
from tests.estimator.small import UNFINISHED, autoregressive, counted, frames, quick

pytestmark = UNFINISHED


def read(X, groups=None, *, window=1, gaps="error"):
    return read_rows(quick(), X, groups, window=window, gaps=gaps, reset=True)


def test_windows_end_at_the_borders_of_sessions():
    shown = frames(counted(6), [0, 0, 0, 0, 1, 1], window=5)[:]
    assert shown[0].tolist() == [0, 0, 0, 1, 2]
    assert shown[3].tolist() == [1, 2, 3, 3, 3]
    assert shown[4].tolist() == [4, 4, 4, 5, 5]
    rows = frames(counted(6), [0, 0, 0, 0, 1, 1], window=5)
    np.testing.assert_array_equal(rows[2:5], shown[2:5])
    np.testing.assert_array_equal(rows[np.array([5, 0])], shown[[5, 0]])


def test_a_gap_spoils_the_windows_that_hold_it():
    gap = np.array([False, False, True, False, False, False, False])
    rows = frames(counted(7), [0, 0, 0, 0, 0, 1, 1], window=3, gap=gap)
    assert rows.usable.tolist() == [True, False, False, False, True, True, True]
    assert frames(counted(3)).usable.all()
    assert rows.mean().tolist() == [19 / 6] * 3


def test_interleaved_groups_come_back_in_their_order():
    labels = np.array(["b", "a", "b", "a", "a", "b"])
    given = read(counted(6), labels)
    # Sessions in the order in which they begin.
    assert given.frames.rows[:, 0].tolist() == [0, 2, 5, 1, 3, 4]
    assert given.frames.session.tolist() == [0, 0, 0, 1, 1, 1]
    assert given.like_given(given.frames.rows)[:, 0].tolist() == [0, 1, 2, 3, 4, 5]


def test_a_list_comes_back_as_a_list():
    given = read([counted(4), 10 + counted(2), 20 + counted(3)])
    assert given.frames.session.tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 2]
    back = given.like_given(given.frames.rows)
    assert [part[:, 0].tolist() for part in back] == [[0, 1, 2, 3], [10, 11], [20, 21, 22]]
    # A single array is rows, also as nested lists.
    assert read(counted(4).tolist()).lengths is None


@pytest.mark.parametrize("window", [1, 3])
def test_sessions_are_embedded_each_by_itself(window):
    _, X = autoregressive([0.3, 0.9], 300)
    sessions = [X[:90], X[90:200], X[200:]]
    ica = quick(n_components=2, window=window).fit(sessions)
    listed = ica.transform(sessions)
    assert [part.shape for part in listed] == [(90, 2), (110, 2), (100, 2)]
    np.testing.assert_allclose(listed[1], ica.transform(sessions[1]), atol=1e-12)
    labels = np.repeat([0, 1, 2], [90, 110, 100])
    mixed = np.argsort(np.random.default_rng(0).normal(size=300) + 0.02 * np.arange(300), kind="stable")
    # Rows of a session stay in order while sessions are shuffled into each other.
    order = np.concatenate([np.flatnonzero(labels == k) for k in range(3)])
    places = np.concatenate([np.sort(mixed[labels == k]) for k in range(3)])
    woven, woven_labels = np.empty_like(X), np.empty(300, dtype=int)
    woven[places], woven_labels[places] = X[order], labels
    embedded = ica.transform(woven, groups=woven_labels)
    np.testing.assert_allclose(embedded[places], np.concatenate(listed), atol=1e-12)


def test_gaps_come_back_as_gaps():
    _, X = autoregressive([0.3, 0.9], 300)
    holes = X.copy()
    holes[100:103, 2] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN.*gaps='skip' leaves them out of all pairs"):
        quick(n_components=2).fit(holes)
    ica = quick(n_components=2, gaps="skip", window=3).fit(holes)
    embedded = ica.transform(holes)
    assert np.flatnonzero(np.isnan(embedded).all(axis=1)).tolist() == [99, 100, 101, 102, 103]
    assert np.isfinite(np.delete(embedded, np.arange(99, 104), axis=0)).all()
    assert np.isfinite(ica.score(holes))
    # Where nothing is missing, the parameter changes nothing.
    np.testing.assert_array_equal(
        quick(n_components=2, gaps="skip").fit(X).transform(X), quick(n_components=2).fit(X).transform(X)
    )


def test_frames_of_pandas_keep_their_names():
    pd = pytest.importorskip("pandas")
    _, X = autoregressive([0.3, 0.9], 200, channels=3)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    ica = quick(n_components=2).fit([table[:100], table[100:]])
    assert ica.feature_names_in_.tolist() == ["a", "b", "c"]
    one, two = ica.transform([table[:100], table[100:]])
    np.testing.assert_allclose(np.concatenate([one, two]), ica.transform(table), atol=1e-12)
    with pytest.raises(ValueError, match=r"got \['a', 'b', 'c'\] first and \['b', 'a', 'c'\] as number 1"):
        ica.fit([table[:100], table[100:][["b", "a", "c"]]])


@pytest.mark.parametrize(
    ("X", "changes", "message"),
    [
        ([np.ones((5, 2)), np.ones((5, 3))], {}, r"same columns, got .*\(5, 2\).* first and .*\(5, 3\)"),
        ([np.eye(3), np.eye(3)], {"groups": [0] * 6}, "`groups` must be None where X is a list"),
        (np.eye(4), {"groups": np.zeros(3)}, r"`groups` must have shape \(4,\)"),
        (np.zeros((4, 2, 2)), {}, r"rows \(N, D\) or pictures \(N, C, H, W\)"),
    ],
)
def test_what_is_no_recording_is_told(X, changes, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(X, **changes)


def test_sessions_that_cannot_be_used_are_told():
    _, X = autoregressive([0.3, 0.9], 60)
    with pytest.raises(ValueError, match=r"shorter than every session, got 1 and session 0 with n_samples=1"):
        quick().fit(X, groups=np.arange(60))
    with pytest.raises(ValueError, match=r"got 10 and session 1 with n_samples=10: leave it out"):
        quick(lag=10).fit([X[:50], X[50:]])
    with pytest.raises(ValueError, match=r"session 1 of `X` must vary, got 10 equal rows"):
        quick().fit([X[:50], np.ones((10, 6))])
    still = np.ones((12, 6))
    still[3] = np.nan
    with pytest.raises(ValueError, match=r"session 1 of `X` must vary, got 11 equal rows"):
        quick(gaps="skip").fit([X[:50], still])
    # One that is missing whole is in no pair and does no harm.
    ica = quick(n_components=2, gaps="skip").fit([X[:50], np.full((12, 6), np.nan)])
    assert np.isnan(ica.transform([X[:50], np.full((12, 6), np.nan)])[1]).all()
    with pytest.raises(ValueError, match="`window` must be 1 for pictures, got 3"):
        quick(window=3).fit(np.random.default_rng(0).normal(size=(20, 1, 4, 4)))


def test_each_session_comes_back_in_a_data_frame_of_its_own():
    pd = pytest.importorskip("pandas")
    X = autoregressive([0.3, 0.9], 300)[1]
    sessions = [X[:200], X[200:]]
    plain = quick(n_components=2).fit(sessions)
    framed = quick(n_components=2).set_output(transform="pandas").fit(sessions)
    for found in (framed.transform(sessions), framed.fit_transform(sessions)):
        assert isinstance(found, list)
        for part, expected in zip(found, plain.transform(sessions), strict=True):
            assert isinstance(part, pd.DataFrame)
            assert list(part.columns) == ["contrastiveica0", "contrastiveica1"]
            np.testing.assert_allclose(part, expected, rtol=1e-5, atol=1e-6)
    assert isinstance(framed.transform(X), pd.DataFrame)
    with pytest.raises(ValueError, match="`groups` must be None where X is a list"):
        framed.transform(sessions, groups=np.zeros(300))


def test_masked_values_are_missing_ones():
    """scikit-learn reads what lies behind a mask."""
    rows = np.ma.masked_array(np.arange(8.0).reshape(4, 2), mask=np.eye(4, 2, -1, dtype=bool))
    with pytest.raises(ValueError, match="gaps='skip'"):
        read(rows)
    assert read(rows, gaps="skip").frames.gap.tolist() == [False, True, True, False]
    assert read([rows, rows], gaps="skip").frames.gap.sum() == 4
    whole = np.ma.masked_array([[1], [2], [4]], mask=False)
    assert read(whole).frames.rows.tolist() == [[1.0], [2.0], [4.0]]


def test_numpy_arrays_of_sessions_are_lists():
    sessions = np.empty(2, dtype=object)
    sessions[:] = [counted(4), counted(3)]
    assert read(sessions).lengths == (4, 3)
    with pytest.raises(ValueError, match=r"list\(X\)"):
        read(np.zeros((5, 4, 3)) + counted(4))


@pytest.mark.parametrize(
    ("X", "groups", "message"),
    [
        ([counted(4), counted(0)], None, r"sessions with rows, got ndarray of shape \(0, 1\) as number 1"),
        (counted(4), [None, None, "a", "a"], "`groups` must hold labels of one kind.*NoneType, str"),
        (counted(4), [1.0, 1.0, np.nan, 2.0], "`groups` must have a label for each row, got NaN for 1 of 4"),
        (counted(4) * 1e-40, None, "column 0 that varies by 3e-40: use another unit"),
        (counted(4) * 1e300, None, r"`X` must have columns that vary by 1e-30 to 1e\+37"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(X, groups, message):
    with pytest.raises(ValueError, match=message):
        read(X, groups)


def test_rows_of_another_shape_are_refused():
    """scikit-learn counts channels: pictures of another size came as far as the last layer."""
    estimator = quick()
    shape = {"window": 1, "gaps": "error"}
    read_rows(estimator, np.random.default_rng(0).normal(size=(5, 1, 4, 4)), None, reset=True, **shape)
    for other in ((5, 1, 8, 8), (5, 1)):
        with pytest.raises(ValueError, match=r"`X` must have shape \(N, 1, 4, 4\) as in `fit`"):
            read_rows(estimator, np.zeros(other), None, reset=False, **shape)
