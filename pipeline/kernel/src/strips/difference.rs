//! The first difference between two problems, as values (definition/difference.py).

use crate::difference::Difference;
use crate::domain_difference::words_of;
use crate::equivalence::Verdict;
use crate::left::{Answer, Left};
use crate::model::{Lifted, Word};
use crate::pddl::problems::{Interner, LiftedProblem};
use crate::strips::equivalence::{in_words, inverse, Decision, ObjectMap};
use crate::strips::task::{Task, Unsolvable, Within};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

const MOST_NAMES: usize = 5;

/// Why a pair has its verdict.
pub fn difference(decision: &Decision, reference: &Task, generated: &Task, within: Within) -> Answer<Difference> {
    let (ours, theirs, names) = (&*generated.problem, &*reference.problem, within.names);
    Ok(match decision.verdict {
        Verdict::Identical => Difference::of("identical"),
        Verdict::Isomorphic => Difference::of("renamed"),
        Verdict::ObjectCount => object_count(ours, theirs, names),
        Verdict::TypesDiffer => type_difference(ours, theirs, names),
        Verdict::InitDiffers => init_difference(ours, theirs, names),
        Verdict::Unsolvable => match generated.closure(within)? {
            Err(proof) => unsolvable("unsolvable", proof, names),
            Ok(_) => return Err(Left::Panic),
        },
        Verdict::ReferenceInvalid => reference_unsolvable(reference, within)?.ok_or(Left::Panic)?,
        Verdict::Equivalent | Verdict::GoalDiffers => {
            let (Ok(closed), Ok(wanted)) = (generated.closure(within)?, reference.closure(within)?) else {
                return Err(Left::Reference);
            };
            match &decision.object_map {
                Some(map) if decision.verdict == Verdict::GoalDiffers => {
                    goal_difference([ours, theirs], [closed, wanted], map, names)
                }
                _ => Difference::of("closures agree")
                    .counts(closed.len() - ours.goal.len(), wanted.len() - theirs.goal.len()),
            }
        }
    })
}

/// An atom of one goal that the other does not imply, under the object map of the initial states.
fn goal_difference(
    [ours, theirs]: [&LiftedProblem; 2],
    [closed, wanted]: [&Vec<Lifted>; 2],
    object_map: &ObjectMap,
    names: &Interner,
) -> Difference {
    match separating([&ours.goal, &theirs.goal], [closed, wanted], object_map, names) {
        Some((true, atom)) => {
            let here = words_of(&in_words(atom, &inverse(object_map)), names);
            Difference::of("goal").words("lacks", words_of(atom, names)).words("lacks_here", here)
        }
        Some((false, atom)) => Difference::of("goal").words("has", words_of(atom, names)),
        None => Difference::of("goal placement"),
    }
}

/// An atom of one goal, in its own words, that the other's closure lacks; true where it is the reference's.
pub fn separating<'a>(
    [ours, theirs]: [&'a Vec<Lifted>; 2],
    [closed, wanted]: [&Vec<Lifted>; 2],
    object_map: &ObjectMap,
    names: &Interner,
) -> Option<(bool, &'a Lifted)> {
    let back = inverse(object_map);
    let not_in = |closed: &[Lifted], atom: &Lifted| closed.binary_search(atom).is_err();
    let not_implied = theirs.iter().filter(|atom| not_in(closed, &in_words(atom, &back)));
    if let Some(atom) = first(not_implied, names) {
        return Some((true, atom));
    }
    let not_asked = ours.iter().filter(|atom| not_in(wanted, &in_words(atom, object_map)));
    first(not_asked, names).map(|atom| (false, atom))
}

/// The first atom in the order of texts.
fn first<'a>(atoms: impl Iterator<Item = &'a Lifted>, names: &Interner) -> Option<&'a Lifted> {
    atoms.min_by(|one, other| names.order_of(one, other))
}

/// Both numbers, and which objects are missing or extra where the other names are equal.
fn object_count(ours: &LiftedProblem, theirs: &LiftedProblem, names: &Interner) -> Difference {
    let [own, other] = [ours, theirs].map(|each| each.objects.iter().map(|(name, _)| *name).collect::<BTreeSet<_>>());
    let found = Difference::of("object count").counts(own.len(), other.len());
    if !own.is_subset(&other) && !other.is_subset(&own) {
        return found;
    }
    let mut differing: Vec<Word> = own.symmetric_difference(&other).copied().collect();
    names.sort_words(&mut differing);
    differing.truncate(MOST_NAMES);
    found.words("names", words_of(&differing, names))
}

/// The first object whose type is another, by name where both sides use it, else the first count that is off.
fn type_difference(ours: &LiftedProblem, theirs: &LiftedProblem, names: &Interner) -> Difference {
    let known: HashMap<Word, Word> = theirs.objects.iter().copied().collect();
    for (name, type_) in &ours.objects {
        if let Some(expected) = known.get(name).filter(|expected| *expected != type_) {
            return Difference::of("object type").words("names", words_of(&[*name, *type_, *expected], names));
        }
    }
    let mut counts: BTreeMap<&[u8], (usize, usize)> = BTreeMap::new();
    ours.objects.iter().for_each(|(_, type_)| counts.entry(names.text(*type_)).or_default().0 += 1);
    theirs.objects.iter().for_each(|(_, type_)| counts.entry(names.text(*type_)).or_default().1 += 1);
    let off = counts.into_iter().find(|(_, (ours, theirs))| ours != theirs);
    let (type_, (ours, theirs)) = off.unwrap_or_default();
    Difference::of("type count").words("names", [type_]).counts(ours, theirs)
}

