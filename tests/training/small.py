"""A run that takes a second or two and goes through every phase."""

from typing import Any

from aninfonce.training import TrainingConfig

SMALL: dict[str, Any] = {
    "data": {"process": "fig2/25", "options": {"mixing": "identity"}},
    "encoder": {"name": "mlp", "options": {"width": 32, "depth": 3}},
    "recipe": {
        "steps": 60,
        "batch_size": 64,
        "growth": [[0.5, 128]],
        "unfold": {"share": 0.5, "again": [0.75], "pairs": 2000},
        "close": {"pairs": 2048, "concentration_pairs": 2048, "block": 256, "iterations": 4},
    },
    "log_every": 10,
    "evaluate_every": 20,
    "evaluation_pairs": 512,
    "checkpoint_every": 10,
    "seed": 5,
}


def small_config(**changes: Any) -> TrainingConfig:
    """The small run with some settings changed; `recipe` is merged."""
    recipe = {**SMALL["recipe"], **changes.pop("recipe", {})}
    return TrainingConfig.model_validate({**SMALL, "recipe": recipe, **changes})
