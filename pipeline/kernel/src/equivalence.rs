//! Algorithm 1 of the paper in both modes, easy cases first (definition/equivalence.py).

use crate::difference::{self, Difference};
use crate::hashing::factor;
use crate::left::{named, Answer, Left};
use crate::model::{arguments, has, predicate, renamed, Atom, Conjunct, Problem, Word, Words, NO_OBJECT, UNKNOWN};
use crate::task::{Graph, ListedState, Task};
use std::cmp::Ordering;
use std::collections::BTreeSet;

named! {
    /// What is said of a pair of problems.
    Verdict {
        Identical "identical"
        Isomorphic "isomorphic"
        Equivalent "equivalent"
        ObjectCount "object_count"
        TypesDiffer "types_differ"
        InitDiffers "init_differs"
        GoalDiffers "goal_differs"
        Unsolvable "unsolvable"
        ReferenceInvalid "reference_invalid"
    }
}

impl Verdict {
    /// None where it is not decided.
    pub fn equivalent(self) -> Option<bool> {
        (self != Verdict::ReferenceInvalid).then(|| self.right())
    }

    /// True for the verdicts of an equivalent problem.
    pub fn right(self) -> bool {
        self.is_as_written() || self == Verdict::Equivalent
    }

    /// True where the problems as written are the same.
    pub fn is_as_written(self) -> bool {
        matches!(self, Verdict::Identical | Verdict::Isomorphic)
    }
}

/// Two tasks in one domain, and the answer's words as words of the reference.
pub struct Pair<'a> {
    pub reference: &'a Task,
    pub generated: &'a Task,
    pub to_reference: &'a [Word],
    /// True where all words are the same, so that they have the same numbers.
    pub same_words: bool,
}

/// The words as those of another problem, `UNKNOWN` where that does not have them.
pub fn translation(from: &Words, to: &Words, are_same: bool) -> Vec<Word> {
    if are_same {
        return (0..=from.count() as Word).collect();
    }
    let mut other = 1;
    let mut words = Vec::with_capacity(from.count() + 1);
    words.push(0);
    for word in 1..from.count() as Word + 1 {
        let mut order = Ordering::Greater;
        while other as usize <= to.count() {
            order = to.order(other, from, word);
            if order.is_ge() {
                break;
            }
            other += 1;
        }
        let is_there = order.is_eq() && other as usize <= to.count();
        words.push(if is_there { other } else { UNKNOWN });
    }
    words
}

pub struct Decision {
    pub verdict: Verdict,
    /// None where it is not decided.
    pub equivalent_untyped: Option<bool>,
    /// True where the two are the same but for types, which no operator asks for, so that they have the same plan.
    pub has_same_plans: bool,
    pub difference: Difference,
    /// The reference's word for each object of the answer: it proves a yes; where the goals differ it maps the initial states.
    pub object_map: Option<Vec<Word>>,
    /// The map that takes goal to goal: in placeholder mode.
    pub goal_map: Option<Vec<Word>>,
    /// An atom of one goal, in its own words, that the other's closure lacks; true where it is the reference's.
    pub separating: Option<(bool, Atom)>,
}

impl Decision {
    /// That of a reference whose goal is out of reach.
    pub fn invalid(difference: Difference) -> Decision {
        decision(Verdict::ReferenceInvalid, difference, None)
    }
}

/// Whether the generated problem is the reference's planning problem, strictly and ignoring types.
pub fn decide(pair: &Pair, is_placeholder: bool) -> Answer<Decision> {
    if pair.generated.problem.objects.len() != pair.reference.problem.objects.len() {
        return Ok(decision(Verdict::ObjectCount, difference::object_count(pair), None));
    }
    let strict = decide_strictly(pair, is_placeholder)?;
    let difference = match &strict.verdict {
        Verdict::Identical => Difference::of("identical"),
        Verdict::Isomorphic => Difference::of("renamed"),
        Verdict::TypesDiffer => difference::type_difference(pair),
        Verdict::InitDiffers => difference::init_difference(pair)?,
        _ => strict.difference,
    };
    let types_matter = pair.reference.types_matter() || pair.generated.types_matter();
    let untyped = if strict.verdict.is_as_written() || !types_matter {
        Some(strict.verdict)
    } else {
        let untyped = Pair { reference: pair.reference.untyped(), generated: pair.generated.untyped(), ..*pair };
        match decide_strictly(&untyped, is_placeholder) {
            Err(Left::States) => None,
            decision => Some(decision?.verdict),
        }
    };
    let has_same_plans = untyped == Some(Verdict::Identical) && pair.generated.plans_ignore_types();
    Ok(Decision { difference, equivalent_untyped: untyped.and_then(Verdict::equivalent), has_same_plans, ..strict })
}

