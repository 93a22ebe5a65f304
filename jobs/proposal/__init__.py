"""A first configuration for a file that nobody has described yet: what its columns look like, in commented YAML."""

from __future__ import annotations

import os
from pathlib import Path

from ..datasets import table_files
from ..errors import UsageError
from ..lists import trec
from .columns import columns_of
from .folder import folder_proposal
from .result_list import list_proposal, looks_like_a_list, run_proposal
from .table import table_proposal


def proposal(file: Path, folder: Path) -> str:
    """The configuration, to be kept in that folder.

    Raises:  UsageError for what is no table, result list or folder of pictures.
    """
    if not file.exists():
        raise UsageError(f"{file} does not exist")
    name, path = file.stem.replace("_", " "), Path(os.path.relpath(file.absolute(), folder.absolute())).as_posix()
    if file.is_dir():
        return folder_proposal(name, path, file)
    if file.suffix.lower() not in table_files.SUFFIXES:
        if not trec.looks_like_a_run(file):
            kinds = ", ".join(table_files.SUFFIXES)
            raise UsageError(f"{file} is neither a table ({kinds}) nor a TREC run, with six fields in each line")
        return run_proposal(name, path)
    columns = columns_of(file)
    return (list_proposal if looks_like_a_list(columns) else table_proposal)(name, path, columns)
