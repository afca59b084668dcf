//! What two plans do when they are executed (definition/metrics/execution.py, and the failures of validation.py).

use crate::difference::{words_of, Difference};
use crate::left::{Answer, Left};
use crate::model::{Atom, Word, NO_OBJECT};
use crate::plans::found::{Step, Steps};
use crate::task::Task;
use crate::validation::{instance, operator_named, present, wanted_types, Action, AtomHasher, Atoms, State};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// The producer of what is true at the start, and the consumer of what the goal asks for.
const INIT: Step = Step::MAX;
const GOAL: Step = Step::MAX - 1;

const MAX_LINKS: usize = 250_000;

/// Steps that are executed here.
const MOST_STEPS: usize = 10_000;

type Link = (Step, Atom, Step);

/// A ground operator, and the action that it is.
struct Done {
    action: Step,
    needs: Atoms,
    adds: Atoms,
    deletes: Atoms,
}

/// How far a plan got; a step without actions does nothing.
pub struct Execution {
    steps: Vec<Option<Done>>,
    /// The first step that could not be executed.
    pub failed: Option<Failure>,
    lacking: Vec<Atom>,
}

/// The number of a step, from 1, and why it cannot be executed: a verdict, and a kind with the words of its sentence.
pub struct Failure {
    pub step: usize,
    verdict: &'static str,
    why: Difference,
}

impl Execution {
    /// `valid`, `goal_not_reached` or why the first step that failed did.
    pub fn verdict(&self) -> &'static str {
        match &self.failed {
            Some(failure) => failure.verdict,
            None if self.lacking.is_empty() => "valid",
            None => "goal_not_reached",
        }
    }

    /// The share of the goal's atoms that hold at the end; 1.0 where there are none.
    pub fn goal_share(&self, task: &Task) -> f64 {
        match task.problem.goal.len() {
            0 => 1.0,
            conjuncts => 1.0 - self.lacking.len() as f64 / conjuncts as f64,
        }
    }

    /// The number of actions; None where the plan is not valid.
    pub fn cost(&self) -> Option<f64> {
        self.reaches_goal().then(|| self.steps.iter().flatten().count() as f64)
    }

    pub fn reaches_goal(&self) -> bool {
        self.failed.is_none() && self.lacking.is_empty()
    }

    pub fn is_at_goal(&self) -> bool {
        self.lacking.is_empty()
    }

    /// What to say of an execution that failed or did not reach the goal.
    pub fn ending(&self, whose: &[u8], task: &Task) -> Option<Difference> {
        let words = &task.problem.words;
        if let Some(Failure { step, why, .. }) = &self.failed {
            return Some(Difference::of(&[b"fails", whose, step.to_string().as_bytes(), &why.0]));
        }
        let (first, count) = (self.lacking.first()?, self.lacking.len().to_string());
        Some(Difference::of(&[b"goal", whose, &words_of(words, *first), count.as_bytes()]))
    }
}

/// True where some step names an operator of the task's domain.
pub fn names_operator(task: &Task, plan: &[Step], steps: &Steps) -> bool {
    let mut actions = plan.iter().flat_map(|step| steps.actions_of(step));
    actions.any(|action| steps.words(*action).next().is_some_and(|name| operator_named(task.domain, name).is_some()))
}

/// Execute the steps of a plan up to the first that fails.
pub fn execute(task: &Task, plan: &[Step], steps: &Steps) -> Answer<Execution> {
    if plan.len() > MOST_STEPS {
        return Err(Left::Budget);
    }
    let problem = &task.problem;
    let mut state = State::new(&problem.init);
    let mut found = Execution { steps: Vec::with_capacity(plan.len()), failed: None, lacking: Vec::new() };
    for (number, step) in plan.iter().enumerate() {
        let done = match steps.actions_of(step) {
            [] => None,
            [action] => match applicable(task, *action, steps, &state)? {
                Ok(done) => Some(done),
                Err((verdict, why)) => {
                    found.failed = Some(Failure { step: number + 1, verdict, why });
                    break;
                }
            },
            _ => return Err(Left::Concurrent),
        };
        if let Some(done) = &done {
            for atom in present(&done.deletes) {
                state.remove(atom);
            }
            state.extend(present(&done.adds)); // what a step deletes and adds holds after it
        }
        found.steps.push(done);
    }
    found.lacking = problem.goal.iter().copied().filter(|atom| !state.contains(atom)).collect();
    Ok(found)
}

