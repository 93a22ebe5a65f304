"""Pictures from files that may be damaged or hostile: read within the root, decode to upright RGB, or say why not.

data = read_image(root, "faces/1.jpg", limits)      # or "shard-000.tar::000017.jpg"
picture = decode(data, limits)
"""

from __future__ import annotations

from .decode import decode
from .errors import ImageError, Reason
from .limits import ImageLimits
from .reading import read_image

__all__ = ["ImageError", "ImageLimits", "Reason", "decode", "read_image"]
