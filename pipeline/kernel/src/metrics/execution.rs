//! What two plans do when they are executed (definition/metrics/execution.py, and `execute` of validation.py).

use crate::difference::Difference;
use crate::formulas::{Done, Fault, Values, World};
use crate::hashing::HashMap;
use crate::left::{Answer, Left};
use crate::model::Atom;
use crate::pddl::problems::Interner;
use crate::plans::found::{Step, Steps, Unread};
use crate::state_space::Judge;
use crate::validation::State;
use std::rc::Rc;

/// The producer of what is true at the start, and the consumer of what the goal asks for.
const INIT: Step = Step::MAX;
const GOAL: Step = Step::MAX - 1;

const MAX_LINKS: usize = 250_000;

/// Steps that are executed here, and parts of formulas that are computed.
const MOST_STEPS: usize = 10_000;
const MAX_EVALUATIONS: usize = 100_000;

/// Parts of the rules that atoms are derived by.
const MOST_PARTS: usize = 20_000_000;

type Link = (Step, Atom, Step);

/// An action that was executed: a ground operator.
type Executed = Rc<Result<Done, Fault>>;

/// How far a plan got; a step without actions does nothing.
pub struct Execution {
    steps: Vec<Option<Executed>>,
    /// The first step that could not be executed.
    pub failed: Option<Failure>,
    /// Atoms of the goal that are false, sorted, and the places of its other conjuncts that are.
    lacking: Vec<Atom>,
    unmet: Vec<usize>,
    /// How many there are, a `forall` counted as those that it stands for, and how many of these are false.
    conjuncts: (usize, usize),
    /// What it costs; None where it is not valid.
    pub cost: Option<f64>,
}

/// The number of a step, from 1, and why it cannot be executed: a verdict, and the difference.
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
            None if self.is_at_goal() => "valid",
            None => "goal_not_reached",
        }
    }

    /// The share of the goal's conjuncts that hold at the end; 1.0 where there are none.
    pub fn goal_share(&self) -> f64 {
        match self.conjuncts {
            (0, _) => 1.0,
            (all, wrong) => 1.0 - wrong as f64 / all as f64,
        }
    }

    /// A step that cannot be read fails, where none before it does.
    pub fn fail(&mut self, step: usize, place: &Unread) {
        let why = || Difference::of("cannot be read").because("place", place.place());
        self.failed.get_or_insert_with(|| Failure { step, verdict: "unreadable", why: why() });
        self.cost = None;
    }

    fn count_unmet(&self) -> usize {
        self.lacking.len() + self.unmet.len()
    }

    pub fn reaches_goal(&self) -> bool {
        self.failed.is_none() && self.is_at_goal()
    }

    pub fn is_at_goal(&self) -> bool {
        self.count_unmet() == 0
    }

    /// What to say of an execution that failed or did not reach the goal.
    pub fn ending(&self, whose: &[u8], world: &World, names: &Interner) -> Option<Difference> {
        if let Some(Failure { step, why, .. }) = &self.failed {
            let failed = Difference::of("failure").word("whose", whose).number("step", *step);
            return Some(failed.because("reason", why.clone()));
        }
        let found = Difference::of("goal not reached").word("whose", whose).number("lacking", self.count_unmet());
        Some(match self.lacking.first() {
            Some(atom) => found.words("first", world.show(*atom, names)),
            None => found.word("first", world.others[*self.unmet.first()?].shown()),
        })
    }
}

/// True where some step names an operator of the task's domain.
pub fn names_operator(world: &World, plan: &[Step], steps: &Steps, names: &Interner) -> bool {
    let mut actions = plan.iter().flat_map(|step| steps.actions_of(step));
    actions.any(|action| steps.words(*action).next().is_some_and(|name| world.operator_named(name, names).is_some()))
}

