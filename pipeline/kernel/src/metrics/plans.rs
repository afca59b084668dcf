//! One pair of plans: read both, compare, execute where there is a problem (definition/metrics/plans.py and its parts).

use crate::difference::Difference;
use crate::formulas::{has_ill_typed_numbers, World};
use crate::left::{Answer, Left};
use crate::metrics::actions::Marks;
use crate::metrics::domain_pair::{has_ill_typed_forms, ill_typed_operator};
use crate::metrics::execution::{causal_distance, execute, names_operator, state_distance, Execution};
use crate::model::{Domain, Operator};
use crate::pddl::domains::parse_any_domain;
use crate::pddl::language::hides;
use crate::pddl::problems::Interner;
use crate::plans::found::{Plan, Step, Steps};
use crate::plans::reading::{read_plan, EMPTY, NO_ACTION};
use std::rc::Rc;

/// Operators of a domain, and atoms and fluents of one of them; what has more is no hot path.
const MOST_OPERATORS: usize = 500;
const MOST_ATOMS: usize = 500;

/// The scores of one generated plan; None where nothing can be computed.
#[derive(Default)]
pub struct PlanScores {
    /// None where there is no reference plan.
    pub compared: Option<Compared>,
    pub length: usize,
    pub valid: Option<bool>,
    pub goal_reached: Option<bool>,
    pub first_failed_step: Option<usize>,
    pub state_distance: Option<f64>,
    pub causal_distance: Option<f64>,
    pub notes: Vec<Difference>,
    pub verdict: Option<&'static str>,
    pub executable_share: Option<f64>,
    pub goal_share: Option<f64>,
    pub cost: Option<f64>,
    pub reference_cost: Option<f64>,
}

/// What compares a plan with its reference; an answer without a plan has nothing in common with it.
pub struct Compared {
    pub lcs: f64,
    pub jaccard: f64,
    pub score: f64,
    pub precision: f64,
    pub recall: f64,
    pub reference_length: usize,
    pub action_distance: f64,
}

/// What answers are compared with: a plan, and how it is executed in the problem that it was last executed in.
pub struct Reference {
    plan: Plan,
    is_bare: bool,
    executed: Option<(usize, Execution)>,
}

impl Reference {
    /// True where there is a plan to compare with: an empty text is one where no problem says that there is more to do.
    fn is_plan(&self, world: Option<&mut World>, steps: &Steps, names: &Interner) -> Answer<bool> {
        Ok(match (self.plan.missing, world) {
            (None, _) => true,
            (Some(EMPTY), Some(world)) => execute(world, &[], steps, names)?.reaches_goal(),
            (Some(why), _) => why == EMPTY,
        })
    }

    /// How far the plan gets in a world.
    fn execution(&mut self, world: &mut World, steps: &Steps, names: &Interner) -> Answer<&Execution> {
        if self.executed.as_ref().map(|(place, _)| *place) != Some(world.number) {
            self.executed = Some((world.number, execute(world, &self.plan.steps, steps, names)?));
        }
        Ok(&self.executed.as_ref().ok_or(Left::Panic)?.1)
    }
}

/// A domain that plans are executed in: it is well typed.
pub fn read_domain(text: &[u8], names: &mut Interner) -> Answer<Rc<Domain>> {
    let domain = parse_any_domain(text, false, names)?.outcome.map_err(|_| Left::Reference)?;
    let is_ill_typed = ill_typed_operator(&domain, b"", names).is_some() || has_ill_typed_forms(&domain, names);
    if is_ill_typed || has_ill_typed_numbers(&domain, names) {
        return Err(Left::Reference);
    }
    if domain.rules.iter().any(|rule| rule.body.is_numeric()) {
        return Err(Left::Formula);
    }
    for operator in domain.operators.iter().filter(|operator| !operator.beyond.is_empty()) {
        if let Some(beyond) = operator.beyond.iter().find(|each| each.form.is_numeric()) {
            return Err(if beyond.is_effect { Left::Effect } else { Left::Formula });
        }
        let has_others = operator.beyond.iter().any(|each| !each.is_effect);
        let compares = operator.formulas.iter().any(|formula| !formula.is_effect);
        if (compares && has_others)
            || operator.beyond.iter().any(|each| hides(&each.written, &operator.parameters, names))
        {
            return Err(Left::Strips); // the order in which conditions are said, and which names are shown
        }
    }
    let is_large = |operator: &Operator| operator.atoms_and_fluents().count() > MOST_ATOMS;
    if domain.operators.len() > MOST_OPERATORS || domain.operators.iter().any(is_large) {
        return Err(Left::Budget);
    }
    Ok(Rc::new(domain))
}

pub fn read_reference(text: Option<&[u8]>, steps: &mut Steps) -> Answer<Reference> {
    let plan = read_plan(text, steps)?;
    if plan.damage.is_some() || plan.missing == Some(NO_ACTION) {
        return Err(Left::Notation); // known operators may need no parentheses
    }
    Ok(Reference { plan, is_bare: is_bare(text), executed: None })
}

/// True for names without parentheses: `take,a,b` may be an operator and its arguments where the operators are known.
fn is_bare(text: Option<&[u8]>) -> bool {
    text.is_some_and(|text| text.contains(&b',') && !text.iter().any(|byte| matches!(byte, b'(' | b'[')))
}

