"""A person who walks: what linear dynamics find in a real recording, and how far ahead they see."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from pydantic import JsonValue, PositiveFloat, PositiveInt

from aninfonce.alignment import LinearModes, recording_modes
from aninfonce.estimator import ContrastiveICAWarning
from aninfonce_papers.beyond.methods import estimator, mode_decomposition, second_order
from aninfonce_papers.beyond.worlds import Matrix
from aninfonce_papers.engine import Experiment, Metrics, Pairs, Preset, Row, Score, Study
from aninfonce_papers.engine.drawing import new_figure
from aninfonce_papers.worlds.walking import Walking, open_walking, strides_per_second

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Method = Literal["linear dynamics", "flat", "dynamic mode decomposition", "PCA", "SOBI", "AMUSE"]
_TRAINED: dict[Method, dict[str, Any]] = {"linear dynamics": {"dynamics": "linear"}, "flat": {}}
_LAGS: dict[Method, tuple[int, ...]] = {"SOBI": (1, 2, 4, 8, 16, 32, 64), "AMUSE": (12,)}
_METHODS: tuple[Method, ...] = get_args(Method)
_STACKED: tuple[Method, ...] = ("linear dynamics", "dynamic mode decomposition")
# Lags ahead at which predictions are compared with what came.
_AHEAD = (1, 2, 4)
# Frequencies this near to each other, as a share, are the same.
_NEAR = 0.05


class WalkingPairs(Pairs):
    """Rows of the recording that are some time apart.

    Attributes:
        lag: rows from an anchor to its positive.
        past: share of the recording to learn from; the rest comes after it.
        stack: rows that are seen at once, the last of them now.
        apart: rows from one of these to the next.

    """

    lag: PositiveInt = 12
    past: PositiveFloat = 0.75
    stack: PositiveInt = 1
    apart: PositiveInt = 4

    def open(self) -> Walking:
        """Read the recording, with channels of motion on one scale: that of the rows to learn from."""
        walking = open_walking()
        seen = walking.motion[: self.rows(len(walking.motion))]
        motion = (walking.motion - seen.mean(axis=0)) / seen.std(axis=0)
        first = self.apart * (self.stack - 1)
        views = [motion[first - back : len(motion) - back] for back in range(0, first + 1, self.apart)]
        return walking._replace(motion=np.concatenate(views, axis=1), field=walking.field[first:])

    def rows(self, total: int) -> int:
        """Count the rows to learn from."""
        return int(self.past * total)


class Columns(NamedTuple):
    """The whole recording as a method sees it, its predictions, and further results."""

    embedding: Matrix
    """(T, d)."""
    ahead: Callable[[int], Matrix]
    """From lags to (d, d): a row times this is the prediction so many lags later."""
    centre: Matrix
    """(d,): predictions are of what is left when this is taken off."""
    modes: LinearModes | None
    shares: Matrix | None
    """(d,) share of the motion that each column's mode explains by itself; None without modes."""
    more: Metrics


