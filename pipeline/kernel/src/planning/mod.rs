//! Plans by search in any STRIPS domain (definition/planning), which beyond enumeration only the kernel makes.

pub mod bounds;
pub mod cheapest;
pub mod conditions;
pub mod heuristics;
pub mod invariants;
pub mod mutex_groups;
pub mod search;
pub mod symmetries;
pub mod task;
