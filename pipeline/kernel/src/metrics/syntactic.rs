//! AMLGym's syntactic precision and recall (definition/metrics/syntactic.py).

use crate::domain_equivalence::by_name;
use crate::metrics::averages::{common, fmean, share};
use crate::model::{Domain, Operator};

/// Precision and recall over all atoms, then by group, each an average over the reference's operators.
pub fn syntactic_similarity(reference: &Domain, generated: Option<&Domain>) -> [f64; 10] {
    let Some(generated) = generated else { return [0.0; 10] };
    let theirs = by_name(generated);
    let ratios: Vec<[f64; 10]> =
        reference.operators.iter().map(|operator| ratios(operator, theirs.get(&operator.key).copied())).collect();
    std::array::from_fn(|column| fmean(ratios.iter().map(|ratios| ratios[column])))
}

/// Precision and recall of one operator over all its atoms, then by group; an absent operator has no atoms.
fn ratios(reference: &Operator, generated: Option<&Operator>) -> [f64; 10] {
    let mut counts = [(0, 0, 0); 5];
    for part in 0..4 {
        let expected = &reference.by_position[part];
        let found = generated.map_or(&[][..], |generated| &generated.by_position[part]);
        let own = (common(expected, found), found.len(), expected.len());
        counts[part + 1] = own;
        counts[0] = (counts[0].0 + own.0, counts[0].1 + own.1, counts[0].2 + own.2);
    }
    std::array::from_fn(|place| {
        let (right, has, wants) = counts[place / 2];
        share(right, if place % 2 == 0 { has } else { wants })
    })
}
