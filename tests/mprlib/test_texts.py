"""Texts as places among known ones, and ids that repeat, whatever room numpy leaves behind a text."""

import numpy as np
import pytest

from mprlib import InputError
from mprlib.frames.levels import coded_as
from mprlib.problem_arguments import checked_ids


@pytest.mark.parametrize("width", [4, 6, 30])
def test_levels_are_found_at_every_width(width: int) -> None:
    known = ("man", "woman", "x", "größe", "")
    texts = np.array(["woman", "man", "x", "", "größe", "man"]).astype(f"U{max(width, 5)}")
    assert coded_as(texts, known) is not None
    assert coded_as(texts, known).codes.tolist() == [known.index(text) for text in texts]  # type: ignore[union-attr]


def test_a_text_that_a_column_has_no_room_for_is_nobodys() -> None:
    known = ("woman", "man", "manx")
    assert coded_as(np.array(["man", "man"], dtype="U3"), known).codes.tolist() == [1, 1]  # type: ignore[union-attr]
    assert coded_as(np.array(["man", "mon"]), known) is None


@pytest.mark.parametrize("ids", [[f"item {place}" for place in range(3_000)], list(range(3_000))])
def test_ids_that_repeat_are_named(ids: list[str] | list[int]) -> None:
    assert checked_ids(ids, len(ids)).tolist() == ids  # type: ignore[union-attr]
    with pytest.raises(InputError, match=f"repeats '{ids[7]}'"):
        checked_ids([*ids[:-1], ids[7]], len(ids))
