"""What we found beyond the papers, held to the same rules."""

from __future__ import annotations

from aninfonce_papers.claims.claim import Claim
from aninfonce_papers.claims.evidence import Value, across, against
from aninfonce_papers.claims.rules import (
    all_of,
    at_least,
    at_least_published,
    at_most,
    fails_as_published,
    leaves_at_most,
    misses,
    near_published,
    optimum_at,
    order_holds,
)

_ROW_11 = "row 11: unbounded, Laplace 1, Normal 1 → unbounded, Normal"
_ROW_12 = "row 12: unbounded, Normal 1, Normal 1 → unbounded, Normal"
_LEARNED = ("Λ̂ style", "Λ̂ content")
_FORMS = ("bimodal", "heavy-tailed", "skewed", "correlated")
_RECORDINGS = (
    "ar5",
    "ar5-laplace",
    "ar5-uniform",
    "ar5-40-channels",
    "ar5-noise",
    "ar10",
    "shared",
    "ar5-6000-rows",
    "ar5-nearly-linear",
)
_PAIRS = ("pairs-gauss", "pairs-uniform", "pairs-mixture", "pairs-student")
_LINEAR = ("PCA", "FastICA", "AMUSE", "SFA", "SFA, quadratic")
_BACKBONE = "backbone: average [%]"
_MOTIONS = ("steps", "walk")
_TOLD = "mean correlation, lights and cos²"
_WALK = "real-dynamics"
_ONE_WALK = "One recording of 25 seconds; seeds are of the weights alone."


def _ahead(world: str, others: tuple[str, ...], metric: str) -> list[tuple[Value, Value]]:
    file = "benchmarks/recordings"
    ours = Value(file, f"{world}, ours", metric)
    return [(ours, Value(file, f"{world}, {other}", metric)) for other in others]


def _by_place(ours: str, other: str, factor: int) -> tuple[Value, Value]:
    first, second = (Value("heteroscedastic", f"Λ × {factor}: {name}", "R²") for name in (ours, other))
    return first, second


def _tunnel(view: str, *methods: str) -> list[str]:
    """Name cells of the light tunnel, from pairs and from a recording."""
    return [f"{view}, {motion}: {method}" for motion in _MOTIONS for method in methods]


def _above(view: str, others: tuple[str, ...], metric: str) -> list[tuple[Value, Value]]:
    return [
        pair
        for motion in _MOTIONS
        for other in others
        for pair in against("light-tunnel", f"{view}, {motion}: ours", f"{view}, {motion}: {other}", metric)
    ]


