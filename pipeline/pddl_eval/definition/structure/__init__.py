"""What a domain says, independent of its words: its graph, the renamings between two domains, its certificate.

Two domains are equivalent when a bijection of types, constants, predicates (each with a permutation of its arguments)
and operators (each with a permutation of its parameters) turns the operators of one into those of the other: the strong
equivalence of Shoeeb and McCluskey, and of Chrpa et al. ``graph`` makes the graph that says this, ``renaming`` reads an
isomorphism of two graphs as such a bijection, ``structure`` keeps what is known of one domain.
"""

from pddl_eval.definition.structure.graph import PARTS, DomainGraph, parts_of, sorted_equality
from pddl_eval.definition.structure.renaming import (
    Renaming,
    by_name,
    isomorphism,
    operator_name,
    operator_names,
    renaming_between,
)
from pddl_eval.definition.structure.structure import DomainStructure, by_position, counted, derived_predicates
