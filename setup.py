"""Names of the packages where they are installed; everything else is in pyproject.toml.

The folder `jobs` is installed as `mpr_audit`: other programs have modules named jobs. Where the checkout itself is
what is installed (`pip install --editable`), `python -m jobs` goes on working from any folder.
"""

import sys

from setuptools import find_packages, setup

INSTALLED = {"jobs": "mpr_audit"}
FOUND = find_packages(include=["mprlib*", "jobs*"])
RENAMED = [".".join([INSTALLED.get(first, first), *rest]) for first, *rest in (name.split(".") for name in FOUND)]

setup(
    package_dir={installed: folder for folder, installed in INSTALLED.items()},
    packages=[*RENAMED, *INSTALLED] if "editable_wheel" in sys.argv else RENAMED,
)