fn decision(verdict: Verdict, difference: Difference, object_map: Option<Vec<Word>>) -> Decision {
    let (equivalent_untyped, has_same_plans) = (Some(false), false);
    let (goal_map, separating) = (None, None);
    Decision { verdict, equivalent_untyped, has_same_plans, difference, object_map, goal_map, separating }
}

/// The cases of the algorithm, in order of cost.
fn decide_strictly(pair: &Pair, is_placeholder: bool) -> Answer<Decision> {
    let (theirs, ours) = (&pair.reference.problem, &pair.generated.problem);
    let without_words = |verdict, map| Ok(decision(verdict, Difference::default(), map));
    let same_names = has_same_names(pair);
    let same_init = same_names && same_atoms(pair, &ours.init, &theirs.init) && same_numbers(pair);
    let are_sets = ours.others.is_empty() && theirs.others.is_empty();
    if same_init && same_atoms(pair, &ours.goal, &theirs.goal) && (are_sets || same_conjuncts(pair)) {
        return without_words(Verdict::Identical, Some(pair.to_reference.to_vec()));
    }
    if !same_names && !has_same_types(pair) {
        return without_words(Verdict::TypesDiffer, None);
    }
    let init_alike = same_init || same_roles(pair, &ours.init, &theirs.init);
    if init_alike && same_roles(pair, &ours.goal, &theirs.goal) {
        let map = object_map(pair, pair.generated.graph_as_written()?, pair.reference.graph_as_written()?)?;
        if map.is_some() {
            return without_words(Verdict::Isomorphic, map);
        }
    }
    let by_graphs = || object_map(pair, pair.generated.initial_scene()?, pair.reference.initial_scene()?);
    if !init_alike || (!same_init && ours.numbers.is_some() && by_graphs()?.is_none()) {
        return without_words(Verdict::InitDiffers, None);
    }
    if same_init {
        pair.generated.starts_like(pair.reference);
    }
    let out_of_reach =
        |proof| decision(Verdict::Unsolvable, difference::unsolvable("unsolvable", &ours.words, proof), None);
    let init_map = || {
        if same_init {
            return Ok(Some(pair.to_reference.to_vec()));
        }
        by_graphs()
    };
    if [pair.generated, pair.reference].iter().any(|task| task.has_many_states()) {
        return match (init_map()?, pair.reference.closure(), pair.generated.closure()) {
            (None, ..) => without_words(Verdict::InitDiffers, None),
            (_, Ok(Err(_)), _) => Err(Left::Reference),
            (.., Ok(Err(proof))) => Ok(out_of_reach(proof)),
            _ => Err(Left::States),
        };
    }
    let (closure, wanted) = (pair.generated.closure()?, pair.reference.closure()?);
    if let (Ok(closure), Ok(wanted)) = (closure, wanted) {
        let mut goal_map = None;
        let map = if is_placeholder {
            goal_map = if same_names && same_closed_goals(pair, closure, wanted, true)? {
                Some(pair.to_reference.to_vec())
            } else if same_roles(pair, closure, wanted) {
                object_map(pair, pair.generated.closed_goal_scene()?, pair.reference.closed_goal_scene()?)?
            } else {
                None
            };
            if goal_map.is_some() {
                init_map()?
            } else {
                None
            }
        } else if same_init && same_closed_goals(pair, closure, wanted, false)? {
            Some(pair.to_reference.to_vec())
        } else {
            object_map(pair, pair.generated.closed_graph()?, pair.reference.closed_graph()?)?
        };
        if map.is_some() {
            let difference = match are_sets {
                true => difference::closures_agree(closure.len() - ours.goal.len(), wanted.len() - theirs.goal.len()),
                false => Difference::of("goal states agree"),
            };
            return Ok(Decision { goal_map, ..decision(Verdict::Equivalent, difference, map) });
        }
    }
    let Some(map) = init_map()? else {
        return without_words(Verdict::InitDiffers, None);
    };
    // Without types, where a quantifier asks for more than with them.
    let Ok(wanted) = wanted else { return without_words(Verdict::ReferenceInvalid, None) };
    let closure = match closure {
        Ok(closure) => closure,
        Err(proof) => return Ok(out_of_reach(proof)),
    };
    // The words of the reference as those of the answer, objects by the map.
    let mut predicates = theirs.words.each(UNKNOWN);
    let mut back = theirs.words.each(UNKNOWN);
    back[0] = 0;
    for word in 1..ours.words.count() as Word + 1 {
        let known = pair.to_reference[word as usize];
        if known != UNKNOWN {
            predicates[known as usize] = word;
        }
        if map[word as usize] != UNKNOWN {
            back[map[word as usize] as usize] = word;
        }
    }
    if !are_sets {
        let difference = if let Some(place) = pair.generated.first_lacking(theirs, &back)? {
            match theirs.goal.get(place) {
                Some(atom) => difference::reference_asks(pair, *atom, &map),
                None => difference::reference_asks_for(pair, &theirs.others[place - theirs.goal.len()], &back),
            }
        } else if let Some(place) = pair.reference.first_lacking(ours, &map)? {
            match ours.goal.get(place) {
                Some(atom) => difference::generated_asks(pair, *atom),
                None => {
                    let shown = ours.others[place - ours.goal.len()].shown(|name| ours.words.text(name));
                    Difference::of("goal").word("has", &shown)
                }
            }
        } else {
            Difference::of("goal states differ")
        };
        return Ok(decision(Verdict::GoalDiffers, difference, Some(map)));
    }
    let not_implied = theirs.goal.iter().find(|atom| !has(closure, renamed(**atom, &predicates, &back)));
    let (difference, separating) = match not_implied {
        Some(atom) => (difference::reference_asks(pair, *atom, &map), Some((true, *atom))),
        None => {
            let is_asked = |atom: &&Atom| has(wanted, renamed(**atom, pair.to_reference, &map));
            match ours.goal.iter().find(|atom| !is_asked(atom)) {
                Some(atom) => (difference::generated_asks(pair, *atom), Some((false, *atom))),
                None => (Difference::of("goal placement"), None),
            }
        }
    };
    Ok(Decision { separating, ..decision(Verdict::GoalDiffers, difference, Some(map)) })
}

