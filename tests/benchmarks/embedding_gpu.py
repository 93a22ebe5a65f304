"""ViT-B/32 in bfloat16 on a GPU, against its bare forward pass and against float32 on the CPU, without Ray.

`python -m tests.benchmarks.embedding_gpu` prints, for generated JPEGs (no network, no data set): images a second
from files to vectors and of the bare forward pass on batches that lie on the GPU, compiled and not, and the
smallest cosine with float32 on the CPU. Made to take less than 8 minutes on one GPU with 16 CPU cores. Without a
GPU it says so, and a tiny model on the CPU shows that the script runs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import torch
from PIL import Image

from jobs.encoders.open_clip import OpenClipEncoder
from jobs.encoders.two_towers import TwoTowerEncoder
from jobs.images import ImageLimits
from tests.tiny_clip import write_tiny_clip

LIMITS = ImageLimits()
SIDE = 256
# Distinct pictures: more images are the same files again, under other names.
DISTINCT = 512
COMPARED = 64
# Passes before the clock starts: kernels are picked, and perhaps compiled, in the first.
WARM = 3


def write_pictures(folder: Path, count: int) -> list[str]:
    """JPEGs of smooth noise; locators of `count` of them."""
    generator = np.random.default_rng(0)
    for number in range(min(count, DISTINCT)):
        blocks = Image.fromarray(generator.integers(0, 256, (8, 8, 3), dtype=np.uint8))
        blocks.resize((SIDE, SIDE), Image.Resampling.BICUBIC).save(folder / f"{number:04d}.jpg", quality=90)
    # Equal locators are embedded once, so copies get names of their own.
    for number in range(DISTINCT, count):
        (folder / f"{number:06d}.jpg").symlink_to(folder / f"{number % DISTINCT:04d}.jpg")
    return sorted(path.name for path in folder.iterdir())


def images_per_second(count: int, work: Callable[[], object], device: str) -> float:
    """Rate of some work; a GPU is waited for."""
    started = time.perf_counter()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return count / (time.perf_counter() - started)


def bare_rate(encoder: TwoTowerEncoder, batch: int, batches: int) -> float:
    """Images a second of the forward pass alone, on one batch that lies on the device."""
    model = encoder.model
    pixels = torch.zeros((batch, model.fit.height, model.fit.width, 3), dtype=torch.uint8, device=model.device)
    values = pixels.permute(0, 3, 1, 2).to(model.numbers)
    with torch.inference_mode():
        for _ in range(WARM):
            model.module.encode_image(values)
        if model.device.type == "cuda":
            torch.cuda.synchronize()
        return images_per_second(
            batch * batches, lambda: [model.module.encode_image(values) for _ in range(batches)], model.device.type
        )


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, images, batch = ("ViT-B-32", 40_000, 512) if device == "cuda" else ("tiny", 64, 16)
    parser.add_argument("--model", default=model, help="a name of open_clip's, or tiny")
    parser.add_argument("--images", type=int, default=images)
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--decode-workers", type=int, default=max(1, min(16, psutil.cpu_count() - 1)))
    asked = parser.parse_args()
    name = torch.cuda.get_device_name() if device == "cuda" else "no GPU: on the CPU"
    print(f"{asked.model}, bfloat16, {name}, {psutil.cpu_count()} CPUs, {asked.decode_workers} decoding processes")
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "pictures"
        root.mkdir()
        names = write_pictures(root, asked.images)
        # The same random weights for every encoder: made once, saved, and read as anybody's are.
        model, weights = saved_weights(Path(place), asked.model)
        settings = {"model": model, "pretrained": weights, "batch": asked.batch}
        exact = OpenClipEncoder.loaded(**settings | {"batch": 16}, device="cpu")
        expected = exact.encode_images(str(root), names[:COMPARED], LIMITS).vectors
        exact.close()
        for is_compiled in (False, True) if device == "cuda" else (False,):
            encoder = OpenClipEncoder.loaded(
                **settings,
                precision="bfloat16",
                compile=is_compiled,
                device=device,
                decode_workers=asked.decode_workers,
            )
            report(encoder, root, names, asked.batch, expected, "compiled" if is_compiled else "as it is")
            encoder.close()


def report(encoder: TwoTowerEncoder, root: Path, names: list[str], batch: int, expected: np.ndarray, how: str) -> None:
    """One encoder's figures."""
    device = encoder.model.device.type
    found = encoder.encode_images(str(root), names[:COMPARED], LIMITS).vectors
    encoder.encode_images(str(root), names[: WARM * batch], LIMITS)
    whole = images_per_second(len(names), lambda: encoder.encode_images(str(root), names, LIMITS), device)
    bare = bare_rate(encoder, batch, max(1, len(names) // batch))
    print(f"{how}:")
    print(f"  bare forward pass, not compiled   {bare:10.0f} images/s")
    print(f"  files to vectors                  {whole:10.0f} images/s, {whole / bare:.1%} of it")
    print(f"  smallest cosine with float32      {np.sum(found * expected, axis=1).min():10.6f} over {COMPARED} images")


def saved_weights(folder: Path, name: str) -> tuple[str, str]:
    """A model and a file of random weights for it."""
    if name == "tiny":
        model, weights = write_tiny_clip(folder)
        return str(model), str(weights)
    from safetensors.torch import save_file

    from jobs.encoders.clip_model import load_model

    torch.manual_seed(0)
    module = load_model(model=name, pretrained=None, precision="float32", device="cpu").module
    weights = folder / "weights.safetensors"
    save_file({key: value.contiguous() for key, value in module.state_dict().items()}, weights)
    return name, str(weights)


if __name__ == "__main__":
    main()
