"""Real images, as uint8 arrays (N, C, H, W), and videos of silhouettes, real or generated."""

from aninfonce.datasets.cache import cache_dir, load_images
from aninfonce.datasets.catalog import DatasetInfo, dataset_info, dataset_names
from aninfonce.datasets.fetch import fetch
from aninfonce.datasets.folder import read_folder
from aninfonce.datasets.idx import read_idx
from aninfonce.datasets.images import DatasetError, LabelledImages
from aninfonce.datasets.local import read_images
from aninfonce.datasets.pedestrians import generate_videos
from aninfonce.datasets.videos import MaskVideos, load_videos, mask_latents, save_videos

__all__ = [
    "DatasetError",
    "DatasetInfo",
    "LabelledImages",
    "MaskVideos",
    "cache_dir",
    "dataset_info",
    "dataset_names",
    "fetch",
    "generate_videos",
    "load_images",
    "load_videos",
    "mask_latents",
    "read_folder",
    "read_idx",
    "read_images",
    "save_videos",
]
