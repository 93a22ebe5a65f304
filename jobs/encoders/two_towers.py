"""Pictures and texts to unit vectors of one space, by a model of two towers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import torch

from ..images.decoders import Decoders, Picture, Source
from ..images.errors import ImageError, Reason
from ..images.limits import ImageLimits
from .batches import fault_of, unit_rows
from .encoded import EncodedImages
from .prompt_tokens import encode_behind, token_ids
from .towers import Tower, TwoTowers, image_tower, text_tower

# Texts a forward pass: an audit has tens of queries, and a text costs nearly as much as a picture.
TEXT_BATCH = 16
# Batches of pictures that are decoded before they are asked for.
BATCHES_AHEAD = 2


class TwoTowerEncoder:
    """A model held in memory, with the processes that decode its pictures.

    load: the model in a precision, once more in float32 where vectors in another precision are not finite. batch:
    pictures per forward pass. decode_workers: the number of processes.
    """

    def __init__(
        self,
        load: Callable[[str], TwoTowers],
        *,
        precision: str = "float32",
        batch: int = 64,
        compile: bool = False,  # noqa: A002 - the name of the setting
        fast_jpeg: bool = True,
        decode_workers: int = 1,
    ) -> None:
        self._load = load
        self._precision, self._batch, self._is_fast = precision, batch, fast_jpeg
        self.model = load(precision)
        self._decoders = Decoders(decode_workers)
        self._image_tower, self._text_tower = image_tower(self.model, compile), text_tower(self.model)
        self._exact_towers: tuple[Tower, Tower] | None = None

    def close(self) -> None:
        """End the decoding processes."""
        self._decoders.close()

    def encode(self, texts: list[str]) -> np.ndarray:
        """Unit vectors (n, d) float32; identical texts are embedded once.

        Raises:  ValueError naming the first text whose vector is not finite or has no direction.
        """
        distinct = list(dict.fromkeys(texts))
        ids = self.model.tokenise(distinct).numpy()
        vectors = unit_rows(ids, TEXT_BATCH, self._text_tower, self.model.width)
        self._retry_in_float32(vectors, lambda rows: ids[rows], TEXT_BATCH, is_image=False)
        return _in_order_of(texts, distinct, vectors)

    def encode_behind(self, texts: list[str], tokens: np.ndarray) -> np.ndarray:
        """Unit vectors (n, d) float32 of texts behind learned tokens (count, width).

        Raises:  ValueError for tokens that the text tower cannot read, and as `encode` does.
        """
        distinct, module = list(dict.fromkeys(texts)), self.model.module
        ids = token_ids(module, self.model.tokenise, distinct, len(tokens)).numpy()
        behind = torch.from_numpy(np.array(tokens, dtype=np.float32)).to(self.model.device)
        tower = text_tower(self.model, lambda ids: encode_behind(module, ids, behind))
        return _in_order_of(texts, distinct, unit_rows(ids, TEXT_BATCH, tower, self.model.width))

    def encode_images(self, root: str, locators: Sequence[str | None], limits: ImageLimits) -> EncodedImages:
        """Vectors of the pictures that can be read; identical locators are embedded once.

        locators: paths below root, or members of archives there; None where an item has no picture.
        """
        source = Source(root=root, limits=limits, fit=self.model.fit, is_fast=self._is_fast)
        distinct = {locator: place for place, locator in enumerate(dict.fromkeys(locators))}
        names = list(distinct)
        good: list[int] = []
        faults: dict[int, ImageError] = {}

        def once_more(rows: list[int]) -> Iterator[np.ndarray]:
            pictures = self._pictures(source, [names[good[row]] for row in rows])
            return (picture for picture in pictures if not isinstance(picture, ImageError))

        readable = _sorted_out(self._pictures(source, names), good, faults)
        vectors = unit_rows(readable, self._batch, self._image_tower, self.model.width)
        for row in self._retry_in_float32(vectors, once_more, self._batch, is_image=True):
            reason = fault_of(vectors[row]) or Reason.NOT_FINITE
            faults[good[row]] = ImageError(reason, f"the model computes in {self._precision}")
        row_of = {place: row for row, place in enumerate(good) if place not in faults}
        places = [distinct[locator] for locator in locators]
        positions = np.array([at for at, place in enumerate(places) if place in row_of], dtype=np.int64)
        return EncodedImages(
            vectors=vectors[[row_of[places[at]] for at in positions]] if positions.size else vectors[:0],
            positions=positions,
            faults={at: faults[place] for at, place in enumerate(places) if place in faults},
        )

    def _pictures(self, source: Source, names: Sequence[str | None]) -> Iterator[Picture]:
        return self._decoders.pictures(source, names, BATCHES_AHEAD * self._batch)

    def _retry_in_float32(
        self, vectors: np.ndarray, rows_of: Callable[[list[int]], Iterable[np.ndarray]], batch: int, is_image: bool
    ) -> list[int]:
        """Compute rows that are no direction once more in float32, in place; those that still are none.

        rows_of gives the tower's input again, for some rows.
        """
        bad = [row for row in range(len(vectors)) if fault_of(vectors[row])]
        if not bad or self._precision == "float32":
            return bad
        if self._exact_towers is None:
            exact = self._load("float32")
            self._exact_towers = image_tower(exact, is_compiled=False), text_tower(exact)
        tower = self._exact_towers[0 if is_image else 1]
        vectors[bad] = unit_rows(rows_of(bad), batch, tower, self.model.width)
        return [row for row in bad if fault_of(vectors[row])]


def _in_order_of(texts: Sequence[str], distinct: Sequence[str], vectors: np.ndarray) -> np.ndarray:
    """Vectors of distinct texts in the order of all texts.

    Raises:  ValueError naming the first text that has none.
    """
    for text, vector in zip(distinct, vectors):
        if fault_of(vector):
            raise ValueError(f"the encoder gave no usable vector for {text!r:.200}: {fault_of(vector)}")
    place = {text: row for row, text in enumerate(distinct)}
    return vectors[[place[text] for text in texts]]


def _sorted_out(pictures: Iterable[Picture], good: list[int], faults: dict[int, ImageError]) -> Iterator[np.ndarray]:
    """The pictures that could be read; their places go to `good`, those of the others to `faults`."""
    for place, picture in enumerate(pictures):
        if isinstance(picture, ImageError):
            faults[place] = picture
        else:
            good.append(place)
            yield picture
