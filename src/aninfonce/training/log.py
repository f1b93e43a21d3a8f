"""Where the rows of a run's history go: files always, trackers and progress bars on request."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from aninfonce.training.config import TrainingConfig
from aninfonce.training.monitor import Row


class Reporter:
    """Told of every logged row; does nothing by itself."""

    def start(self, config: TrainingConfig, history: Sequence[Row]) -> None:
        """Begin; a resumed run brings the rows that it already has."""

    def row(self, row: Row) -> None:
        """Take one more row."""

    def finish(self) -> None:
        """End, also after an error."""


class TableFiles(Reporter):
    """Writes `metrics.jsonl` and `metrics.csv`, row by row.

    A resumed run writes the rows up to its checkpoint again, so that no step appears twice.

    Args:
        directory: made if it is not there.

    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._jsonl: IO[str] | None = None
        self._rows: list[dict[str, Any]] = []
        self._columns: list[str] = []

    def start(self, config: TrainingConfig, history: Sequence[Row]) -> None:
        """Open the files."""
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / "config.json").write_text(config.model_dump_json(indent=1), encoding="utf-8")
        self._jsonl = (self.directory / "metrics.jsonl").open("w", encoding="utf-8")
        self._rows, self._columns = [], []
        for row in history:
            self.row(row)

    def row(self, row: Row) -> None:
        """Append to both files."""
        assert self._jsonl is not None
        self._jsonl.write(json.dumps(row, ensure_ascii=False) + "\n")
        self._jsonl.flush()
        flat = flatten(row)
        self._rows.append(flat)
        new = [name for name in flat if name not in self._columns]
        self._columns += new
        # A row with a new column (the first evaluation) needs a new header: write the table again.
        rows = self._rows if new else [flat]
        path = self.directory / "metrics.csv"
        with path.open("w" if new else "a", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, self._columns, restval="")
            if new:
                table.writeheader()
            table.writerows(rows)

    def finish(self) -> None:
        """Close the files."""
        if self._jsonl is not None:
            self._jsonl.close()
            self._jsonl = None


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
