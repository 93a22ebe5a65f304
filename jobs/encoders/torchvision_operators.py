"""torchvision beside a torch that its compiled part was not built for, such as the CPU build.

open_clip imports torchvision unconditionally, transformers where it is installed. Its import then fails,
because it describes two operators that its compiled part would have defined. Neither is ever called here.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

import torch

OPERATORS = ("nms", "qnms")
# Operators live as long as the library that defines them.
_DEFINED: list[torch.library.Library] = []


def make_importable() -> None:
    """Make `import torchvision` work where it is installed; nothing is changed where it works already.

    Raises:  ImportError, RuntimeError: what the import says after the operators are defined.
    """
    if importlib.util.find_spec("torchvision") is None:
        return
    try:
        importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        # What was imported before the failure would be taken for whole.
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        make: Any = torch.library.Library
        library = make("torchvision", "DEF")
        for operator in OPERATORS:
            library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _DEFINED.append(library)
        importlib.import_module("torchvision")
