"""Labels that may be wrong: what is still known of a selection's true shares and MPR."""

from mprlib.label_error import ChosenBy
from mprlib.label_errors.corrected import Corrected, corrected
from mprlib.label_errors.groups import GroupShares, corrected_groups

__all__ = ["ChosenBy", "Corrected", "GroupShares", "corrected", "corrected_groups"]