class WalkingScore(Score):
    """Learns from the first part of the recording, and looks at the rest.

    Attributes:
        method: that learns.
        columns: that a trained method, or PCA, keeps; the others keep all channels.
        steps: of training, at most; the estimator's own number if None.

    """

    method: Method
    columns: PositiveInt = 6
    steps: PositiveInt | None = None

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Learn, predict, and compare."""
        pairs = experiment.pairs
        assert isinstance(pairs, WalkingPairs)
        walking = pairs.open()
        rows = pairs.rows(len(walking.motion))
        found = self.find(walking, rows, pairs.lag, seed)
        metrics: dict[str, JsonValue] = dict(found.more)
        if found.modes is not None and found.shares is not None:
            truth = strides_per_second(walking.field, walking.rate)
            metrics |= leading_turn(found.modes, found.shares, pairs.lag / walking.rate, truth)
        e = found.embedding - found.centre
        for ahead in _AHEAD:
            step = found.ahead(ahead)
            shift, seconds = ahead * pairs.lag, f"{ahead * pairs.lag / walking.rate:g} s ahead"
            metrics[f"bits, {seconds}"] = bits_beyond_no_change(e[rows:], step, shift)
            read = readout(e[:rows], walking.field[:rows])
            truth_then = walking.field[rows + shift :]
            metrics[f"direction R², {seconds}"] = mean_r2(truth_then, read(e[rows:-shift] @ step))
            metrics[f"direction R², {seconds}, no change"] = mean_r2(truth_then, read(e[rows:-shift]))
        metrics["direction R², now"] = mean_r2(walking.field[rows:], read(e[rows:]))
        return metrics

    def find(self, walking: Walking, rows: int, lag: int, seed: int) -> Columns:
        """Learn from the first rows and embed all."""
        x = walking.motion
        if self.method in _TRAINED:
            settings = {"lag": lag, "rate": walking.rate, "max_steps": self.steps, **_TRAINED[self.method]}
            model = estimator(self.columns, seed, **settings)
            with warnings.catch_warnings():
                # About columns that share nothing: their number allows for more harmonics than there may be.
                warnings.simplefilter("ignore", ContrastiveICAWarning)
                model.fit(x[:rows])
            e = np.asarray(model.transform(x), dtype=np.float64)
            more: dict[str, JsonValue] = {
                "held-out bits": float(model.score(x[rows:])),
                "steps": model.n_iter_,
            }
            modes = model.modes_
            if modes is not None:
                return Columns(e, modes.ahead, np.zeros(e.shape[1]), modes, model.mode_shares_, more)
            # The columns of a method without dynamics are analysed in the same way.
            return _by_modes(recording_modes(e[:rows], lag), e, x, rows, more)
        if self.method == "dynamic mode decomposition":
            return _by_modes(mode_decomposition(x, rows, lag), x, x, rows, {})
        if self.method == "PCA":
            axes = np.linalg.svd(x[:rows], full_matrices=False)[2][: self.columns]
            return _each_by_itself(x @ axes.T, rows, lag)
        # Learned from the first rows, and then asked for all.
        found = second_order(np.concatenate([x[:rows], x]), rows, _LAGS[self.method])
        return _each_by_itself(found.embedding, rows, lag)


def experiments(preset: Preset) -> list[Experiment]:
    """Give each method, and two of them that see three rows at once."""
    steps = 20 if preset == "smoke" else None
    stacked: dict[str, tuple[Method, int]] = {method: (method, 1) for method in _METHODS}
    stacked |= {f"{method}, three rows": (method, 3) for method in _METHODS if method in _STACKED}
    return [
        Experiment(
            name=name,
            pairs=WalkingPairs(stack=stack),
            score=WalkingScore(method=method, steps=steps if method in _TRAINED else None),
            seconds=8.0 if method in _TRAINED else 0.5,
        )
        for name, (method, stack) in stacked.items()
    ]


def _by_modes(modes: LinearModes, e: Matrix, x: Matrix, rows: int, more: Metrics) -> Columns:
    shares = modes.shares(e[:rows], x[:rows])
    return Columns(modes(e), modes.ahead, np.zeros(e.shape[1]), modes, shares, more)


def _each_by_itself(e: Matrix, rows: int, lag: int) -> Columns:
    """Predict each column from itself, by its regression on its value a lag before."""
    centre = e[:rows].mean(axis=0)
    seen = e[:rows] - centre
    left = (seen[:-lag] * seen[lag:]).sum(axis=0) / (seen[:-lag] ** 2).sum(axis=0)
    return Columns(e, lambda lags: np.diag(left**lags), centre, None, None, {})


def leading_turn(modes: LinearModes, shares: Matrix, lag: float, truth: float) -> Metrics:
    """Report the oscillator that explains most of what was observed, and whether any has the true frequency.

    Args:
        modes: of d columns.
        shares: (d,) of what was observed that each column's mode explains.
        lag: of a step, in seconds.
        truth: frequency to compare with, turns a second.

    """
    first = [int(pair[0]) for pair in modes.oscillators]
    if not first:
        return {"oscillators": 0}
    column = max(first, key=lambda one: shares[one])
    turns = modes.frequencies(lag)
    told = {"frequency [Hz]": turns[column], "time constant [s]": modes.time_constants(lag)[column]}
    ends = ("", ", low", ", high")
    wrong = np.abs(turns[:, 0] / truth - 1)
    return {
        "oscillators": len(first),
        **{
            f"{name}{end}": float(value)
            for name, values in told.items()
            for end, value in zip(ends, values, strict=True)
        },
        "share of the motion": float(shares[column]),
        "error of frequency": float(wrong[column]),
        "an oscillator has it": bool(wrong[first].min() <= _NEAR),
        "all frequencies [Hz]": [round(float(turns[one, 0]), 3) for one in first],
        "all shares": [round(float(shares[one]), 3) for one in first],
    }


def bits_beyond_no_change(e: Matrix, step: Matrix, shift: int) -> float:
    """Compare a prediction with "no change", in bits, as if both had normal errors of the observed spread.

    Example:
        >>> turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
        >>> rng = np.random.default_rng(0)
        >>> e = np.stack([np.linalg.matrix_power(turn.T, t % 4) @ [1.0, 0.0] for t in range(400)])
        >>> bits_beyond_no_change(e + 0.1 * rng.normal(size=e.shape), turn, 1) > 3
        True

    Args:
        e: (T, d) rows in the order of time.
        step: (d, d) predicts the row `shift` later as `e @ step`.
        shift: rows.

    """
    then, now = e[shift:], e[:-shift]
    before, after = (
        np.linalg.slogdet(errors.T @ errors / len(errors))[1] for errors in (then - now, then - now @ step)
    )
    return float(0.5 * (before - after) / math.log(2))


def readout(e: Matrix, y: Matrix) -> Any:
    """Fit y by a linear map of e, and give the function that reads it off other rows."""
    centre, level = e.mean(axis=0), y.mean(axis=0)
    weights = np.linalg.lstsq(e - centre, y - level, rcond=None)[0]
    return lambda rows: (rows - centre) @ weights + level


def mean_r2(truth: Matrix, guess: Matrix) -> float:
    """Mean over columns of the share of variance that a guess explains; below 0 if the mean is better.

    >>> mean_r2(np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [2.0]]))
    1.0
    """
    left = ((truth - guess) ** 2).sum(axis=0) / ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
    return float(1.0 - left.mean())


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw how well each method predicts the direction of the leg, now and ahead."""
    figure = new_figure(7.0, 3.6)
    axis = figure.subplots()
    seconds = [0.0, *(ahead * 0.1 for ahead in _AHEAD)]
    names = ["now", *(f"{ahead * 0.1:g} s ahead" for ahead in _AHEAD)]
    for number, method in enumerate(dict.fromkeys(row.cell for row in rows)):
        mine = [row for row in rows if row.cell == method]
        for row in mine:
            values = [row.number(f"direction R², {name}") for name in names]
            axis.plot(seconds, values, "o-", color=f"C{number}", alpha=0.6)
        axis.plot([], [], "o-", color=f"C{number}", label=method)
    axis.set(xlabel="seconds ahead", ylabel="R² of the leg's direction", ylim=(-0.5, 1.02))
    axis.legend(fontsize=8)
    return {"real-dynamics": figure}


