"""A tiny open_clip model on pictures and texts: the code path of a large one."""

import math
import pickle

import numpy as np
import psutil
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from jobs.encoders import load
from jobs.encoders.batches import fault_of, unit_rows
from jobs.errors import UsageError
from jobs.images import ImageLimits, Reason
from tests.tiny_clip import write_tiny_clip

PICTURES = 21
BATCH = 8


def settings(paths, **changes):
    model, weights = paths
    return {"kind": "open_clip", "model": str(model), "pretrained": str(weights), "batch": BATCH} | changes


@pytest.fixture(scope="module")
def encoder(tiny_clip):
    loaded = load(settings(tiny_clip))
    yield loaded
    loaded.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pictures of noise, in several shapes."""
    root, generator = tmp_path_factory.mktemp("pictures"), np.random.default_rng(0)
    for number in range(PICTURES):
        shape = (40 + 3 * number, 90 - 2 * number, 3)
        blocks = generator.integers(0, 256, (4, 4, 3), dtype=np.uint8)
        pixels = np.asarray(Image.fromarray(blocks).resize(shape[1::-1], Image.Resampling.BICUBIC))
        Image.fromarray(pixels).save(root / f"{number:02d}.png")
    (root / "broken.jpg").write_bytes(b"no picture")
    return root


def names(count=PICTURES):
    return [f"{number:02d}.png" for number in range(count)]


def embedded(encoder, root, locators):
    return encoder.encode_images(str(root), locators, ImageLimits())


def test_pictures_become_what_open_clip_makes_of_them(encoder, folder):
    import open_clip

    transform = open_clip.transform.image_transform_v2(
        open_clip.transform.PreprocessCfg(**open_clip.get_model_preprocess_cfg(encoder.model.module)), is_train=False
    )
    pictures = torch.stack([transform(Image.open(folder / name)) for name in names()])
    with torch.inference_mode():
        expected = encoder.model.module.encode_image(pictures, normalize=True).numpy()
    found = embedded(encoder, folder, names())
    assert found.vectors.dtype == np.float32
    assert found.positions.tolist() == list(range(PICTURES)) and not found.faults
    assert np.abs(np.linalg.norm(found.vectors, axis=1) - 1).max() < 1e-6
    assert np.abs(found.vectors - expected).max() < 1e-5


def test_texts_become_what_open_clip_makes_of_them(encoder):
    texts = ["A photo of a nurse", "a chef", "A photo of a nurse"]
    with torch.inference_mode():
        expected = encoder.model.module.encode_text(encoder.model.tokenise(texts), normalize=True).numpy()
    found = encoder.encode(texts)
    assert np.abs(found - expected).max() < 1e-5
    assert np.array_equal(found[0], found[2])


def test_a_vector_does_not_depend_on_what_is_embedded_beside_it(encoder, folder):
    alone = embedded(encoder, folder, ["03.png"]).vectors[0]
    assert np.array_equal(embedded(encoder, folder, names()).vectors[3], alone)
    assert np.array_equal(embedded(encoder, folder, names()[::-1]).vectors[PICTURES - 4], alone)
    assert np.array_equal(
        encoder.encode(["a chef"])[0], encoder.encode(["a nurse", *"abcdefghijklmnopq", "a chef"])[-1]
    )


def test_the_same_bits_whatever_the_threads_and_workers(encoder, folder, tiny_clip):
    expected, threads = embedded(encoder, folder, names()).vectors, torch.get_num_threads()
    other = load(settings(tiny_clip, decode_workers=3))
    try:
        torch.set_num_threads(2 if threads == 1 else 1)
        assert np.array_equal(embedded(other, folder, names()).vectors, expected)
    finally:
        torch.set_num_threads(threads)
        other.close()


def test_what_cannot_be_read_has_a_reason_and_no_vector(encoder, folder):
    found = embedded(encoder, folder, ["00.png", "broken.jpg", "../00.png", None, "absent.png", "00.png", "01.png"])
    assert found.positions.tolist() == [0, 5, 6]
    assert np.array_equal(found.vectors[0], found.vectors[1])
    reasons = {position: fault.reason for position, fault in found.faults.items()}
    assert reasons == {1: Reason.NOT_AN_IMAGE, 2: Reason.OUTSIDE, 3: Reason.NO_IMAGE, 4: Reason.MISSING}
    nothing = embedded(encoder, folder, ["broken.jpg"])
    assert nothing.vectors.shape == (0, encoder.model.width) and list(nothing.faults) == [0]


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_half_precision_is_close_and_stored_as_float32(encoder, folder, tiny_clip, precision):
    half = load(settings(tiny_clip, precision=precision))
    try:
        found, expected = embedded(half, folder, names()).vectors, embedded(encoder, folder, names()).vectors
        assert found.dtype == np.float32
        assert np.sum(found * expected, axis=1).min() > 0.999
        assert np.sum(half.encode(["a nurse"]) * encoder.encode(["a nurse"])) > 0.999
    finally:
        half.close()


@pytest.fixture
def scaled(tiny_clip, tmp_path):
    """The tiny model with one tensor of its image tower's output multiplied: (factor) -> paths."""

    def write(factor):
        tensors = load_file(tiny_clip[1])
        tensors["visual.proj"] = tensors["visual.proj"] * factor
        save_file(tensors, tmp_path / "scaled.safetensors")
        return tiny_clip[0], tmp_path / "scaled.safetensors"

    return write


