"""Random input by the thousand: what may come out is a right answer or one sentence."""
