"""Videos of silhouettes, real (KITTI Masks) or generated, with three known factors."""

from aninfonce_papers.worlds.videos.masks import MaskVideos, load_videos, mask_latents, save_videos
from aninfonce_papers.worlds.videos.pedestrians import generate_videos

__all__ = ["MaskVideos", "generate_videos", "load_videos", "mask_latents", "save_videos"]
