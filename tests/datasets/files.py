"""Small data sets in the usual formats, written for a test."""

import gzip
import json
import pickle

import numpy as np
from PIL import Image


def pixels(n, shape=(3, 32, 32), seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, *shape), dtype=np.uint8)


def idx_bytes(array):
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, dtype=">u4").tobytes()
    return header + array.tobytes()


def write_idx(folder, images, labels, stem="train", packed=False):
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in (("images-idx3", images[:, 0]), ("labels-idx1", labels.astype(np.uint8))):
        content = idx_bytes(array)
        if packed:
            (folder / f"{stem}-{name}-ubyte.gz").write_bytes(gzip.compress(content))
        else:
            (folder / f"{stem}-{name}-ubyte").write_bytes(content)


def write_batches(folder, kind, images, labels):
    """Write the five training batches of CIFAR-10; `kind` is "python", "binary" or "sheets"."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = zip(np.array_split(images, 5), np.array_split(labels, 5), strict=True)
    for number, (x, y) in enumerate(parts, start=1):
        path = folder / f"data_batch_{number}"
        if kind == "python":
            batch = {b"data": x.reshape(len(x), -1), b"labels": y.tolist(), b"filenames": [b"a.png"]}
            path.write_bytes(pickle.dumps(batch, protocol=2))
        elif kind == "binary":
            np.hstack([y[:, None].astype(np.uint8), x.reshape(len(x), -1)]).tofile(path.with_suffix(".bin"))
        else:
            rows = x.transpose(0, 2, 3, 1).reshape(len(x), 1024, 3)
            Image.fromarray(rows).save(path.with_suffix(".png"))
    if kind == "sheets":
        (folder / "train_lables.json").write_text(json.dumps(labels.tolist()))


def write_pictures(folder, classes=("cat", "dog"), count=3, size=(40, 30)):
    for number, name in enumerate(classes):
        (folder / name).mkdir(parents=True)
        for i in range(count):
            Image.new("RGB", size, (100 * number, 10 * i, 0)).save(folder / name / f"{i}.png")
