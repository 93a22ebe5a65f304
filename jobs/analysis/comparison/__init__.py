"""What changed between two runs of one configuration: plain functions from two runs to one comparison.

Three questions, in this order. Do the runs compare at all (`sameness`)? Which queries and groups
moved beyond chance (`movement`)? Is any query worse off by more than a threshold (`verdicts`)?
A weekly monitor should raise an alarm only when the last is yes: a gap that rose within chance is noise, and one that
moved beyond chance by half a point is too small to act on.
"""