STUDY = Study(
    name="real-dynamics",
    title="A person who walks: what turns in a real recording, and how far ahead that tells",
    paper="Ours: two inertial sensors on one leg, a recording that comes with scikit-kinematics",
    source="none",
    experiments=experiments,
    plot=plot,
    remarks=(
        "One recording: 25 s, 120 rows a second, of which the last quarter is looked at. Seeds are of "
        "weights and batches; methods without these give one number. Lag (.1 s) and columns (6) were chosen "
        "after looking at seeds 0 and 1 with 4 and 6 columns and lags of .05 and .1 s.",
        "“Direction” is that of the Earth's magnetic field in the frames of both sensors, which is where "
        "the leg points; no method sees it. A linear readout of the present is fitted on what was learned "
        "from, and read off the embedding, or off its prediction. Bits are a method's own: what its "
        "prediction tells about its own columns beyond “no change”; methods with other columns cannot be "
        "compared by them.",
        "The frequency is that of the oscillator that explains the largest share of the motion (channels on "
        "one scale, a linear readout of its two columns alone), beside that of the compasses in the whole "
        "recording. “Flat”, which has no dynamics, gets the same look at what its columns do; PCA, "
        "SOBI and AMUSE predict each column by itself. With three rows at once (now, and 33 and 67 ms ago) "
        "there are 36 channels.",
    ),
)
