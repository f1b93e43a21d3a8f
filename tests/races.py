"""Run the tests of processes and signals many times in a row: alone, and with every core kept busy.

    python -m tests.races --times 20                # both kinds
    python -m tests.races --times 20 --busy 0       # one of them

Each round runs as `make test` does, by two workers. Ends with the first failure. `-k` and other
options of pytest may follow.
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path


def spin(parent):
    """Keep a core busy, for as long as the process that asked for it lives."""
    while os.getppid() == parent:
        sum(range(100_000))


def marked_files():
    """List the files that have such tests: to look through all others would take most of a round."""
    found = sorted(Path(__file__).parent.rglob("test_*.py"))
    return [str(path) for path in found if "mark.process" in path.read_text(encoding="utf-8")]


@contextmanager
def busy_cores(count):
    """Keep some cores busy with something else."""
    spinners = [multiprocessing.Process(target=spin, args=(os.getpid(),)) for _ in range(count)]
    for spinner in spinners:
        spinner.start()
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--times", type=int, default=20, help="rounds of each kind (default 20)")
    parser.add_argument(
        "--busy",
        type=int,
        nargs="+",
        default=(0, os.cpu_count()),
        help="cores to keep busy (default: 0, all)",
    )
    known, options = parser.parse_known_args()
    workers = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        *marked_files(),
        "-m",
        "process",
        "-q",
        "-x",
        *workers,
        *options,
    ]
    for busy in known.busy:
        with busy_cores(busy):
            for number in range(1, known.times + 1):
                start = time.perf_counter()
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    sys.exit(done.stdout + done.stderr)
                summary = done.stdout.strip().splitlines()[-1]
                seconds = time.perf_counter() - start
                load = os.getloadavg()[0]  # tells whether anything else was running
                took = f"{seconds:.0f} s, load {load:.1f}"
                print(f"{busy} cores busy, {number} of {known.times}: {summary}; {took}", flush=True)


if __name__ == "__main__":
    main()
