"""From observations to embeddings: encoders and the heads that say where an embedding lives.

Any `nn.Module` from observations to (N, d) is an encoder; those here have names and tested defaults.
"""

from aninfonce.encoders.conv import KittiConvNet
from aninfonce.encoders.embedding import Embedding
from aninfonce.encoders.glimpse import GlimpseNet
from aninfonce.encoders.heads import BoxHead, LearnableSphereHead, SphereHead, build_head, to_sphere
from aninfonce.encoders.mlp import MLP, paper_mlp
from aninfonce.encoders.registry import build_encoder, encoder_names, register_encoder
from aninfonce.encoders.resnet import ProjectedEncoder, ResNet, projector, resnet
from aninfonce.encoders.small import SmallConvNet

__all__ = [
    "MLP",
    "BoxHead",
    "Embedding",
    "GlimpseNet",
    "KittiConvNet",
    "LearnableSphereHead",
    "ProjectedEncoder",
    "ResNet",
    "SmallConvNet",
    "SphereHead",
    "build_encoder",
    "build_head",
    "encoder_names",
    "paper_mlp",
    "projector",
    "register_encoder",
    "resnet",
    "to_sphere",
]
