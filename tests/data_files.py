"""Where real data for tests are: beside the tests, or in a folder beside the checkout that may be absent."""

from pathlib import Path

HERE = Path(__file__).resolve().parent / "data"
BESIDE_CHECKOUT = Path(__file__).resolve().parents[1] / "../shared/data"


def data_file(name: str) -> Path:
    """The file or folder of that name; one beside the checkout where the repository has none."""
    own = HERE / name
    return own if own.exists() else BESIDE_CHECKOUT / name
