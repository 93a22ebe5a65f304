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
