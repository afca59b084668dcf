//! How close an answer is to its reference (definition/metrics).

pub mod actions;
pub mod averages;
pub mod components;
pub mod domain_pair;
pub mod execution;
pub mod plan_exchange;
pub mod plans;
pub mod predictive;
pub mod problem;
pub mod syntactic;
