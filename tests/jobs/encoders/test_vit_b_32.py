"""ViT-B/32 with random weights, once: a model of real size on the code path of the tiny one."""

import pytest
import torch

from jobs.encoders.open_clip import OpenClipEncoder
from tests.benchmarks.embedding import bare_and_whole
from tests.face_towers import FACES as FOLDER

pytestmark = pytest.mark.system

FACES, BATCH = 12, 4
# Of the bare forward pass's throughput, what reading, decoding and fitting must leave.
LEAST_KEPT = 0.85


def test_decoding_costs_little_beside_the_model():
    threads = torch.get_num_threads()
    # On one thread nothing spins, so that processor seconds are those of work, however busy the machine.
    torch.set_num_threads(1)
    encoder = OpenClipEncoder.loaded(model="ViT-B-32", pretrained=None, batch=BATCH)
    try:
        names = [f"images/{number}.jpg" for number in range(1, FACES + 1)]
        bare, whole = bare_and_whole(encoder, FOLDER, names, BATCH)
        assert bare.images == whole.images == FACES
        assert bare.processor_seconds / whole.processor_seconds > LEAST_KEPT
        assert encoder.encode(["A photo of a nurse"]).shape == (1, 512)
    finally:
        encoder.close()
        torch.set_num_threads(threads)
