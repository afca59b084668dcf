"""The Rover domain with a single rover, as Planetarium has it since October 2024: samples need no store and stay.

``rover_single_stores`` is the version before, to which the benchmark's problems belong. No rules of its own: see there.
"""

from __future__ import annotations

from pddl_eval.definition.domains.rover_single_stores import PDDL as WITH_STORES

IMAGES_AND_MESSAGES = WITH_STORES[WITH_STORES.index("  (:action take_image") :]
"""Taking and sending images and messages needs no store: these operators are the same, to the end of the text."""

PDDL = f"""
(define (domain rover-single)
  (:requirements :strips :typing)
  (:types waypoint camera mode objective)
  (:predicates
    (at_rover ?w - waypoint) (at_lander ?w - waypoint)
    (can_traverse ?from ?to - waypoint) (visible ?from ?to - waypoint) (visible_from ?o - objective ?w - waypoint)
    (available) (channel_free) (supports ?c - camera ?m - mode)
    (at_soil_sample ?w - waypoint) (have_soil_analysis ?w - waypoint) (communicated_soil_data ?w - waypoint)
    (at_rock_sample ?w - waypoint) (have_rock_analysis ?w - waypoint) (communicated_rock_data ?w - waypoint)
    (have_image ?o - objective ?m - mode) (communicated_image_data ?o - objective ?m - mode))
  (:action navigate :parameters (?from ?to - waypoint)
    :precondition (and (available) (at_rover ?from) (can_traverse ?from ?to) (visible ?from ?to))
    :effect (and (at_rover ?to) (not (at_rover ?from))))
  (:action sample_soil :parameters (?w - waypoint)
    :precondition (and (at_rover ?w) (at_soil_sample ?w))
    :effect (have_soil_analysis ?w))
  (:action sample_rock :parameters (?w - waypoint)
    :precondition (and (at_rover ?w) (at_rock_sample ?w))
    :effect (have_rock_analysis ?w))
{IMAGES_AND_MESSAGES}"""
