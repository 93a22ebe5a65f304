"""Running a plan's units: dispatch, retries, limits, the lock, the journal, and the executors that do the work."""
