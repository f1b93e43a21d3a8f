"""Sums over a symmetric matrix of exponentials, and their gradients, from half of its entries.

The entries are K_ij = 2^(a_i·a_j + t_i + t_j) = K_ji between points a, and the sums Z_i = Σ_j K_ij. With
v_i = ∂(objective)/∂Z_i, the gradient with respect to a_i is Σ_j K_ij (v_i + v_j) a_j: one pass over half of
the tiles for Z, one for the gradients. In products of the full size that is ½ + 1 if the half is kept between
the passes, and ½ + ½ + 1 if it is computed again; a matrix computed whole takes three. With few features
gradients are gathered feature-major, (k, P): a BLAS is several times slower the other way. With many it is
not, and two transposed copies would be lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from aninfonce.losses.kernel.layout import Block
from aninfonce.losses.kernel.scratch import Scratch

# Rows and columns of a tile: one that fits a CPU's second-level cache; one that keeps a GPU busy.
_CPU_TILE, _GPU_TILE = (256, 1024), (4096, 8192)
# Where entries are computed twice, and the diagonal is a small part of all: fewer rows and columns to load.
_CPU_SQUARE = (512, 512)
# Entries kept between the passes at most: 64 MB of float32 on a CPU, 512 MB on a GPU. With few features it is
# quicker to compute them again than to write them to fresh memory; and to gather gradients feature-major.
_CPU_KEPT, _GPU_KEPT = 2**24, 2**27
_FEW_FEATURES, _FEW_KEPT = 48, 2**22


def kept_entries(points: Tensor) -> int:
    """How many entries between points (P, k) are kept from one pass to the next, at most."""
    if points.device.type != "cpu":
        return _GPU_KEPT
    return _FEW_KEPT if points.shape[1] <= _FEW_FEATURES else _CPU_KEPT


class _Tile(NamedTuple):
    rows: slice
    columns: slice
    own: int
    """How many columns, the first ones, are the rows' own: their part is its own mirror image."""
    both_ways: bool

    @property
    def entries(self) -> int:
        height, width = (int(part.stop - part.start) for part in (self.rows, self.columns))
        return height * width


class Half:
    """The points and the tiles between them.

    Args:
        points: a, (P, k).
        bias: t, (P,).
        blocks: Which entries there are.
        exclude_self: Leave out the entry of a point with itself.
        tile: Rows and columns of a tile; chosen by the device if None.

    """

    def __init__(
        self,
        points: Tensor,
        bias: Tensor,
        blocks: Sequence[Block],
        *,
        exclude_self: bool,
        tile: tuple[int, int] | None = None,
    ) -> None:
        self.points, self.bias, self.exclude_self = points, bias, exclude_self
        shape = tile or (_CPU_TILE if points.device.type == "cpu" else _GPU_TILE)
        self.tiles = [part for block in blocks for part in _cut(block, shape)]
        entries = sum(part.entries for part in self.tiles)
        self.can_keep = entries <= kept_entries(points)
        if shape is _CPU_TILE and not self.can_keep:
            self.tiles = [part for block in blocks for part in _cut(block, _CPU_SQUARE)]
        self.kept: list[Tensor] = []
        self.largest = max(part.entries for part in self.tiles)
        needed = 2 * self.largest + (entries if self.can_keep else 0)
        if points.shape[1] <= _FEW_FEATURES:
            needed += 2 * (points.shape[1] + 1) * points.shape[0]
        self.scratch = Scratch(points, needed)

    def sums(self, *, keep: bool) -> Tensor:
        """Z, (P,). If asked and there is memory for it, the entries are kept for the gradients."""
        total = torch.zeros_like(self.points[:, 0])
        buffer = None if keep and self.can_keep else self._buffer()
        for rows, columns, own, both_ways in self.tiles:
            entries = self._exponentials(rows, columns, own, buffer)
            total[rows].add_(entries.sum(dim=1))
            if both_ways and own < entries.shape[1]:
                total[columns][own:].add_(entries[:, own:].sum(dim=0))
            if buffer is None:
                self.kept.append(entries)
        return total

    def gradients(self, slope: Tensor, *, relative: bool, out: Tensor) -> Tensor:
        """Σ_j K_ij (v_i + v_j) a_j, or with a_j − a_i if relative, and the same without a_j, (P,).

        Args:
            slope: v, (P,).
            relative: Whether t_i is −½‖a_i‖² and has its gradient too.
            out: Where to write the first, (P, k).

        """
        if out.shape[1] <= _FEW_FEATURES:
            # One feature more, 1, for the sums without a_j.
            features, gradient = (self.scratch.take(out.shape[1] + 1, out.shape[0]) for _ in range(2))
            features[:-1] = self.points.T
            features[-1] = 1.0
            gradient.zero_()
            for rows, columns, own, entries in self._weighted(slope):
                gradient[:, rows].addmm_(features[:, columns], entries.T)
                if own < entries.shape[1]:
                    gradient[:, columns][:, own:].addmm_(features[:, rows], entries[:, own:])
            out.copy_(gradient[:-1].T)
            mass = gradient[-1].clone()
        else:
            out.zero_()
            mass = torch.zeros_like(slope)
            for rows, columns, own, entries in self._weighted(slope):
                out[rows].addmm_(entries, self.points[columns])
                mass[rows].add_(entries.sum(dim=1))
                if own < entries.shape[1]:
                    beyond = entries[:, own:]
                    out[columns][own:].addmm_(beyond.T, self.points[rows])
                    mass[columns][own:].add_(beyond.sum(dim=0))
        self.kept.clear()
        if relative:
            out.addcmul_(self.points, mass[:, None], value=-1)
        return mass

    def _weighted(self, slope: Tensor) -> Iterator[tuple[slice, slice, int, Tensor]]:
        """Rows, columns, own columns and entries K_ij (v_i + v_j) of each tile."""
        again, weights = None if self.kept else self._buffer(), self._buffer()
        for index, (rows, columns, own, both_ways) in enumerate(self.tiles):
            entries = self.kept[index] if self.kept else self._exponentials(rows, columns, own, again)
            if both_ways:
                weight = weights[: entries.numel()].view_as(entries)
                entries.mul_(torch.add(slope[rows, None], slope[columns], out=weight))
            else:
                entries.mul_(slope[rows, None])
            yield rows, columns, own, entries

    def _exponentials(self, rows: slice, columns: slice, own: int, buffer: Tensor | None) -> Tensor:
        query, key, bias = self.points[rows], self.points[columns].T, self.bias
        shape = query.shape[0], key.shape[1]
        flat = self.scratch.take(shape[0] * shape[1]) if buffer is None else buffer[: shape[0] * shape[1]]
        entries = flat.view(shape)
        torch.add(bias[rows, None], bias[columns], out=entries)
        torch.addmm(entries, query, key, out=entries).exp2_()
        if own and self.exclude_self:
            entries.diagonal().zero_()
        return entries

    def _buffer(self) -> Tensor:
        """Memory for one tile, used again for each."""
        return self.scratch.take(self.largest)


def _cut(block: Block, shape: tuple[int, int]) -> Iterator[_Tile]:
    """Tiles of a block; of a range with itself only those on and above the diagonal."""
    (top, bottom), (left, right), both_ways = block
    mirrored = block.rows == block.columns
    height, width = shape[0], max(shape)  # the rows' own columns must not be cut
    for i in range(top, bottom, height):
        rows = slice(i, min(i + height, bottom))
        for j in range(i if mirrored else left, right, width):
            columns = slice(j, min(j + width, right))
            yield _Tile(rows, columns, rows.stop - i if mirrored and i == j else 0, both_ways)
