//! Component-wise F1 of Text2World (definition/metrics/components.py).

use crate::domain_equivalence::by_name;
use crate::metrics::averages::{common, fmean};
use crate::model::{Domain, Operator, Word};

/// F1 of the declared predicates, then of parameters, preconditions and effects, averaged over the operators.
pub fn component_f1(reference: &Domain, generated: Option<&Domain>) -> [f64; 4] {
    let Some(generated) = generated else { return [0.0; 4] };
    let declared = |domain: &Domain| domain.predicates.iter().map(|(name, types)| (*name, types.len())).collect();
    let (declared, named): (Vec<(Word, usize)>, Vec<_>) = (declared(reference), declared(generated));
    let matching = by_name(generated);
    let score = |operator: &Operator| {
        matching.get(&operator.key).map_or([0.0; 3], |other| scores([reference, generated], operator, other))
    };
    let scores: Vec<[f64; 3]> = reference.operators.iter().map(score).collect();
    std::array::from_fn(|column| match column {
        0 => f1(common(&declared, &named), declared.len() + named.len()),
        _ => fmean(scores.iter().map(|scores| scores[column - 1])),
    })
}

/// Parameters, preconditions and effects; names of parameters do not count.
fn scores(domains: [&Domain; 2], one: &Operator, other: &Operator) -> [f64; 3] {
    let parameters = one.parameters.iter().zip(&other.parameters);
    let same_types = |((_, one), (_, other)): &(&(Word, Word), &(Word, Word))| {
        domains[0].alternatives_of(one) == domains[1].alternatives_of(other)
    };
    let same = parameters.filter(same_types).count();
    let literals = |first: usize| {
        let parts = [first, first + 1].map(|part| (&one.by_position[part], &other.by_position[part]));
        let both = parts.iter().map(|(one, other)| common(one, other)).sum();
        f1(both, parts.iter().map(|(one, other)| one.len() + other.len()).sum())
    };
    [f1(same, one.parameters.len() + other.parameters.len()), literals(0), literals(2)]
}

fn f1(common: usize, both: usize) -> f64 {
    if both == 0 {
        1.0
    } else {
        (2 * common) as f64 / both as f64
    }
}