/// The scores of an answer; `world` is what plans are executed in.
pub fn score_plan_pair(
    reference: &mut Reference,
    generated: Option<&[u8]>,
    mut world: Option<&mut World>,
    steps: &mut Steps,
    marks: &mut Marks,
    names: &Interner,
) -> Answer<PlanScores> {
    let found = read_plan(generated, steps)?;
    let is_named = |step: &Step| steps.words(*step).any(|word| word.contains(&b'='));
    let is_json = generated.is_some_and(|text| text.trim_ascii_start().first() == Some(&b'['));
    if world.is_some() && is_json && found.steps.iter().any(is_named) {
        return Err(Left::Notation); // arguments that may be named like parameters
    }
    if world.is_some() && (reference.is_bare || is_bare(generated)) {
        return Err(Left::Notation);
    }
    let is_compared = reference.is_plan(world.as_deref_mut(), steps, names)?;
    let mut scores = PlanScores { length: found.steps.len(), ..Default::default() };
    if is_compared {
        scores.compared = Some(compared(&reference.plan, &found, steps, marks)?);
    } else if world.is_none() {
        return Err(Left::Reference);
    }
    scores.notes.extend(match (found.missing, &found.damage) {
        (Some(kind), Some(place)) => Some(Difference::of(kind).because("place", place.place())),
        (Some(kind), None) => Some(Difference::of(kind)),
        (None, Some(place)) => Some(Difference::of("not read").because("places", place.place())),
        (None, None) => None,
    });
    let Some(world) = world else { return Ok(scores) };
    if let (Some(NO_ACTION), Some(place)) = (found.missing, &found.damage) {
        let first = place.text.split(|byte| *byte == b' ').next().unwrap_or_default();
        if world.operator_named(&first.to_ascii_lowercase(), names).is_some() {
            return Err(Left::Notation); // perhaps a step without parentheses
        }
    }
    let expected = if is_compared { Some(reference.execution(world, steps, names)?) } else { None };
    scores.reference_cost = expected.and_then(|expected| expected.cost);
    if found.missing.is_some() {
        let verdict = if found.missing == Some(NO_ACTION) { "unreadable" } else { "empty" };
        (scores.valid, scores.goal_reached, scores.verdict) = (Some(false), Some(false), Some(verdict));
        (scores.executable_share, scores.goal_share) = (Some(0.0), Some(0.0));
        return Ok(scores);
    }
    executed(expected, &found, world, steps, names, &mut scores)?;
    Ok(scores)
}

fn compared(reference: &Plan, generated: &Plan, steps: &Steps, marks: &mut Marks) -> Answer<Compared> {
    let both = (&reference.steps[..], &generated.steps[..]);
    let mut found = Compared {
        lcs: 0.0,
        jaccard: 0.0,
        score: 0.0,
        precision: 0.0,
        recall: 0.0,
        reference_length: both.0.len(),
        action_distance: 1.0,
    };
    if generated.missing.is_some() {
        return Ok(found);
    }
    let in_order = marks.common_subsequence(both.0, both.1, steps)?;
    let longer = both.0.len().max(both.1.len());
    found.lcs = if longer > 0 { in_order as f64 / longer as f64 } else { 1.0 };
    found.jaccard = marks.plan_jaccard(both.0, both.1, steps);
    found.action_distance = 1.0 - found.jaccard;
    plan_score(both.0, both.1, in_order, &mut found);
    Ok(found)
}

/// T-Eval's plan score with exact similarity: the longest common subsequence over both lengths.
fn plan_score(reference: &[Step], generated: &[Step], in_order: usize, scores: &mut Compared) {
    if reference.is_empty() || generated.is_empty() {
        return;
    }
    let (precision, recall) = (in_order as f64 / generated.len() as f64, in_order as f64 / reference.len() as f64);
    (scores.precision, scores.recall) = (precision, recall);
    scores.score = if in_order > 0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 };
}

fn executed(
    expected: Option<&Execution>,
    generated: &Plan,
    world: &mut World,
    steps: &Steps,
    names: &Interner,
    scores: &mut PlanScores,
) -> Answer<()> {
    if !generated.steps.is_empty() && !names_operator(world, &generated.steps, steps, names) {
        return Err(Left::Notation); // atoms in a refusal are no plan
    }
    let mut actual = execute(world, &generated.steps, steps, names)?;
    let mut count = generated.steps.len();
    if let Some(place) = &generated.damage {
        count += 1;
        actual.fail(count, place);
    }
    let theirs = expected.and_then(|expected| expected.ending(b"reference plan: ", world, names));
    scores.notes.extend(actual.ending(b"", world, names).into_iter().chain(theirs));
    (scores.valid, scores.goal_reached) = (Some(actual.reaches_goal()), Some(actual.is_at_goal()));
    scores.first_failed_step = actual.failed.as_ref().map(|failure| failure.step);
    scores.verdict = Some(actual.verdict());
    scores.executable_share = Some(executable_share(&actual, count));
    scores.goal_share = Some(actual.goal_share());
    scores.cost = actual.cost;
    if let Some(expected) = expected.filter(|expected| actual.failed.is_none() && expected.failed.is_none()) {
        scores.state_distance = Some(state_distance(world, expected, &actual));
        scores.causal_distance = Some(causal_distance(world, expected, &actual)?);
    }
    Ok(())
}

/// The steps before the first failure over all steps; 1.0 for a plan without steps (definition/metrics/validity.py).
fn executable_share(execution: &Execution, steps: usize) -> f64 {
    match &execution.failed {
        Some(failure) => (failure.step - 1) as f64 / steps as f64,
        None => 1.0,
    }
}
