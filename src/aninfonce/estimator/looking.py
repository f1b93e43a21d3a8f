"""What a fitted estimator shows: plots, a page, and itself in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from aninfonce._files import write_whole
from aninfonce._validation import check_choice, check_number
from aninfonce.estimator.choosing import ChoiceCurve
from aninfonce.estimator.frames import Array, Floats, Index
from aninfonce.estimator.time_constants import TimeConstants

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CHOICES = {"n_components": "number of columns", "lag": "lag [rows]"}


class Looking(TimeConstants):
    """Methods that show what was found.

    They put the numbers of the fitted estimator into a function of `aninfonce.plots`, and give back its
    figure: save it with `figure.savefig("name.svg")`.
    """

    blocks_: list[Index]
    held_out_curve_: Floats
    held_out_steps_: Index
    best_step_: int

    if TYPE_CHECKING:

        def transform(self, X: Any, batch_size: int = 8192) -> Any:
            """Embed rows."""

    def plot_concentration(
        self, *, as_time: bool | None = None, seconds_per_row: float | None = None
    ) -> Figure:
        """Draw Λ̂ of each column with its 95 % interval, or how long each column remembers.

        Args:
            as_time: whether to draw time constants instead of Λ̂; None draws them where there are any
                (`time_constants_`).
            seconds_per_row: of the recording, for time in seconds, where the parameter `rate` is not given.

        Returns:
            The figure, of `aninfonce.plots.concentration_plot`.

        """
        from aninfonce.plots import concentration_plot

        check_is_fitted(self)
        times, ends = self.time_constants_, self.time_constants_interval_
        if as_time is None:
            as_time = times is not None
        if not as_time:
            if seconds_per_row is not None:
                raise ValueError("`seconds_per_row` must be None where Λ̂ is drawn: it has no unit of time")
            return concentration_plot(self.concentration_, self.concentration_interval_, self.blocks_)
        if times is None or ends is None:
            raise ValueError(
                "`as_time` must be False here: only a recording in flat space has time constants"
            )
        if seconds_per_row is None:
            return concentration_plot(times, ends, self.blocks_, as_time=self._unit())
        if self.rate is not None:
            raise ValueError(f"`seconds_per_row` must be None: rate={self.rate:g} already gives it")
        factor = check_number(seconds_per_row, "seconds_per_row", minimum=0.0, exclusive=True)
        return concentration_plot(factor * times, factor * ends, self.blocks_, as_time="seconds")

    def _unit(self) -> Literal["rows", "seconds"]:
        return "rows" if self.rate is None else "seconds"

    def plot_embedding(
        self,
        X: Any,
        color: Any = None,
        *,
        label: str | None = None,
        columns: Sequence[int] | None = None,
        trajectory: bool = False,
    ) -> Figure:
        """Embed rows and draw two columns, coloured by time or by a label.

        Args:
            X: rows (N, D) or a list of sessions; gaps are left out.
            color: (N,) numbers or labels; the number of the row if None.
            label: what the colour is.
            columns: the two to draw; the first two if None.
            trajectory: whether to join each row to the next.

        Returns:
            The figure, of `aninfonce.plots.embedding_plot`.

        """
        from aninfonce.plots import embedding_plot

        z, color = self._drawn(X, color)
        which = range(min(2, z.shape[1])) if columns is None else columns
        return embedding_plot(z, color=color, label=label, columns=which, trajectory=trajectory)

    def save_embedding_page(
        self,
        path: str | Path,
        X: Any,
        color: Any = None,
        *,
        label: str | None = None,
        title: str = "Embedding",
    ) -> Path:
        """Embed rows and write a page on which they can be turned; it needs no other file and no network.

        Args:
            path: of the page, such as "embedding.html".
            X: rows (N, D) or a list of sessions; at most 20 000 are shown, evenly spaced.
            color: (N,) numbers or labels; the number of the row if None.
            label: what the colour is.
            title: heading of the page.

        Returns:
            The path.

        """
        from aninfonce.plots import embedding_page

        z, color = self._drawn(X, color)
        write_whole(path, embedding_page(z, color=color, label=label, title=title))
        return Path(path)

    def _drawn(self, X: Any, color: Any) -> tuple[Array, Any]:
        """Embed rows to be drawn, one session after another and without gaps, with their colours."""
        found = self.transform(X)
        z = np.concatenate(found) if isinstance(found, list) else np.asarray(found)
        kept = np.isfinite(z).all(axis=1)
        if not kept.all():
            color = np.arange(len(z)) if color is None else np.asarray(color)
            color = color[kept] if len(color) == len(z) else color
        return z[kept], color

    def plot_held_out(self) -> Figure:
        """Draw the held-out score during training, and the step whose weights were kept.

        Returns:
            The figure, of `aninfonce.plots.curve_plot`.

        """
        from aninfonce.plots import curve_plot

        check_is_fitted(self)
        # An embedding that was not finite scored minus infinity.
        kept = np.isfinite(self.held_out_curve_)
        steps, scores = self.held_out_steps_[kept], self.held_out_curve_[kept]
        if not len(scores):
            raise ValueError("nothing was held out: fit more pairs, or raise `validation_fraction`")
        # A run that moves to the sphere is scored before and after the move, at the same step.
        moved = bool((np.diff(steps) == 0).any())
        phases = ("in flat space", "on the sphere") if moved else None
        return curve_plot(steps, scores, best=self.best_step_, phases=phases)

    def plot_choice(self, which: Literal["n_components", "lag"] | None = None) -> Figure:
        """Draw the scores by which the number of columns, or the lag, was chosen.

        Args:
            which: of the two; None draws the one that was chosen, the number of columns if both were.

        Returns:
            The figure, of `aninfonce.plots.choice_plot`.

        """
        from aninfonce.plots import choice_plot

        check_is_fitted(self)
        if which is not None:
            check_choice(which, "which", tuple(_CHOICES))
        for name in _CHOICES if which is None else (which,):
            curve: ChoiceCurve | None = getattr(self, f"{name}_curve_", None)
            if curve is not None:
                return choice_plot(*curve, name=_CHOICES[name])
        missing = "neither `n_components` nor `lag` was" if which is None else f"`{which}` was not"
        raise ValueError(f"{missing} chosen by `fit`: there is nothing to draw")

    def _repr_html_inner(self) -> str:
        """Add what was found to scikit-learn's diagram; `_repr_html_` gives this method out."""
        return f"{super()._repr_html_inner()}{self._found()}"  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Do the same for notebooks, which ask for this first."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._found()
        return bundle

    def _found(self) -> str:
        """Λ̂, time constants and blocks as a table and a plot; nothing before `fit`."""
        from aninfonce.plots.drawing import inline_svg
        from aninfonce.plots.tables import html_table

        if not hasattr(self, "blocks_"):
            return ""
        times = self.time_constants_
        block_of = {int(column): place for place, block in enumerate(self.blocks_) for column in block}
        rows = []
        for column, (value, (low, high)) in enumerate(
            zip(self.concentration_, self.concentration_interval_, strict=True)
        ):
            row = [str(column), f"{value:.3g}", f"{low:.3g} to {high:.3g}"]
            row += [] if times is None else [f"{times[column]:.3g}"]
            rows.append([*row, str(block_of.get(column, "–"))])
        time = [] if times is None else [f"time constant [{self._unit()}]"]
        table = html_table(
            ["column", "Λ̂", "95 % interval", *time, "block"], rows, numbers=range(4 + len(time))
        )
        # A notebook cell must show something, whatever became of the fit.
        if not np.isfinite([*self.concentration_, *self.concentration_interval_.flat]).all():
            return table
        # Several on one page must not share ids.
        drawn = inline_svg(self.plot_concentration(as_time=False), f"lambda-{id(self):x}", "Λ̂ of each column")
        frame = "display:inline-block;max-width:100%;background:#fff;border-radius:.4em"
        return f'<div>{table}<div style="{frame}">{drawn}</div></div>'
