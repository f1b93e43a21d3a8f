"""What a second process brings, and what more would on paper.

    python -m benchmarks.scaling             one and two processes on this machine (gloo), printed
    python -m benchmarks.scaling --save      ... and kept in benchmarks/results/scaling.jsonl
    python -m benchmarks.scaling --paper     what 1 to 64 processes send and compute a step
    python -m benchmarks.scaling --docs      bring the tables of docs/howto/many-gpus.md up to date

One global batch, trained by one process and by two with half of the rows each, in turns, so that both meet
the same machine. Efficiency is the time of one over the number of processes times the time of the slowest: on
the clock, which a busy machine spoils, and in CPU time, which leaves out waiting for each other.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from aninfonce_papers.report.markdown import between_marks, refresh, table
from benchmarks.rows import FOLDER, Row, command, one_thread_each, read_rows, write_rows
from benchmarks.timing import seconds_a_step

RESULTS = FOLDER / "scaling.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "howto" / "many-gpus.md"
MARKS = ("<!-- scaling: start -->", "<!-- scaling: end -->")


@dataclass(frozen=True)
class Setting:
    """A global batch and an encoder."""

    pairs: int
    dim: int
    width: int
    depth: int = 3

    @property
    def weights(self) -> int:
        """Entries of the encoder's matrices: inputs and outputs have `dim` columns."""
        return 2 * self.dim * self.width + (self.depth - 1) * self.width**2


SETTINGS = (Setting(1024, 10, 128), Setting(4096, 10, 128), Setting(2048, 128, 512))
PROCESSES = (1, 2, 4, 8, 16, 32, 64)


def on_paper(setting: Setting, processes: int) -> dict[str, float]:
    """Count what one of several processes computes and receives in a step.

    The matrix of anchors against anchors is symmetric. One process computes half of it, ½ + 1 products of
    N × N × d (½ + ½ + 1 at few columns, where the half is computed again); several compute all of their own
    rows, three products of N/P × N × d. Collectives are counted as rings: gathering N rows brings a process
    (P − 1)/P of them, adding them up twice that.

    Args:
        setting: the batch and the encoder.
        processes: P.

    Returns:
        MFLOP of the encoder (both views, forward and backward), of the loss and of the optimiser (Muon's four
        iterations), and MB received: the anchors, their gradients, and those of the weights.

    """
    rows, ring = setting.pairs / processes, (processes - 1) / processes
    product = 2e-6 * setting.pairs**2 * setting.dim
    embeddings, weights = (4e-6 * size for size in (setting.pairs * setting.dim, setting.weights))
    return {
        "encoder_mflop": 3 * 2 * 2e-6 * rows * setting.weights,
        "loss_mflop": (2 if setting.dim <= 96 else 1.5) * product
        if processes == 1
        else 3 * product / processes,
        "optimiser_mflop": 4 * 3 * 2e-6 * (setting.depth - 1) * setting.width**3,
        "anchors_mb": ring * embeddings,
        "gradients_mb": 2 * ring * embeddings,
        "weights_mb": 2 * ring * weights,
    }


def _worker(rank: int, processes: int, folder: str, steps: int, rounds: int) -> None:
    """Time steps of the first process alone and of all together, in turns."""
    import torch
    import torch.distributed as dist

    from aninfonce.training.process_exit import leave_process_group

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=processes)
    for index, setting in enumerate(SETTINGS):
        single, shared = _stepper(setting, 0, 1), _stepper(setting, rank, processes)
        found: dict[str, list[list[float]]] = {"one": [], "all": []}
        for turn in range(rounds + 1):
            dist.barrier()
            if rank == 0:
                one = list(seconds_a_step(single, steps))
            dist.barrier()
            mine = torch.tensor(seconds_a_step(shared, steps), dtype=torch.float64)
            dist.all_reduce(mine, dist.ReduceOp.MAX)
            # The first turn is for warming up.
            if rank == 0 and turn:
                found["one"].append(one)
                found["all"].append(mine.tolist())
        if rank == 0:
            Path(folder, f"{index}.json").write_text(json.dumps(found), encoding="utf-8")
    leave_process_group()


