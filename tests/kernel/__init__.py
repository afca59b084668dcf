"""The kernel against the definition."""
