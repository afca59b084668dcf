//! AMLGym's predictive power (definition/metrics/predictive.py).

use crate::domain_equivalence::{by_name, shared_operators};
use crate::grounding::{bound, broken_equation, objects_that_fit, terms_of, Fitting, Objects};
use crate::hashing::{HashMap, HashSet};
use crate::left::Answer;
use crate::metrics::averages::{fmean, share};
use crate::model::{Domain, Lifted, Operator, Word, EQUALITY};
use crate::pddl::problems::Interner;
use crate::states::{both, but, count, count_applicable, States, VisitedStates};

/// Precision and recall of the actions that apply, then of the atoms that they change, in the visited states.
///
/// `objects` are those of the problem, with the generated domain's constants.
pub fn predictive_power(
    reference: &Domain,
    generated: &Domain,
    objects: &Objects,
    visited: &VisitedStates,
    names: &Interner,
) -> Answer<[f64; 4]> {
    let same = shared_operators(reference, generated);
    let matching = by_name(generated);
    let wanted: HashSet<Word> =
        reference.operators.iter().map(|each| each.key).filter(|key| !same.contains(key)).collect();
    let asked: Vec<&Operator> = matching.values().filter(|each| wanted.contains(&each.key)).copied().collect();
    let predicted = count_applicable(&asked, objects, visited, generated, names)?;
    let predicted: HashMap<Word, usize> = asked.iter().map(|each| each.key).zip(predicted).collect();
    let mut ratios: Vec<[f64; 4]> = Vec::new();
    for (number, operator) in reference.operators.iter().enumerate() {
        if same.contains(&operator.key) {
            ratios.push([1.0; 4]);
            continue;
        }
        let other = matching.get(&operator.key).copied();
        let fit = |(_, type_): &(Word, Word)| objects_that_fit(objects, *type_, generated, names);
        let fitting: Vec<Fitting> = other.map_or(Vec::new(), |other| other.parameters.iter().map(fit).collect());
        let (mut applies, mut agreed, mut changes) = (0, 0, [0; 3]);
        for (_, arguments, states) in visited.applicable.iter().filter(|each| each.0 == number) {
            applies += count(states);
            let fits = || arguments.iter().zip(&fitting).all(|(name, fitting)| fitting.contains(*name));
            let Some(other) = other.filter(|_| arguments.len() == fitting.len() && fits()) else { continue };
            if broken_equation(other, arguments, names).is_some() {
                continue;
            }
            let (expected, found) = (instance(operator, arguments, names), instance(other, arguments, names));
            let states = both(states, &visited.conditions(&found[0], &found[1]));
            agreed += count(&states);
            count_changes(&expected, &found, &states, visited, &mut changes);
        }
        let said = other.map_or(0, |other| predicted[&other.key]);
        let [right, wrong, missed] = changes;
        let recall = if agreed > 0 || applies == 0 { share(right, right + missed) } else { 0.0 };
        ratios.push([share(agreed, said), share(agreed, applies), share(right, right + wrong), recall]);
    }
    Ok(std::array::from_fn(|column| fmean(ratios.iter().map(|ratios| ratios[column]))))
}

/// The parts of the operator with these arguments, without equations.
pub fn instance(operator: &Operator, arguments: &[Word], names: &Interner) -> [Vec<Lifted>; 4] {
    operator.parts.each_ref().map(|part| {
        let plain = part.iter().filter(|atom| names.text(atom[0]) != EQUALITY);
        let mut atoms: Vec<Lifted> = plain.map(|atom| bound(&terms_of(atom, operator), arguments)).collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    })
}

/// Atoms that an action changes and is said to change in these states, only said to change, only changes.
fn count_changes(
    expected: &[Vec<Lifted>; 4],
    found: &[Vec<Lifted>; 4],
    states: &States,
    visited: &VisitedStates,
    changes: &mut [usize; 3],
) {
    for added in [true, false] {
        let effects = |parts: &[Vec<Lifted>; 4]| -> Vec<Lifted> {
            if added {
                return parts[2].clone();
            }
            parts[3].iter().filter(|atom| parts[2].binary_search(atom).is_err()).cloned().collect()
        };
        let (ours, theirs) = (effects(expected), effects(found));
        let changed = |atom: &Lifted| {
            let before = visited.holds.get(atom).copied().unwrap_or_default();
            count(&if added { but(states, &before) } else { both(states, &before) })
        };
        for atom in &ours {
            changes[if theirs.binary_search(atom).is_ok() { 0 } else { 2 }] += changed(atom);
        }
        for atom in theirs.iter().filter(|atom| ours.binary_search(atom).is_err()) {
            changes[1] += changed(atom);
        }
    }
}
