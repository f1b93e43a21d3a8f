"""Numbers in .csv and .parquet files, as the arrays that an .npz file would hold."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aninfonce.datasets.images import DatasetError
from aninfonce.datasets.reading import one_line, reading

TABLES = (".csv", ".parquet")
"""Endings of files that are read as tables."""

_NUMBERED = re.compile(r"(.+)_(\d+)")


def read_table(path: Path) -> dict[str, npt.NDArray[np.float64]]:
    r"""Read a table of numbers; its columns `x_0`, `x_1`, … become one array `x`.

    A column whose name has no number, such as `labels`, is an array (N,). A table without a header, or
    without columns of `x` or `x_pos`, is `x` as a whole.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "pairs.csv"
        ...     _ = path.write_text("x_0,x_1,x_pos_0,x_pos_1,labels\n1,2,1.5,2.5,0\n3,4,3.5,4.5,1\n")
        ...     arrays = read_table(path)
        >>> {name: values.tolist() for name, values in arrays.items()}
        {'x': [[1.0, 2.0], [3.0, 4.0]], 'x_pos': [[1.5, 2.5], [3.5, 4.5]], 'labels': [0.0, 1.0]}

    Args:
        path: of a .csv file, or of a .parquet file, which needs pyarrow.

    Returns:
        Arrays (N, ...) by name. A `DatasetError` names a file that cannot be read.

    """
    names, values = (_read_csv if path.suffix.lower() == ".csv" else _read_parquet)(path)
    if names is None:
        return {"x": values}
    groups: dict[str, dict[int | None, int]] = {}
    for place, name in enumerate(names):
        numbered = _NUMBERED.fullmatch(name)
        group, number = (numbered[1], int(numbered[2])) if numbered else (name, None)
        if number in groups.setdefault(group, {}):
            raise DatasetError(f"{path} has two columns {one_line(name)!r}")
        groups[group][number] = place
    if not {"x", "x_pos"} & set(groups):
        return {"x": values}
    return {name: _columns(values, places, f"{name} of {path}") for name, places in groups.items()}


def _columns(
    values: npt.NDArray[np.float64], places: dict[int | None, int], where: str
) -> npt.NDArray[np.float64]:
    """Put the columns of an array in the order of their numbers."""
    if set(places) == {None}:
        return values[:, places[None]]
    numbers = sorted(number for number in places if number is not None)
    if None in places or numbers != list(range(len(numbers))):
        raise DatasetError(f"columns of {where} must be numbered from 0 without gaps")
    return values[:, [places[number] for number in numbers]]


def _read_csv(path: Path) -> tuple[list[str] | None, npt.NDArray[np.float64]]:
    with reading(path, "a table of numbers with commas"), path.open(encoding="utf-8-sig", newline="") as file:
        names = [name.strip() for name in next(csv.reader([file.readline()]), [])]
        # pandas names columns 0, 1, … if nobody else does.
        numbered = len(names) > 1 and names == [str(place) for place in range(len(names))]
        header = numbered or not all(map(_is_number, names))
        if not header:
            file.seek(0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # numpy's word for a table without rows
            values = np.loadtxt(_with_rows(file, path), delimiter=",", ndmin=2, comments=None, quotechar='"')
        if header and values.shape[1] != len(names):
            raise DatasetError(f"{path} has {len(names)} names over {values.shape[1]} columns")
        return names if header else None, values


def _with_rows(lines: Iterable[str], path: Path) -> Iterator[str]:
    """Pass lines on, and refuse a file that has nothing but empty ones."""
    empty = True
    for line in lines:
        empty = empty and not line.strip()
        yield line
    if empty:
        raise DatasetError(f"{path} holds no rows of numbers")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_parquet(path: Path) -> tuple[list[str], npt.NDArray[np.float64]]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise DatasetError(f"{path} needs pyarrow to be read: pip install pyarrow") from None
    with reading(path, "a table of numbers"):
        # One file, never a data set of several files.
        table: Any = parquet.ParquetFile(path).read()
        values = [_numbers(column, path) for column in table.columns]
        return [str(name) for name in table.column_names], np.stack(values, axis=1)


def _numbers(column: Any, path: Path) -> npt.NDArray[np.float64]:
    values = column.to_numpy()
    if values.dtype.kind not in "biuf":
        raise DatasetError(f"{path} must hold numbers only, got a column of {one_line(str(column.type))}")
    return np.asarray(values, dtype=np.float64)
