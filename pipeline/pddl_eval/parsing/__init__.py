"""Text to values: problems, domains and plans out of raw model answers. Nothing here compares, searches or scores."""
