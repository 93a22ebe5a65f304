"""Every data set of pictures, from miniature copies of its layout."""

import shutil

import numpy as np
import pandas as pd
import pytest

from jobs import datasets
from jobs.datasets import described
from jobs.datasets.catalogue import attribute_columns
from jobs.datasets.fairface import age_band
from jobs.errors import UsageError
from jobs.images import decode, read_image
from tests.data_files import HERE, data_file
from tests.jobs.datasets.layouts import MALFORMED_UTKFACE, PICTURE_KINDS, SIDE, write


def load(block, **changes):
    return datasets.load(described(block | changes), HERE)


def labels_of(catalogue) -> dict[str, dict[str, str]]:
    """Each item's labels, by its id."""
    columns = attribute_columns(catalogue.items)
    return {
        item: dict(zip(columns, levels))
        for item, levels in zip(catalogue.items["item_id"].to_pylist(), zip(*columns.values()))
    }


@pytest.mark.parametrize("kind", PICTURE_KINDS)
def test_every_picture_of_a_layout_can_be_read(kind, tmp_path):
    block = described(write(kind, tmp_path))
    catalogue = datasets.load(block, tmp_path)
    assert catalogue.items["text"].null_count == catalogue.size
    for locator in catalogue.items["image"].to_pylist():
        image = decode(read_image(catalogue.root, locator, block.image_limits), block.image_limits)
        assert image.size == (SIDE, SIDE)
    assert catalogue.shards(8)[-1][1] == catalogue.size


@pytest.mark.parametrize("kind", PICTURE_KINDS)
def test_fingerprint_follows_the_pictures(kind, tmp_path):
    block = write(kind, tmp_path)
    first = load(block).fingerprint
    assert load(block).fingerprint == first
    changed = next(path for path in sorted(tmp_path.rglob("*")) if path.suffix in (".jpg", ".tar"))
    with changed.open("ab") as file:
        file.write(b" ")
    assert load(block).fingerprint != first
    assert load(block, image_fingerprint="content").fingerprint != first


def test_celeba_names_and_partition(tmp_path):
    block = write("celeba", tmp_path)
    catalogue = load(block)
    assert catalogue.size == 36
    assert catalogue.levels == {"gender": ("Male", "Female"), "age": ("young", "not young")}
    # Number 2 is 0b0010: neither eyeglasses nor young, but male.
    assert labels_of(catalogue)["000003.jpg"] == {"gender": "Male", "age": "not young"}
    assert [load(block, partition=part).size for part in ("train", "val", "test")] == [24, 6, 6]
    glasses = load(block, attributes={"Eyeglasses": {}})
    assert labels_of(glasses)["000002.jpg"] == {"Eyeglasses": "yes"}


def test_celeba_as_csv(tmp_path):
    block = write("celeba", tmp_path)
    whole = load(block, partition="test")
    attributes = pd.read_csv(tmp_path / "Anno/list_attr_celeba.txt", sep=r"\s+", skiprows=1)
    attributes.rename_axis("image_id").reset_index().to_csv(tmp_path / "list_attr_celeba.csv", index=False)
    parts = pd.read_csv(tmp_path / "Eval/list_eval_partition.txt", sep=" ", names=["image_id", "partition"])
    parts.to_csv(tmp_path / "list_eval_partition.csv", index=False)
    shutil.move(tmp_path / "Img/img_align_celeba", tmp_path / "img_align_celeba/img_align_celeba")
    for name in ("Anno", "Eval", "Img"):
        shutil.rmtree(tmp_path / name)
    assert load(block, partition="test").items.equals(whole.items)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: text.replace("36\n", "37\n", 1), "says that it has 37 rows, and has 36"),
        (lambda text: text.replace("000001.jpg -1", "000001.jpg  5"), "Eyeglasses of 000001.jpg is 5"),
        (lambda text: "", "cannot read"),
    ],
)
def test_celeba_labels_that_were_damaged(tmp_path, spoil, words):
    block = write("celeba", tmp_path)
    labels = tmp_path / "Anno/list_attr_celeba.txt"
    labels.write_text(spoil(labels.read_text()))
    with pytest.raises(UsageError, match=words):
        load(block)


