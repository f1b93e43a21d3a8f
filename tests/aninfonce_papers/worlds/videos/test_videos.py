"""KITTI Masks and its like: read without executing anything, converted, and refused with a reason."""

import os
import pickle

import numpy as np
import pytest
from scipy.ndimage import center_of_mass

from aninfonce.datasets import DatasetError
from aninfonce_papers.worlds.videos import MaskVideos, load_videos, mask_latents, save_videos
from aninfonce_papers.worlds.videos.masks import KITTI
from tests.datasets.damage import damaged, read_or_refuse


def some_masks(length, seed=0):
    masks = np.random.default_rng(seed).random((length, 64, 64)) < 0.1
    masks[:, 5, 7] = True
    return masks


MASKS = [some_masks(4), some_masks(2, seed=1), some_masks(7, seed=2)]
RELEASED = {"pedestrians": MASKS, "pedestrians_latents": [mask_latents(masks) for masks in MASKS]}


def write(folder, content, protocol=4):
    path = folder / "kitti_peds_v2.pickle"
    path.write_bytes(pickle.dumps(content, protocol=protocol))
    return path


def assert_released(videos):
    assert videos.source == KITTI
    assert (len(videos), videos.frames) == (3, 13)
    for found, expected in zip(videos.masks, RELEASED["pedestrians"], strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == bool
    for found, expected in zip(videos.latents, RELEASED["pedestrians_latents"], strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == np.float32


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_the_released_format(tmp_path, protocol):
    assert_released(load_videos(write(tmp_path, RELEASED, protocol)))


def test_conversion_and_back(tmp_path):
    path = save_videos(load_videos(write(tmp_path, RELEASED)), tmp_path / "sub" / "kitti.npz")
    assert_released(load_videos(path))
    # Nothing in the new file is a pickle, and nothing is left beside it.
    with np.load(path, allow_pickle=False) as stored:
        assert sorted(stored) == ["latents", "lengths", "masks", "source"]
    assert [file.name for file in path.parent.iterdir()] == ["kitti.npz"]


def test_a_failed_conversion_leaves_the_old_file(tmp_path, monkeypatch):
    videos = load_videos(write(tmp_path, RELEASED))
    (tmp_path / "kitti.npz").write_bytes(b"old")

    def fails(file, **arrays):
        file.write(b"PK")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fails)
    with pytest.raises(OSError, match="disk full"):
        save_videos(videos, tmp_path / "kitti.npz")
    assert (tmp_path / "kitti.npz").read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 2


def test_latents_are_those_of_the_authors():
    masks = some_masks(5)
    expected = np.array([[*center_of_mass(mask), mask.sum()] for mask in masks], dtype=np.float32)
    np.testing.assert_array_equal(mask_latents(masks), expected)
    with pytest.raises(ValueError, match="`masks` must not be empty, got 1 empty of 2"):
        mask_latents(np.stack([masks[0], np.zeros((64, 64), dtype=bool)]))


def harmful(target):
    class Harmful:
        def __reduce__(self):
            return os.mkdir, (str(target),)

    return Harmful()


@pytest.mark.parametrize("place", ["value", "entry", "key"])
def test_a_pickle_that_would_run_something_is_refused(tmp_path, place):
    harm = harmful(tmp_path / "made")
    content = {
        "value": {**RELEASED, "more": harm},
        "entry": {**RELEASED, "pedestrians": [*MASKS, harm]},
        "key": {harm: 1},
    }[place]
    with pytest.raises(DatasetError, match=r"pickle was not opened: it asks to call posix\.mkdir"):
        load_videos(write(tmp_path, content))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "program",
    [
        b"cbuiltins\neval\n(S'1'\ntR.",
        b"cnumpy\nload\n(S'x'\ntR.",
        b"cnumpy.core.multiarray\nfromstring\n.",
        b"\x80\x04\x8c\x05numpy\x8c\x11ndarray.__class__\x93.",
        b"(inumpy\nmemmap\n.",
    ],
)
def test_programs_in_a_pickle_are_refused(tmp_path, program):
    path = tmp_path / "file"
    path.write_bytes(program)
    with pytest.raises(DatasetError, match="was not opened: it asks to call"):
        load_videos(path)


def changed(**changes):
    return {**RELEASED, **changes}


