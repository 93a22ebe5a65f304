"""A population seen by other columns: by some of its own, by an encoding of some of its attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mprlib.encoding import Encoding
from mprlib.errors import InputError

if TYPE_CHECKING:
    from mprlib.reference import Reference


def columns_of(encoding: Encoding) -> dict[str, Any]:
    """Names of a reference's columns, as `Reference` takes them."""
    names = encoding.names
    attributes = {name: tuple(names[place] for place in places) for name, places in encoding.attributes.items()}
    return {"label_names": names, "attributes": attributes, "encoding": encoding}


def by_columns(reference: Reference, columns: Sequence[int]) -> Reference:
    """What `Reference.of_columns` gives."""
    known = reference.label_names
    names = None if known is None else tuple(known[column] for column in columns)
    attributes = {name: own for name, own in (reference.attributes or {}).items() if set(own) <= set(names or ())}
    table = reference.table.of_labels(reference.labels[:, list(columns)])
    return replace(reference, table=table, label_names=names, attributes=attributes or None, encoding=None)


def by_levels(reference: Reference, encoding: Encoding) -> Reference:
    """What `Reference.of_levels` gives."""
    own = reference.encoding
    if own is None:
        raise InputError("reference was made of an array of labels: one made of levels is expected, from_frame's")
    if encoding is own:
        return reference
    known = own.with_missing(encoding.missing).names
    places = [known.index(name) if name in known else -1 for name in encoding.names]
    padded = np.column_stack([reference.labels, np.zeros(len(reference.labels))])
    table = reference.table.of_labels(padded[:, places])
    return replace(reference, table=table, **columns_of(encoding))
