//! What a domain says by types: which of several alternatives count, and which type is next above which
//! (definition/structure/types.py). A type has one parent here.

use crate::model::{Domain, Word};
use crate::pddl::problems::Interner;
use std::collections::BTreeSet;
use std::slice::from_ref;

/// The alternatives that say something, sorted: none that another one includes; no type is any object.
pub fn least_types<'a>(domain: &'a Domain, type_: &'a Word) -> &'a [Word] {
    match domain.alternatives.get(type_) {
        Some([_, least]) => least,
        None if domain.types.contains_key(type_) => from_ref(type_),
        None => &[],
    }
}

/// The same of alternatives that are read.
pub fn least_alternatives(domain: &Domain, alternatives: &[Word], names: &Interner) -> Vec<Word> {
    if !alternatives.iter().all(|type_| domain.types.contains_key(type_)) {
        return Vec::new();
    }
    let mut left = alternatives.to_vec();
    names.sort_words(&mut left);
    for type_ in left.clone() {
        let is_above = |other: &Word| *other != type_ && left.contains(other) && left.contains(&type_);
        let above: Vec<Word> = domain.ancestors(type_).into_iter().filter(is_above).collect();
        for other in above {
            // Of types that are each other's ancestors the first one stays.
            let is_circle = domain.ancestors(other).contains(&type_);
            left.retain(|each| *each != if is_circle { other } else { type_ });
            if !is_circle {
                break;
            }
        }
    }
    left
}

/// Each of the types with the next one of them that includes it.
pub fn hierarchy(domain: &Domain, types: &BTreeSet<Word>) -> Vec<(Word, Word)> {
    let next_one = |type_: &Word| {
        let above = domain.ancestors(*type_).into_iter().find(|each| each != type_ && types.contains(each));
        above.map(|above| (*type_, above))
    };
    types.iter().filter_map(next_one).collect()
}
