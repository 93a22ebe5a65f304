"""An audit as a job of a running cluster: what travels, under which id, and how it ended."""
