"""No source of the product can run code that data bring along."""

from pathlib import Path

import pytest

from tests.security.sources import faults

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*(ROOT / "jobs").rglob("*.py"), *(ROOT / "mprlib").rglob("*.py")])


def test_no_source_has_one():
    found = {str(path.relative_to(ROOT)): list(faults(path.read_text(encoding="utf-8"))) for path in SOURCES}
    assert len(found) > 100
    assert not {path: lines for path, lines in found.items() if lines}


@pytest.mark.parametrize(
    "source",
    [
        "import pickle\npickle.load(f)",
        "from pickle import loads",
        "import joblib",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "np.load(path, allow_pickle=True)",
        "yaml.load(text, Loader=yaml.Loader)",
        "subprocess.run(command, shell=True)",
        "archive.extractall(folder)",
        "frame = pd.read_pickle(path)",
        "eval(text)",
        "AutoModel.from_pretrained(name, trust_remote_code=True)",
    ],
)
def test_each_way_would_be_found(source):
    assert list(faults(source))


def test_safe_ways_are_not():
    source = """
import pickle
torch.load(path, weights_only=True)
np.load(path)
yaml.safe_load(text)
yaml.compose(text, Loader=yaml.SafeLoader)
archive.extractall(folder, filter="data")
try: pass
except pickle.UnpicklingError: pass
"""
    assert not list(faults(source))
