"""What measurements and selections say, as tables."""
