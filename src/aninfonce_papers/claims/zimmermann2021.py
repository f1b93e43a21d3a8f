"""What the cl-ica paper claims, table by table."""

from __future__ import annotations

from aninfonce_papers.claims.claim import Claim
from aninfonce_papers.claims.evidence import Value, across
from aninfonce_papers.claims.rules import (
    all_of,
    at_least_published,
    fails_as_published,
    falls_along,
    near_published,
    order_holds,
)

_R2, _MCC = "R² [%]", "MCC [%]"
_KITTI, _VIDEOS = "MCC [%], KITTI Masks", "MCC [%], generated videos"
_TABLE_1 = (
    "row 1: sphere, uniform, vMF κ=1 → sphere, vMF",
    "row 2: sphere, uniform, vMF κ=10 → sphere, vMF",
    "row 3: sphere, uniform, Laplace .05 → sphere, vMF",
    "row 4: sphere, uniform, Normal .05 → sphere, vMF",
    "row 5: box, uniform, Normal .05 → unbounded, Normal",
    "row 6: box, uniform, Laplace .05 → unbounded, Normal",
    "row 7: box, uniform, Laplace .05 → unbounded, GenNorm β=3",
    "row 8: box, uniform, Normal .05 → unbounded, GenNorm β=3",
    "row 9: sphere, Normal σ=1, Laplace .05 → sphere, vMF",
    "row 10: sphere, Normal σ=1, Normal .05 → sphere, vMF",
    "row 11: unbounded, Laplace 1, Normal 1 → unbounded, Normal",
    "row 12: unbounded, Normal 1, Normal 1 → unbounded, Normal",
)
_TABLE_2 = (
    "row 1: Laplace .05 → box, Laplace",
    "row 2: GenNorm β=3 .05 → box, GenNorm β=3",
    "row 3: Normal .05 → box, Normal",
    "row 4: Laplace .05 → box, Normal",
    "row 5: GenNorm β=3 .05 → box, Laplace",
    "row 6: Laplace .05 → unbounded, Laplace",
    "row 7: GenNorm β=3 .05 → unbounded, GenNorm β=3",
    "row 8: Normal .05 → unbounded, Normal",
    "row 9: Laplace .05 → unbounded, Normal",
    "row 10: Normal .05 → unbounded, GenNorm β=3",
)
_BLOCKS = ("rows 1–4", "rows 5–8", "rows 9–10", "row 11", "row 12")
_TIMES = ("Δt .05 s", "Δt .15 s")
_SCENES = (
    "row 1: normal → box, Normal",
    "row 2: normal → unbounded, Normal",
    "row 3: laplace → box, Normal",
    "row 4: normal → sphere, vMF",
    "row 5: augmentations → sphere, vMF",
)
_FEW_STEPS = "900 to 2000 steps, 300 003 in the paper."
_GENERATED = "On generated videos of pedestrians; KITTI Masks is not at hand."
_DRAWN = "On small scenes that we rendered; the paper uses the released pictures."
_NO_ROTATION = (
    "Of rotation, which a random batch hardly asks for, next to nothing is learned; the other seven latents"
    " are recovered. With hard negatives all ten are (claims of ours)."
)

