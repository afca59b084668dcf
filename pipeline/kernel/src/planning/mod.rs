//! Plans by search in any STRIPS domain (definition/planning). What takes the definition more than its first states is left.

pub mod bounds;
pub mod heuristics;
pub mod invariants;
pub mod mutex_groups;
pub mod search;
pub mod task;