def test_utkface_reads_names_and_counts_malformed_ones(tmp_path):
    block = write("utkface", tmp_path)
    catalogue = load(block)
    assert catalogue.size == 40
    assert catalogue.levels["race"] == ("White", "Black", "Asian", "Indian", "Others")
    assert catalogue.levels["age"] == ("under 20", "20 to under 40", "40 to under 60", "60 and over")
    first = "1_0_0_20170110000000000.jpg.chip.jpg"
    assert labels_of(catalogue)[first] == {"gender": "Male", "race": "White", "age": "under 20"}
    assert catalogue.skipped["item_id"].to_pylist() == sorted(MALFORMED_UTKFACE)
    assert set(catalogue.skipped["reason"].to_pylist()) == {"malformed name"}
    by_decade = load(block, attributes={"age": {"bins": [50]}})
    assert by_decade.levels["age"] == ("under 50", "50 and over")


def test_fairface_bands_in_order_and_as_dates(tmp_path):
    block = write("fairface", tmp_path)
    catalogue = load(block)
    assert catalogue.levels["age"][:4] == ("0-2", "3-9", "10-19", "20-29")
    assert catalogue.levels["age"][-1] == "more than 70"
    assert labels_of(catalogue)["train/2.jpg"] == {"gender": "Male", "race": "Black", "age": "3-9"}
    assert catalogue.size == 63
    val = load(block, partition="val")
    assert val.size == 12
    assert val.root == catalogue.root == str(tmp_path)


@pytest.mark.parametrize(
    ("found", "band"),
    [
        ("03-Sep", "3-9"),
        ("9-Mar", "3-9"),
        ("Oct-19", "10-19"),
        ("19-Oct", "10-19"),
        ("70+", "more than 70"),
        ("more than 70", "more than 70"),
        (" 20-29", "20-29"),
        ("19-Nov", "19-Nov"),
        (None, None),
    ],
)
def test_spreadsheet_dates_are_bands(found, band):
    assert age_band(found) == band


def test_fairface_bands_that_nobody_knows_are_skipped(tmp_path):
    block = write("fairface", tmp_path)
    labels = tmp_path / "fairface_label_val.csv"
    labels.write_text(labels.read_text().replace("30-39", "19-Nov"))
    catalogue = load(block)
    rows = catalogue.skipped.to_pylist()
    assert {(row["reason"], row["detail"]) for row in rows} == {("malformed label", "age '19-Nov'")}
    assert catalogue.size + len(rows) == 63


def test_levels_are_renamed_and_put_in_order(tmp_path):
    block = write("fairface", tmp_path)
    attributes = {"race": {"map": {"East Asian": "Asian", "Southeast Asian": "Asian"}}, "gender": {"order": ["Male"]}}
    levels = load(block, attributes=attributes).levels
    assert levels["race"] == ("White", "Black", "Latino_Hispanic", "Asian", "Indian", "Middle Eastern")
    assert levels["gender"] == ("Male", "Female")


def test_occupations_are_relevant_for_their_search_term(tmp_path):
    catalogue = load(write("occupations", tmp_path))
    row = catalogue.items.slice(0, 1).to_pylist()[0]
    assert (row["item_id"], row["relevance"]) == ("google/nurse/0.jpg", "nurse")
    assert catalogue.levels == {"gender": ("woman", "man")}


def test_occupations_that_nobody_judged_have_no_gender(tmp_path):
    block = write("occupations", tmp_path)
    path = tmp_path / "gender_labelled_images.csv"
    table = pd.read_csv(path, dtype=str)
    table.loc[:2, "image_gender"] = "NA"
    table.to_csv(path, index=False)
    assert load(block).levels["gender"] == ("woman", "man", "unknown")


def test_fairface_labels_may_write_their_paths_with_a_dot(tmp_path):
    block = write("fairface", tmp_path)
    for path in tmp_path.glob("fairface_label_*.csv"):
        table = pd.read_csv(path, dtype=str)
        table.assign(file="./" + table["file"]).to_csv(path, index=False)
    catalogue = load(block)
    assert (tmp_path / catalogue.items["image"][0].as_py()).exists()
    assert catalogue.root == str(tmp_path)


