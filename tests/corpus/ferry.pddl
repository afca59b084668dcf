; A ferry with a tank: a constant, negative preconditions, an equation.
(define (domain ferry)
  (:requirements :strips :typing :negative-preconditions :equality)
  (:types port car)
  (:constants home - port)
  (:predicates (at-ferry ?p - port) (at ?c - car ?p - port) (on ?c - car) (full) (fuel))
  (:action sail
    :parameters (?from ?to - port)
    :precondition (and (not (= ?from ?to)) (at-ferry ?from) (fuel))
    :effect (and (at-ferry ?to) (not (at-ferry ?from)) (not (fuel))))
  (:action tank :precondition (and (at-ferry home) (not (fuel))) :effect (fuel))
  (:action drift
    :parameters (?from - port)
    :precondition (and (at-ferry ?from) (not (fuel)) (not (= ?from home)))
    :effect (and (at-ferry home) (not (at-ferry ?from))))
  (:action board
    :parameters (?c - car ?p - port)
    :precondition (and (at ?c ?p) (at-ferry ?p) (not (full)))
    :effect (and (on ?c) (full) (not (at ?c ?p))))
  (:action land
    :parameters (?c - car ?p - port)
    :precondition (and (on ?c) (at-ferry ?p))
    :effect (and (at ?c ?p) (not (on ?c)) (not (full)))))
(define (problem across)
  (:domain ferry)
  (:objects isle - port beetle - car)
  (:init (at beetle home) (at-ferry home))
  (:goal (and (at beetle isle))))
