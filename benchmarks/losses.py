"""Time and memory of the loss beside other libraries and beside its own limit.

    python -m benchmarks.losses            # measure what benchmarks/results/losses.jsonl lacks, and print
    python -m benchmarks.losses --fresh    # measure all again
    python -m benchmarks.losses --show     # print what was measured
    python -m benchmarks.losses --before DIR   # the largest batch also by the state of the package in DIR/src

Every contender of a setting runs in every round, in an order that is drawn anew, so that all meet the same
machine; the table gives the best round of forward and backward. One that takes long has fewer rounds: none
begins after `--seconds`. Ratios are of CPU time, which counts all threads but not what else the machine is
busy with (waiting threads are told to sleep). Memory is the highest resident memory above that before the
call, in the first round. The limit is the bare matrix products and exponentials of the same tiles, and
nothing else. A contender that would need more memory than `--memory` is not run.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib
import itertools
import json
import os
import platform
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read once, when torch is loaded

import torch
from torch import Tensor
from torch.nn.functional import normalize

from aninfonce._products import product
from aninfonce.losses import AnInfoNCE, InfoNCE, NTXent
from aninfonce.losses.kernel.half import Half
from aninfonce.losses.kernel.layout import Layout
from benchmarks.peers import lightly_loss_module

RESULTS = Path(__file__).parent / "results" / "losses.jsonl"
Loss = Callable[[Tensor, Tensor], Tensor]

OURS, LIMIT, LIGHTLY = "AnInfoNCE (default)", "limit of AnInfoNCE", "lightly NTXentLoss"
# Matrix products as the peers have them: what is left of a lead on a machine where oneDNN wins nothing.
BY_MM = "AnInfoNCE by torch.mm"
# Another state of the package, with `--before`.
BEFORE = "AnInfoNCE, before"
# Contenders with one and the same objective, ours first.
SAME = (
    ("InfoNCE (positives)", "info-nce-pytorch"),
    ("InfoNCE (positives)", "cebra FixedCosineInfoNCE"),
    ("NTXent", LIGHTLY),
)


def contenders(dim: int) -> Iterator[tuple[str, Loss | str, float]]:
    """Name, loss (or why there is none), and float32 copies of an (N, N) matrix it holds."""
    yield OURS, AnInfoNCE(dim, initial=10.0), 0
    yield BY_MM, without_onednn(AnInfoNCE(dim, initial=10.0)), 0
    yield "InfoNCE (positives)", InfoNCE(candidates="positives", temperature=0.5), 0
    yield "NTXent", NTXent(0.5), 0
    yield LIMIT, bare_operations, 0
    yield "naive autograd", naive_aninfonce(dim), 8
    yield "info-nce-pytorch", _imported("info_nce", lambda m: m.InfoNCE(temperature=0.5)), 6
    yield "cebra FixedCosineInfoNCE", _imported("cebra.models.criterions", _cebra), 6
    module = lightly_loss_module()
    yield LIGHTLY, module.NTXentLoss(0.5) if module else "lightly is not installed", 28


def without_onednn(loss: Loss) -> Loss:
    """Let a loss multiply by `torch.mm`, as on a processor where oneDNN is not the quicker."""

    def value(z0: Tensor, z1: Tensor) -> Tensor:
        torch._C._set_mkldnn_enabled(False)
        try:
            return loss(z0, z1)
        finally:
            torch._C._set_mkldnn_enabled(True)

    return value


def _cebra(module: Any) -> Loss:
    criterion = module.FixedCosineInfoNCE(temperature=0.5)
    return lambda z0, z1: criterion(normalize(z0), normalize(z1), normalize(z1))[0]  # type: ignore[no-any-return]


def _imported(name: str, build: Callable[[Any], Loss]) -> Loss | str:
    try:
        return build(importlib.import_module(name))
    except ImportError as error:
        return f"does not import here: {error}"


def naive_aninfonce(dim: int) -> Loss:
    """Build the objective of AnInfoNCE by autograd on the whole matrix."""
    loss = AnInfoNCE(dim, initial=10.0)

    def value(z0: Tensor, z1: Tensor) -> Tensor:
        z0, z1 = normalize(z0), normalize(z1)
        positive = loss.similarity.pair(z0, z1)  # type: ignore[operator]
        logits = loss.similarity(z0, z0).masked_fill(torch.eye(len(z0), dtype=torch.bool), -torch.inf)
        return (torch.logsumexp(torch.cat([positive[:, None], logits], 1), 1) - positive).mean()

    return value


class _Bare(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z0: Tensor, z1: Tensor) -> Tensor:
        layout = Layout(len(z0), "anchors", symmetric=False)
        half = Half(z0, torch.zeros(len(z0)), layout.blocks, exclude_self=False)
        gradient, buffer = torch.zeros_like(z0), torch.empty(half.largest)
        for rows, columns, own, _ in half.tiles:
            height, width = rows.stop - rows.start, columns.stop - columns.start
            entries = buffer[: height * width].view(height, width)
            entries = product(z0[rows], z0[columns], entries).exp2_()
            gradient[rows].add_(product(entries, z0[columns].T))
            if not own:
                gradient[columns].add_(product(z0[rows].T, entries.T).T)
        ctx.save_for_backward(gradient)
        return gradient.sum()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor, None]:
        return ctx.saved_tensors[0], None


def bare_operations(z0: Tensor, z1: Tensor) -> Tensor:
    """One and a half matrix products and half of the exponentials, over the tiles that the loss uses."""
    result: Tensor = _Bare.apply(z0, z1)  # type: ignore[no-untyped-call]
    return result


def needed_gigabytes(copies: float, n: int) -> float:
    """Rough memory of a contender."""
    return copies * n * n * 4 / 1e9


def resident(field: str) -> float:
    """VmRSS (now) or VmHWM (highest), in megabytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return float("nan")


