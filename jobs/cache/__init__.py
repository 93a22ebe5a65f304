"""What audits share beside their folders: vectors by the content of items, and finished units by their keys.

Everything is in immutable files whose last one, an index that is named by its own content, makes the others count.
Nobody locks anything: two writers write two indexes, a killed one leaves files that no index names, and a reader that
does not find a file, or finds other bytes than the index says, does without it. Nothing is lost without the cache but
time: a run's folder is complete by itself.
"""
