"""Units worked off: windows, losses, limits, the lock, and what a run tells."""
