"""Domains for the judges, of our own writing in the style of the planning competitions, with random problems."""

from tests.judges.domains import adl, derived, numbers, strips
from tests.judges.domains.story import Scene, Story

__all__ = ["STORIES", "Scene", "Story"]

STORIES = [*strips.STORIES, *adl.STORIES, *derived.STORIES, *numbers.STORIES]
