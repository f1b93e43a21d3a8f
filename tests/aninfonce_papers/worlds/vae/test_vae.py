"""A VAE on a few thousand real digits: it learns, it is kept, it is the same each time."""

from concurrent.futures import ThreadPoolExecutor
from threading import Semaphore

import numpy as np
import pytest
import torch
from filelock import FileLock

from aninfonce.extending import Snapshot, read_snapshot, write_snapshot
from aninfonce.training import CheckpointError
from aninfonce_papers.worlds.vae import VAE, VAESettings, load_vae, save_vae, train_vae
from aninfonce_papers.worlds.vae.fitting import VAERun

SMALL = VAESettings(width=256, epochs=15, batch_size=32, lr=2e-3)


@pytest.fixture(scope="module")
def trained(digits):
    return train_vae(digits.images[:1500], SMALL)


def test_the_loss_falls(trained):
    assert len(trained.history) == 15
    assert trained.history[-1] < 0.7 * trained.history[0]
    assert trained.history[-1] < min(trained.history[:6])


def test_reconstructions_beat_the_mean_image(trained, digits):
    seen, unseen = (torch.as_tensor(part) / 255 for part in (digits.images[:1500], digits.images[1500:]))
    error = ((trained.decode(trained.encode(unseen)) - unseen) ** 2).mean()
    error_of_mean = ((seen.mean(dim=0) - unseen) ** 2).mean()
    assert error < 0.6 * error_of_mean


def test_most_latents_are_used_and_near_the_prior(trained, digits):
    variance = trained.encode(digits.images).var(dim=0)
    assert int((variance > 0.5).sum()) >= 5
    assert bool((variance < 2.5).all())


def test_the_second_call_finds_the_first(tmp_path, digits, monkeypatch):
    images, settings = digits.images[:256], SMALL.model_copy(update={"epochs": 2})
    before = torch.get_rng_state()
    first = train_vae(images, settings, directory=tmp_path)
    assert torch.equal(torch.get_rng_state(), before)
    alone = train_vae(images, settings)
    with monkeypatch.context() as patch:
        patch.setattr("aninfonce_papers.worlds.vae.fitting.VAERun", None)
        second = train_vae(images, settings, directory=tmp_path)
    for vae in (alone, second):
        assert vae.history == first.history
        assert torch.equal(vae.encode(images), first.encode(images))
    assert [path.suffix for path in next(tmp_path.glob("vae-*")).glob("tensors*")] == [".safetensors"]
    # Other images or settings are another VAE.
    train_vae(digits.images[1:257], settings, directory=tmp_path)
    train_vae(images, settings.model_copy(update={"seed": 1}), directory=tmp_path)
    assert len(list(tmp_path.glob("vae-*"))) == 3


def test_a_damaged_one_is_trained_again(tmp_path):
    images = torch.rand(32, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    settings = VAESettings(dim=2, width=8, epochs=1)
    first = train_vae(images, settings, directory=tmp_path)
    tensors = next(tmp_path.glob("*/tensors.safetensors"))
    tensors.write_bytes(tensors.read_bytes()[:-4])
    with pytest.warns(UserWarning, match=r"damaged.*training it again"):
        again = train_vae(images, settings, directory=tmp_path)
    assert again.history == first.history
    assert train_vae(images, settings, directory=tmp_path).history == first.history


def test_images_on_disk_and_progress(tmp_path, capsys):
    pixels = np.random.default_rng(0).integers(0, 256, (40, 1, 8, 8), dtype=np.uint8)
    np.save(tmp_path / "images.npy", pixels)
    settings = VAESettings(dim=2, width=8, epochs=2, batch_size=16)
    on_disk = train_vae(np.load(tmp_path / "images.npy", mmap_mode="r"), settings, progress=True)
    assert "vae" in capsys.readouterr().err
    assert on_disk.history == train_vae(torch.from_numpy(pixels), settings).history
    read_only = np.load(tmp_path / "images.npy", mmap_mode="r")
    assert on_disk.encode(read_only).shape == (40, 2)


def test_bad_input_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"`images` must have shape \(N, C, H, W\)"):
        train_vae(torch.rand(10, 64))
    vae = VAE((1, 8, 8), VAESettings(dim=2, width=8))
    with pytest.raises(ValueError, match=r"`images` must have shape \(N, 1, 8, 8\) or \(N, 64\)"):
        vae.encode(torch.rand(3, 1, 9, 9))
    with pytest.raises(ValueError, match=r"`latents` must have shape \(N, 2\)"):
        vae.decode(torch.rand(3, 3))
    with pytest.raises(ValueError, match="epochs"):
        VAESettings(epochs=0)
    save_vae(vae, tmp_path / "vae")
    assert load_vae(tmp_path / "vae").dim == 2
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        load_vae(tmp_path / "nothing")


@pytest.mark.parametrize("kept", ["whole", "damaged", "of another version"])
def test_a_stopped_run_goes_on_bit_for_bit(tmp_path, monkeypatch, kept):
    images = torch.rand(64, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    settings = VAESettings(dim=2, width=8, epochs=13, batch_size=16)
    epoch, done = VAERun._epoch, []

    def stopped_at_eleven(run, number):
        done.append(number)
        if number == 11 and done.count(11) == 1:
            raise KeyboardInterrupt
        return epoch(run, number)

    monkeypatch.setattr(VAERun, "_epoch", stopped_at_eleven)
    with pytest.raises(KeyboardInterrupt):
        train_vae(images, settings, directory=tmp_path)
    unfinished = next(tmp_path.glob("*.unfinished"))
    if kept == "damaged":
        (unfinished / "state.json").write_text("{")
    if kept == "of another version":
        found = read_snapshot(unfinished)
        write_snapshot(unfinished, Snapshot({f"other.{k}": v for k, v in found.tensors.items()}, {}))
    done_before = len(done)
    resumed = train_vae(images, settings, directory=tmp_path)
    assert len(done) - done_before == (3 if kept == "whole" else 13)
    whole = train_vae(images, settings)
    assert resumed.history == whole.history
    assert torch.equal(resumed.encode(images), whole.encode(images))
    assert [path.suffix for path in tmp_path.glob("vae-*")] == [""]


@pytest.mark.process
def test_of_several_that_want_the_same_one_trains_it(tmp_path, monkeypatch):
    images = torch.rand(64, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    settings = VAESettings(dim=2, width=16, epochs=1, batch_size=16)
    runs, original, at_the_lock = [], VAERun.train, Semaphore(0)

    class Lock(FileLock):
        def acquire(self, *args, **options):
            at_the_lock.release()
            return super().acquire(*args, **options)

    def with_all_three_there(self, report):
        runs.append(self)
        if len(runs) == 1:
            assert all(at_the_lock.acquire(timeout=600) for _ in range(3))
        return original(self, report)

    monkeypatch.setattr("aninfonce_papers.worlds.vae.fitting.FileLock", Lock)
    monkeypatch.setattr(VAERun, "train", with_all_three_there)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: train_vae(images, settings, directory=tmp_path), range(3)))
    assert len(runs) == 1
    assert all(torch.equal(vae.decode(torch.ones(1, 2)), found[0].decode(torch.ones(1, 2))) for vae in found)
