"""Judges: what the program decides, decided a second time from the definitions, in code that shares nothing with it."""
