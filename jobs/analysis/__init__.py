"""The tables of a finished run, read into frames, and what they say: cases, curves, worst groups, comparisons."""
