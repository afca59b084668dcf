"""The Rover domain with a single rover, its place and equipment without a name: its PDDL, and no rules of its own.

Planetarium's version before October 2024, to which its 192 problems belong (``rover_single_storeless`` is the later
one). They say ``(:domain rover)``, their column ``rover-single``.

One rover drives between waypoints, fills and empties stores, takes images and sends what it has to a lander. The
general search decides each of the benchmark's problems exactly, in milliseconds: samples, images and messages are made
in one way only and stay.
"""

from __future__ import annotations

ALSO_NAMED = ("rover", "rover-single")

PDDL = """
(define (domain rover-single)
  (:requirements :strips :typing)
  (:types waypoint store camera mode objective)
  (:predicates
    (at_rover ?w - waypoint) (at_lander ?w - waypoint)
    (can_traverse ?from ?to - waypoint) (visible ?from ?to - waypoint) (visible_from ?o - objective ?w - waypoint)
    (available) (channel_free)
    (empty ?s - store) (full ?s - store) (supports ?c - camera ?m - mode)
    (at_soil_sample ?w - waypoint) (have_soil_analysis ?w - waypoint) (communicated_soil_data ?w - waypoint)
    (at_rock_sample ?w - waypoint) (have_rock_analysis ?w - waypoint) (communicated_rock_data ?w - waypoint)
    (have_image ?o - objective ?m - mode) (communicated_image_data ?o - objective ?m - mode))
  (:action navigate :parameters (?from ?to - waypoint)
    :precondition (and (available) (at_rover ?from) (can_traverse ?from ?to) (visible ?from ?to))
    :effect (and (at_rover ?to) (not (at_rover ?from))))
  (:action sample_soil :parameters (?s - store ?w - waypoint)
    :precondition (and (at_rover ?w) (at_soil_sample ?w) (empty ?s))
    :effect (and (full ?s) (have_soil_analysis ?w) (not (empty ?s)) (not (at_soil_sample ?w))))
  (:action sample_rock :parameters (?s - store ?w - waypoint)
    :precondition (and (at_rover ?w) (at_rock_sample ?w) (empty ?s))
    :effect (and (full ?s) (have_rock_analysis ?w) (not (empty ?s)) (not (at_rock_sample ?w))))
  (:action drop :parameters (?s - store)
    :precondition (full ?s)
    :effect (and (empty ?s) (not (full ?s))))
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
