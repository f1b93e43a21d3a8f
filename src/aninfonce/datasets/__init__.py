"""Real images: MNIST, Fashion-MNIST, CIFAR-10 and folders of pictures, as uint8 arrays (N, C, H, W)."""

from aninfonce.datasets.cache import cache_dir, load_images
from aninfonce.datasets.catalog import DatasetInfo, dataset_info, dataset_names
from aninfonce.datasets.fetch import fetch
from aninfonce.datasets.folder import read_folder
from aninfonce.datasets.idx import read_idx
from aninfonce.datasets.images import DatasetError, LabelledImages
from aninfonce.datasets.local import read_images

__all__ = [
    "DatasetError",
    "DatasetInfo",
    "LabelledImages",
    "cache_dir",
    "dataset_info",
    "dataset_names",
    "fetch",
    "load_images",
    "read_folder",
    "read_idx",
    "read_images",
]
