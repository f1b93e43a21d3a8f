"""A light tunnel with five known factors: what its sensors and its camera let anyone find of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from pydantic import JsonValue, PositiveInt

from aninfonce.diagnostics import AuditReport, audit
from aninfonce.estimator import ContrastiveICA, ContrastiveICAWarning
from aninfonce.extending import derive_seed
from aninfonce.metrics import kernel_ridge_r2, linear_r2, mean_correlation_coefficient
from aninfonce_papers.beyond.methods import SIZES, Found, estimator
from aninfonce_papers.beyond.worlds import Matrix
from aninfonce_papers.engine import Experiment, Metrics, Pairs, Preset, Row, Score, Study
from aninfonce_papers.engine.drawing import dots, new_figure
from aninfonce_papers.worlds.tunnel import VIEWS, Tunnel, View, malus, step_pairs, walk

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Motion = Literal["steps", "walk"]
Method = Literal[
    "ours",
    "ours, as advised",
    "PCA",
    "FastICA",
    "linear regression",
    "nonlinear regression",
]
_MOTIONS: tuple[Motion, ...] = get_args(Motion)
_METHODS: tuple[Method, ...] = get_args(Method)
_OURS: tuple[Method, ...] = ("ours", "ours, as advised")
_NAMES = ("red", "green", "blue", "θ₁", "θ₂")
_COLUMNS = len(_NAMES)
_LIGHTS, _ANGLES, _MALUS = slice(0, 3), slice(3, 5), 5
_SEEN = [0, 1, 2, _MALUS]


class TunnelPairs(Pairs):
    """Observations of the tunnel, as pairs that are a step apart or as a recording.

    Attributes:
        view: the sensors that see it.
        motion: "steps" for pairs about settings drawn at random, "walk" for a recording.
        scales: of the steps of each factor, in halves of its range.
        phi: autocorrelations of the factors in a recording.
        rows: to train on.
        test_rows: to score on; in a recording they come after the others.

    """

    view: View
    motion: Motion
    scales: tuple[float, ...] = (0.8, 0.55, 0.38, 0.27, 0.18)
    phi: tuple[float, ...] = (0.5, 0.7, 0.85, 0.95, 0.99)
    rows: PositiveInt
    test_rows: PositiveInt

    def open(self, seed: int) -> Tunnel:
        """Simulate the observations."""
        total = self.rows + self.test_rows
        if self.motion == "steps":
            return step_pairs(self.scales, total, seed, self.view)
        return walk(self.phi, total, seed, self.view)


class TunnelScore(Score):
    """Finds the factors of the tunnel, and compares them with the true ones on rows not trained on.

    Attributes:
        method: that finds them.
        steps: of training, at most; the estimator's own number if None.

    """

    method: Method
    steps: PositiveInt | None = None

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Find the factors, and score them."""
        pairs = experiment.pairs
        assert isinstance(pairs, TunnelPairs)
        tunnel = pairs.open(seed)
        truth = np.concatenate([tunnel.factors, malus(tunnel.factors)[:, None]], axis=1)[pairs.rows :]
        if self.method in _OURS:
            found = self.contrastive(tunnel, pairs, seed)
            return {**scores(truth, found.embedding), **found.more}
        x = tunnel.x.reshape(len(tunnel.x), -1).astype(np.float64)
        if self.method.endswith("regression"):
            r2 = linear_r2 if self.method == "linear regression" else kernel_ridge_r2
            # Principal components instead of hundreds of pixels with three numbers in them.
            return r2_of(r2(truth, _principal(x, pairs.rows, whitened=True)).per_dimension)
        return scores(truth, _linear(x, pairs.rows, self.method, seed))

    def contrastive(self, tunnel: Tunnel, pairs: TunnelPairs, seed: int) -> Found:
        """Train and audit, as advised again with fewer columns; gives the embedding of the test rows."""
        rows = pairs.rows
        held = slice(rows, None)
        looked_at = (
            (tunnel.x[held], tunnel.x_pos[held])
            if tunnel.x_pos is not None
            else (tunnel.x[rows:-1], tunnel.x[rows + 1 :])
        )
        factors = tunnel.factors[rows : rows + len(looked_at[0])]
        columns = _COLUMNS
        while True:
            model = self._fit(tunnel, columns, pairs, seed)
            report = audit(model, looked_at, latents=factors, seed=derive_seed(seed, "audit"))
            fewer = columns - directions_without_news(report)
            if self.method == "ours" or fewer == columns or fewer < 1:
                break
            columns = fewer
        lost: list[JsonValue] = [
            name for name, r2 in zip(_NAMES, report["identifiability"].details["r2"], strict=True) if r2 < 0.9
        ]
        more: dict[str, JsonValue] = {
            "columns": columns,
            "directions without news": directions_without_news(report),
            "concerns of the audit": [
                finding.name for finding in report.concerns if finding.name != "identifiability"
            ],
            "verdict": verdict(report),
            "factors lost": lost,
            "space": model.space_,
            "held-out bits": float(model.score(*looked_at)),
        }
        return Found(np.asarray(model.transform(tunnel.x[held])), None, more)

    def _fit(self, tunnel: Tunnel, columns: int, pairs: TunnelPairs, seed: int) -> ContrastiveICA:
        network: dict[str, Any] = {}
        if pairs.view == "camera":
            network = {"encoder": "small-conv", "encoder_options": {"width": 8}}
        model = estimator(columns, seed, max_steps=self.steps, **network)
        positives = None if tunnel.x_pos is None else tunnel.x_pos[: pairs.rows]
        with warnings.catch_warnings():
            # Columns that share nothing, which the row counts, and pictures that vary in three directions.
            warnings.simplefilter("ignore", ContrastiveICAWarning)
            return model.fit(tunnel.x[: pairs.rows], X_pos=positives)


