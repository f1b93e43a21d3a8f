"""Pictures of every kind: grey levels and colours kept, bombs and damage refused, nothing executed."""

import io
import os
import struct
import warnings
import zlib

import numpy as np
import pytest
from PIL import EpsImagePlugin, Image

from aninfonce.datasets import DatasetError, read_folder
from aninfonce.datasets.picture_folder import FolderImages
from aninfonce.datasets.pillow import read_picture
from tests.datasets.damage import damaged, little_memory, read_or_refuse

RAMP = np.linspace(0, 65535, 256).astype(np.uint16).reshape(16, 16)


def pixels(path, **options):
    return np.asarray(read_picture(path, **options))


@pytest.mark.parametrize(
    ("name", "order"), [("grey.png", "<u2"), ("grey.tif", "<u2"), ("grey.tiff", ">u2"), ("grey.ppm", "<u2")]
)
def test_16_bit_grey_keeps_its_levels(tmp_path, name, order):
    if name.endswith("ppm"):
        (tmp_path / name).write_bytes(b"P5 16 16 65535\n" + RAMP.astype(">u2").tobytes())
    else:
        Image.fromarray(RAMP.astype(order)).save(tmp_path / name)
    found = pixels(tmp_path / name)
    assert found.shape == (16, 16, 3)
    # 256 levels go in, and 256 come out, the same in each colour.
    np.testing.assert_array_equal(found, np.arange(256).reshape(16, 16, 1).repeat(3, axis=2))


def test_a_folder_of_16_bit_pictures(tmp_path):
    (tmp_path / "class").mkdir()
    Image.fromarray(np.full((20, 30), 65535 // 4, np.uint16)).save(tmp_path / "class" / "a.png")
    assert set(np.unique(read_folder(tmp_path, size=8).images[0]).tolist()) == {64}


@pytest.mark.parametrize("mode", ["I", "F"])
def test_32_bits_have_no_known_range(tmp_path, mode):
    Image.new(mode, (4, 4)).save(tmp_path / "a.tif")
    with pytest.raises(DatasetError, match=r"a\.tif must have grey values of 8 or 16 bits.*, got 32 bits"):
        read_picture(tmp_path / "a.tif")


def test_other_modes_keep_the_colours_that_they_stand_for(tmp_path):
    colours = np.array([[[255, 0, 0], [0, 128, 255]], [[7, 7, 7], [200, 100, 0]]], np.uint8)
    rgb = Image.fromarray(colours)
    half = np.dstack([colours, np.array([[255, 0], [128, 3]], np.uint8)])
    Image.fromarray(half).save(tmp_path / "alpha.png")
    rgb.quantize(4).save(tmp_path / "palette.png")
    rgb.quantize(4).save(tmp_path / "clear.png", transparency=bytes([0, 100, 255, 255]))
    for name in ("alpha", "palette", "clear"):
        np.testing.assert_array_equal(pixels(tmp_path / f"{name}.png"), colours)
    rgb.convert("L").save(tmp_path / "grey.png")
    np.testing.assert_array_equal(pixels(tmp_path / "grey.png")[..., 0], np.asarray(rgb.convert("L")))
    Image.fromarray(colours[..., 0] > 100).save(tmp_path / "two.png")
    np.testing.assert_array_equal(pixels(tmp_path / "two.png")[..., 1], 255 * (colours[..., 0] > 100))
    Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(tmp_path / "ink.jpg", quality=100)
    np.testing.assert_allclose(pixels(tmp_path / "ink.jpg")[4, 4], [255, 0, 0], atol=3)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.bmp", "a.tif", "a.webp", "a.ppm"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_damaged_pictures_end_in_one_line(tmp_path, name):
    noise = np.random.default_rng(0).integers(0, 256, (12, 12, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    for copy in damaged(content, flips=100, cuts=20):
        (tmp_path / name).write_bytes(copy)
        found = read_or_refuse(lambda path: pixels(path, side=8), tmp_path / name)
        assert found is None or (found.ndim, found.dtype, found.shape[2]) == (3, np.uint8, 3)


def png(width, height, rows=b""):
    def chunk(kind, content):
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = [chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("side", [10_000, 60_000])
@pytest.mark.filterwarnings("default")
def test_bombs_are_refused_before_they_are_decoded(tmp_path, side):
    """Of the smaller one Pillow only warns."""
    (tmp_path / "a.png").write_bytes(png(side, side))
    with little_memory(20), pytest.raises(DatasetError, match=r"a\.png cannot be read .* pixels"):
        read_picture(tmp_path / "a.png")


def test_a_line_of_pixels_is_not_scaled_to_fill_the_memory(tmp_path):
    (tmp_path / "line.png").write_bytes(png(1, 100_000, bytes(200_000)))
    with little_memory(20), pytest.raises(DatasetError, match=r"line\.png .* long and thin, got 1 × 100000"):
        FolderImages([str(tmp_path / "line.png")], 224)[0]
    assert FolderImages([str(tmp_path / "line.png")], 8)[0].shape == (3, 8, 8)


def test_no_program_is_started_for_a_picture(tmp_path, monkeypatch):
    """Pillow would give PostScript to Ghostscript, whatever the file is called."""
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *_, **__: pytest.fail("was started"))
    file = io.BytesIO()
    Image.new("RGB", (4, 4)).save(file, "EPS")
    (tmp_path / "a.png").write_bytes(file.getvalue())
    with pytest.raises(DatasetError, match=r"a\.png cannot be read as a picture"):
        read_picture(tmp_path / "a.png")


def test_threads_leave_the_filters_of_warnings_alone(tmp_path):
    for number in range(20):
        Image.new("RGB", (9, 9), (number, 0, 0)).save(tmp_path / f"{number}.png")
    before = list(warnings.filters)
    images = FolderImages([str(tmp_path / f"{number}.png") for number in range(20)] * 5, 8)
    assert images[:][:, 0, 0, 0].tolist() == list(range(20)) * 5
    assert list(warnings.filters) == before


def test_pipes_and_missing_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(DatasetError, match=r"pipe\.png must be a file, got no plain file"):
        read_picture(tmp_path / "pipe.png")
    with pytest.raises(DatasetError, match=r"none\.png does not exist"):
        read_picture(tmp_path / "none.png")
