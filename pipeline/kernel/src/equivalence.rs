//! Algorithm 1 of the paper in both modes, easy cases first (definition/equivalence.py).

use crate::difference::{self, Difference};
use crate::left::{named, Answer, Left};
use crate::model::{has, predicate, renamed, Atom, Word, Words, NO_OBJECT, UNKNOWN};
use crate::task::{Graph, Task};
use std::cmp::Ordering;

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
pub fn translation(from: &Words, to: &Words) -> Vec<Word> {
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
        Verdict::InitDiffers => difference::init_difference(pair),
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
    Ok(Decision { difference, equivalent_untyped: untyped.map(Verdict::right), has_same_plans, ..strict })
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
    let same_init = same_names && same_atoms(pair, &ours.init, &theirs.init);
    let denied = [&ours.denied, &theirs.denied].map(|denied| {
        let mut denied = denied.clone();
        denied.sort_unstable();
        denied
    });
    let same_denied = same_atoms(pair, &denied[0], &denied[1]);
    if same_init && same_denied && same_atoms(pair, &ours.goal, &theirs.goal) {
        return without_words(Verdict::Identical, Some(pair.to_reference.to_vec()));
    }
    if !same_names && !has_same_types(pair) {
        return without_words(Verdict::TypesDiffer, None);
    }
    let init_alike = same_init || same_predicates(pair, &ours.init, &theirs.init);
    if init_alike && same_predicates(pair, &ours.goal, &theirs.goal) {
        let map = object_map(pair, pair.generated.graph_as_written(), pair.reference.graph_as_written())?;
        if map.is_some() {
            return without_words(Verdict::Isomorphic, map);
        }
    }
    let initial_scenes = || (pair.generated.initial_scene(), pair.reference.initial_scene());
    if !init_alike || (!same_init && !initial_scenes().0.same_invariant(initial_scenes().1)) {
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
        object_map(pair, initial_scenes().0, initial_scenes().1)
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
            } else {
                object_map(pair, pair.generated.closed_goal_scene()?, pair.reference.closed_goal_scene()?)?
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
            let are_sets = denied[0].is_empty() && denied[1].is_empty();
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
    // An unsolvable reference is the definition's to speak of; without types, a solvable one may become so.
    let wanted = wanted.as_ref().map_err(|_| Left::Reference)?;
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
    if !denied[0].is_empty() || !denied[1].is_empty() {
        let in_ours = |atom| renamed(atom, &predicates, &back);
        let in_theirs = |atom| renamed(atom, pair.to_reference, &map);
        let difference = if let Some(asked) = not_implied_by(pair.generated, &theirs.goal, &theirs.denied, &in_ours)? {
            difference::reference_asks(pair, asked, &map)
        } else if let Some(asked) = not_implied_by(pair.reference, &ours.goal, &ours.denied, &in_theirs)? {
            difference::generated_asks(pair, asked)
        } else {
            Difference::of("goal states differ")
        };
        return Ok(decision(Verdict::GoalDiffers, difference, Some(map)));
    }
    let not_implied = theirs.goal.iter().find(|atom| !has(closure, renamed(**atom, &predicates, &back)));
    let (difference, separating) = match not_implied {
        Some(atom) => (difference::reference_asks(pair, (*atom, true), &map), Some((true, *atom))),
        None => {
            let is_asked = |atom: &&Atom| has(wanted, renamed(**atom, pair.to_reference, &map));
            match ours.goal.iter().find(|atom| !is_asked(atom)) {
                Some(atom) => (difference::generated_asks(pair, (*atom, true)), Some((false, *atom))),
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
    let translated = ours.iter().map(|atom| renamed(*atom, pair.to_reference, pair.to_reference));
    ours.len() == theirs.len() && translated.eq(theirs.iter().copied())
}

/// The first conjunct of a goal, and whether it has to hold, that the goal of the task does not imply; where states are
/// asked for all at once, the first one that the first state lacks.
fn not_implied_by(
    task: &Task,
    goal: &[Atom],
    denied: &[Atom],
    in_task: &dyn Fn(Atom) -> Atom,
) -> Answer<Option<(Atom, bool)>> {
    let asked: Vec<(Atom, bool)> =
        goal.iter().map(|atom| (*atom, true)).chain(denied.iter().map(|atom| (*atom, false))).collect();
    if task.domain.is_beyond {
        let literals: Vec<(Atom, bool)> = asked.iter().map(|(atom, holds)| (in_task(*atom), *holds)).collect();
        return Ok(task.first_lacking(&literals)?.map(|place| asked[place]));
    }
    for (atom, holds) in asked {
        if !task.implies(in_task(atom), holds)? {
            return Ok(Some((atom, holds)));
        }
    }
    Ok(None)
}

/// True where the atoms of cl(goal) are the same, and those that are never true in it; apart from the initial state and
/// where operators ask for atoms to be false, the possible ones.
fn same_closed_goals(pair: &Pair, ours: &[Atom], theirs: &[Atom], apart: bool) -> Answer<bool> {
    if !same_atoms(pair, ours, theirs) {
        return Ok(false);
    }
    if !apart || !pair.reference.domain.uses_negation {
        return Ok(same_atoms(pair, pair.generated.never()?, pair.reference.never()?));
    }
    Ok(same_atoms(pair, pair.generated.possible()?, pair.reference.possible()?))
}

/// True where both have equally many atoms of each predicate, as isomorphic scenes do.
fn same_predicates(pair: &Pair, ours: &[Atom], theirs: &[Atom]) -> bool {
    let translated = ours.iter().map(|atom| pair.to_reference[predicate(*atom) as usize]);
    ours.len() == theirs.len() && translated.eq(theirs.iter().map(|atom| predicate(*atom)))
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
