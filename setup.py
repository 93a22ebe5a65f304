"""Names of the packages where they are installed; everything else is in pyproject.toml.

The folder `jobs` is installed as `mpr_audit`: other programs have modules named jobs.
"""

from setuptools import find_packages, setup

INSTALLED = {"jobs": "mpr_audit"}
FOUND = find_packages(include=["mprlib*", "jobs*"])

setup(
    package_dir={installed: folder for folder, installed in INSTALLED.items()},
    packages=[".".join([INSTALLED.get(first, first), *rest]) for first, *rest in (name.split(".") for name in FOUND)],
)