def test_occupations_by_the_pictures_old_addresses(tmp_path):
    block = write("occupations", tmp_path)
    whole = load(block)
    table = pd.read_csv(tmp_path / "gender_labelled_images.csv", dtype=str)
    names = table["search_provider"] + "/" + table["search_term"] + "/" + table["order"] + ".jpg"
    table.assign(image_url="http://images.example/aws-images/" + names).to_parquet(tmp_path / "kay.parquet")
    assert load(block, path=str(tmp_path / "kay.parquet")).items.equals(whole.items)


def test_table_of_real_occupations():
    """The judged genders of Kay et al. themselves, over a folder that holds one of the pictures."""
    source = data_file("kay_image_gender.parquet")
    with pytest.raises(UsageError, match="lacks the pictures of Occupations"):
        load({"kind": "occupations", "path": str(source)})


@pytest.mark.parametrize(
    ("kind", "missing", "words"),
    [
        ("celeba", "Anno", "lacks CelebA's attributes: list_attr_celeba.txt or Anno/list_attr_celeba.txt or"),
        ("celeba", "Img", "lacks CelebA's pictures: .* or img_align_celeba or Img/img_align_celeba is expected"),
        ("celeba", "Eval", "lacks CelebA's partition"),
        ("fairface", "fairface_label_val.csv", "lacks FairFace's labels: fairface_label_val.csv is expected"),
        ("fairface", "train", "lacks FairFace's pictures: train or fairface-img-margin025-trainval/train or"),
        ("occupations", "google", "lacks the pictures of Occupations: google or images/google or"),
        ("occupations", "gender_labelled_images.csv", "lacks the table of Occupations"),
    ],
)
def test_a_layout_that_lacks_a_part_says_which(kind, missing, words, tmp_path):
    block = write(kind, tmp_path)
    path = tmp_path / missing
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(UsageError, match=words):
        load(block, **({"partition": "test"} if kind == "celeba" else {}))


@pytest.mark.parametrize("kind", ["celeba", "utkface", "fairface", "occupations", "images", "webdataset"])
def test_an_empty_or_absent_folder(kind, tmp_path):
    attributes = {"attributes": {"gender": {}}}
    with pytest.raises(UsageError, match="dataset items: .*"):
        load({"kind": kind, "path": str(tmp_path)} | attributes)
    with pytest.raises(UsageError, match="does not exist"):
        load({"kind": kind, "path": str(tmp_path / "absent")} | attributes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "utkface", "partition": "train"}, "partition goes with kind celeba or fairface, not with utkface"),
        ({"kind": "fairface", "partition": "test"}, "Input should be 'train' or 'val'"),
        ({"kind": "celeba", "id": "name"}, "id goes with kind table"),
        ({"kind": "utkface", "image": "file"}, "image goes with kind table or images"),
    ],
)
def test_settings_that_do_not_go_with_the_kind(changes, words):
    with pytest.raises(ValueError, match=words):
        described({"path": "x"} | changes)


def test_real_names_of_utkface(tmp_path):
    """Names of the labels' source, each odd one among them, are read with the labels that it has."""
    source = data_file("utkface_labels.parquet")
    if not source.exists():
        pytest.skip(f"{source.name} is absent: its terms do not let it travel with the code")
    labels = pd.read_parquet(source)
    is_odd = ~labels["file"].str.fullmatch(r"\d+_\d_\d_\d{17}\.jpg\.chip\.jpg")
    assert is_odd.sum() == 5
    labels = labels[is_odd | (labels.index % 40 == 0)].reset_index()
    for name in labels["file"]:
        (tmp_path / name).touch()
    catalogue = load({"kind": "utkface", "path": str(tmp_path), "attributes": {"gender": {}, "race": {}}})
    found = labels_of(catalogue)
    assert catalogue.skipped.num_rows == 0
    assert catalogue.size == len(labels)
    races = np.array(["White", "Black", "Asian", "Indian", "Others"])[labels["race"]]
    assert [found[name]["race"] for name in labels["file"]] == races.tolist()
