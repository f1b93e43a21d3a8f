"""Which entries of the matrix of all similarities in a batch are logits."""

from __future__ import annotations

from typing import Literal, NamedTuple

# How logits follow from points: −½ of their squared distance, or their inner product.
Form = Literal["distance", "product"]


class Block(NamedTuple):
    """Pairs of points with an entry: those within one range, or between two."""

    rows: tuple[int, int]
    columns: tuple[int, int]
    both_ways: bool = True
    """Whether the column points sum over the row points too."""


class Layout(NamedTuple):
    """Which points are anchors, and what their candidates are. Points: the first view, then the second."""

    pairs: int
    candidates: Literal["anchors", "anchors+self", "positives", "both"]
    symmetric: bool

    @property
    def anchors(self) -> int:
        """Number of anchors; they are the first points."""
        return self.pairs * (1 + self.symmetric)

    @property
    def points(self) -> int:
        """Number of points with entries; they are the first ones."""
        return self.pairs if self.candidates.startswith("anchors") and not self.symmetric else 2 * self.pairs

    @property
    def holds_positives(self) -> bool:
        """Whether the logits of the positives are among the entries."""
        return self.candidates in ("positives", "both")

    @property
    def blocks(self) -> list[Block]:
        """The entries."""
        first, second, both = (0, self.pairs), (self.pairs, 2 * self.pairs), (0, 2 * self.pairs)
        if self.candidates == "both" and self.symmetric:
            return [Block(both, both)]
        across = Block(first, second, both_ways=self.symmetric)
        if self.candidates == "positives":
            return [across]
        within = [Block(view, view) for view in (first, second)[: 1 + self.symmetric]]
        return [*within, across] if self.candidates == "both" else within
