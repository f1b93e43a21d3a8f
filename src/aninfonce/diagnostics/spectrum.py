"""Content and style: how strongly each direction varies within pairs."""

from __future__ import annotations

import numpy as np

from aninfonce.diagnostics.finding import Finding, Status, cannot_tell, judge, not_judged, titled
from aninfonce.diagnostics.ratio import Spread, spread_of
from aninfonce.diagnostics.sample import Sample
from aninfonce.plots._axes import MAIN, Axes, whole_ticks

# Directions whose Λ differ by more than this factor, for certain, are not of one kind.
_RATIO = 1.5
# A direction narrower than this share of the widest is not in use: its Λ says how narrow it is.
_IN_USE = 0.1


@titled("Content and style")
def spectrum(sample: Sample) -> Finding:
    """Λ̂ on the frozen embedding, from the direction that varies most to the one that varies least.

    A concern if the directions surely differ in Λ, unless the encoder is known to be trained with a loss that
    allows for it.
    """
    frame = sample.frame
    if frame is None:
        return not_judged("no direction of the embedding varies")
    fit = frame.concentration
    order = np.argsort(fit.values)
    width = frame.z.std(axis=0)[order]
    used = order[width >= _IN_USE * width.max()]
    values, (low, high) = fit.values[used], fit.interval[used].T

    def draw(axis: Axes) -> None:
        place = np.arange(1, len(values) + 1)
        ends = [values - low, high - values]
        axis.errorbar(place, values, np.maximum(ends, 0.0), fmt="o", color=MAIN, capsize=3)
        axis.set(xlabel="direction, style to content", ylabel="Λ̂", yscale="log")
        axis.set_title("Content–style spectrum")
        whole_ticks(axis.xaxis, place)

    details = {
        "concentration": values.tolist(),
        "interval": fit.interval[used].tolist(),
        "variance_kept": frame.kept,
    }
    if len(used) < 2:
        return not_judged("only one direction of the embedding is in use", details=details, draw=draw)
    spread = spread_of(values, fit.covariance[np.ix_(used, used)], sample.rng("spectrum"))
    status = judge(spread.interval, _RATIO, bad="above")
    style = int((spread.lower.max(axis=0) > _RATIO).sum())
    if status == "concern" and sample.run.anisotropic:
        # This breaks no assumption of the loss: it is what the loss is made for.
        status = "fine"
    return Finding(
        measure="largest Λ̂ over smallest",
        value=spread.value,
        interval=spread.interval,
        status=status,
        advice=_advice(sample, spread, status, style),
        details={**details, "style": style, "no_better_than_chance": int(spread.zero.sum())},
        draw=draw,
    )


def _advice(sample: Sample, spread: Spread, status: Status, style: int) -> str:
    count, run, zero = len(spread.zero), sample.run, int(spread.zero.sum())
    if style:
        more = f"{style} of {count} directions vary more within pairs than the steadiest one"
        if zero:
            more += f", and along {zero} pairs share nothing that can be told from chance"
        if status == "fine":
            return f"{more}, which {run.loss}, that this run was trained with, allows for."
        return (
            f"{more}: a similarity that treats all alike, such as the cosine, tends to lose them, so"
            f" {run.keep_more}."
        )
    if zero:
        return (
            f"Along {zero} of {count} directions pairs share nothing that can be told from chance, so that"
            " the ratio is undetermined: see whether the pairs are paired right, or look at more of them."
        )
    if status == "undetermined":
        return cannot_tell("all directions vary equally")
    return "All directions vary about equally within pairs: an isotropic similarity fits."
