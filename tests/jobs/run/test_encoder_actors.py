"""How many actors hold an encoder: solved by hand for small clusters."""

import pytest

from jobs.config.runtime import Runtime
from jobs.run.encoder_actors import encoder_actors


def shape(nodes, kind="open_clip", **settings):
    return encoder_actors(Runtime(**settings), kind, nodes)


@pytest.mark.parametrize(
    ("nodes", "settings", "count", "cpus", "gpus", "decode_workers"),
    [
        ([(2, 0)], {}, 2, 1, 0, 1),
        ([(2, 0)], {"encoder_actors": 1, "decode_workers": 3}, 1, 1, 0, 3),
        ([(8, 1)], {}, 1, 8, 1, 7),
        ([(64, 2)], {}, 2, 17, 1, 16),
        ([(8, 1), (8, 1), (4, 0)], {}, 2, 8, 1, 7),
        ([(8, 1), (4, 1)], {}, 2, 4, 1, 3),
        ([(8, 1)], {"gpus_per_actor": 0.5}, 2, 4, 0.5, 3),
        ([(8, 2)], {"gpus_per_actor": 2}, 1, 8, 2, 7),
        ([(8, 1)], {"gpus_per_actor": 0}, 8, 1, 0, 1),
        ([(1, 4)], {}, 1, 1, 1, 1),
        ([], {}, 1, 1, 0, 1),
    ],
)
def test_actors_fit_the_nodes(nodes, settings, count, cpus, gpus, decode_workers):
    found = shape(nodes, **settings)
    assert (found.count, found.cpus, found.gpus, found.decode_workers) == (count, cpus, gpus, decode_workers)
    loading = found.loading({"kind": "open_clip", "model": "m"})
    assert loading["device"] == ("cuda" if gpus else "cpu")


def test_a_gpu_that_no_node_has_is_said_and_never_waited_for():
    assert shape([(2, 0)]).note == "no GPU in the cluster: encoder open_clip runs on CPUs"
    found = shape([(4, 1), (4, 1)], gpus_per_actor=2)
    assert (found.gpus, found.count) == (0, 8)
    assert "no node has the 2 GPUs of runtime.gpus_per_actor (the most is 1)" in found.note
    assert shape([(4, 1)]).note == shape([(4, 0)], gpus_per_actor=0).note == ""


@pytest.mark.parametrize("kind", ["sentence", None])
def test_other_encoders_use_cpus_and_have_nothing_to_say(kind):
    found = shape([(4, 1)], kind)
    assert (found.count, found.gpus, found.note) == (4, 0, "")
    if kind is not None:
        assert found.loading({"kind": kind}) == {"kind": kind}