def verdict(report: AuditReport) -> str:
    """Give the first advice of the audit that needs no true factors; surplus columns come first."""
    told = [finding.advice for finding in report.concerns if finding.name != "identifiability"]
    if directions_without_news(report):
        told.insert(0, report["spectrum"].advice)
    return told[0] if told else "Nothing asks for attention."


def directions_without_news(report: AuditReport) -> int:
    """Count the directions along which the audit cannot tell pairs from chance: surplus columns."""
    return int(report["spectrum"].details.get("no_better_than_chance", 0))


def scores(truth: Matrix, embedding: Matrix) -> Metrics:
    """Compare an embedding (N, k) with lights, angles and cos²(θ₁ − θ₂), (N, 6): R² and correlations."""
    return {
        **r2_of(linear_r2(truth, embedding).per_dimension),
        "mean correlation": mean_correlation_coefficient(truth[:, :_MALUS], embedding).mean,
        "mean correlation, lights and cos²": mean_correlation_coefficient(truth[:, _SEEN], embedding).mean,
    }


def r2_of(each: Sequence[float]) -> Metrics:
    """Name the R² of lights, angles and cos²(θ₁ − θ₂).

    >>> r2_of([1.0, 0.8, 0.9, 0.0, 0.1, 0.7])["R², lights"]
    0.9
    """
    values = np.asarray(each)
    return {
        "R²": float(values[:_MALUS].mean()),
        "R², lights": float(values[_LIGHTS].mean()),
        "R², angles": float(values[_ANGLES].mean()),
        "R², cos²": float(values[_MALUS]),
    }


def _principal(x: Matrix, rows: int, *, columns: int | None = None, whitened: bool = False) -> Matrix:
    """Give the test rows in principal components of scaled channels; those of rounding are left out."""
    varied = x[:, x[:rows].std(axis=0) > 0]
    unit = (varied - varied[:rows].mean(axis=0)) / varied[:rows].std(axis=0)
    _, spread, axes = np.linalg.svd(unit[:rows], full_matrices=False)
    kept = min(int((spread > 1e-5 * spread[0]).sum()), columns or len(spread))
    found: Matrix = unit[rows:] @ axes[:kept].T
    return found / spread[:kept] * np.sqrt(rows) if whitened else found


