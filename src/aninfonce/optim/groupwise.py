"""The base of our own optimisers: a step that visits one group of parameters after another."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, overload

import torch
from torch.optim import Optimizer


class GroupwiseOptimizer(Optimizer):
    """An optimiser whose step treats one group of parameters after another; subclasses say how."""

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], float]) -> float: ...

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Update every parameter that has a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            self._update(group)
        return loss

    @abstractmethod
    def _update(self, group: dict[str, Any]) -> None:
        """Move the parameters of one group along their gradients."""
