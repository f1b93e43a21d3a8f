"""Where the rows of a run's history go: files always, trackers and progress bars on request."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aninfonce._files import append_line, write_whole
from aninfonce.training.config import TrainingConfig
from aninfonce.training.monitor import Row
from aninfonce.training.run_folder import CONFIG, ROWS, TABLE


class Reporter:
    """Is told of every logged row; the base class does nothing."""

    def start(self, config: TrainingConfig, history: Sequence[Row]) -> None:
        """Begin; a resumed run brings the rows that it already has."""

    def row(self, row: Row) -> None:
        """Take one more row."""

    def finish(self) -> None:
        """End, also after an error."""


class TableFiles(Reporter):
    """Writes `metrics.jsonl` and `metrics.csv`, row by row, each whole or not at all.

    A resumed run writes the rows up to its checkpoint again, so that no step appears twice.

    Args:
        directory: created if needed.

    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._rows: list[dict[str, Any]] = []
        self._columns: list[str] = []

    def start(self, config: TrainingConfig, history: Sequence[Row]) -> None:
        """Write the settings, and the rows that there are."""
        write_whole(self.directory / CONFIG, config.model_dump_json(indent=1))
        write_whole(self.directory / ROWS, "".join(_json_line(row) + "\n" for row in history))
        self._rows = [flatten(row) for row in history]
        # Columns in the order in which they appeared.
        self._columns = list(dict.fromkeys(name for row in self._rows for name in row))
        write_whole(self.directory / TABLE, self._table(self._rows, header=True))

    def row(self, row: Row) -> None:
        """Append to both files."""
        append_line(self.directory / ROWS, _json_line(row))
        flat = flatten(row)
        self._rows.append(flat)
        new = [name for name in flat if name not in self._columns]
        if new:
            # A row with a new column (the first evaluation) needs a new header: write the table again.
            self._columns += new
            write_whole(self.directory / TABLE, self._table(self._rows, header=True))
        else:
            append_line(self.directory / TABLE, self._table([flat], header=False).removesuffix("\n"))

    def _table(self, rows: Sequence[dict[str, Any]], *, header: bool) -> str:
        text = io.StringIO()
        table = csv.DictWriter(text, self._columns, restval="")
        if header and self._columns:
            table.writeheader()
        table.writerows(rows)
        return text.getvalue()


class TensorBoard(Reporter):
    """Writes scalars for TensorBoard (`pip install tensorboard`).

    Args:
        directory: of the event files.

    """

    def __init__(self, directory: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ValueError("TensorBoard logging needs `pip install aninfonce[tensorboard]`") from None
        self._writer = SummaryWriter(str(directory))

    def row(self, row: Row) -> None:
        """Add one point to each curve."""
        for name, value in flatten(row).items():
            if name != "step" and value is not None:
                self._writer.add_scalar(name, value, row["step"])

    def finish(self) -> None:
        """Close the event file."""
        self._writer.close()


class WeightsAndBiases(Reporter):
    """Sends rows to Weights & Biases (`pip install wandb`).

    Args:
        project: to log to.
        options: of `wandb.init`.

    """

    def __init__(self, project: str = "aninfonce", **options: Any) -> None:
        try:
            import wandb  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            raise ValueError("W&B logging needs `pip install aninfonce[wandb]`") from None
        self._wandb: Any = wandb
        self._options = {"project": project, **options}
        self._run: Any = None

    def start(self, config: TrainingConfig, history: Sequence[Row]) -> None:
        """Open a run with the whole configuration."""
        self._run = self._wandb.init(config=config.model_dump(mode="json"), **self._options)

    def row(self, row: Row) -> None:
        """Log one row."""
        self._run.log(flatten(row), step=row["step"])

    def finish(self) -> None:
        """Close the run."""
        if self._run is not None:
            self._run.finish()


def _json_line(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False)


def flatten(row: Mapping[str, Any]) -> dict[str, Any]:
    """Spread lists over numbered columns.

    Example:
        >>> flatten({"step": 5, "concentration": [4.9, 25.1]})
        {'step': 5, 'concentration_1': 4.9, 'concentration_2': 25.1}

    """
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, list | tuple):
            flat |= {f"{name}_{index}": entry for index, entry in enumerate(value, start=1)}
        else:
            flat[name] = value
    return flat
