"""A run's selections in the forms that other programs read."""
