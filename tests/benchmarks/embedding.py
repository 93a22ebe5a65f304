"""Whether decoding keeps ahead of the model: `python -m tests.benchmarks.embedding [--images N] [--batch N]`.

ViT-B/32 with random weights embeds the 600 FairFace images as a run does, files to unit vectors, and the bare
forward pass runs on the same batches, decoded, normalised and in memory. Both take turns, slice by slice, in one
process on the same threads, so that whatever else the machine does meets both. Seconds of all processors, with
those of the decoding processes, stand beside the wall time: on a busy machine they are the fairer ratio.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import torch

from jobs.encoders.open_clip import OpenClipEncoder
from jobs.encoders.two_towers import TwoTowerEncoder
from jobs.images import ImageLimits
from jobs.images.decode_worker import pixels_of
from jobs.images.decoders import Decoders, Source
from tests.data_files import data_file

FAIRFACE = data_file("fairface")
LIMITS = ImageLimits()
# Parts of the images that the two passes take turns with.
SLICES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """Seconds that some images took: of the clock, and of all processors."""

    images: int
    wall_seconds: float
    processor_seconds: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            images=self.images + other.images,
            wall_seconds=self.wall_seconds + other.wall_seconds,
            processor_seconds=self.processor_seconds + other.processor_seconds,
        )


NOTHING = Cost(images=0, wall_seconds=0.0, processor_seconds=0.0)


def measured(images: int, work: Callable[[], object]) -> Cost:
    """What some work costs, in this process and in those that decode for it."""
    before, started = _processor_seconds(), time.perf_counter()
    work()
    wall_seconds = time.perf_counter() - started
    return Cost(images=images, wall_seconds=wall_seconds, processor_seconds=_processor_seconds() - before)


def _processor_seconds() -> float:
    """Of this process and those that it started, which decode."""
    own = psutil.Process()
    times = [one.cpu_times() for one in (own, *own.children())]
    return sum(one.user + one.system for one in times)


def bare_and_whole(encoder: TwoTowerEncoder, root: Path, names: Sequence[str], batch: int) -> tuple[Cost, Cost]:
    """The forward pass on batches in memory, and the encoder from files to vectors, over the same images."""
    bare, whole = NOTHING, NOTHING
    encoder.encode_images(str(root), names[:batch], LIMITS)
    for part in np.array_split(np.array(names), SLICES):
        batches = _in_memory(encoder, root, part.tolist(), batch)
        bare += measured(len(part), lambda: [_forward(encoder, one) for one in batches])
        whole += measured(len(part), lambda: encoder.encode_images(str(root), part.tolist(), LIMITS))
    return bare, whole


def _in_memory(encoder: TwoTowerEncoder, root: Path, names: Sequence[str], batch: int) -> list[torch.Tensor]:
    """Normalised batches as the model takes them, the last one filled up as the encoder does it."""
    source = Source(root=str(root), limits=LIMITS, fit=encoder.model.fit, is_fast=True)
    with Decoders(1) as decoders:
        pixels = np.stack(list(decoders.pictures(source, names, ahead=batch)))
    missing = -len(pixels) % batch
    pixels = torch.from_numpy(np.concatenate([pixels, pixels[:1].repeat(missing, 0)]))
    mean, deviation = torch.tensor(encoder.model.mean), torch.tensor(encoder.model.deviation)
    values = ((pixels.float() / 255 - mean) / deviation).permute(0, 3, 1, 2)
    return list(values.split(batch))


def _forward(encoder: TwoTowerEncoder, values: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return encoder.model.module.encode_image(values)


def decoding_rates(encoder: TwoTowerEncoder, root: Path, names: Sequence[str]) -> dict[str, float]:
    """Images a second of decoding alone, in processes as a run does it and in threads of this process."""
    source = Source(root=str(root), limits=LIMITS, fit=encoder.model.fit, is_fast=True)
    rates = {}
    for workers in (1, 2):
        with Decoders(workers) as decoders:
            list(decoders.pictures(source, names[:32], ahead=32))
            rates[f"{workers} processes"] = _rate(names, lambda: list(decoders.pictures(source, names, ahead=64)))
        with ThreadPoolExecutor(workers) as threads:

            def decode(name: str) -> bytes:
                return bytes(pixels_of(source.root, name, LIMITS, source.fit, True))

            rates[f"{workers} threads"] = _rate(names, lambda: list(threads.map(decode, names)))
    return rates


def _rate(names: Sequence[str], work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return len(names) / (time.perf_counter() - started)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=600)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--model", default="ViT-B-32")
    parser.add_argument("--threads", type=int, default=psutil.cpu_count())
    asked = parser.parse_args()
    if not FAIRFACE.is_dir():
        print(f"skipped: no images in {FAIRFACE}")
        return
    torch.set_num_threads(asked.threads)
    names = sorted(f"images/{path.name}" for path in (FAIRFACE / "images").iterdir())[: asked.images]
    encoder = OpenClipEncoder.loaded(model=asked.model, pretrained=None, batch=asked.batch)
    print(
        f"{asked.model}, random weights, float32, {len(names)} images, batches of {asked.batch}, "
        f"{asked.threads} threads, {psutil.cpu_count()} CPUs, load {psutil.getloadavg()[0]:.1f}"
    )
    for name, rate in decoding_rates(encoder, FAIRFACE, names).items():
        print(f"  decode and fit alone, {name:<12}{rate:9.1f} images/s")
    bare, whole = bare_and_whole(encoder, FAIRFACE, names, asked.batch)
    for name, cost in (("bare forward pass", bare), ("files to vectors", whole)):
        print(
            f"  {name:<34}{cost.images / cost.wall_seconds:9.1f} images/s"
            f"{1000 * cost.processor_seconds / cost.images:9.1f} ms of processors an image"
        )
    print(
        f"  throughput kept                   {bare.wall_seconds / whole.wall_seconds:9.1%} by the clock"
        f"{bare.processor_seconds / whole.processor_seconds:12.1%} by processor seconds"
    )
    encoder.close()


if __name__ == "__main__":
    main()