CLAIMS = (
    Claim(
        "A potential β",
        "Where anchors are not uniform on the sphere, β brings R² back.",
        all_of(
            at_least(across("nonuniform", ["κ=3, with β", "κ=6, with β"], "R²"), 0.99),
            order_holds(
                *(
                    pair
                    for v in (3, 6)
                    for pair in against("nonuniform", f"κ={v}, with β", f"κ={v}, without β", "R²")
                ),
                by=0.01,
            ),
        ),
    ),
    Claim(
        "A potential β",
        "Rows 11 and 12 of cl-ica's Table 1 are recovered with β, which the loss without it does not.",
        all_of(
            at_least_published(across("table1", [f"{row}, β" for row in (_ROW_11, _ROW_12)], "R² [%]"), 0.1),
            order_holds(
                *(
                    (Value("table1", f"{row}, β", "R² [%]"), Value("table1", row, "R² [%]"))
                    for row in (_ROW_11, _ROW_12)
                )
            ),
        ),
    ),
    Claim(
        "A potential β",
        "With β the trained Λ̂ of the symmetric loss is the true one; without, it is off.",
        all_of(
            at_most([Value("benchmarks/potential", "symmetric, with β", "largest_error")], 0.02),
            order_holds(
                (
                    Value("benchmarks/potential", "symmetric, without β", "largest_error"),
                    Value("benchmarks/potential", "symmetric, with β", "largest_error"),
                ),
                by=0.02,
            ),
        ),
    ),
    Claim(
        "A potential β",
        "With β latents are recovered at the opposite pole of Figure 6 D too, up to κ = 4.64.",
        all_of(
            at_least(across("fig6-uniformity", ["κ=1.67, β", "κ=4.64, β"], "R²"), 0.99),
            order_holds(
                *(
                    (Value("fig6-uniformity", f"{at}, β", "R²"), Value("fig6-uniformity", at, "R²"))
                    for at in ("κ=1.67", "κ=4.64")
                ),
                by=0.01,
            ),
        ),
    ),
    Claim(
        "Exactness",
        "On exact samples the one-sided loss has its optimum at the true Λ, to 1 %.",
        near_published(across("exactness", ["exact, forward"], *_LEARNED)),
    ),
    Claim(
        "Exactness",
        "The published sampler and loss together have theirs elsewhere.",
        misses(across("exactness", ["approximate, as published"], *_LEARNED), 0.01),
    ),
    Claim(
        "Conditional form",
        "Whatever the form of the steps within pairs, AnInfoNCE with β recovers the latents.",
        at_least(across("conditional-form", [f"{form}, AnInfoNCE+β" for form in _FORMS], "R²"), 0.98),
    ),
    Claim(
        "Conditional form",
        "Λ̂ is then no longer one over the variance of a step.",
        misses(across("conditional-form", [f"{form}, AnInfoNCE+β" for form in _FORMS], *_LEARNED), 0.1),
    ),
    Claim(
        "Folding",
        "No run of the recipe folds at Λ from 5 to 200.",
        at_most(
            across("benchmarks/identify", ["5-25", "5-50", "5-100", "5-150", "5-200", "linspace"], "folded"),
            0.0,
        ),
    ),
    Claim(
        "Folding",
        "Training on the sphere all along does fold at Λ = 5 and 150, and costs a tenth of R².",
        all_of(
            at_least([Value("benchmarks/identify", "sphere-5-150", "folded")], 1.0),
            fails_as_published([Value("benchmarks/identify", "sphere-5-150", "r2")], 0.95),
        ),
    ),
    Claim(
        "Many latents",
        "20 latents at Λ = 75 are recovered.",
        at_least([Value("benchmarks/identify", "d20-75", "r2")], 0.99),
        caveat="Larger batches than in the paper's Figure 4.",
    ),
    Claim(
        "Many latents",
        "So are 40.",
        at_least([Value("benchmarks/identify", "d40-75", "r2")], 0.99),
        reason="The one run folded.",
        caveat="Larger batches than in the paper's Figure 4.",
    ),
    Claim(
        "Λ̂ per group",
        "A Λ̂ for each group of augmentations keeps far more of them than one for all, and pays in classes.",
        order_holds(
            (
                Value("cifar10", "a Λ̂ per augmentation group", _BACKBONE),
                Value("cifar10", "AnInfoNCE", _BACKBONE),
            ),
            (
                Value("cifar10", "InfoNCE", "backbone: classes [%]"),
                Value("cifar10", "a Λ̂ per augmentation group", "backbone: classes [%]"),
            ),
        ),
        caveat="24 epochs at a quarter of the paper's width.",
    ),
    Claim(
        "One Λ̂ for two kinds",
        "On the pairs of Figure 11 one Λ̂ for both kinds recovers more than the ensemble.",
        order_holds((Value("fig11", "one Λ̂ for both", "R²"), Value("fig11", "ensemble", "R²"))),
    ),
    Claim(
        "Editing",
        "Swapping style or content in the embedding of AnInfoNCE swaps it in the picture.",
        near_published(
            across(
                "editing",
                ["AnInfoNCE"],
                *(
                    f"{part} swapped: {what}"
                    for part in ("style", "content")
                    for what in ("arrives", "the rest stays")
                ),
            )
        ),
    ),
    Claim(
        "Editing",
        "With InfoNCE the style does not arrive.",
        fails_as_published([Value("editing", "InfoNCE", "style swapped: arrives")], 0.05),
    ),
    Claim(
        "Beyond the sphere",
        "Sources of a recording are told apart in flat space by how fast they change, and not on the sphere.",
        all_of(
            at_least([Value("timescales", "flat", "mean correlation")], 0.98),
            order_holds(
                *(
                    (
                        Value("timescales", "flat", "mean correlation"),
                        Value("timescales", other, "mean correlation"),
                    )
                    for other in ("sphere", "sphere, d + 1 columns", "unbounded, β", "AMUSE (linear)")
                )
            ),
        ),
    ),
    Claim(
        "Beyond the sphere",
        "Heavier tails and slow drift cost little, noise on the observations much.",
        all_of(
            at_least(
                across("broken-assumptions", ["tails: Student, ν=10", "drift, a=0.25"], "mean correlation"),
                0.98,
            ),
            fails_as_published([Value("broken-assumptions", "noise, share 0.2", "mean correlation")], 0.9),
        ),
    ),
    Claim(
        "Steps by place",
        "Where Λ depends on a latent, AnInfoNCE in Rᵈ with β loses at most half of what it loses on the"
        " sphere.",
        leaves_at_most(0.5, *(_by_place("AnInfoNCE in Rᵈ + β", "AnInfoNCE", factor) for factor in (4, 16))),
        reason="No single Λ̂ is right in more than one place, in Rᵈ either.",
    ),
    Claim(
        "Steps by place",
        "Λ̂(x) takes the rest: what it recovers does not depend on how much Λ does.",
        all_of(
            at_least(across("heteroscedastic", [f"Λ × {f}: Λ̂(x) in Rᵈ + β" for f in (1, 4, 16)], "R²"), 0.98),
            order_holds(*(_by_place("Λ̂(x) in Rᵈ + β", "AnInfoNCE in Rᵈ + β", f) for f in (4, 16))),
        ),
    ),
    Claim(
        "Steps by place",
        "Steps that are alike everywhere in flat space are not on the sphere: there Λ̂(x) recovers more than"
        " one Λ̂, both with β, and in Rᵈ one Λ̂ is enough.",
        all_of(
            order_holds(
                (
                    Value("heteroscedastic", "forced onto the sphere: Λ̂(x) + β", "R²"),
                    Value("heteroscedastic", "forced onto the sphere: AnInfoNCE + β", "R²"),
                )
            ),
            at_least([Value("heteroscedastic", "Λ × 1: AnInfoNCE in Rᵈ + β", "R²")], 0.99),
        ),
        reason="In Rᵈ one Λ̂ is enough. On the sphere both fall short of 1 by about .005 where anchors are;"
        " the difference shows outside.",
    ),
    Claim(
        "Recordings",
        "On nine recordings ours is ahead of six linear and quadratic methods in mean correlation.",
        order_holds(*(pair for world in _RECORDINGS for pair in _ahead(world, (*_LINEAR, "SOBI"), "mcc"))),
    ),
    Claim(
        "Recordings",
        "On the same nine it is ahead of CEBRA-Time and SlowVAE.",
        order_holds(
            *(pair for world in _RECORDINGS for pair in _ahead(world, ("CEBRA-Time", "SlowVAE"), "mcc"))
        ),
        caveat="On most recordings these two have one seed.",
    ),
    Claim(
        "Recordings",
        "On four worlds of pairs ours is ahead of five linear and quadratic methods and of SlowVAE.",
        order_holds(*(pair for world in _PAIRS for pair in _ahead(world, (*_LINEAR, "SlowVAE"), "mcc"))),
        caveat="SlowVAE has one seed.",
    ),
    Claim(
        "Recordings",
        "Λ̂ of a recording is within a tenth of the truth.",
        at_most(
            across(
                "benchmarks/recordings",
                [f"{w}, ours" for w in _RECORDINGS if w != "ar5-uniform"],
                "concentration_error",
            ),
            0.1,
        ),
        reason="Errors are largest with ten sources, and with noise on the observations, which counts as"
        " change.",
    ),
    Claim(
        "Light tunnel",
        "With all nine sensors each of the five factors is found by itself, from pairs and from a recording.",
        all_of(
            at_least(across("light-tunnel", _tunnel("all sensors", "ours"), "mean correlation"), 0.98),
            order_holds(*_above("all sensors", ("PCA", "FastICA"), "mean correlation")),
        ),
        caveat="Simulated sensors, without noise.",
    ),
    Claim(
        "Light tunnel",
        "Without angle sensors the lights and cos²(θ₁ − θ₂), all that light tells, are each found.",
        all_of(
            at_least(across("light-tunnel", _tunnel("light sensors", "ours"), _TOLD), 0.98),
            order_holds(*_above("light sensors", ("PCA", "FastICA"), _TOLD)),
        ),
        caveat="Simulated sensors, without noise.",
    ),
    Claim(
        "Light tunnel",
        "So they are with no more columns than the audit advises.",
        at_least(across("light-tunnel", _tunnel("light sensors", "ours, as advised"), _TOLD), 0.98),
        reason="On one seed of five the run with four columns on the recording loses a light.",
        caveat="Simulated sensors, without noise.",
    ),
    Claim(
        "Light tunnel",
        "The angles themselves are then lost, to a regression that knows them too.",
        fails_as_published(
            across("light-tunnel", _tunnel("light sensors", "ours", "nonlinear regression"), "R², angles"),
            0.1,
        ),
    ),
    Claim(
        "Light tunnel",
        "The audit, which does not know the factors, brings five columns down to the four that there are.",
        optimum_at(across("light-tunnel", _tunnel("light sensors", "ours, as advised"), "columns"), 4.0, 0.0),
    ),
    Claim(
        "Light tunnel",
        "From the camera's pictures the lights are found.",
        at_least(across("light-tunnel", _tunnel("camera", "ours"), "R², lights"), 0.95),
        reason="A simulated picture holds three numbers, for three lights and cos²(θ₁ − θ₂): a regression"
        " that knows the lights does not find them either.",
    ),
    Claim(
        "A walk",
        "In a real recording linear dynamics tell the next row by more bits than flat space without them.",
        order_holds(*against(_WALK, "linear dynamics", "flat", "held-out bits")),
        caveat=_ONE_WALK,
    ),
    Claim(
        "A walk",
        "Linear dynamics find the frequency of strides to 5 %.",
        at_most([Value(_WALK, "linear dynamics", "error of frequency")], 0.05),
        reason="On three seeds of five the oscillator that lasts longest is the second harmonic.",
        caveat=_ONE_WALK,
    ),
    Claim(
        "A walk",
        "Flat space, with the same look at its columns, finds it to 5 %.",
        at_most([Value(_WALK, "flat", "error of frequency")], 0.05),
        caveat=_ONE_WALK,
    ),
    Claim(
        "A walk",
        "Linear dynamics tell where the leg points, .4 s ahead, better than five methods on the same rows.",
        order_holds(
            *(
                pair
                for other in ("flat", "dynamic mode decomposition", "PCA", "SOBI", "AMUSE")
                for pair in against(_WALK, "linear dynamics", other, "direction R², 0.4 s ahead")
            )
        ),
        reason="Flat space with the same look is ahead, and dynamic mode decomposition is level.",
        caveat=_ONE_WALK,
    ),
    Claim(
        "A walk",
        "They do so beside dynamic mode decomposition where both see three rows at once.",
        order_holds(
            *against(
                _WALK,
                "linear dynamics, three rows",
                "dynamic mode decomposition, three rows",
                "direction R², 0.4 s ahead",
            )
        ),
        reason="It is the linear method that is ahead.",
        caveat=_ONE_WALK,
    ),
)