/// The operator, or why it cannot be applied: a verdict, and a kind with the words of its sentence.
fn applicable(
    task: &Task,
    step: Step,
    steps: &Steps,
    state: &State,
) -> Answer<Result<Done, (&'static str, Difference)>> {
    let problem = &task.problem;
    let shown = || steps.words(step).collect::<Vec<_>>().join(&b' ');
    let mut words = steps.words(step);
    let operator = operator_named(task.domain, words.next().unwrap_or_default());
    let arguments: Vec<&[u8]> = words.collect();
    if arguments.iter().any(|argument| argument.contains(&b'=') || argument.contains(&b' ')) {
        return Err(Left::Notation); // arguments by name
    }
    let Some((operator, _)) = operator.filter(|(_, count)| *count == arguments.len()) else {
        let verdict = if operator.is_none() { "unknown_action" } else { "wrong_arguments" };
        return Ok(Err((verdict, Difference::of(&[b"ground", &shown(), problem.words.text(problem.domain)]))));
    };
    let mut given: [Word; 4] = [0; 4];
    for (place, argument) in arguments.iter().enumerate() {
        let object = problem.words.find(argument).filter(|word| problem.number[*word as usize] != NO_OBJECT);
        let Some(object) = object else {
            return Ok(Err(("wrong_arguments", Difference::of(&[b"no object", &shown(), argument]))));
        };
        given[place] = object;
        let wanted = wanted_types(task.domain, operator).get(place);
        if let Some(wanted) = wanted.map(|type_| problem.words.place(*type_)) {
            if task.types_of_words[object as usize] != wanted {
                let why = Difference::of(&[b"type", &shown(), argument, problem.words.text(wanted)]);
                return Ok(Err(("wrong_arguments", why)));
            }
        }
    }
    let (needs, adds, deletes) = instance(&problem.words, &Action::new(operator, &given[..arguments.len()]));
    let mut lacking: Vec<Atom> = present(&needs).copied().filter(|atom| !state.contains(atom)).collect();
    if lacking.is_empty() {
        return Ok(Ok(Done { action: step, needs, adds, deletes }));
    }
    lacking.sort_unstable();
    lacking.dedup();
    let atoms: Vec<_> = lacking.iter().map(|atom| words_of(&problem.words, *atom)).collect();
    Ok(Err(("precondition", Difference::of(&[b"needs", &shown(), &atoms.join(&b',')]))))
}

/// The mean, over the steps of the longer plan, of set difference over union of the states after that step.
pub fn state_distance(task: &Task, first: &Execution, second: &Execution) -> f64 {
    let init = &task.problem.init;
    let (mut one, mut other) = (State::new(init), State::new(init));
    let mut common = init.len();
    let mut total = 0.0;
    let longer = first.steps.len().max(second.steps.len());
    for step in 0..longer {
        let (Some(ours), Some(theirs)) = (first.steps.get(step), second.steps.get(step)) else {
            total += 1.0;
            continue;
        };
        apply(ours, &mut one, &other, &mut common);
        apply(theirs, &mut other, &one, &mut common);
        let union = one.len() + other.len() - common;
        total += if union > 0 { 1.0 - common as f64 / union as f64 } else { 0.0 };
    }
    if longer > 0 {
        total / longer as f64
    } else {
        0.0
    }
}

/// Change a state, and how many atoms it has in common with the other one.
fn apply(step: &Option<Done>, state: &mut State, other: &State, common: &mut usize) {
    let Some(done) = step else { return };
    for atom in present(&done.deletes) {
        if !done.adds.contains(atom) && state.remove(atom) {
            *common -= usize::from(other.contains(atom));
        }
    }
    for atom in present(&done.adds) {
        if state.insert(*atom) {
            *common += usize::from(other.contains(atom));
        }
    }
}

/// Who makes true what another needs, sorted: from the initial state, between the steps, to the goal atoms that hold.
fn causal_links(task: &Task, execution: &Execution) -> Answer<Vec<Link>> {
    let problem = &task.problem;
    let mut producers: HashMap<Atom, Step, BuildHasherDefault<AtomHasher>> = HashMap::default();
    producers.extend(problem.init.iter().map(|atom| (*atom, INIT)));
    let mut links: Vec<Link> = Vec::new();
    for done in execution.steps.iter().flatten() {
        let of = |atom: &Atom| Some((*producers.get(atom)?, *atom, done.action));
        links.extend(present(&done.needs).filter_map(of));
        if links.len() > MAX_LINKS {
            return Err(Left::Budget);
        }
        for atom in present(&done.deletes) {
            producers.remove(atom);
        }
        producers.extend(present(&done.adds).map(|atom| (*atom, done.action)));
    }
    links.extend(problem.goal.iter().filter_map(|atom| Some((*producers.get(atom)?, *atom, GOAL))));
    links.sort_unstable();
    links.dedup();
    Ok(links)
}

/// Set difference over union of the causal links.
pub fn causal_distance(task: &Task, first: &Execution, second: &Execution) -> Answer<f64> {
    let (first, second) = (causal_links(task, first)?, causal_links(task, second)?);
    let common = first.iter().filter(|link| second.binary_search(link).is_ok()).count();
    let union = first.len() + second.len() - common;
    Ok(if union > 0 { 1.0 - common as f64 / union as f64 } else { 0.0 })
}
