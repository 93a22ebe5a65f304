"""A run's results: collected into tables, sealed by a manifest, verified, exported, compared, cleaned up."""