def forward_backward(loss: Loss, views: tuple[Tensor, Tensor]) -> tuple[float, float]:
    """Seconds of wall clock and of CPU for one value and its gradients."""
    leaves = [view.clone().requires_grad_() for view in views]
    wall, cpu = time.perf_counter(), time.process_time()
    loss(*leaves).backward()  # type: ignore[no-untyped-call]
    return time.perf_counter() - wall, time.process_time() - cpu


def first_round(loss: Loss, views: tuple[Tensor, Tensor]) -> tuple[float, tuple[float, float]]:
    """Highest resident memory of one call above that before it, in megabytes, and its seconds."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    seconds = forward_backward(loss, views)
    return resident("VmHWM") - before, seconds


def measure(
    n: int, dim: int, threads: int, rounds: int, seconds: float, memory: float
) -> Iterator[dict[str, Any]]:
    """One row for each contender."""
    torch.set_num_threads(threads)
    generator = torch.Generator().manual_seed(0)
    z0, z1 = (normalize(torch.randn(n, dim, generator=generator)) for _ in range(2))
    setting = {"n": n, "dim": dim, "threads": threads}
    running: dict[str, Loss] = {}
    rows: dict[str, dict[str, Any]] = {}
    times: dict[str, list[tuple[float, float]]] = {}
    for name, loss, copies in contenders(dim):
        rows[name] = {**setting, "name": name}
        needed = needed_gigabytes(copies, n)
        if isinstance(loss, str):
            rows[name]["skipped"] = loss
        elif needed > memory:
            rows[name]["skipped"] = f"needs about {needed:.0f} GB"
        else:
            peak, first = first_round(loss, (z0, z1))
            running[name], times[name] = loss, [first]
            rows[name]["peak_mb"] = round(peak, 1)
    # Ours with other products would find the caches full of its own code after ours, and the other way round.
    # It has a race of its own, in which the others are company.
    company: dict[str, list[tuple[float, float]]] = {name: [] for name in running}
    for left_out, record in ((BY_MM, times), (OURS, {**company, BY_MM: times[BY_MM]})):
        chosen = {name: loss for name, loss in running.items() if name != left_out}
        _race(chosen, record, (z0, z1), rounds, seconds)
    for name, pairs in times.items():
        wall, cpu = (min(column) * 1e3 for column in zip(*pairs, strict=True))
        rows[name] |= {"wall_ms": round(wall, 3), "cpu_ms": round(cpu, 3), "rounds": len(pairs)}
    yield from rows.values()


def _race(
    running: dict[str, Loss],
    times: dict[str, list[tuple[float, float]]],
    views: tuple[Tensor, Tensor],
    rounds: int,
    seconds: float,
) -> None:
    """Let all run in every round, and add to their seconds."""
    order, shuffle = list(running), random.Random(0).shuffle
    spent = dict.fromkeys(running, 0.0)
    for _ in range(rounds - 1):
        # Whoever follows one with large matrices finds the caches empty: now this one, now that.
        shuffle(order)
        for name in order:
            if spent[name] < seconds:
                times[name].append(forward_backward(running[name], views))
                spent[name] += times[name][-1][1]


def large_batch(n: int, dim: int) -> dict[str, Any]:
    """Memory of a batch that no other contender can hold."""
    generator = torch.Generator().manual_seed(0)
    views = tuple(torch.randn(n, dim, generator=generator) for _ in range(2))
    peak, (wall, cpu) = first_round(AnInfoNCE(dim), (views[0], views[1]))
    return {
        "n": n,
        "dim": dim,
        "threads": torch.get_num_threads(),
        "name": OURS,
        "wall_ms": round(wall * 1e3),
        "cpu_ms": round(cpu * 1e3),
        "peak_mb": round(peak, 1),
        "rounds": 1,
    }


# Runs on every state of the package, so it uses nothing but the loss.
_ALONE = """
import json, sys, time
import torch
from aninfonce.losses import AnInfoNCE
n, dim = int(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(1)
loss = AnInfoNCE(dim)
small = torch.randn(2, 1024, dim)
loss(*small.requires_grad_()).backward()
views = torch.randn(2, n, dim, generator=torch.Generator().manual_seed(0)).requires_grad_()
memory = lambda name: next(
    int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith(name)
)
open("/proc/self/clear_refs", "w").write("5")
before, begin, cpu = memory("VmRSS"), time.perf_counter(), time.process_time()
loss(*views).backward()
cpu, wall = time.process_time() - cpu, time.perf_counter() - begin
peak = round(memory("VmHWM") - before, 1)
print(json.dumps({"wall_ms": round(wall * 1e3), "cpu_ms": round(cpu * 1e3), "peak_mb": peak}))
"""


def beside_before(n: int, dim: int, before: Path) -> Iterator[dict[str, Any]]:
    """Measure one large batch by this package and by another state of it, each in a process of its own."""
    here = Path(__file__).parents[1]
    for name, folder in ((OURS, here), (BEFORE, before)):
        environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-c", _ALONE, str(n), str(dim)]
        found = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
        yield {"n": n, "dim": dim, "threads": 1, "name": name, **json.loads(found), "rounds": 1}


def show(rows: list[dict[str, Any]]) -> None:
    """Print a table for each setting, and the ratios that matter."""
    for setting in sorted({(r["threads"], r["n"], r["dim"]) for r in rows}):
        chosen = {r["name"]: r for r in rows if (r["threads"], r["n"], r["dim"]) == setting}
        print("\n{} thread(s), N = {}, d = {}".format(*setting))
        for name, row in chosen.items():
            if "skipped" in row:
                print(f"  {name:26} not run: {row['skipped']}")
            else:
                times = f"{row['wall_ms']:9.2f} ms {row['cpu_ms']:9.2f} ms CPU"
                print(f"  {name:26} {times} {row['peak_mb']:9.0f} MB")
        cpu = {name: row["cpu_ms"] for name, row in chosen.items() if "cpu_ms" in row}
        if BEFORE in cpu:
            print(f"  {cpu[BEFORE] / cpu[OURS]:.2f} × faster than before")
        if LIMIT not in cpu:
            continue
        print(f"  {OURS} takes {cpu[OURS] / cpu[LIMIT]:.2f} × its limit,")
        print(f"  NTXent {cpu['NTXent'] / cpu[OURS]:.2f} × {OURS} (of 4 × the logits),")
        mine = {OURS, BY_MM, LIMIT, "InfoNCE (positives)", "NTXent", "naive autograd"}
        others = {name: value for name, value in cpu.items() if name not in mine}
        if others:
            fastest = min(others, key=others.__getitem__)
            print(f"  and is {others[fastest] / cpu[OURS]:.1f} × faster than {fastest}, the fastest peer;")
            if BY_MM in cpu:
                print(f"  {others[fastest] / cpu[BY_MM]:.1f} × if its products are torch.mm too;")
        if LIGHTLY in cpu:
            print(f"  {cpu[LIGHTLY] / cpu[OURS]:.1f} × faster than {LIGHTLY} (which has 4 × the logits)")
        for ours, peer in SAME:
            if peer in cpu:
                print(f"  same objective: {ours} is {cpu[peer] / cpu[ours]:.1f} × faster than {peer}")


def measure_all(options: argparse.Namespace) -> None:
    """Measure every setting that `--out` does not hold yet."""
    if options.fresh or not options.out.exists():
        about = {"torch": torch.__version__, "cpu": torch.backends.cpu.get_cpu_capability()}
        options.out.write_text(json.dumps({**about, "machine": platform.machine()}) + "\n")
    held = [json.loads(line) for line in options.out.read_text().splitlines()[1:]]
    done = {(row["threads"], row["n"], row["dim"]) for row in held}
    with options.out.open("a") as stream:
        for threads, n, dim in itertools.product(options.threads, options.sizes, options.dims):
            if (threads, n, dim) in done:
                continue
            for row in measure(n, dim, threads, options.rounds, options.seconds, options.memory):
                print(json.dumps(row), file=stream, flush=True)
        if options.large and (torch.get_num_threads(), options.large, 128) not in done:
            rows = (
                [large_batch(options.large, 128)]
                if options.before is None
                else beside_before(options.large, 128, options.before)
            )
            for row in rows:
                print(json.dumps(row), file=stream, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[128, 256, 512, 1024, 4096, 16384])
    parser.add_argument("--dims", type=int, nargs="+", default=[10, 64, 128, 256])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=200, help="at most, the first included")
    parser.add_argument("--seconds", type=float, default=0.3, help="no contender begins a round after these")
    parser.add_argument("--memory", type=float, default=7, help="GB that a contender may need")
    parser.add_argument("--large", type=int, default=65536, help="batch of the memory test; 0 for none")
    parser.add_argument("--before", type=Path, help="checkout of another state, to run that batch beside it")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--fresh", action="store_true", help="measure again what --out holds")
    parser.add_argument("--show", action="store_true", help="only print what --out holds")
    options = parser.parse_args()
    if not options.show:
        options.out.parent.mkdir(exist_ok=True)
        measure_all(options)
    lines = [json.loads(line) for line in options.out.read_text().splitlines()]
    print(lines[0])
    show(lines[1:])


if __name__ == "__main__":
    main()