/// True where both have the same objects of the same types; they have equally many.
pub fn has_same_names(pair: &Pair) -> bool {
    let theirs = &pair.reference.problem;
    pair.generated.problem.objects.iter().zip(&pair.generated.types).all(|((name, _), type_)| {
        let known = pair.to_reference[*name as usize];
        let object = if known == UNKNOWN { NO_OBJECT } else { theirs.number[known as usize] };
        object != NO_OBJECT && pair.reference.types[object as usize] == pair.to_reference[*type_ as usize]
    })
}

/// True where both have equally many objects of each type.
fn has_same_types(pair: &Pair) -> bool {
    let mut ours: Vec<Word> = pair.generated.types.iter().map(|type_| pair.to_reference[*type_ as usize]).collect();
    let mut theirs = pair.reference.types.clone();
    ours.sort_unstable();
    theirs.sort_unstable();
    ours == theirs
}

/// True where the atoms are the same; words are sorted alike in both problems.
fn same_atoms(pair: &Pair, ours: &[Atom], theirs: &[Atom]) -> bool {
    if pair.same_words {
        return ours == theirs;
    }
    let translated = ours.iter().map(|atom| renamed(*atom, pair.to_reference, pair.to_reference));
    ours.len() == theirs.len() && translated.eq(theirs.iter().copied())
}

/// True where both say the same of numbers in the initial state and of the metric.
pub fn same_numbers(pair: &Pair) -> bool {
    let (ours, theirs) = (&pair.generated.problem, &pair.reference.problem);
    if ours.numbers.is_none() && theirs.numbers.is_none() {
        return true;
    }
    ours.numbers_of(&|word| pair.to_reference[word as usize]) == theirs.numbers_of(&|word| word)
}

