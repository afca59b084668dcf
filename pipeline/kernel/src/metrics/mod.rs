//! How close an answer is to its reference (definition/metrics).

pub mod actions;
pub mod execution;
pub mod plans;
pub mod problem;
