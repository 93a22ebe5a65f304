"""What a reader should know of the levels that a data set was found to have."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from mprlib.level_names import UNKNOWN

from ..datasets.block import Dataset
from ..datasets.catalogue import Catalogue
from ..datasets.columns import MISSING_WORDS

# Attributes of more levels are as a rule names or free text, whose shares say nothing, and cost most of the time.
MOST_LEVELS = 50
# Of more levels nobody reads a list, and comparing them takes seconds.
MOST_COMPARED = 10_000
# Format characters: a soft hyphen, joiners, spaces without width, a byte-order mark within a file.
WITHOUT_WIDTH = "Cf"


def level_remarks(block: Dataset, catalogue: Catalogue) -> Iterator[str]:
    """Sentences on files that were passed over, and on levels that look like a slip or are too many."""
    yield from catalogue.remarks
    for attribute, levels in catalogue.levels.items():
        where = f"dataset {catalogue.name}: attribute {attribute!r}"
        settings = block.attributes[attribute]
        if catalogue.missing != UNKNOWN and catalogue.missing in levels:
            yield f"{where}: items without a value are called {catalogue.missing!r}, since {UNKNOWN!r} is a level"
        absent = [name for name in settings.order if name not in levels]
        if absent:
            yield f"{where}: `order` names {absent[0]!r}, which no item has"
        if len(levels) > MOST_LEVELS:
            yield f"{where} has {len(levels):,} levels, more than {MOST_LEVELS}: bins or map make groups of them"
        words = [level for level in levels if level in MISSING_WORDS]
        if words and settings.bins is None and settings.probe is None:
            yield (
                f"{where}: {words[0]!r} is a level, as any text; where it means no value, "
                f"map: {{{words[0]!r}: ''}} says so"
            )


def similar_levels(attribute: str, levels: Sequence[str]) -> Iterator[str]:
    """A sentence on levels that people would take for one."""
    alike: dict[str, list[str]] = {}
    for level in levels if len(levels) <= MOST_COMPARED else ():
        alike.setdefault(_as_seen(level), []).append(level)
    found = [same for same in alike.values() if len(same) > 1]
    if found:
        example = " and ".join(ascii(level) for level in found[0])
        count = "levels" if len(found) == 1 else f"{len(found):,} sets of levels"
        yield (
            f"attribute {attribute!r}: {count} differ by white space, capitals, Unicode form or characters without "
            f"width alone: {example}; map makes one of them"
        )


def _as_seen(level: str) -> str:
    """What is left of a level when everything that a reader may overlook is taken away."""
    text = unicodedata.normalize("NFKC", level).casefold()
    visible = (one for one in text if not one.isspace() and unicodedata.category(one) != WITHOUT_WIDTH)
    return unicodedata.normalize("NFKC", "".join(visible))
