"""Names of the presets, known without building any, so that a mistyped one is refused at once."""

from __future__ import annotations

_NAMES = (
    *(f"table1/row{i}" for i in range(1, 13)),
    *(f"table2/row{i}" for i in range(1, 11)),
    *(f"fig2/{value}" for value in (5, 25, 50, 100, 150, 200)),
    "fig2/linspace",
    *(f"fig4a/d{dim}" for dim in (10, 20, 30, 40)),
    *(f"fig4b/{value}" for value in (25, 75, 150, 300)),
    *(f"fig6/{pole}{i}" for i in range(1, 11) for pole in ("north", "south")),
    *(f"fig8/{value}" for value in (25, 75)),
    *(f"fig9/d{dim}" for dim in (20, 23, 26, 30, 33, 36, 40)),
    "fig10",
    *(f"fig11/member{i}" for i in (1, 2)),
    *(f"fig12/{values}" for values in ("100", "15-250")),
)


def preset_names() -> list[str]:
    """Names that `process` knows.

    >>> "fig2/25" in preset_names()
    True
    """
    return list(_NAMES)
