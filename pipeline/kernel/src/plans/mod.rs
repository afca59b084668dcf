//! Plans out of raw answers (definition/plans): the common notations; every other text is left.

pub mod found;
pub mod json;
pub mod ordinary;
pub mod reading;
