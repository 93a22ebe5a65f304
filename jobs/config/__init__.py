"""What an audit is asked for: its settings, and the file that states them."""
