"""Every synthetic setting of the two papers by name."""

from __future__ import annotations

from typing import Any, Literal

import torch

from aninfonce._validation import check_choice
from aninfonce.mixing import Mixing
from aninfonce.processes.process import DataGeneratingProcess, EnsembleProcess
from aninfonce.processes.process_settings import (
    AnisotropicLaw,
    Isotropic,
    Law,
    Negatives,
    Noise,
    ProcessSettings,
)


def _sphere(*concentration: float, dim: int = 10, **more: Any) -> ProcessSettings:
    """Uniform anchors on the sphere; each given Λ fills an equal share of the latents."""
    block, rest = divmod(dim, len(concentration))
    assert rest == 0
    values = tuple(value for value in concentration for _ in range(block))
    return ProcessSettings(space="sphere", dim=dim, conditional=AnisotropicLaw(concentration=values), **more)


def _cl_ica(
    space: Literal["sphere", "box", "unbounded"], conditional: Law, marginal: Any = "uniform"
) -> ProcessSettings:
    return ProcessSettings(space=space, dim=10, marginal=marginal, conditional=conditional)


def _linspace(low: float, high: float, dim: int = 10) -> ProcessSettings:
    return _sphere(*torch.linspace(low, high, dim, dtype=torch.float64).tolist(), dim=dim)


_NORMAL, _LAPLACE = Noise(kind="normal", scale=0.05), Noise(kind="laplace", scale=0.05)
_CUBIC = Noise(kind="generalized-normal", scale=0.05, shape=3.0)
_WIDE_NORMAL, _WIDE_LAPLACE = Noise(kind="normal", scale=1.0), Noise(kind="laplace", scale=1.0)

# cl-ica, Table 1: what is drawn (the model's assumptions belong to the study, not to the process).
_TABLE1 = [
    _cl_ica("sphere", Isotropic(concentration=1.0)),
    _cl_ica("sphere", Isotropic(concentration=10.0)),
    _cl_ica("sphere", _LAPLACE),
    _cl_ica("sphere", _NORMAL),
    _cl_ica("box", _NORMAL),
    _cl_ica("box", _LAPLACE),
    _cl_ica("box", _LAPLACE),
    _cl_ica("box", _NORMAL),
    _cl_ica("sphere", _LAPLACE, marginal=_WIDE_NORMAL),
    _cl_ica("sphere", _NORMAL, marginal=_WIDE_NORMAL),
    _cl_ica("unbounded", _WIDE_NORMAL, marginal=_WIDE_LAPLACE),
    _cl_ica("unbounded", _WIDE_NORMAL, marginal=_WIDE_NORMAL),
]
# cl-ica, Table 2: all in the box with a uniform marginal.
_TABLE2 = [_LAPLACE, _CUBIC, _NORMAL, _LAPLACE, _CUBIC, _LAPLACE, _CUBIC, _NORMAL, _LAPLACE, _NORMAL]

# Corollary B.2: three latents that no member changes much, the others alternate.
_SHARED, _SPLIT = (400.0,) * 3, (7, 10)
_ENSEMBLE = tuple(
    ProcessSettings(
        space="sphere",
        dim=20,
        conditional=AnisotropicLaw(concentration=_SHARED + (first,) * _SPLIT[0] + (second,) * _SPLIT[1]),
    )
    for first, second in ((15.0, 250.0), (250.0, 15.0))
)

# Figure 6 C and D: anchors from uniform to concentrated at opposite poles for training and testing. The paper
# does not state the conditional. Its R² falls between κ = 12.9 and 36, which is what Λ = 25 gives.
_POLES: dict[str, ProcessSettings] = {
    f"fig6/{pole}{i}": _sphere(25.0, marginal=Isotropic(concentration=round(float(kappa), 4)), pole=pole)
    for i, kappa in enumerate(torch.logspace(-2, 2, 10, dtype=torch.float64), start=1)
    for pole in ("north", "south")
}

# In the order of `names.py`, which lists them for those who do not wait for torch.
PRESETS: dict[str, ProcessSettings] = {
    **{f"table1/row{i}": settings for i, settings in enumerate(_TABLE1, start=1)},
    **{f"table2/row{i}": _cl_ica("box", law) for i, law in enumerate(_TABLE2, start=1)},
    **{f"fig2/{value}": _sphere(5.0, float(value)) for value in (5, 25, 50, 100, 150, 200)},
    "fig2/linspace": _linspace(5.0, 25.0),
    **{f"fig4a/d{d}": _sphere(75.0, dim=d) for d in (10, 20, 30, 40)},
    **{f"fig4b/{value}": _sphere(float(value), dim=20) for value in (25, 75, 150, 300)},
    **_POLES,
    **{f"fig8/{value}": _sphere(float(value), dim=20) for value in (25, 75)},
    **{f"fig9/d{d}": _sphere(75.0, dim=d) for d in (20, 23, 26, 30, 33, 36, 40)},
    "fig10": _sphere(150.0, dim=20, negatives=Negatives(law=AnisotropicLaw(concentration=100.0), count=3)),
    **{f"fig11/member{i}": settings for i, settings in enumerate(_ENSEMBLE, start=1)},
    "fig12/100": _sphere(100.0, dim=20),
    "fig12/15-250": _sphere(15.0, 250.0, dim=20),
}


def process_settings(name: str, **changes: Any) -> ProcessSettings:
    """Look up a preset's settings, with some of them changed.

    >>> process_settings("fig2/25", mixing="identity").conditional.concentration
    (5.0, 5.0, 5.0, 5.0, 5.0, 25.0, 25.0, 25.0, 25.0, 25.0)

    Args:
        name: one of `preset_names()`.
        changes: fields of `ProcessSettings` to replace.

    """
    check_choice(name, "name", PRESETS, listed_by="`aninfonce.processes.preset_names()`")
    fields = {**PRESETS[name].model_dump(), **changes}
    return ProcessSettings.model_validate(fields)


def process(name: str, seed: int = 0, **changes: Any) -> DataGeneratingProcess:
    """Build a synthetic process of the papers by its name.

    >>> process("fig2/25", mixing="identity").sample(3, torch.Generator().manual_seed(0)).x.shape
    torch.Size([3, 10])

    Args:
        name: such as "table1/row7", "fig2/25" or "fig12/15-250"; `preset_names()` lists them.
        seed: draws the mixing.
        changes: fields of `ProcessSettings` to replace, such as `mixing="identity"`.

    """
    return process_settings(name, **changes).build(seed)


def ensemble_process(seed: int = 0, **changes: Any) -> EnsembleProcess:
    """Build the two processes of Figure 11, which share their mixing.

    Args:
        seed: draws the mixing.
        changes: fields of `ProcessSettings` to replace in both members.

    """
    members = [process_settings(f"fig11/member{i}", **changes) for i in (1, 2)]
    mixing: Mixing = members[0].build(seed).mixing
    return EnsembleProcess([member.build(mixing=mixing) for member in members])
