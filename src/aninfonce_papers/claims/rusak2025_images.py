"""What the AnInfoNCE paper claims of images: Figures 3, 6 and 7, Table 1, Appendix G and Causal3DIdent."""

from __future__ import annotations

from aninfonce_papers.claims.claim import Claim
from aninfonce_papers.claims.evidence import Value, across, against
from aninfonce_papers.claims.rules import (
    at_least_published,
    fails_as_published,
    near_published,
    order_holds,
)

_KEPT = ("style", "content")
_TEN = ("Λ=5…50", "Λ=5…200")
_POLES = [
    f"κ={kappa}"
    for kappa in ("0.01", "0.0278", "0.0774", "0.215", "0.6", "1.67", "4.64", "12.9", "35.9", "100")
]
_FEW_EPOCHS = "41 epochs instead of 1000, by a far smaller network, one for each method."
_MIRRORED = (
    "A mirrored half of a 5 looks like a half of a 3: in a trial of 400 steps on another seed .860 of the"
    " digits were told right, and a third of the errors were between these two. Without flips more digits are"
    " told apart, and AnInfoNCE pays in them (claims of ours: flips of digits)."
)
_DRAWN = "On scenes that we rendered, at a laptop's size; the paper uses the released pictures."

CLAIMS = (
    Claim(
        "Figure 3 A",
        "From images of a VAE AnInfoNCE recovers content and style.",
        at_least_published(across("fig3", [f"AnInfoNCE Λ₂={v}" for v in (5, 25, 50)], *_KEPT), 0.002),
        leading=True,
    ),
    Claim(
        "Figure 3 A",
        "From the same images InfoNCE loses the style.",
        fails_as_published(across("fig3", [f"InfoNCE Λ₂={v}" for v in (25, 50)], "style"), 0.05),
    ),
    Claim(
        "Figure 3 B",
        "Neighbours in the embedding of AnInfoNCE tell real digits apart at every Λ₂.",
        at_least_published(across("fig3", [f"AnInfoNCE Λ₂={v}" for v in (5, 25, 50)], "kNN accuracy"), 0.001),
        reason="Below by a few images in a thousand, on one seed and with far fewer steps than in the paper.",
    ),
    Claim(
        "Figure 3 B",
        "Neighbours fail where InfoNCE lost the style.",
        fails_as_published(across("fig3", [f"InfoNCE Λ₂={v}" for v in (25, 50)], "kNN accuracy"), 0.7),
    ),
    Claim(
        "Figure 3 C",
        "Ten Λ from 5 to 50 are learned from images.",
        at_least_published(across("fig3", ["AnInfoNCE Λ=5…50"], "R²", "error of Λ̂"), 0.002),
        reason="After 4000 steps R² is tenths of a point below; Λ̂ is nearer to the truth than published.",
    ),
    Claim(
        "Figure 3 D",
        "Ten Λ from 5 to 200 are learned from images.",
        at_least_published(across("fig3", ["AnInfoNCE Λ=5…200"], "R²", "error of Λ̂"), 0.002),
        reason="After 8000 steps the largest Λ̂ are still too low. In a trial on another seed 1500 steps of"
        " 2048 pairs, from the arcsine of the square roots of pixels, had R² .992 and an error of Λ̂ of .045,"
        " but told fewer real digits apart (.924). With a VAE of 50 epochs, as in the paper, 3000 such steps"
        " had .989, .060 and .930: its images are harder to invert.",
    ),
    Claim(
        "Figure 3 C, D",
        "InfoNCE loses a quarter of the variance of ten different latents.",
        near_published(across("fig3", [f"InfoNCE {v}" for v in _TEN], "R²"), 0.02),
    ),
    Claim(
        "Figure 6 A",
        "An encoder trained on crops and flips of MNIST tells digits apart.",
        at_least_published([Value("fig6-images", "encoder", "class accuracy")], 0.005),
        reason="A network of three convolutions after 1000 steps of 256 pairs, four minutes of one core. "
        + _MIRRORED,
    ),
    Claim(
        "Figure 6 B",
        "In the latents of a VAE views of one image are not normal.",
        order_holds(
            *against(
                "fig6-images",
                "views of single images",
                "normal steps, decoded",
                "share not normal",
                "share with two modes",
            ),
            by=0.01,
        ),
        caveat="Beside steps that are normal by construction; the figure has no numbers.",
    ),
    Claim(
        "Figure 7",
        "For some images and latents the views even have two modes.",
        order_holds(
            *against(
                "fig6-images",
                "views of single images",
                "normal steps, decoded",
                "images with a bimodal latent",
                "latents that are bimodal somewhere",
            ),
            by=0.1,
        ),
        caveat="Beside steps that are normal by construction; the figure has no numbers.",
    ),
    Claim(
        "Figure 6 C",
        "Training and test anchors can be told apart, the better the further they are from uniform.",
        near_published(across("fig6-uniformity", _POLES, "domain accuracy"), 0.03),
    ),
    Claim(
        "Figure 6 D",
        "R² stays high while anchors of training and test are moderately concentrated.",
        at_least_published(across("fig6-uniformity", _POLES[:8], "R²"), 0.01),
        caveat="The paper does not state the conditional: Λ = 25, with which R² falls where it falls there."
        " With Λ = 5 and 25 it falls earlier.",
        reason="Below at κ = 12.9 alone, where R² without β rises slowly: in trials on another seed it had"
        " .925 after 1500 steps and .957 after 3000. With β it is above the published value (claims of"
        " ours).",
    ),
    Claim(
        "Figure 6 D",
        "Identifiability is lost where training and test anchors can be told apart.",
        fails_as_published(across("fig6-uniformity", _POLES[8:], "R²"), 0.9),
    ),
    Claim(
        "Table 1, CIFAR-10",
        "Classes and augmentations that InfoNCE and AnInfoNCE keep, in per cent.",
        at_least_published(
            across(
                "cifar10",
                ["InfoNCE", "AnInfoNCE", "AnInfoNCE without ℓ2"],
                *(
                    f"{layer}: {what} [%]"
                    for layer in ("backbone", "projector")
                    for what in ("classes", "average")
                ),
            ),
            1.0,
        ),
        reason=_FEW_EPOCHS,
    ),
    Claim(
        "Table 1, CIFAR-10",
        "AnInfoNCE keeps more of the augmentations than InfoNCE, on both layers.",
        order_holds(
            *against("cifar10", "AnInfoNCE", "InfoNCE", "backbone: average [%]", "projector: average [%]")
        ),
        caveat=_FEW_EPOCHS,
        leading=True,
    ),
    Claim(
        "Table 1, CIFAR-10",
        "It pays for them in class accuracy.",
        order_holds(
            *against("cifar10", "InfoNCE", "AnInfoNCE", "backbone: classes [%]", "projector: classes [%]")
        ),
        reason="On the backbone it pays. On the projector, where InfoNCE has learned less after so few"
        " epochs, it is slightly ahead.",
        caveat=_FEW_EPOCHS,
    ),
    Claim(
        "Table 1, CIFAR-10",
        "Without ℓ2 it keeps even more, at a higher price.",
        order_holds(
            (
                Value("cifar10", "AnInfoNCE without ℓ2", "backbone: average [%]"),
                Value("cifar10", "AnInfoNCE", "backbone: average [%]"),
            ),
            (
                Value("cifar10", "AnInfoNCE", "backbone: classes [%]"),
                Value("cifar10", "AnInfoNCE without ℓ2", "backbone: classes [%]"),
            ),
        ),
        reason="After so few epochs it keeps more of grey and hue, and less of brightness and contrast, at"
        " the same class accuracy.",
        caveat=_FEW_EPOCHS,
    ),
    Claim(
        "Table 1, ImageNet",
        "Classes and augmentations that InfoNCE and AnInfoNCE keep, in per cent.",
        at_least_published(
            across(
                "imagenet",
                ["InfoNCE", "AnInfoNCE"],
                *(
                    f"{layer}: {what} [%]"
                    for layer in ("backbone", "projector")
                    for what in ("classes", "average")
                ),
            ),
            1.0,
        ),
        caveat="The pictures cannot be fetched; `aninfonce run imagenet --set pairs.data=FOLDER`.",
    ),
    Claim(
        "Appendix G, table",
        "With views of real MNIST: classes, latents of a VAE, crop and blur, for both losses.",
        at_least_published(
            across(
                "mnist-augmentations",
                ["InfoNCE", "AnInfoNCE"],
                "class accuracy",
                "R² of the VAE's latents",
                "crop readout",
                "blur readout",
            ),
            0.01,
        ),
        reason="A network of three convolutions after 1000 steps of 256 pairs, where the paper trains for ten"
        " hours. "
        + _MIRRORED
        + " Five times the steps (`--set recipe.steps=5000`) took seed 0 of InfoNCE from .872 to .897. In"
        " trials of 400 steps of similar networks τ = 0.1, 64 columns in place of 10, and twice the rates had"
        " .861, .876 and .855: none of them is what is missing.",
    ),
    Claim(
        "Appendix G, table",
        "AnInfoNCE keeps more of latents, crop and blur, and pays in class accuracy.",
        order_holds(
            *against(
                "mnist-augmentations",
                "AnInfoNCE",
                "InfoNCE",
                "R² of the VAE's latents",
                "crop readout",
                "blur readout",
            ),
            (
                Value("mnist-augmentations", "InfoNCE", "class accuracy"),
                Value("mnist-augmentations", "AnInfoNCE", "class accuracy"),
            ),
        ),
        reason="By a linear probe AnInfoNCE pays 2.7 points of the classes, about what is published; by"
        " neighbours the two are equal, and so are R², crop and blur, up to noise. Nine or ten of its ten Λ̂"
        " end between 16 and 39: it is nearly InfoNCE at a temperature of .03 to .06. In trials of 400 steps"
        " on another seed, by a similar network, InfoNCE had R² .393, .420 and .469 at τ = 1, 0.3 and 0.1:"
        " how much less it keeps is a matter of its temperature, which the paper does not state.",
    ),
    Claim(
        "Appendix G, domains",
        "A classifier tells augmented MNIST from plain.",
        at_least_published([Value("domain", "grey images", "domain accuracy [%]")], 0.1),
    ),
    Claim(
        "Appendix G, domains",
        "A classifier tells augmented CIFAR-10 from plain.",
        at_least_published([Value("domain", "colour images", "domain accuracy [%]")], 0.1),
        reason="Two tenths of a point below after 10 000 steps of 32 images, on one seed; 3000 steps of 64"
        " had 98.63. In trials of 19 200 images on another seed batches of 32 reached 96.9 and of 64 96.5,"
        " twice the width 96.4, and most errors were augmented images taken for plain.",
    ),
    Claim(
        "Appendix G, domains",
        "A classifier tells augmented ImageNet from plain in 98.7 % of cases.",
        at_least_published([Value("domain", "ImageNet", "domain accuracy [%]")], 0.1),
        caveat="The pictures cannot be fetched.",
    ),
    Claim(
        "Causal3DIdent, Table 2",
        "AnInfoNCE keeps more of the latents than InfoNCE, with augmented and with true views.",
        order_holds(
            *(
                pair
                for kind in ("small crops and colour", "DGP positions and hues")
                for pair in against("causal3dident", f"{kind}, AnInfoNCE", f"{kind}, InfoNCE", "nonlinear R²")
            )
        ),
        caveat=_DRAWN,
    ),
    Claim(
        "Causal3DIdent, Table 2",
        "Class and R² of both losses.",
        at_least_published(
            across(
                "causal3dident",
                [
                    f"{kind}, {loss}"
                    for kind in ("small crops and colour", "DGP positions and hues")
                    for loss in ("InfoNCE", "AnInfoNCE")
                ],
                "class",
                "linear R²",
                "nonlinear R²",
            ),
            0.02,
        ),
        reason="At 48 pixels and 400 steps no run sees rotations, and the class shows only with true"
        " positions and hues.",
        caveat=_DRAWN,
    ),
    Claim(
        "Causal3DIdent, Table 3",
        "For each single kind of views AnInfoNCE keeps more of the latents than InfoNCE.",
        order_holds(
            *(
                pair
                for kind in (
                    "small crops",
                    "large crops",
                    "DGP positions",
                    "rotations",
                    "DGP rotations",
                    "colour jitter",
                    "DGP hues",
                )
                for pair in against("causal3dident", f"{kind}, AnInfoNCE", f"{kind}, InfoNCE", "nonlinear R²")
            )
        ),
        reason="Behind for true rotations, which no run sees here, and for colour jitter and true hues.",
        caveat=_DRAWN,
    ),
)
