"""UTKFace (Zhang, Song, Qi 2017): 23,708 faces, labelled by age, gender and race in their file names.

Files: https://susanqq.github.io/UTKFace/, either the aligned and cropped faces (UTKFace.tar.gz) or the pictures in the
wild (part1 to part3). Names are `age_gender_race_date.jpg`: age 0 to 116, gender 0 male or 1 female, race 0 White,
1 Black, 2 Asian, 3 Indian, 4 Others; some lack a part, and are skipped and counted.
Terms: for non-commercial research only; the copyright of the pictures belongs to their owners.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Literal

import pyarrow as pa

from ..errors import UsageError
from ..images import Reason
from . import pictures
from .block import Dataset
from .source import Skip, Source

GENDERS = ("Male", "Female")
RACES = ("White", "Black", "Asian", "Indian", "Others")
OLDEST = 116
_NAME = re.compile(r"(\d{1,3})_([01])_([0-4])_[^/]+")


class UtkFace(Dataset):
    """UTKFace: faces labelled in their file names."""

    own_attributes = {"gender": {}, "race": {}, "age": {"bins": [20, 40, 60]}}
    items = "23,708 faces"
    terms = "non-commercial research"

    kind: Literal["utkface"] = "utkface"

    def read(self, folder: Path, columns: Mapping[str, str]) -> Source:
        """All faces below the data set's folder; columns age (years), gender and race.

        Raises:  UsageError when there is no folder, or no picture with such a name in it.
        """
        root = pictures.folder_of(folder / self.path)
        rows: list[tuple[str, int, str, str]] = []
        skipped: list[Skip] = []
        for path in pictures.pictures_below(root):
            if isinstance(path, Skip):
                skipped.append(path)
                continue
            found = _NAME.fullmatch(PurePosixPath(path).name)
            if found is None or int(found[1]) > OLDEST:
                skipped.append(Skip(item_id=path, reason=Reason.BAD_NAME, detail="age_gender_race_date is expected"))
                continue
            rows.append((path, int(found[1]), GENDERS[int(found[2])], RACES[int(found[3])]))
        if not rows:
            raise UsageError(f"{root} holds no picture named age_gender_race_date.jpg, as UTKFace's are")
        paths, ages, genders, races = zip(*rows)
        table = pa.table({"item_id": paths, "age": ages, "gender": genders, "race": races})
        return Source(
            table=table,
            files=pictures.fingerprint(self, root, paths),
            id="item_id",
            image="item_id",
            root=str(root),
            orders={"gender": GENDERS, "race": RACES},
            skipped=tuple(skipped),
        )
