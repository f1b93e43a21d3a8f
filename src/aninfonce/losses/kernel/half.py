"""Sums over a symmetric matrix of exponentials, and their gradients, from half of its entries.

The entries are K_ij = 2^(a_i·a_j + t_i + t_j) = K_ji between points a, and the sums Z_i = Σ_j K_ij. With
v_i = ∂(objective)/∂Z_i, the gradient with respect to a_i is Σ_j K_ij (v_i + v_j) a_j: one pass over half of
the tiles for Z, one for the gradients. In products of the full size that is ½ + 1 if the half is kept between
the passes, and ½ + ½ + 1 if it is computed again; a whole matrix takes three. With few features gradients are
summed feature-major, (k, P): a BLAS is several times slower the other way. With many it is not, and two
transposed copies would be wasted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from aninfonce._products import add_product, product
from aninfonce.losses.kernel.layout import Block
from aninfonce.losses.kernel.scratch import Scratch
from aninfonce.losses.kernel.underflow import exponentials, without_faint

# Rows and columns of a tile: one that fits a CPU's second-level cache; one that keeps a GPU busy.
_CPU_TILE, _GPU_TILE = (512, 512), (4096, 8192)
# Most entries kept between the passes: 64 MB of float32 on a CPU, 512 MB on a GPU. With few features it is
# quicker to compute them again than to write them to fresh memory, and to sum gradients feature-major.
_CPU_KEPT, _GPU_KEPT = 2**24, 2**27
_FEW_FEATURES, _FEW_KEPT = 48, 2**22


def kept_entries(points: Tensor) -> int:
    """Give the most entries between points (P, k) that are kept from one pass to the next."""
    if points.device.type != "cpu":
        return _GPU_KEPT
    return _FEW_KEPT if points.shape[1] <= _FEW_FEATURES else _CPU_KEPT


class _Tile(NamedTuple):
    rows: slice
    columns: slice
    own: bool
    """Whether the columns are the rows themselves: the tile is its own mirror image."""
    both_ways: bool

    @property
    def entries(self) -> int:
        height, width = (int(part.stop - part.start) for part in (self.rows, self.columns))
        return height * width


# Rows, columns, whether these are the same, and entries K_ij (v_i + v_j) of a tile.
_Weighted = tuple[slice, slice, bool, Tensor]


class Half:
    """The points and the tiles between them.

    Args:
        points: a, (P, k).
        bias: t, (P,).
        blocks: Which entries there are.
        exclude_self: Leave out the entry of a point with itself.
        underflow: Whether entries may be too small for float32.
        tile: Rows and columns of a tile; chosen by the device if None.

    """

    def __init__(
        self,
        points: Tensor,
        bias: Tensor,
        blocks: Sequence[Block],
        *,
        exclude_self: bool,
        underflow: bool = True,
        tile: tuple[int, int] | None = None,
    ) -> None:
        self.points, self.exclude_self, self.underflow = points, exclude_self, underflow
        shape = tile or (_CPU_TILE if points.device.type == "cpu" else _GPU_TILE)
        self.tiles = [part for block in blocks for part in _cut(block, shape)]
        entries = sum(part.entries for part in self.tiles)
        self.can_keep = entries <= kept_entries(points)
        self.kept: list[Tensor] = []
        self.largest = max(part.entries for part in self.tiles)
        size = points.shape[0], points.shape[1] + 2
        room = 2 * self.largest + (entries if self.can_keep else 0) + 2 * size[0] * size[1]
        self.scratch = Scratch(points, room)
        # With two more features the product includes the biases, and gives the sums without a_j as well.
        one, column = torch.ones_like(bias).unsqueeze(1), bias.unsqueeze(1)
        self.queries = torch.cat([points, column, one], 1, out=self.scratch.take(*size))
        self.keys = torch.cat([points, one, column], 1, out=self.scratch.take(*size))

    def sums(self, *, keep: bool) -> Tensor:
        """Z, (P,). If asked and there is memory for it, the entries are kept for the gradients."""
        total = torch.zeros_like(self.points[:, 0])
        buffer = None if keep and self.can_keep else self._buffer()
        ones = torch.ones_like(total)
        for rows, columns, own, both_ways in self.tiles:
            entries = self._exponentials(rows, columns, own, buffer)
            total[rows].add_(entries.sum(dim=1))
            if both_ways and not own:
                # Down the columns, a product with ones takes half the time of a sum.
                total[columns].addmv_(entries.T, ones[rows])
            if buffer is None:
                self.kept.append(entries)
        return total

    def gradients(self, slope: Tensor, *, relative: bool, out: Tensor, boost: float = 1.0) -> Tensor:
        """Σ_j K_ij (v_i + v_j) a_j, or with a_j − a_i if relative, and the same without a_j, (P,).

        Args:
            slope: v, (P,).
            relative: Whether t_i is −½‖a_i‖² and has its gradient too.
            out: Where to write the first, (P, k).
            boost: Multiplies v on the way, so that no weighted entry is too small for float32.

        """
        boosted = boost != 1
        tiles = self._weighted(slope * boost if boosted else slope, faint=self.underflow and not boosted)
        mass = torch.zeros_like(slope)
        if out.shape[1] <= _FEW_FEATURES:
            self._add_by_features(tiles, out, mass)
        else:
            self._add_by_points(tiles, out, mass)
        self.kept.clear()
        if relative:
            out.addcmul_(self.points, mass[:, None], value=-1)
        if boosted:
            out.div_(boost)
            mass.div_(boost)
        return mass

    def _add_by_features(self, tiles: Iterator[_Weighted], out: Tensor, mass: Tensor) -> None:
        """Sum gradients feature-major, (k, P)."""
        down = self.queries.new_zeros(self.queries.shape[1], self.queries.shape[0])
        features = self.queries.T.contiguous()
        for rows, columns, own, entries in tiles:
            down[:, rows].add_(product(features[:, columns], entries))
            if not own:
                down[:, columns].add_(product(self.queries[rows].T, entries.T))
        out.copy_(down[:-2].T)
        mass.add_(down[-1])

    def _add_by_points(self, tiles: Iterator[_Weighted], out: Tensor, mass: Tensor) -> None:
        """Sum gradients point by point, (P, k)."""
        out.zero_()
        ones = torch.ones_like(mass)
        for rows, columns, own, entries in tiles:
            add_product(out[rows], entries, self.points[columns])
            mass[rows].add_(entries.sum(dim=1))
            if not own:
                add_product(out[columns], entries.T, self.points[rows])
                mass[columns].addmv_(entries.T, ones[rows])

    def _weighted(self, slope: Tensor, *, faint: bool) -> Iterator[_Weighted]:
        """Give the weighted entries of each tile; `faint` says whether some may be too small for float32."""
        again, weights = None if self.kept else self._buffer(), self._buffer()
        for index, (rows, columns, own, both_ways) in enumerate(self.tiles):
            entries = self.kept[index] if self.kept else self._exponentials(rows, columns, own, again)
            if both_ways:
                weight = weights[: entries.numel()].view_as(entries)
                entries.mul_(torch.add(slope[rows, None], slope[columns], out=weight))
            else:
                entries.mul_(slope[rows, None])
            yield rows, columns, own, without_faint(entries, underflow=faint)

    def _exponentials(self, rows: slice, columns: slice, own: bool, buffer: Tensor | None) -> Tensor:
        query, key = self.queries[rows], self.keys[columns]
        shape = query.shape[0], key.shape[0]
        flat = self.scratch.take(shape[0] * shape[1]) if buffer is None else buffer[: shape[0] * shape[1]]
        entries = exponentials(product(query, key, flat.view(shape)), underflow=self.underflow)
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
    height, width = shape
    for i in range(top, bottom, height):
        rows = slice(i, min(i + height, bottom))
        if mirrored:
            yield _Tile(rows, rows, own=True, both_ways=both_ways)
        for j in range(rows.stop if mirrored else left, right, width):
            yield _Tile(rows, slice(j, min(j + width, right)), own=False, both_ways=both_ways)
