; A player pushes boxes; dead ends.
(define (domain sokoban)
  (:types cell direction box)
  (:predicates (next ?a ?b - cell ?d - direction) (player ?c - cell) (at ?b - box ?c - cell) (clear ?c - cell))
  (:action walk
    :parameters (?from ?to - cell ?d - direction)
    :precondition (and (player ?from) (next ?from ?to ?d) (clear ?to))
    :effect (and (not (player ?from)) (not (clear ?to)) (player ?to) (clear ?from)))
  (:action push
    :parameters (?b - box ?behind ?from ?to - cell ?d - direction)
    :precondition (and (player ?behind) (next ?behind ?from ?d) (next ?from ?to ?d) (at ?b ?from) (clear ?to))
    :effect (and (not (player ?behind)) (clear ?behind) (player ?from) (not (at ?b ?from)) (at ?b ?to)
      (not (clear ?to)))))
(define (problem one-push)
  (:domain sokoban)
  (:objects c1 c2 c3 c4 - cell east west - direction crate - box)
  (:init (next c1 c2 east) (next c2 c3 east) (next c3 c4 east) (next c2 c1 west) (next c3 c2 west) (next c4 c3 west)
    (player c1) (at crate c2) (clear c3) (clear c4))
  (:goal (and (at crate c4))))
