; Parcels travel by truck within cities and by plane between them; a hierarchy of types.
(define (domain logistics)
  (:requirements :strips :typing)
  (:types truck plane - vehicle  parcel vehicle - movable  airport - place  city)
  (:predicates (located ?m - movable ?p - place) (inside ?p - parcel ?v - vehicle) (part-of ?p - place ?c - city))
  (:action load
    :parameters (?p - parcel ?v - vehicle ?where - place)
    :precondition (and (located ?p ?where) (located ?v ?where))
    :effect (and (inside ?p ?v) (not (located ?p ?where))))
  (:action unload
    :parameters (?p - parcel ?v - vehicle ?where - place)
    :precondition (and (inside ?p ?v) (located ?v ?where))
    :effect (and (located ?p ?where) (not (inside ?p ?v))))
  (:action drive
    :parameters (?t - truck ?from ?to - place ?c - city)
    :precondition (and (located ?t ?from) (part-of ?from ?c) (part-of ?to ?c))
    :effect (and (located ?t ?to) (not (located ?t ?from))))
  (:action fly
    :parameters (?a - plane ?from ?to - airport)
    :precondition (located ?a ?from)
    :effect (and (not (located ?a ?from)) (located ?a ?to))))
(define (problem to-the-airport)
  (:domain logistics)
  (:objects van - truck jet - plane box - parcel home - place field - airport town - city)
  (:init (located van home) (located jet field) (located box home) (part-of home town) (part-of field town))
  (:goal (and (inside box jet))))