/// Execute the steps of a plan up to the first that fails.
pub fn execute(world: &mut World, plan: &[Step], steps: &Steps, names: &Interner) -> Answer<Execution> {
    if plan.len() > MOST_STEPS {
        return Err(Left::Budget);
    }
    let (mut state, mut judge) = (State::new(&world.init), Judge::new(MOST_PARTS));
    let mut full = world.full(&state, &mut judge)?;
    let mut values: Values = world.values.clone();
    let mut done: Vec<Option<Executed>> = Vec::with_capacity(plan.len());
    let mut failed = None;
    let (mut actions, mut evaluations) = (0, 0);
    for (number, step) in (1..).zip(plan) {
        let action = match steps.actions_of(step) {
            [] => {
                done.push(None);
                continue;
            }
            [action] => *action,
            _ => return Err(Left::Concurrent),
        };
        let made = world.operator_of(action, steps, names)?;
        let true_ = full.as_ref().unwrap_or(&state);
        let applied = match &*made {
            Ok(operator) => world.applied(operator, true_, &values, steps, names)?.map(|updates| (operator, updates)),
            Err(fault) => Err(fault.clone()),
        };
        let (operator, updates) = match applied {
            Ok(found) => found,
            Err((verdict, why)) => {
                failed = Some(Failure { step: number, verdict, why });
                break;
            }
        };
        evaluations += operator.evaluations;
        if evaluations > MAX_EVALUATIONS {
            return Err(Left::Budget);
        }
        let acting = world.acting(operator, true_).map(|done| Rc::new(Ok(done)));
        let made = acting.unwrap_or_else(|| made.clone());
        if let Ok(operator) = &*made {
            operator.deletes.iter().for_each(|atom| _ = state.remove(atom));
            state.extend(operator.adds.iter());
            full = world.full(&state, &mut judge)?;
        }
        for (fluent, value) in updates {
            values.resize(values.len().max(fluent + 1), None);
            values[fluent] = Some(value);
        }
        actions += 1;
        done.push(Some(made));
    }
    let state = full.unwrap_or(state);
    let lacking: Vec<Atom> = world.goal.iter().copied().filter(|atom| !state.contains(atom)).collect();
    let mut unmet = Vec::new();
    for (place, other) in world.others.iter().enumerate() {
        if !world.is_true(other, &state, &values, names)? {
            unmet.push(place);
        }
    }
    let conjuncts = world.count_conjuncts(&state, lacking.len(), &unmet);
    let mut found = Execution { steps: done, failed, lacking, unmet, conjuncts, cost: None };
    if found.reaches_goal() {
        found.cost = world.cost(&values, actions, plan.len(), names)?;
    }
    Ok(found)
}

/// The operator of a step that was executed; None for a step without actions.
fn operator(step: &Option<Executed>) -> Option<&Done> {
    step.as_ref().and_then(|made| made.as_ref().as_ref().ok())
}

/// The mean, over the steps of the longer plan, of set difference over union of the states after that step.
pub fn state_distance(world: &World, first: &Execution, second: &Execution) -> f64 {
    let init = &world.init;
    let (mut one, mut other) = (State::new(init), State::new(init));
    let mut common = one.len();
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
fn apply(step: &Option<Executed>, state: &mut State, other: &State, common: &mut usize) {
    let Some(done) = operator(step) else { return };
    for atom in &done.deletes {
        if state.remove(atom) {
            *common -= usize::from(other.contains(atom));
        }
    }
    for atom in &done.adds {
        if state.insert(*atom) {
            *common += usize::from(other.contains(atom));
        }
    }
}

/// Who makes true what another needs, sorted: from the initial state, between the steps, to the goal atoms that hold.
fn causal_links(world: &World, execution: &Execution) -> Answer<Vec<Link>> {
    let mut producers: HashMap<Atom, Step> = HashMap::default();
    producers.extend(world.init.iter().map(|atom| (*atom, INIT)));
    let mut links: Vec<Link> = Vec::new();
    for done in execution.steps.iter().filter_map(operator) {
        let of = |atom: &Atom| Some((*producers.get(atom)?, *atom, done.action));
        links.extend(done.needs.iter().filter_map(of));
        if links.len() > MAX_LINKS {
            return Err(Left::Budget);
        }
        for atom in &done.deletes {
            producers.remove(atom);
        }
        producers.extend(done.adds.iter().map(|atom| (*atom, done.action)));
    }
    links.extend(world.goal.iter().filter_map(|atom| Some((*producers.get(atom)?, *atom, GOAL))));
    links.sort_unstable();
    links.dedup();
    Ok(links)
}

/// Set difference over union of the causal links.
pub fn causal_distance(world: &World, first: &Execution, second: &Execution) -> Answer<f64> {
    let (first, second) = (causal_links(world, first)?, causal_links(world, second)?);
    let common = first.iter().filter(|link| second.binary_search(link).is_ok()).count();
    let union = first.len() + second.len() - common;
    Ok(if union > 0 { 1.0 - common as f64 / union as f64 } else { 0.0 })
}