/// The first atom of each initial state that is not in the other, under a plausible matching.
fn init_difference(ours: &LiftedProblem, theirs: &LiftedProblem, names: &Interner) -> Difference {
    let matching = closest_matching(ours, theirs);
    let back = inverse(&matching);
    let found: HashSet<Lifted> = ours.init.iter().map(|atom| in_words(atom, &matching)).collect();
    let lacks = first(theirs.init.iter().filter(|atom| !found.contains(*atom)), names);
    let has = first(found.iter().filter(|atom| theirs.init.binary_search(atom).is_err()), names);
    let mut difference = Difference::of("init");
    if let Some(atom) = lacks {
        let here = words_of(&in_words(atom, &back), names);
        difference = difference.words("lacks", words_of(atom, names)).words("lacks_here", here);
    }
    if let Some(atom) = has {
        difference = difference.words("has", words_of(&in_words(atom, &back), names));
    }
    difference
}

/// A plausible map of objects for problems that are not isomorphic: by name, then by role.
fn closest_matching(ours: &LiftedProblem, theirs: &LiftedProblem) -> ObjectMap {
    let known: HashSet<Word> = theirs.objects.iter().map(|(name, _)| *name).collect();
    let same = ours.objects.iter().map(|(name, _)| *name).filter(|name| known.contains(name));
    let mut matching: ObjectMap = same.map(|name| (name, name)).collect();
    if matching.len() == ours.objects.len() {
        return matching;
    }
    // For each role, in the order in which it comes first, the reference's objects that have it; the next one comes last.
    let mut roles: Vec<Vec<Word>> = Vec::new();
    let mut places: HashMap<Role, usize> = HashMap::new();
    for (name, role) in roles_of(theirs).into_iter().filter(|(name, _)| !matching.contains_key(name)) {
        let place = *places.entry(role).or_insert(roles.len());
        if place == roles.len() {
            roles.push(Vec::new());
        }
        roles[place].insert(0, name);
    }
    let mut unmatched = Vec::new();
    for (name, role) in roles_of(ours) {
        let Entry::Vacant(free) = matching.entry(name) else { continue };
        match places.get(&role).and_then(|place| roles[*place].pop()) {
            Some(other) => drop(free.insert(other)),
            None => unmatched.push(name),
        }
    }
    let rest = roles.iter().flat_map(|names| names.iter().rev());
    matching.extend(unmatched.into_iter().zip(rest.copied()));
    matching
}

/// A type, and scenes, predicates and places.
type Role = (Word, Vec<(usize, Word, usize)>);

/// What each object is and does: its type, and where it stands in which atoms.
fn roles_of(problem: &LiftedProblem) -> Vec<(Word, Role)> {
    let place: HashMap<Word, usize> = problem.objects.iter().map(|(name, _)| *name).zip(0..).collect();
    let mut roles: Vec<(Word, Role)> = problem.objects.iter().map(|(name, type_)| (*name, (*type_, vec![]))).collect();
    for (scene, atoms) in [&problem.init, &problem.goal].into_iter().enumerate() {
        for atom in atoms {
            for (position, name) in atom[1..].iter().enumerate() {
                if let Some(own) = place.get(name) {
                    roles[*own].1 .1.push((scene, atom[0], position));
                }
            }
        }
    }
    roles.iter_mut().for_each(|(_, (_, role))| role.sort_unstable());
    roles
}

/// The proof that no reachable state has the reference's goal, and which predicates a known domain does not have; None
/// where one has it.
pub fn reference_unsolvable(reference: &Task, within: Within) -> Answer<Option<Difference>> {
    let (LiftedProblem { init, goal, .. }, domain) = (&*reference.problem, &within.domain.structure.domain);
    let Err(proof) = reference.closure(within)? else { return Ok(None) };
    let found = unsolvable("reference unsolvable", proof, within.names);
    let used: BTreeSet<Word> = init.iter().chain(goal).map(|atom| atom[0]).collect();
    let mut unknown: Vec<Word> = used.into_iter().filter(|name| !domain.predicates.contains_key(name)).collect();
    if !within.domain.is_rover || unknown.is_empty() {
        return Ok(Some(found));
    }
    within.names.sort_words(&mut unknown);
    let count = unknown.len();
    let shown = [&[domain.name], &unknown[..count.min(MOST_NAMES)]].concat();
    Ok(Some(found.words("names", words_of(&shown, within.names)).number("found", count)))
}

/// The proof that the goal is out of reach.
pub fn unsolvable(kind: &'static str, proof: &Unsolvable, names: &Interner) -> Difference {
    let reason = match proof {
        Unsolvable::ByRules(atoms, never_true) => {
            let says = if *never_true { "never true" } else { "exclude each other" };
            Difference::of(says).lists("atoms", atoms.iter().map(|atom| words_of(atom, names)))
        }
        Unsolvable::NeverAdded(atom) => Difference::of("never added").words("atom", words_of(atom, names)),
        Unsolvable::BySearch(proof) => proof.difference(),
    };
    Difference::of(kind).because("reason", reason)
}
