"""Tables as the arrays that an .npz file would hold."""

import sys

import numpy as np
import pytest

from aninfonce.datasets.arrays import list_arrays, read_named
from aninfonce.datasets.images import DatasetError
from aninfonce.datasets.table_files import read_table

RNG = np.random.default_rng(0)
X, X_POS, LABELS = RNG.normal(size=(20, 11)), RNG.normal(size=(20, 2)), RNG.integers(0, 3, 20)
# Not in the order of their numbers: 10 comes before 2 where names are sorted as texts.
COLUMNS = {
    **{f"x_{k}": X[:, k] for k in sorted(range(11), key=str)},
    "x_pos_1": X_POS[:, 1],
    "labels": LABELS,
    "x_pos_0": X_POS[:, 0],
}


def write_csv(path, columns=None, **options):
    named = COLUMNS if columns is None else columns
    header = options.pop("header", ",".join(named))
    values = np.stack(list(named.values()), axis=1)
    np.savetxt(path, values, fmt="%.17g", delimiter=",", header=header, comments="", **options)
    return path


def write_parquet(path, columns=None):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(COLUMNS if columns is None else columns), path)
    return path


@pytest.mark.parametrize("write", [write_csv, write_parquet], ids=["csv", "parquet"])
def test_columns_become_arrays_and_no_bit_is_lost(write, tmp_path):
    path = write(tmp_path / f"pairs.{write.__name__.removeprefix('write_')}")
    arrays = read_table(path)
    assert set(arrays) == {"x", "x_pos", "labels"}
    np.testing.assert_array_equal(arrays["x"], X)
    np.testing.assert_array_equal(arrays["x_pos"], X_POS)
    np.testing.assert_array_equal(arrays["labels"], LABELS)
    assert list(read_named(path, ["x_pos", "z"])) == ["x_pos"]
    assert list_arrays(path) == "labels, x, x_pos"


def test_a_table_of_other_names_or_none_is_x(tmp_path):
    named = {"speed": X[:, 0], "depth_2": X[:, 1]}
    for path in (
        write_csv(tmp_path / "named.csv", named),
        write_csv(tmp_path / "NAMED.CSV", named, encoding="utf-8-sig"),
        write_csv(tmp_path / "bare.csv", named, header=""),
    ):
        content = path.read_text(encoding="utf-8-sig").removeprefix("\n")
        path.write_text(content)
        (x,) = read_table(path).values()
        np.testing.assert_array_equal(x, X[:, :2])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x_0,x_pos_0\n1,a\n", "cannot be read as a table of numbers.*could not convert string 'a'"),
        ("x_0,x_pos_0\n1\n", "1 columns|2 names over 1 columns"),
        ("x_0,x_pos_0\n1,2\n3\n", "number of columns changed"),
        ("x_0,x_0\n1,2\n", "two columns 'x_0'"),
        ("x_0,x_2\n1,2\n", "numbered from 0 without gaps"),
        ("x,x_0\n1,2\n", "numbered from 0 without gaps"),
        ("x_0,x_pos_0\n", "holds no rows of numbers"),
        ("", "holds no rows of numbers"),
        ("x_0,x_pos_0\n1,\n", "could not convert string ''"),
    ],
)
def test_bad_tables_end_in_one_line(text, message, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(DatasetError, match=message) as problem:
        read_table(path)
    assert "\n" not in str(problem.value)
    assert "bad.csv" in str(problem.value)


def test_parquet_without_pyarrow_says_how(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DatasetError, match="needs pyarrow to be read: pip install pyarrow"):
        read_table(tmp_path / "pairs.parquet")


def test_bad_parquet_ends_in_one_line(tmp_path):
    with pytest.raises(DatasetError, match="numbers only, got a column of string"):
        read_table(write_parquet(tmp_path / "texts.parquet", {"x_0": ["a", "b"]}))
    (tmp_path / "broken.parquet").write_bytes(b"PAR1" + b"\0" * 20)
    with pytest.raises(DatasetError, match=r"broken\.parquet cannot be read") as problem:
        read_table(tmp_path / "broken.parquet")
    assert "\n" not in str(problem.value)


def test_columns_that_pandas_numbered_are_no_row(tmp_path):
    """`DataFrame(rows).to_csv` writes the header 0,1,2: it was read as the first row."""
    path = tmp_path / "rows.csv"
    path.write_text("0,1,2\n0.5,1.5,2.5\n3,4,5\n")
    assert read_table(path)["x"].tolist() == [[0.5, 1.5, 2.5], [3.0, 4.0, 5.0]]
    path.write_text("1,2,3\n0.5,1.5,2.5\n")
    assert len(read_table(path)["x"]) == 2


def test_numbers_in_quotes_are_numbers(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('"a","b"\n"1.5","2"\n"3","4"\n')
    assert read_table(path)["x"].tolist() == [[1.5, 2.0], [3.0, 4.0]]
