//! The kernel: pairs of problems, of plans and of domains, scored as `pddl_eval.definition` scores them, or left to it.
//!
//! A file has the name of the definition's that decides the same and names it in its first lines; CONTRIBUTING.md lists
//! the functions that decide the same under one name. What the kernel does not fully understand it leaves (`Left`),
//! with a reason; it never says `undecided` by itself. Only `arrow` and `allocator` are unsafe: in the one record batches
//! come in and go out, in the other what rows free is kept for the batch's next rows.

mod allocator;
mod arrow;
mod batches;
mod blake2b;
mod canonical;
mod difference;
mod domain_difference;
mod domain_equivalence;
mod domains;
mod equivalence;
mod formulas;
mod fraction;
mod grounding;
mod hashing;
mod json;
mod left;
mod metrics;
mod model;
mod numbers;
mod pddl;
mod planning;
mod plans;
mod state_space;
mod states;
mod structure;
mod task;
mod task_equivalence;
mod validation;

#[cfg(test)]
mod tests;
