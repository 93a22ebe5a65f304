"""Decoding processes: order, faults, and what happens when one is killed."""

import os
import signal
import time

import numpy as np
import psutil
import pytest
from PIL import Image

from jobs.images import ImageError, ImageLimits, Reason
from jobs.images import decoders as decoders_module
from jobs.images.decoders import Decoders, Source
from jobs.images.fit import Fit

SIDE = 16
PICTURES = 60


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Grey pictures, each of its own shade."""
    folder = tmp_path_factory.mktemp("greys")
    for number in range(PICTURES):
        Image.new("L", (SIDE, SIDE), 4 * number).save(folder / f"{number}.png")
    return folder


def source(root, **changes) -> Source:
    settings = {"limits": ImageLimits(), "fit": Fit(height=SIDE, width=SIDE), "is_fast": True} | changes
    return Source(root=str(root), **settings)


def names():
    return [f"{number}.png" for number in range(PICTURES)]


def shades(pictures):
    return [picture if isinstance(picture, ImageError) else int(picture[0, 0, 0]) // 4 for picture in pictures]


@pytest.mark.parametrize("workers", [1, 3])
def test_pictures_come_in_order(root, workers):
    with Decoders(workers) as decoders:
        assert shades(decoders.pictures(source(root), names(), ahead=16)) == list(range(PICTURES))
        assert len(decoders.worker_ids) <= workers


def test_a_killed_worker_changes_nothing(root):
    with Decoders(2) as decoders:
        found = []
        for picture in decoders.pictures(source(root), names(), ahead=16):
            if len(found) in (5, 30):
                os.kill(decoders.worker_ids[0], signal.SIGKILL)
            found.append(picture)
        assert shades(found) == list(range(PICTURES))


def test_a_picture_that_always_kills_its_worker_is_a_fault(root, tmp_path, monkeypatch):
    # No picture at hand crashes Pillow: the worker is killed whenever it comes to this one.
    calls = []
    real = decoders_module._Worker.answers

    def dies(worker, asked, locators):
        calls.append(list(locators))
        for locator, picture in zip(locators, real(worker, asked, locators)):
            if locator == "7.png":
                worker.process.kill()
                raise decoders_module.WorkerDied(worker._how_it_ended())
            yield picture

    monkeypatch.setattr(decoders_module._Worker, "answers", dies)
    with Decoders(1) as decoders:
        found = shades(decoders.pictures(source(root), names(), ahead=16))
    assert isinstance(found[7], ImageError)
    assert found[7].reason is Reason.CRASHED and "signal 9" in found[7].detail
    assert found[:7] + found[8:] == [number for number in range(PICTURES) if number != 7]
    assert sum(asked[0] == "7.png" for asked in calls) == decoders_module.MOST_TRIES - 1


def test_a_worker_that_never_answers_is_replaced(root, monkeypatch):
    monkeypatch.setattr(decoders_module, "LONGEST_SECONDS", 1.0)
    with Decoders(1) as decoders:
        list(decoders.pictures(source(root), ["0.png"], ahead=1))
        os.kill(decoders.worker_ids[0], signal.SIGSTOP)
        assert shades(decoders.pictures(source(root), ["1.png"], ahead=1)) == [1]


def test_no_more_than_asked_is_decoded_ahead(root):
    with Decoders(1) as decoders:
        pictures = decoders.pictures(source(root), names(), ahead=16)
        next(pictures)
        time.sleep(0.5)
        pictures.close()
        assert shades(decoders.pictures(source(root), ["3.png"], ahead=1)) == [3]


def test_processes_end_with_their_owner(root):
    decoders = Decoders(2)
    list(decoders.pictures(source(root), names(), ahead=16))
    running = [psutil.Process(number) for number in decoders.worker_ids]
    assert running
    decoders.close()
    assert not any(process.is_running() for process in running)


def test_a_worker_that_cannot_start_is_no_fault_of_a_picture(root, monkeypatch):
    monkeypatch.setattr("sys.executable", "/bin/false")
    with Decoders(1) as decoders, pytest.raises(RuntimeError, match="could not be started"):
        list(decoders.pictures(source(root), names(), ahead=16))


def test_twelve_megapixels_stay_under_a_gigabyte(tmp_path):
    generator = np.random.default_rng(0)
    pixels = generator.integers(0, 256, (30, 40, 3), dtype=np.uint8).repeat(100, 0).repeat(100, 1)
    picture = Image.fromarray(pixels)
    picture.save(tmp_path / "large.jpg", quality=90)
    picture.convert("RGBA").save(tmp_path / "alpha.png", compress_level=1)
    with Decoders(1) as decoders:
        asked = source(tmp_path, fit=Fit(height=224, width=224), is_fast=False)
        found = list(decoders.pictures(asked, ["large.jpg", "alpha.png"] * 2, ahead=4))
        assert not any(isinstance(picture, ImageError) for picture in found)
        [worker] = decoders.worker_ids
        with open(f"/proc/{worker}/status") as status:
            peak_bytes = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    assert peak_bytes < 1e9, f"{peak_bytes / 1e6:.0f} MB"


def test_fast_jpegs_look_the_same(tmp_path):
    rows, columns = np.mgrid[:1200, :1600]
    waves = np.stack([np.sin(rows / 90), np.cos(columns / 70), np.sin((rows + columns) / 110)], axis=-1)
    Image.fromarray((127 + 100 * waves).astype(np.uint8)).save(tmp_path / "large.jpg", quality=92)
    with Decoders(1) as decoders:
        to = Fit(height=224, width=224)
        fast, slow = (
            next(decoders.pictures(source(tmp_path, fit=to, is_fast=is_fast), ["large.jpg"], ahead=1)).astype(int)
            for is_fast in (True, False)
        )
    assert np.abs(fast - slow).max() <= 3
