"""Nothing outside the root is opened, nothing makes a reader wait, and every refusal has its reason."""

import io
import os
import tarfile

import pytest

from jobs.images import ImageError, ImageLimits, Reason, read_image
from jobs.images.reading import split_locator

LIMITS = ImageLimits()


@pytest.fixture
def root(tmp_path):
    """A root with one picture's bytes in a folder, and a secret beside the root."""
    (tmp_path / "secret.jpg").write_bytes(b"secret")
    (tmp_path / "root-of-another").mkdir()
    (tmp_path / "root-of-another" / "x.jpg").write_bytes(b"another's")
    folder = tmp_path / "root"
    (folder / "in").mkdir(parents=True)
    (folder / "in" / "a.jpg").write_bytes(b"bytes")
    return folder


def reason_of(root, locator, limits=LIMITS) -> Reason:
    with pytest.raises(ImageError) as caught:
        read_image(root, locator, limits)
    return caught.value.reason


def test_a_file_and_a_link_that_stays_inside(root):
    (root / "link.jpg").symlink_to("in/a.jpg")
    (root / "folder").symlink_to("in")
    for locator in ("in/a.jpg", "link.jpg", "folder/a.jpg", "./in/a.jpg"):
        assert read_image(root, locator, LIMITS) == b"bytes"


def test_a_root_that_is_a_link_itself(root, tmp_path):
    (tmp_path / "alias").symlink_to(root)
    assert read_image(tmp_path / "alias", "in/a.jpg", LIMITS) == b"bytes"


@pytest.mark.parametrize(
    "locator", ["../secret.jpg", "in/../../secret.jpg", "/etc/passwd", "a\0b", "..", "in\\..\\..\\x"]
)
def test_paths_that_climb_out(root, locator):
    assert reason_of(root, locator) == Reason.OUTSIDE


@pytest.mark.parametrize("target", ["../secret.jpg", "/etc/passwd", "../root-of-another/x.jpg"])
def test_links_that_leave_the_root(root, target):
    (root / "link.jpg").symlink_to(target)
    assert reason_of(root, "link.jpg") == Reason.OUTSIDE


def test_folders_linked_from_outside(root, tmp_path):
    (root / "away").symlink_to(tmp_path / "root-of-another")
    assert reason_of(root, "away/x.jpg") == Reason.OUTSIDE


def test_what_is_no_readable_file(root):
    os.mkfifo(root / "pipe.jpg")
    (root / "loop.jpg").symlink_to("loop.jpg")
    (root / "gone.jpg").symlink_to("never.jpg")
    assert reason_of(root, "pipe.jpg") == Reason.NOT_REGULAR
    assert reason_of(root, "in") == Reason.NOT_REGULAR
    assert reason_of(root, "loop.jpg") == Reason.UNREADABLE
    assert reason_of(root, "gone.jpg") == Reason.MISSING
    assert reason_of(root, "absent.jpg") == Reason.MISSING
    assert reason_of(root, "in/a.jpg/b.jpg") == Reason.MISSING
    assert reason_of(root, "x" * 5000) == Reason.UNREADABLE
    assert reason_of(root, None) == Reason.NO_IMAGE
    assert reason_of(root, "in/a.jpg", ImageLimits(max_megabytes=1e-6)) == Reason.TOO_LARGE


def test_a_file_without_permission(root):
    if os.geteuid() == 0:
        pytest.skip("the super-user may read everything")
    (root / "in" / "a.jpg").chmod(0)
    assert reason_of(root, "in/a.jpg") == Reason.UNREADABLE


def test_locators_of_members():
    assert split_locator("a/b.tar::c/d.jpg") == ("a/b.tar", "c/d.jpg")
    assert split_locator("a/b::c.jpg") == ("a/b::c.jpg", None)


def add(archive: tarfile.TarFile, name: str, data: bytes = b"", **fields) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    archive.addfile(info, io.BytesIO(data))


@pytest.fixture
def archive(root):
    """Good members among those that climb out, link, repeat, or are no files."""
    with tarfile.open(root / "x.tar", "w") as file:
        add(file, "a.jpg", b"first")
        add(file, "folder/b.jpg", b"second")
        add(file, "../leads_out.jpg", b"evil")
        add(file, "/absolute.jpg", b"evil")
        add(file, "link.jpg", type=tarfile.SYMTYPE, linkname="a.jpg")
        add(file, "away.jpg", type=tarfile.SYMTYPE, linkname="../../secret.jpg")
        add(file, "hard.jpg", type=tarfile.LNKTYPE, linkname="/etc/passwd")
        add(file, "pipe.jpg", type=tarfile.FIFOTYPE)
        add(file, "a.jpg", b"again")
        add(file, "large.jpg", bytes(5000))
    return root / "x.tar"


def test_members_are_read_where_they_lie(root, archive):
    assert read_image(root, "x.tar::a.jpg", LIMITS) == b"first"
    assert read_image(root, "x.tar::folder/b.jpg", LIMITS) == b"second"


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        ("../leads_out.jpg", Reason.OUTSIDE),
        ("/absolute.jpg", Reason.OUTSIDE),
        ("away.jpg", Reason.OUTSIDE),
        ("hard.jpg", Reason.OUTSIDE),
        ("link.jpg", Reason.NOT_REGULAR),
        ("pipe.jpg", Reason.NOT_REGULAR),
        ("absent.jpg", Reason.MISSING),
    ],
)
def test_members_that_are_refused(root, archive, member, reason):
    assert reason_of(root, f"x.tar::{member}") == reason


def test_archives_that_are_damaged_missing_or_elsewhere(root, archive, tmp_path):
    whole = archive.read_bytes()
    (root / "cut.tar").write_bytes(whole[: 512 + 3])
    (root / "text.tar").write_bytes(b"no archive" * 200)
    (root / "away.tar").symlink_to(tmp_path / "y.tar")
    (tmp_path / "y.tar").write_bytes(whole)
    assert reason_of(root, "cut.tar::a.jpg") == Reason.TRUNCATED
    assert reason_of(root, "cut.tar::folder/b.jpg") == Reason.BAD_ARCHIVE
    assert reason_of(root, "text.tar::a.jpg") == Reason.BAD_ARCHIVE
    assert reason_of(root, "absent.tar::a.jpg") == Reason.MISSING
    assert reason_of(root, "away.tar::a.jpg") == Reason.OUTSIDE
    assert reason_of(root, "x.tar::large.jpg", ImageLimits(max_megabytes=0.001)) == Reason.TOO_LARGE


def test_an_archive_that_changes_is_listed_again(root, archive):
    assert reason_of(root, "x.tar::new.jpg") == Reason.MISSING
    with tarfile.open(archive, "a") as file:
        add(file, "new.jpg", b"new")
    assert read_image(root, "x.tar::new.jpg", LIMITS) == b"new"
