"""What a domain says, whatever its words: its graph, the renamings between two domains, its certificate.

Two domains are equivalent when a bijection of types, constants, predicates (each with a permutation of its arguments)
and operators (each with a permutation of its parameters) turns the operators of one into those of the other: the strong
equivalence of Shoeeb and McCluskey, and of Chrpa et al. ``graph`` makes the graph that says this, ``renaming`` reads an
isomorphism of two graphs as such a bijection, ``structure`` keeps what is known of one domain.
"""

from pddl_eval.structure.graph import PARTS, DomainGraph, by_position, sorted_equality
from pddl_eval.structure.renaming import Renaming, object_map, renaming_between, same_names
from pddl_eval.structure.structure import Structure

__all__ = [
    "PARTS",
    "DomainGraph",
    "Renaming",
    "Structure",
    "by_position",
    "object_map",
    "renaming_between",
    "same_names",
    "sorted_equality",
]