LATENTS = RELEASED["pedestrians_latents"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([1, 2], "must hold the lists 'pedestrians' and 'pedestrians_latents', got neither"),
        ({"pedestrians": MASKS}, r"must hold the lists .*, got \['pedestrians'\]"),
        (changed(pedestrians=MASKS[:2]), "one array per video, and at least one, got 2 and 3"),
        ({"pedestrians": [], "pedestrians_latents": []}, "at least one, got 0 and 0"),
        (changed(pedestrians=[MASKS[0][:1], *MASKS[1:]]), "`masks` of video 0 must be"),
        (changed(pedestrians=[*MASKS[:2], MASKS[2][:, :32]]), "`masks` of video 2 must be"),
        (changed(pedestrians=[*MASKS[:2], 7]), "`masks` of video 2 must be bool of shape"),
        (changed(pedestrians_latents=[LATENTS[0][:3], *LATENTS[1:]]), "`latents` of video 0 .*as many"),
        (changed(pedestrians_latents=[np.nan * LATENTS[0], *LATENTS[1:]]), "video 0 must be finite"),
        (
            changed(pedestrians=[MASKS[0].astype(np.int16), *MASKS[1:]]),
            "'b1' or 'f4', got one of 'i2'",
        ),
        (changed(pedestrians=[np.array([None, {}]), *MASKS[1:]]), "got one of 'O8'"),
        (changed(more=(1, 2)), "must hold dicts, lists and arrays, got tuple"),
    ],
)
def test_wrong_contents_are_named(tmp_path, content, message):
    with pytest.raises(DatasetError, match=f"kitti_peds_v2.*{message}"):
        load_videos(write(tmp_path, content))


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_files_cut_short_are_named(tmp_path, share):
    released = write(tmp_path, RELEASED)
    converted = save_videos(load_videos(released), tmp_path / "kitti.npz")
    for path in (released, converted):
        content = path.read_bytes()
        path.write_bytes(content[: max(4 if share else 0, int(share * len(content)))])
        with pytest.raises(DatasetError, match="cut short or damaged"):
            load_videos(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"masks": None}, "must hold masks, latents, lengths, source"),
        ({"lengths": np.array([4, 2])}, "`lengths` must sum to the number of frames"),
        ({"lengths": np.array([4.0, 9.0])}, "`lengths` must sum to the number of frames"),
        ({"lengths": np.array([14, -1])}, "`lengths` must sum to the number of frames"),
        ({"latents": np.zeros((13, 2), np.float32)}, "`latents` of video 0"),
        ({"latents": np.float32(1)}, "must be rows"),
        ({"masks": np.array(True)}, "must be rows"),
        ({"source": np.array(["a", "b"])}, "`source` one text"),
        ({"source": np.array(3)}, "`source` one text"),
        (
            {"source": np.array([{}])},
            r"`source` of .*kitti\.npz must hold real numbers or text, got the type '\|O'",
        ),
    ],
)
def test_damaged_conversions_are_named(tmp_path, changes, message):
    stored = {
        "masks": np.concatenate(MASKS),
        "latents": np.concatenate(LATENTS),
        "lengths": np.array([4, 2, 7]),
        "source": np.array("mine"),
        **changes,
    }
    np.savez(tmp_path / "kitti.npz", **{name: part for name, part in stored.items() if part is not None})
    with pytest.raises(DatasetError, match=message):
        load_videos(tmp_path / "kitti.npz")


def test_conversions_with_flipped_bits(tmp_path):
    path = save_videos(MaskVideos(MASKS, LATENTS, "mine"), tmp_path / "kitti.npz")
    content = path.read_bytes()
    for copy in damaged(content, flips=100, cuts=20):
        path.write_bytes(copy)
        found = read_or_refuse(load_videos, path)
        if found is not None:
            for masks, expected in zip(found.masks, MASKS, strict=True):
                np.testing.assert_array_equal(masks, expected)


def test_a_bomb_of_references_is_refused_at_once(tmp_path):
    """A few hundred bytes whose lists, written out, would have 2⁴⁰ entries."""
    nested = []
    for _ in range(40):
        nested = [nested, nested]
    for content in (nested, changed(pedestrians=nested), changed(pedestrians=[nested, *MASKS[1:]])):
        with pytest.raises(DatasetError, match=r"kitti_peds_v2\.pickle was not opened"):
            load_videos(write(tmp_path, content))


def test_places_that_hold_no_file(tmp_path):
    with pytest.raises(DatasetError, match="must be a file, got a folder"):
        load_videos(tmp_path)
    with pytest.raises(DatasetError, match="must be a file, got nothing there"):
        load_videos(tmp_path / "nowhere")
    videos = MaskVideos(MASKS, LATENTS, "mine")
    with pytest.raises(ValueError, match=r"`path` must end in \.npz, got .*kitti\.pickle"):
        save_videos(videos, tmp_path / "kitti.pickle")
