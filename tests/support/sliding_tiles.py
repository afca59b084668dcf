"""Sliding tiles: a custom domain with more states than any search lists, and a goal of one state."""

from __future__ import annotations

from random import Random

DOMAIN = """
(define (domain sliding-tiles)
  (:predicates (tile ?t) (position ?p) (at ?t ?p) (blank ?p) (neighbor ?p ?q))
  (:action move :parameters (?t ?from ?to)
    :precondition (and (tile ?t) (position ?from) (position ?to) (neighbor ?from ?to) (at ?t ?from) (blank ?to))
    :effect (and (blank ?from) (not (blank ?to)) (at ?t ?to) (not (at ?t ?from)))))
"""


def random_goal(size: int, seed: int, moves: int = 300) -> str:
    """A square board; its goal is where a random walk ends, without the blank."""
    random = Random(seed)
    places = [(row, column) for row in range(size) for column in range(size)]
    near = {(r, c): [(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)] for r, c in places}
    near = {place: [other for other in around if other in near] for place, around in near.items()}
    board = dict(zip(places, range(size * size), strict=True))  # 0 is the blank
    init = dict(board)
    blank = (0, 0)
    for _ in range(moves):
        other = random.choice(near[blank])
        board[blank], board[other] = board[other], board[blank]
        blank = other

    def tiles(of: dict[tuple[int, int], int]) -> str:
        return " ".join(f"(at t{tile} p{r}-{c})" for (r, c), tile in of.items() if tile)

    kinds = " ".join(f"(position p{r}-{c})" for r, c in places) + " ".join(f"(tile t{t})" for t in range(1, size**2))
    neighbors = " ".join(f"(neighbor p{r}-{c} p{q[0]}-{q[1]})" for (r, c), around in near.items() for q in around)
    objects = " ".join([*(f"t{t}" for t in range(1, size**2)), *(f"p{r}-{c}" for r, c in places)])
    return (
        f"(define (problem tiles) (:domain sliding-tiles) (:objects {objects})"
        f" (:init {kinds} {neighbors} {tiles(init)} (blank p0-0)) (:goal (and {tiles(board)})))"
    )
