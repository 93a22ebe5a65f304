"""`mpr-audit label-sample`: the items of a run that are worth most to label by hand, and a page to label them in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ..options import AsJson, Folder, print_json, with_options

if TYPE_CHECKING:
    from ...labelling.write import Written

Count = Annotated[int, typer.Option("--count", min=1, help="Items to label.")]
Dataset = Annotated[str | None, typer.Option("--dataset", help="The data set to label, where the run audits several.")]
Attributes = Annotated[
    list[str] | None, typer.Option("--attribute", help="Only this attribute; may be repeated. Default: all.")
]
Error = Annotated[
    float, typer.Option("--error", min=0.001, max=0.9, help="Share of labels that is assumed to be wrong.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw.")]
Target = Annotated[
    str | None, typer.Option("--output", help="Folder of the page; default: label-sample in the run's folder.")
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Options of `label-sample`."""

    folder: Folder
    count: Count = 200
    dataset: Dataset = None
    attribute: Attributes = None
    error: Error = 0.1
    seed: Seed = 0
    output: Target = None
    as_json: AsJson = False


@with_options(Options)
def label_sample(given: Options) -> int:
    """Choose the items whose hand labels narrow a run's intervals most, and write a page to label them in."""
    from ...labelling.sample import SampleRequest
    from ...labelling.write import write_sample

    asked = SampleRequest(
        count=given.count,
        dataset=given.dataset,
        attributes=tuple(given.attribute or ()),
        error=given.error,
        seed=given.seed,
    )
    written = write_sample(given.folder, given.output, asked)
    if given.as_json:
        print_json(written.to_json())
    else:
        print(sample_text(written))
    return 0


def sample_text(written: Written) -> str:
    """What was drawn, and the next steps."""
    said = written.to_json()
    drawn = (
        f"{said['items']:,} of {said['of']:,} items of {said['dataset']}, {said['selected']:,} of them in audited "
        f"selections; as many drawn alike would leave {said['variance_ratio']:.2f} times the variance"
    )
    return (
        f"{drawn}\n"
        f"  label them in  {said['page']}\n"
        f"  listed in      {said['csv']}\n"
        "The page saves a CSV: name it as `hand_labels` of the attributes, beside `column` or `probe` and in the place "
        "of `confusion` or `errors: held_out`, and run the audit again."
    )
