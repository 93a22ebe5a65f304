"""Result files that the paper's authors published, read as data and drawn beside a run's own."""

from __future__ import annotations

from .beside import exhibit
from .layout import Published, read_folder

__all__ = ["Published", "exhibit", "read_folder"]
