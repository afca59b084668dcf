"""From rows to scores: tables, frames, rewards, and the functions of the package's Python interface."""
