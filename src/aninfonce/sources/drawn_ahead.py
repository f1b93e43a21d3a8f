"""Any source, with its next batch drawn while the last one is trained on."""

from __future__ import annotations

from concurrent.futures import Future

from aninfonce.processes import PairBatch
from aninfonce.sources.base import PairSource, State, drawing_thread


class DrawnAhead(PairSource):
    """Another source's pairs, of which a thread draws the next batch ahead.

    The pairs are those that the other source would give, and a resumed run sees the same ones.

    Example:
        >>> import torch
        >>> from aninfonce.sources import ArraySource
        >>> pairs = PairBatch(torch.arange(8.0)[:, None], torch.arange(8.0)[:, None])
        >>> ahead = DrawnAhead(ArraySource(pairs, seed=0))
        >>> torch.equal(ahead.next(4).x, ArraySource(pairs, seed=0).next(4).x)
        True

    Args:
        source: to draw from; nobody else may move it.

    """

    def __init__(self, source: PairSource) -> None:
        self.source = source
        self._worker = drawing_thread("ahead")
        self._ahead: tuple[int, Future[PairBatch]] | None = None
        # Where the source stood before the batch that is drawn ahead.
        self._before: State = {}
        self.process = source.process
        self.sharded = source.sharded
        self.largest_batch = source.largest_batch

    def next(self, n: int) -> PairBatch:
        """Take the next `n` pairs, and have as many drawn ahead."""
        if self._ahead is not None and self._ahead[0] != n:
            self._rewind()
        batch = self.source.next(n) if self._ahead is None else self._ahead[1].result()
        self._before = self.source.state()
        self._ahead = n, self._worker.submit(self.source.next, n)
        return batch

    def fresh(self, n: int) -> PairBatch:
        """Take up to `n` pairs for a fit; what was drawn ahead is drawn again later."""
        self._rewind()
        return self.source.fresh(n)

    def set_aside(self, share: float, most: int, batch: int) -> PairBatch | None:
        """Hold out pairs of the other source."""
        aside = self.source.set_aside(share, most, batch)
        self.largest_batch = self.source.largest_batch
        return aside

    def state(self) -> State:
        """Say where the other source stood before what is drawn ahead."""
        return self.source.state() if self._ahead is None else self._before

    def restore(self, state: State) -> None:
        """Go back to where a `state` was taken."""
        self._rewind()
        self.source.restore(state)

    def _rewind(self) -> None:
        """Drop what is drawn ahead."""
        if self._ahead is not None:
            self._ahead[1].exception()  # waits; whoever takes the batch again will meet the error
            self._ahead = None
            self.source.restore(self._before)
