"""The `aninfonce` command, held at a place that a test names: there it says so and waits for a signal.

A test that has to hit a command in the middle cannot count on being quicker than the command. Held here, the
command cannot end before the signal.
"""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

HELD = "held by the test"


@contextmanager
def held_command(place, *arguments, processes=1):
    """Start the command and wait until it is held.

    Args:
        place: "before NAME" or "after NAME", when a file or folder takes that name; or "seed NUMBER", in the
            cells of `fig5` with that seed.
        arguments: of the command.
        processes: how many of them are waited for.

    Yields:
        The process. At the end it is killed, with all those that it started.

    """
    import torch  # the command itself decides when it imports torch

    process = subprocess.Popen(
        # -P: the folders beside this file are not to be found as packages.
        [sys.executable, "-P", __file__, place, *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said = []
        while sum(HELD in line for line in said) < processes:
            said.append(process.stdout.readline())
            assert said[-1], f"ended before it was held:\n{''.join(said)}"
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()


def hold():
    """Say so and wait; a signal that comes in between is not missed."""
    came, comes = os.pipe()
    os.set_blocking(comes, False)
    signal.set_wakeup_fd(comes)
    os.write(sys.__stdout__.fileno(), f"{HELD}\n".encode())
    os.read(came, 1)


def hold_at_name(when, name):
    replace = os.replace

    def held_replace(source, target):
        if when == "before" and Path(target).name == name:
            hold()
        replace(source, target)
        if when == "after" and Path(target).name == name:
            hold()

    os.replace = held_replace


def hold_in_cells(seed):
    from dataclasses import replace

    from aninfonce_papers.rusak2025 import fig5

    class Held:
        def __init__(self, whole):
            self.whole = whole

        def __getattr__(self, name):
            if "whole" not in self.__dict__:  # on its way to a worker
                raise AttributeError(name)
            return getattr(self.whole, name)

        def run(self, number):
            if number == seed:
                hold()
            return self.whole.run(number)

    def held_experiments(preset):
        return [Held(whole) for whole in fig5.experiments(preset)]

    fig5.STUDY = replace(fig5.STUDY, experiments=held_experiments)


if __name__ == "__main__":
    # A shell lets what it starts in the background ignore Ctrl-C, and all that is started from there.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    when, name = sys.argv.pop(1).split()
    if when == "seed":
        hold_in_cells(int(name))
    else:
        hold_at_name(when, name)
    from aninfonce.cli import main

    main()