def _stepper(setting: Setting, rank: int, processes: int) -> Callable[[], None]:
    """Build a whole training step, optimisers included, on the rows of one process."""
    import torch
    from torch.nn.parallel import DistributedDataParallel

    from aninfonce.encoders import MLP, SphereHead
    from aninfonce.encoders.embedding import Embedding
    from aninfonce.losses import AnInfoNCE
    from aninfonce.losses.gather import alone
    from aninfonce.optim.optimizers import build_optimizers
    from aninfonce.recipe import Recipe
    from aninfonce.training.model import EncoderWithLoss

    generator = torch.Generator().manual_seed(0)
    body = MLP(setting.dim, setting.dim, width=setting.width, depth=setting.depth, generator=generator)
    embedding = Embedding(body, SphereHead())
    loss = AnInfoNCE(setting.dim, initial=25.0, normalize=False, gather_distributed=True)
    optimizers = build_optimizers(embedding, loss, Recipe())
    plain = EncoderWithLoss(embedding, loss)
    model = plain if processes == 1 else DistributedDataParallel(plain)
    x = torch.randn(setting.pairs, setting.dim, generator=generator)
    x_pos = x + 0.1 * torch.randn(x.shape, generator=generator)
    own = slice(rank * len(x) // processes, (rank + 1) * len(x) // processes)

    def step() -> None:
        with alone() if processes == 1 else nullcontext():
            value = model(x[own], x_pos[own])
            value.backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()

    return step


def measure(processes: int, steps: int, rounds: int) -> list[Row]:
    """Run all settings with one process and with several, one thread each."""
    import torch
    from torch.multiprocessing import spawn

    one_thread_each()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        spawn(_worker, (processes, folder, steps, rounds), nprocs=processes)  # type: ignore[no-untyped-call]
        for index, setting in enumerate(SETTINGS):
            found = json.loads(Path(folder, f"{index}.json").read_text(encoding="utf-8"))
            one, several = (
                [statistics.median(column) for column in zip(*found[name], strict=True)]
                for name in ("one", "all")
            )
            rows.append(
                {
                    **asdict(setting),
                    "processes": processes,
                    "wall_ms": [1e3 * one[0], 1e3 * several[0]],
                    "cpu_ms": [1e3 * one[1], 1e3 * several[1]],
                    "wall_efficiency": one[0] / several[0] / processes,
                    "cpu_efficiency": one[1] / several[1] / processes,
                    "cores": os.cpu_count(),
                    "load": os.getloadavg()[0],
                    "torch": torch.__version__,
                }
            )
    return rows


def describe(row: Row) -> str:
    """One line of a measurement."""
    (one, several), (cpu_one, cpu_several) = row["wall_ms"], row["cpu_ms"]
    return (
        f"{row['pairs']:5d} pairs, d = {row['dim']:3d}, width {row['width']:3d}: 1 process {one:6.1f} ms"
        f" ({cpu_one:6.1f} CPU), {row['processes']} processes {several:6.1f} ms"
        f" ({cpu_several:6.1f} CPU each); efficiency {row['wall_efficiency']:4.0%} on the clock,"
        f" {row['cpu_efficiency']:4.0%} of CPU;"
        f" load {row['load']:.1f} on {row['cores']} cores"
    )


def tables(rows: list[Row]) -> str:
    """Write Markdown of what was measured, and of what one process of up to 64 does in a step."""
    measured = table(
        ("pairs × columns, width", "1 process, CPU ms", "2, CPU ms each", "efficiency, CPU", "on the clock"),
        (
            [
                f"{row['pairs']} × {row['dim']}, {row['width']}",
                *(f"{value:.1f}" for value in row["cpu_ms"]),
                f"{row['cpu_efficiency']:.0%}",
                f"{row['wall_efficiency']:.0%} (load {row['load']:.1f} on {row['cores']} cores)",
            ]
            for row in rows
        ),
    )
    setting = SETTINGS[-1]
    units = (
        "encoder, MFLOP",
        "loss, MFLOP",
        "Muon, MFLOP",
        "anchors, MB",
        "their gradients, MB",
        "weights, MB",
    )
    paper = table(
        ("processes", *units),
        (
            [str(processes), *(f"{value:,.{int(name.endswith('mb'))}f}" for name, value in counts.items())]
            for processes in PROCESSES
            for counts in [on_paper(setting, processes)]
        ),
    )
    title = f"{setting.pairs} pairs of {setting.dim} columns, layers of {setting.width}:"
    return f"\n{measured}\n{title}\n\n{paper}\n"


def page() -> str:
    """Write the page as it should be, from the kept results."""
    return between_marks(PAGE, tables(read_rows(RESULTS)), MARKS)


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--processes", type=int, default=2, help="beside one")
    parser.add_argument("--steps", type=int, default=20, help="of a turn")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each, besides one to warm up")
    parser.add_argument("--save", action="store_true", help="replace the kept results")
    parser.add_argument("--paper", action="store_true", help="print what up to 64 processes would do")
    parser.add_argument("--docs", action="store_true", help="write the kept results into the page")
    chosen = parser.parse_args()
    if chosen.docs:
        refresh({PAGE: page()})
        return
    if chosen.paper:
        for setting in SETTINGS:
            print(setting)
            for processes in PROCESSES:
                counts = (f"{name} {value:10.3f}" for name, value in on_paper(setting, processes).items())
                print(f"  {processes:3d}  " + "  ".join(counts))
        return
    rows = measure(chosen.processes, chosen.steps, chosen.rounds)
    for row in rows:
        print(describe(row))
    if chosen.save:
        write_rows(RESULTS, rows)


if __name__ == "__main__":
    main()
