//! Text to values (definition/pddl): problems out of raw model answers.

pub mod any_problem;
pub mod domains;
pub mod drafts;
pub mod language;
pub mod problems;
pub mod sexpr;