CLAIMS = (
    Claim(
        "cl-ica, Table 1, rows 1–4",
        "On a sphere latents are recovered up to a linear map, even if the model has another conditional.",
        at_least_published(across("table1", _TABLE_1[:4], _R2), 0.1),
        leading=True,
    ),
    Claim(
        "cl-ica, Table 1, rows 5–8",
        "Latents in a box are recovered up to a linear map by an unbounded encoder.",
        at_least_published(across("table1", _TABLE_1[4:8], _R2), 0.1),
    ),
    Claim(
        "cl-ica, Table 1, rows 9–10",
        "Latents on a sphere are recovered up to a linear map where anchors are not uniform.",
        at_least_published(across("table1", _TABLE_1[8:10], _R2), 0.1),
    ),
    Claim(
        "cl-ica, Table 1, rows 11–12",
        "Unbounded latents are recovered up to a linear map.",
        at_least_published(across("table1", _TABLE_1[10:], _R2), 0.1),
        reason="The latents are not the optimum of this loss: encoders end far below the loss of the true"
        " latents at their best scale. On their way R² only rises, to .93 and .92 at most, and never passes"
        " the published value. The paper's encoder, with 2500 steps of 256 pairs at ten times its rate, comes"
        " to .54 and .51, too early to tell.",
    ),
    Claim(
        "cl-ica, Table 1, identity",
        "A linear readout of the observations themselves recovers two thirds.",
        near_published(across("table1", [f"identity, {block}" for block in _BLOCKS], _R2)),
    ),
    Claim(
        "cl-ica, Table 1, supervised",
        "The same network, trained on the true latents, recovers them.",
        at_least_published(
            across("table1", [f"supervised, {block}" for block in _BLOCKS], _R2), 0.05, merit=False
        ),
    ),
    Claim(
        "cl-ica, Table 2, rows 1–5",
        "In a box single latents are recovered, even if the model has another conditional.",
        at_least_published(across("table2", _TABLE_2[:5], _MCC), 0.1),
        reason=_FEW_STEPS + " In a trial outside these rows, larger batches raised row 3 a little: 99.63 for"
        " 99.60 on seed 2, with 1000 steps that end at 4096 pairs.",
        leading=True,
    ),
    Claim(
        "cl-ica, Table 2, rows 6–7",
        "Single latents are recovered without a box, if the model matches and is not rotation-invariant.",
        at_least_published(across("table2", _TABLE_2[5:7], _MCC), 0.1),
        reason=_FEW_STEPS,
    ),
    Claim(
        "cl-ica, Table 2, rows 8–10",
        "Single latents are not recovered by a rotation-invariant or a mismatched model without a bound.",
        fails_as_published(across("table2", _TABLE_2[7:], _MCC), 80.0),
    ),
    Claim(
        "cl-ica, Table 2, identity",
        "Columns of the observations themselves do not match the latents.",
        near_published([Value("table2", "identity, all rows", _MCC)]),
    ),
    Claim(
        "cl-ica, Table 2, supervised",
        "The same network, trained on the true latents, recovers them.",
        at_least_published(
            across("table2", ["supervised, all rows", "supervised, box"], _MCC), 0.05, merit=False
        ),
    ),
    Claim(
        "cl-ica, Table 3",
        "Mean correlation on KITTI Masks.",
        at_least_published(
            across(
                "table3",
                [f"{t}: {m}" for t in _TIMES for m in ("Laplace, unbounded", "Laplace, box")],
                _KITTI,
            ),
            1.0,
        ),
        caveat="The file is not at hand; `aninfonce run table3 --set pairs.data=kitti_peds_v2.pickle`.",
    ),
    Claim(
        "cl-ica, Table 3",
        "A Laplace model tells position and size of pedestrians apart better than a normal one.",
        order_holds(
            *(
                (
                    Value("table3", f"{t}: Laplace, {s}", _VIDEOS),
                    Value("table3", f"{t}: Normal, {s}", _VIDEOS),
                )
                for t in _TIMES
                for s in ("unbounded", "box")
            )
        ),
        caveat=_GENERATED,
    ),
    Claim(
        "cl-ica, Table 3",
        "Contrastive learning is ahead of SlowVAE at the shorter lag.",
        order_holds(
            (
                Value("table3", "Δt .05 s: Laplace, unbounded", _VIDEOS),
                Value("table3", "Δt .05 s: SlowVAE, unbounded", _VIDEOS),
            )
        ),
        caveat=_GENERATED,
    ),
    Claim(
        "cl-ica, Table 4",
        "All ten latents are recovered from pairs of scenes, in a box up to their order.",
        all_of(
            at_least_published(across("table4", [_SCENES[0], _SCENES[2]], _R2, _MCC), 0.5),
            at_least_published([Value("table4", _SCENES[1], _R2)], 0.5),
        ),
        reason=_NO_ROTATION,
        caveat=_DRAWN,
    ),
    Claim(
        "cl-ica, Table 4",
        "Single latents are not recovered without the box, on a sphere, or from augmentations.",
        fails_as_published(across("table4", [_SCENES[1], *_SCENES[3:]], _MCC), 60.0),
        caveat=_DRAWN,
    ),
    Claim(
        "cl-ica, Table 4",
        "A sphere is too small for the latents, and augmentations lose more of them.",
        order_holds(
            (Value("table4", _SCENES[0], _R2), Value("table4", _SCENES[3], _R2)),
            (Value("table4", _SCENES[0], _R2), Value("table4", _SCENES[4], _R2)),
            by=10.0,
        ),
        reason="Augmentations do. Without the rotations seven latents are left, and these fit on the sphere.",
        caveat=_DRAWN,
    ),
    Claim(
        "cl-ica, Table 4, identity",
        "A linear readout of the pixels fails.",
        fails_as_published([Value("table4", "identity", _R2)], 10.0),
        caveat=_DRAWN,
    ),
    Claim(
        "cl-ica, Table 4, supervised",
        "The same network, trained on the true latents, recovers them.",
        at_least_published(across("table4", ["supervised"], _R2, _MCC), 0.5),
        reason="At 64 pixels rotation is what falls short; of all else R² is above .99.",
        caveat=_DRAWN,
    ),
    Claim(
        "cl-ica, Figure 2",
        "R² falls as anchors get more concentrated than the conditional.",
        falls_along(across("marginals", [f"κ={v}" for v in ("0.1", "1", "3", "10", "30", "100")], "R²")),
        caveat="The concentrations are ours; the figure's numbers are not at hand.",
    ),
)