/// True where the goals' conjuncts that are no atoms are the same.
fn same_conjuncts(pair: &Pair) -> bool {
    let written = |problem: &Problem, to: &dyn Fn(Word) -> Word| -> BTreeSet<(Vec<u8>, Vec<Word>)> {
        let said = |each: &Conjunct| (each.encoded.clone(), each.written.named.iter().map(|name| to(*name)).collect());
        problem.others.iter().map(said).collect()
    };
    let theirs = written(&pair.reference.problem, &|name| name);
    written(&pair.generated.problem, &|name| pair.to_reference[name as usize]) == theirs
}

/// True where the atoms of cl(goal) are the same, and those that are never true in it; apart from the initial state and
/// where operators ask for atoms to be false, the possible ones.
fn same_closed_goals(pair: &Pair, ours: &[Atom], theirs: &[Atom], apart: bool) -> Answer<bool> {
    let [(never, states), (their_never, their_states)] = [pair.generated.apart()?, pair.reference.apart()?];
    if !same_atoms(pair, ours, theirs)
        || states.len() != their_states.len()
        || !states.iter().zip(their_states).all(|(own, other)| same_states(pair, own, other))
    {
        return Ok(false);
    }
    if !apart || !pair.reference.domain.uses_negation || !states.is_empty() {
        return Ok(same_atoms(pair, never, their_never));
    }
    Ok(same_atoms(pair, pair.generated.possible()?, pair.reference.possible()?))
}

/// True where two states are the same.
fn same_states(pair: &Pair, ours: &ListedState, theirs: &ListedState) -> bool {
    let fluents = |state: &ListedState| -> Vec<Atom> { state.1.iter().map(|(fluent, _)| *fluent).collect() };
    same_atoms(pair, &ours.0, &theirs.0)
        && same_atoms(pair, &fluents(ours), &fluents(theirs))
        && ours.1.iter().map(|(_, value)| value).eq(theirs.1.iter().map(|(_, value)| value))
}

/// True where both have equally many atoms of each predicate, and equally many objects of each type that stand in the same
/// places of them, as isomorphic scenes do: where they do not, no graph is needed.
fn same_roles(pair: &Pair, ours: &[Atom], theirs: &[Atom]) -> bool {
    let to_reference = |word: Word| pair.to_reference[word as usize];
    let translated = ours.iter().map(|atom| to_reference(predicate(*atom)));
    ours.len() == theirs.len()
        && translated.eq(theirs.iter().map(|atom| predicate(*atom)))
        && roles(pair.generated, ours, to_reference) == roles(pair.reference, theirs, |word| word)
}

/// A number that is made of how many objects have each role in some atoms, in the words of another problem.
fn roles(task: &Task, atoms: &[Atom], word: impl Fn(Word) -> Word) -> u64 {
    let (number, factor) = (&task.problem.number, factor());
    let mixed = |number: u64| {
        let product = number.wrapping_mul(factor);
        product ^ product >> 32
    };
    let mut roles: Vec<u64> = task.types.iter().map(|type_| word(*type_).into()).collect();
    for atom in atoms {
        let predicate = u64::from(word(predicate(*atom))) << 8;
        for (place, name) in (0..).zip(arguments(*atom)) {
            if let Some(role) = roles.get_mut(number[name as usize] as usize) {
                *role = role.wrapping_add(mixed(predicate | place)); // of an object, no constant
            }
        }
    }
    roles.into_iter().fold(0, |sum, role| sum.wrapping_add(mixed(role)))
}

/// The reference's word for each object of the answer under an isomorphism of their graphs; None where there is none.
fn object_map(pair: &Pair, ours: &Graph, theirs: &Graph) -> Answer<Option<Vec<Word>>> {
    let Some((ours, theirs)) = ours.orders(theirs)? else {
        return Ok(None);
    };
    let (own, other) = (&pair.generated.problem, &pair.reference.problem);
    let mut map = own.words.each(UNKNOWN);
    map[0] = 0;
    for (one, two) in ours.iter().zip(theirs) {
        // Behind the objects there are constants and atoms.
        if let (Some((name, _)), Some((known, _))) = (own.objects.get(*one as usize), other.objects.get(*two as usize))
        {
            map[*name as usize] = *known;
        }
    }
    pair.generated.domain.constants(&own.words).for_each(|name| map[name as usize] = pair.to_reference[name as usize]);
    Ok(Some(map))
}