def test_what_overflows_in_half_precision_is_computed_again_in_float32(encoder, folder, scaled):
    half = load(settings(scaled(6e4), precision="float16"))
    try:
        with torch.inference_mode():
            pixels = torch.zeros((BATCH, 32, 32, 3), dtype=torch.uint8)
            raw = half._image_tower(pixels)
        assert not torch.isfinite(raw).all()
        found = embedded(half, folder, names(9))
        assert len(found.vectors) == 9 and not found.faults
        assert np.abs(found.vectors - embedded(encoder, folder, names(9)).vectors).max() < 1e-5
    finally:
        half.close()


@pytest.mark.parametrize(("factor", "reason"), [(math.inf, Reason.NOT_FINITE), (0.0, Reason.NO_DIRECTION)])
def test_a_vector_that_is_no_direction_is_a_fault_of_its_picture(folder, scaled, factor, reason):
    broken = load(settings(scaled(factor), precision="bfloat16"))
    try:
        found = embedded(broken, folder, ["00.png", "broken.jpg", "01.png"])
        assert not len(found.vectors)
        assert {at: fault.reason for at, fault in found.faults.items()} == {
            0: reason,
            1: Reason.NOT_AN_IMAGE,
            2: reason,
        }
    finally:
        broken.close()


def test_unit_rows_by_hand():
    rows = [np.array(row, dtype=np.float32) for row in ([3, 4], [0, 0], [np.inf, 1], [3e38, 3e38], [0, -2])]
    sizes = []

    def tower(batch):
        sizes.append(len(batch))
        return batch

    found = unit_rows(rows, 2, tower, 2)
    assert sizes == [2, 2, 2]
    assert np.allclose(found[[0, 4]], [[0.6, 0.8], [0, -1]])
    assert [fault_of(row) for row in found] == [None, Reason.NO_DIRECTION, Reason.NOT_FINITE, Reason.NOT_FINITE, None]


def test_weights_that_hold_code_are_refused_and_nothing_runs(tiny_clip, tmp_path):
    marker = tmp_path / "ran"

    class Payload:
        def __reduce__(self):
            return (open, (str(marker), "w"))

    (tmp_path / "bare.bin").write_bytes(pickle.dumps({"state_dict": Payload()}))
    torch.save({"state_dict": Payload()}, tmp_path / "zipped.pt")
    for name in ("bare.bin", "zipped.pt"):
        with pytest.raises(UsageError, match=f"{name}: it is not a file of plain tensors.*safetensors"):
            load(settings((tiny_clip[0], tmp_path / name)))
    assert not marker.exists()


def test_a_torch_file_of_plain_tensors_is_read(encoder, folder, tiny_clip, tmp_path):
    torch.save({"state_dict": load_file(tiny_clip[1])}, tmp_path / "weights.pt")
    other = load(settings((tiny_clip[0], tmp_path / "weights.pt")))
    try:
        assert np.array_equal(embedded(other, folder, names()).vectors, embedded(encoder, folder, names()).vectors)
    finally:
        other.close()


def test_weights_that_do_not_fit_say_which_tensor(tiny_clip, tmp_path):
    tensors = load_file(tiny_clip[1])
    del tensors["visual.proj"]
    save_file(tensors, tmp_path / "short.safetensors")
    with pytest.raises(UsageError, match="short.safetensors: it does not fit model .*visual.proj") as caught:
        load(settings((tiny_clip[0], tmp_path / "short.safetensors")))
    assert "\n" not in str(caught.value)
    (tmp_path / "empty.safetensors").write_bytes(b"")
    with pytest.raises(UsageError, match="empty.safetensors"):
        load(settings((tiny_clip[0], tmp_path / "empty.safetensors")))


def test_memory_stays_flat_over_200_batches(encoder, folder):
    def resident():
        return psutil.Process().memory_info().rss

    many = names(BATCH)
    for _ in range(20):
        embedded(encoder, folder, many)
    before = resident()
    for _ in range(200):
        embedded(encoder, folder, many)
    assert resident() - before < 20e6


def test_two_models_of_one_name_do_not_mix(encoder, folder, tmp_path):
    other = load(settings(write_tiny_clip(tmp_path, seed=1)))
    try:
        assert not np.allclose(embedded(other, folder, names(2)).vectors, embedded(encoder, folder, names(2)).vectors)
    finally:
        other.close()
