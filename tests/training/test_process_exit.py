"""A process of several ends whole, whatever the threads of gloo are at."""

import atexit

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

from aninfonce.training.process_exit import leave_at_exit, leave_process_group


def worker(rank, world, folder):
    dist.init_process_group("gloo", init_method=(folder / "meeting").as_uri(), rank=rank, world_size=world)
    atexit.register((folder / f"taken apart {rank}").touch)
    # What keeps the group's threads alive for good.
    module = DistributedDataParallel(torch.nn.Linear(3, 3))
    module(torch.ones(2, 3)).sum().backward()
    print("last words", file=(folder / f"said {rank}").open("w"), flush=True)
    leave_process_group()


@pytest.mark.process
def test_processes_leave_together_and_without_pythons_clean_up(tmp_path):
    mp.spawn(worker, args=(2, tmp_path), nprocs=2)
    for rank in range(2):
        assert (tmp_path / f"said {rank}").read_text() == "last words\n"
        assert not (tmp_path / f"taken apart {rank}").exists()


def test_one_process_goes_on(tmp_path):
    leave_process_group()
    dist.init_process_group("gloo", init_method=(tmp_path / "meeting").as_uri(), rank=0, world_size=1)
    try:
        leave_process_group()
    finally:
        dist.destroy_process_group()


def staying_worker(rank, world, folder):
    dist.init_process_group("gloo", init_method=(folder / "meeting").as_uri(), rank=rank, world_size=world)
    atexit.register((folder / f"taken apart {rank}").touch)
    module = DistributedDataParallel(torch.nn.Linear(3, 3))
    module(torch.ones(2, 3)).sum().backward()
    leave_process_group(stay=rank == 0)
    # Only the first comes here; what it hands on later still arrives.
    (folder / f"went on {rank}").touch()
    leave_at_exit()
    atexit.register((folder / f"handed on {rank}").touch)


@pytest.mark.process
def test_one_goes_on_alone_and_ends_without_pythons_clean_up(tmp_path):
    mp.spawn(staying_worker, args=(2, tmp_path), nprocs=2)
    assert {path.name for path in tmp_path.iterdir()} - {"meeting"} == {"went on 0", "handed on 0"}


@pytest.mark.process
def test_a_process_that_fails_after_the_others_left_is_seen(tmp_path):
    with pytest.raises(mp.ProcessRaisedException, match="no result"):
        mp.spawn(failing_worker, args=(2, tmp_path), nprocs=2)


def failing_worker(rank, world, folder):
    dist.init_process_group("gloo", init_method=(folder / "meeting").as_uri(), rank=rank, world_size=world)
    leave_process_group(stay=rank == 0)
    raise ValueError("no result")
