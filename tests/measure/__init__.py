"""Long runs and measurements, which people start and pytest does not: ``python -m tests.measure.NAME``."""
