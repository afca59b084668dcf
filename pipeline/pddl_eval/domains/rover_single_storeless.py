"""The Rover domain with a single rover, as Planetarium has it since October 2024: samples need no store and stay.

``rover_single_stores`` is the version before, to which the benchmark's problems belong. No rules of its own: see there.
"""

from __future__ import annotations

PDDL = """
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
  (:action take_image :parameters (?w - waypoint ?o - objective ?c - camera ?m - mode)
    :precondition (and (at_rover ?w) (visible_from ?o ?w) (supports ?c ?m))
    :effect (have_image ?o ?m))
  (:action communicate_soil_data :parameters (?w ?from ?to - waypoint)
    :precondition (and (have_soil_analysis ?w) (at_rover ?from) (at_lander ?to) (visible ?from ?to)
      (available) (channel_free))
    :effect (communicated_soil_data ?w))
  (:action communicate_rock_data :parameters (?w ?from ?to - waypoint)
    :precondition (and (have_rock_analysis ?w) (at_rover ?from) (at_lander ?to) (visible ?from ?to)
      (available) (channel_free))
    :effect (communicated_rock_data ?w))
  (:action communicate_image_data :parameters (?o - objective ?m - mode ?from ?to - waypoint)
    :precondition (and (have_image ?o ?m) (at_rover ?from) (at_lander ?to) (visible ?from ?to)
      (available) (channel_free))
    :effect (communicated_image_data ?o ?m)))
"""
