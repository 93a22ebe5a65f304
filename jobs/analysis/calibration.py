"""What is said of a probe's calibrated probabilities, as a manifest and a summary hold their test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def calibration_text(calibration: Mapping[str, Any]) -> str:
    """One clause: whether the probabilities can be believed, and what was seen on the held-out items.

    >>> calibration_text({"rows": 200, "error": 0.03, "standard_error": 0.01, "chance_error": 0.028, "z": -0.3,
    ...                   "p_value": 0.8, "is_kept": True})
    'calibrated: on 200 held-out items off by 3.0% ± 1.0 on average, 2.8% by chance (z = -0.3, p = 0.8)'
    """
    seen = (
        f"on {calibration['rows']:,} held-out items off by {calibration['error']:.1%} "
        f"± {100 * calibration['standard_error']:.1f} on average, {calibration['chance_error']:.1%} by chance "
        f"(z = {calibration['z']:.1f}, p = {calibration['p_value']:.2g})"
    )
    return f"{'calibrated' if calibration['is_kept'] else 'NOT calibrated'}: {seen}"


def consequence(calibration: Mapping[str, Any]) -> str:
    """What follows where probabilities are not calibrated; empty where they are."""
    if calibration["is_kept"]:
        return ""
    return (
        "what is corrected by these probabilities may be off as far, and no interval holds that: `errors: held_out` "
        "takes the probe's confusion in their place, and more labelled items train a better one"
    )


def shift_text(shift: Mapping[str, Any]) -> str:
    """What a probe's probabilities say of a data set's shares, and whether items' probabilities follow.

    >>> shift_text({"dataset": "photos", "shares_labelled": {"woman": 0.5, "man": 0.5}, "left_as_given": None,
    ...             "shares": {"woman": 0.8, "man": 0.2}, "margins": {"woman": 0.021, "man": 0.021}})
    'photos has 80.0% ± 2.1 woman, 20.0% ± 2.1 man, where the probe learnt from 50.0%, 50.0%: re-weighted for that'
    """
    learnt = ", ".join(f"{share:.1%}" for share in shift["shares_labelled"].values())
    if shift["left_as_given"]:
        levels = " and ".join(shift["shares_labelled"])
        return (
            f"{shift['dataset']}: {shift['left_as_given']} ({levels}, of which the probe learnt from {learnt}): "
            "probabilities are as the probe gives them, and right where the shares are the same"
        )
    found = ", ".join(
        f"{share:.1%} ± {100 * shift['margins'][level]:.1f} {level}" for level, share in shift["shares"].items()
    )
    return f"{shift['dataset']} has {found}, where the probe learnt from {learnt}: re-weighted for that"
