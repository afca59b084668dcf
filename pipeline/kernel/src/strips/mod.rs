//! Pairs of problems in any STRIPS domain of which there is the text.
//!
//! The files are named as those of the definition and those beside this folder, which serve three domains in fewer
//! words. Here atoms are lists of the words of an interner that all problems of a batch share.

pub mod comparison;
pub mod difference;
pub mod equivalence;
pub mod task;
