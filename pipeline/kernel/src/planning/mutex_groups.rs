//! Mutex groups: atoms of which every reachable state contains at most one, or exactly one, such as a block's places.
//!
//! Candidates are lifted, as in Helmert, "Concise finite-domain representations for PDDL planning tasks" (2009), section 5:
//! `on(x, *), on-table(x), holding(x)` stands for one group for each x. A candidate whose count some operator can raise is
//! refined by an atom that this operator takes away. Its proof is not lifted but plain induction over the ground operators,
//! one group at a time, so that an initial state that breaks the rule for one object costs no other object its group.

use crate::hashing::{HashMap, HashSet};
use crate::left::{Answer, Left};
use crate::model::Word;
use crate::planning::task::{relations, Bits, GroundTask};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const MAX_CANDIDATES: usize = 100;
const MAX_ARITY: usize = 5;

/// Operators that are looked at, of all candidates together.
const MAX_WORK: usize = 500_000;

/// Relations, each with the positions in its atoms of the candidate's parameters.
type Candidate = BTreeMap<usize, Vec<usize>>;

/// What induction proves of a task; `excluded` has for each bit the other members of its groups.
pub struct MutexGroups {
    pub exactly_one: Vec<Bits>,
    pub impossible: Bits,
    pub excluded: Vec<Bits>,
}

/// The sets of an operator as lists of bits.
struct Lists {
    needed: Vec<usize>,
    added: Vec<usize>,
    deleted: Vec<usize>,
    changed: Vec<usize>,
}

/// The groups of a task that refinement finds.
pub fn mutex_groups(task: &GroundTask) -> Answer<MutexGroups> {
    let count = task.atoms.len();
    let (relations, relation_of) = relations(&task.atoms);
    let lists: Vec<Lists> = task
        .operators
        .iter()
        .map(|operator| Lists {
            needed: operator.needed.indexes().collect(),
            added: operator.added.indexes().collect(),
            deleted: operator.deleted.indexes().collect(),
            changed: operator.added.clone().or(&operator.deleted).indexes().collect(),
        })
        .collect();
    let mut at_most_one: BTreeSet<Vec<usize>> = BTreeSet::new();
    let mut exactly_one: BTreeSet<Vec<usize>> = BTreeSet::new();
    let mut impossible = Bits::none(count);
    let mut queue: VecDeque<Candidate> = VecDeque::new();
    for (relation, (_, length)) in relations.iter().enumerate() {
        for counted in (1..=*length).map(|place| if place < *length { place } else { 0 }) {
            let positions = (1..*length).filter(|position| *position != counted).collect();
            queue.push_back(BTreeMap::from([(relation, positions)]));
        }
    }
    let mut seen: HashSet<Candidate> = queue.iter().cloned().collect();
    let mut work = 0;
    while let Some(candidate) = queue.pop_front() {
        work += task.operators.len();
        if work > MAX_WORK {
            return Err(Left::Budget);
        }
        let (groups, group_of) = groups(task, &candidate, &relation_of);
        match induction(&lists, &group_of, groups.len()) {
            Err((operator, bit)) => {
                for refined in refinements(task, &candidate, &lists[operator], bit, &relation_of) {
                    if seen.len() < MAX_CANDIDATES && seen.insert(refined.clone()) {
                        queue.push_back(refined);
                    }
                }
            }
            Ok(can_empty) => {
                for (group, can_empty) in groups.into_iter().zip(can_empty) {
                    if !group.iter().any(|bit| task.initial.has(*bit)) {
                        group.iter().for_each(|bit| impossible.set(*bit));
                    } else if group.len() > 1 {
                        if !can_empty {
                            exactly_one.insert(group.clone());
                        }
                        at_most_one.insert(group);
                    }
                }
            }
        }
    }
    let mut excluded = vec![Bits::none(count); count];
    for group in &at_most_one {
        for bit in group {
            group.iter().filter(|other| *other != bit).for_each(|other| excluded[*bit].set(*other));
        }
    }
    let exactly_one = exactly_one.into_iter().map(|group| Bits::of(count, group)).collect();
    Ok(MutexGroups { exactly_one, impossible, excluded })
}

/// The groups that start with at most one member, and the group of each bit.
fn groups(task: &GroundTask, candidate: &Candidate, relation_of: &[usize]) -> (Vec<Vec<usize>>, Vec<Option<usize>>) {
    let mut known: HashMap<Vec<Word>, usize> = HashMap::default();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (bit, atom) in task.atoms.iter().enumerate() {
        if let Some(positions) = candidate.get(&relation_of[bit]) {
            let key = positions.iter().map(|position| atom[*position]).collect();
            let own = *known.entry(key).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[own].push(bit);
        }
    }
    groups.retain(|group| group.iter().filter(|bit| task.initial.has(**bit)).count() <= 1);
    let mut group_of = vec![None; task.atoms.len()];
    for (number, group) in groups.iter().enumerate() {
        group.iter().for_each(|bit| group_of[*bit] = Some(number));
    }
    (groups, group_of)
}

/// An operator that could raise a group's count above one and the bit that it adds; else which groups can empty.
fn induction(lists: &[Lists], group_of: &[Option<usize>], groups: usize) -> Result<Vec<bool>, (usize, usize)> {
    let mut can_empty = vec![false; groups];
    for (number, operator) in lists.iter().enumerate() {
        for bit in &operator.changed {
            let Some(group) = group_of[*bit] else { continue };
            let inside = |list: &[usize]| list.iter().filter(|bit| group_of[**bit] == Some(group)).count();
            let given: Vec<usize> =
                operator.needed.iter().filter(|bit| group_of[**bit] == Some(group)).copied().collect();
            if operator.added.contains(bit) {
                let gives_up = given.iter().any(|bit| operator.deleted.contains(bit));
                if given.len() < 2 && (!gives_up || inside(&operator.added) != 1) {
                    return Err((number, *bit));
                }
            } else if inside(&operator.added) == 0 && given.iter().all(|each| each == bit) {
                can_empty[group] = true;
            }
        }
    }
    Ok(can_empty)
}

/// The candidate with one more relation: of an atom that the operator requires and deletes.
fn refinements(
    task: &GroundTask,
    candidate: &Candidate,
    operator: &Lists,
    bit: usize,
    relation_of: &[usize],
) -> Vec<Candidate> {
    let added = &task.atoms[bit];
    let values: Vec<Word> = candidate[&relation_of[bit]].iter().map(|place| added[*place]).collect();
    let mut found = Vec::new();
    for index in operator.needed.iter().filter(|index| operator.deleted.contains(index)) {
        let taken = &task.atoms[*index];
        let arity = taken.len() - 1;
        let fits = arity <= MAX_ARITY && (arity == values.len() || arity == values.len() + 1);
        if candidate.contains_key(&relation_of[*index]) || !fits {
            continue;
        }
        // All ways to choose places with these values, in the order of the places.
        let mut partial: Vec<Vec<usize>> = vec![Vec::new()];
        for value in &values {
            let more = |places: Vec<usize>| {
                let free = (1..taken.len()).filter(|place| taken[*place] == *value && !places.contains(place));
                free.map(|place| [&places[..], &[place]].concat()).collect::<Vec<_>>()
            };
            partial = partial.into_iter().flat_map(more).collect();
        }
        found.extend(partial.into_iter().map(|places| {
            let mut refined = candidate.clone();
            refined.insert(relation_of[*index], places);
            refined
        }));
    }
    found
}