def _linear(x: Matrix, rows: int, method: Method, seed: int) -> Matrix:
    if method == "PCA":
        return _principal(x, rows, columns=_COLUMNS)
    from sklearn.decomposition import FastICA
    from sklearn.exceptions import ConvergenceWarning

    # All components: five of largest variance would leave a light out. Learned from the first rows.
    whole = _principal(np.concatenate([x[:rows], x]), rows, whitened=True)
    ica = FastICA(whiten=False, random_state=derive_seed(seed, "weights") % 2**31, max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ica.fit(whole[:rows])
    found: Matrix = ica.transform(whole[rows:])
    return found


def experiments(preset: Preset) -> list[Experiment]:
    """Give each method in each view, on pairs and on a recording."""
    sizes = SIZES[preset]
    # Convolutions take twice as long per step, and by themselves would take twice as many steps.
    steps = {view: sizes.steps if preset == "smoke" or view == "camera" else None for view in VIEWS}
    return [
        Experiment(
            name=_name(view, motion, method),
            pairs=TunnelPairs(view=view, motion=motion, rows=sizes.rows, test_rows=sizes.test_rows),
            score=TunnelScore(method=method, steps=steps[view] if method in _OURS else None),
            seconds={"ours": 15.0, "ours, as advised": 25.0, "nonlinear regression": 15.0}.get(method, 1.0),
        )
        for view in VIEWS
        for motion in _MOTIONS
        for method in _METHODS
    ]


def _name(view: View, motion: Motion, method: Method) -> str:
    return f"{view}, {motion}: {method}"


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw R² of lights, angles and cos²(θ₁ − θ₂) for each method, one panel per view and motion."""
    figure = new_figure(10.0, 5.0)
    panels = figure.subplots(len(_MOTIONS), len(VIEWS), sharex=True, sharey=True)
    metrics = {what: f"R², {what}" for what in ("lights", "angles", "cos²")}
    for line, motion in zip(panels, _MOTIONS, strict=True):
        for panel, view in zip(line, VIEWS, strict=True):
            dots(panel, rows, {_name(view, motion, method): method for method in _METHODS}, metrics)
            panel.set(title=f"{view}, {motion}", xlim=(-0.05, 1.02))
    panels[0, 0].legend(fontsize=8)
    for panel in panels[-1]:
        panel.set_xlabel("R²")
    return {"light-tunnel": figure}


STUDY = Study(
    name="light-tunnel",
    title="A light tunnel: what sensors and camera let anyone find of five factors",
    paper="Ours: on the simulators of a machine on which Gamella, Bing and Runge (2025) test other methods",
    source="none",
    experiments=experiments,
    plot=plot,
    remarks=(
        "“Steps” are pairs: settings drawn evenly from their ranges, and normal steps from them of five "
        "sizes. “Walk” is a recording in which each factor forgets at its own pace. Scores are read on rows "
        "that no step saw. “Ours” is `ContrastiveICA(5)` at its defaults, for pictures with a small "
        "convolutional network and 500 steps at most; “as advised” leaves out as many columns as the audit "
        "finds without news, until it finds none. FastICA keeps all principal components, PCA five. "
        "Regressions know the factors: what they do not find is not there, or not linearly. With all "
        "sensors “as advised” is “ours” again, since the audit finds no such column.",
        "Of the angles, light and pictures hold cos²(θ₁ − θ₂) alone; R² of angles can then not be above 0 "
        "but by chance, and that of five factors not above .6. Without labels the audit says that a "
        "direction tells nothing, not which factor is missing.",
        "A simulated picture is one colour on a hexagon, three numbers for four unknowns, and the brightest "
        "are cut off. The audit counts one or two directions without news on eight of ten runs, and does not "
        "see that the others are mixtures. The estimator warns that X varies along three directions only.",
        "The simulators have no noise, and the authors' failures are of photographs and of other methods, "
        "on pairs of another kind: nothing here is compared with their numbers.",
    ),
)
