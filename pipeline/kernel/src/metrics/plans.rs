//! One pair of plans: read both, compare, execute where there is a problem (definition/metrics/plans.py and its parts).

use crate::difference::Difference;
use crate::domains::Domain;
use crate::left::{Answer, Left};
use crate::metrics::actions::Marks;
use crate::metrics::execution::{causal_distance, execute, names_operator, state_distance, Execution};
use crate::pddl::problems::{read_problem, Interner};
use crate::plans::found::{Plan, Step, Steps};
use crate::plans::reading::read_plan;
use crate::task::Task;
use std::rc::Rc;

const FINISH: &[u8] = b"finishaction";

/// The scores of one generated plan against its reference; None where nothing can be computed.
#[derive(Default)]
pub struct PlanScores {
    pub lcs: f64,
    pub jaccard: f64,
    pub score: f64,
    pub precision: f64,
    pub recall: f64,
    pub length: usize,
    pub reference_length: usize,
    pub action_distance: f64,
    pub valid: Option<bool>,
    pub goal_reached: Option<bool>,
    pub first_failed_step: Option<usize>,
    pub state_distance: Option<f64>,
    pub causal_distance: Option<f64>,
    pub notes: Option<Difference>,
}

/// What answers are compared with: a plan, and how it is executed in the problem that it was last executed in.
pub struct Reference {
    plan: Plan,
    executed: Option<(usize, Execution)>,
}

/// A problem that plans are executed in: read, in a known domain, well typed.
pub fn read_task(text: Option<&[u8]>, names: &mut Interner) -> Answer<Task> {
    let problem = read_problem(text, names)?.outcome.map_err(|_| Left::Reference)?;
    let domain = Domain::named(problem.words.known(problem.domain)).ok_or(Left::Domain)?;
    let task = Task::new(Rc::new(problem), domain, true);
    if task.ill_typed().is_some() {
        return Err(Left::Reference);
    }
    Ok(task)
}

pub fn read_reference(text: Option<&[u8]>, steps: &mut Steps) -> Answer<Reference> {
    let plan = read_plan(Some(text.ok_or(Left::Reference)?), steps)?;
    Ok(Reference { plan, executed: None })
}

/// The scores of an answer; `task` is what plans are executed in, with its number in the batch.
pub fn score_plan_pair(
    reference: &mut Reference,
    generated: Option<&[u8]>,
    task: Option<(usize, &Task)>,
    steps: &mut Steps,
    marks: &mut Marks,
) -> Answer<PlanScores> {
    let found = read_plan(generated, steps)?;
    let plan = &reference.plan;
    let mut scores = PlanScores { length: found.steps.len(), reference_length: plan.steps.len(), ..Default::default() };
    if let Some(why) = found.missing {
        scores.action_distance = 1.0;
        scores.notes = Some(Difference::of(&[why.as_bytes()]));
        if task.is_some() {
            (scores.valid, scores.goal_reached) = (Some(false), Some(false));
        }
        return Ok(scores);
    }
    let both = (&plan.steps[..], &found.steps[..]);
    let in_order = marks.common_subsequence(both.0, both.1, steps)?;
    let longer = both.0.len().max(both.1.len());
    scores.lcs = if longer > 0 { in_order as f64 / longer as f64 } else { 1.0 };
    scores.jaccard = marks.plan_jaccard(both.0, both.1, steps);
    scores.action_distance = 1.0 - scores.jaccard;
    plan_score(both.0, both.1, in_order, &mut scores, steps, marks)?;
    if let Some((number, task)) = task {
        executed(reference, &found, number, task, steps, &mut scores)?;
    }
    Ok(scores)
}

/// T-Eval's plan score with exact similarity: the longest common subsequence over both lengths.
fn plan_score(
    reference: &[Step],
    generated: &[Step],
    in_order: usize,
    scores: &mut PlanScores,
    steps: &Steps,
    marks: &mut Marks,
) -> Answer<()> {
    let (ours, theirs) = (without_finish(reference, steps), without_finish(generated, steps));
    if ours.is_empty() || theirs.is_empty() {
        return Ok(());
    }
    let is_whole = ours.len() == reference.len() && theirs.len() == generated.len();
    let in_order = if is_whole { in_order } else { marks.common_subsequence(ours, theirs, steps)? };
    let (precision, recall) = (in_order as f64 / theirs.len() as f64, in_order as f64 / ours.len() as f64);
    (scores.precision, scores.recall) = (precision, recall);
    scores.score = if in_order > 0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 };
    Ok(())
}

/// The plan without T-Eval's last action, whatever its arguments.
fn without_finish<'a>(plan: &'a [Step], steps: &Steps) -> &'a [Step] {
    match plan {
        [before @ .., last] if steps.set_number(*last).is_none() && steps.words(*last).next() == Some(FINISH) => before,
        _ => plan,
    }
}

fn executed(
    reference: &mut Reference,
    generated: &Plan,
    number: usize,
    task: &Task,
    steps: &Steps,
    scores: &mut PlanScores,
) -> Answer<()> {
    if !generated.steps.is_empty() && !names_operator(task, &generated.steps, steps) {
        return Err(Left::Notation); // atoms in a refusal are no plan
    }
    if reference.executed.as_ref().map(|(place, _)| *place) != Some(number) {
        reference.executed = Some((number, execute(task, &reference.plan.steps, steps)?));
    }
    let expected = &reference.executed.as_ref().ok_or(Left::Panic)?.1;
    let actual = execute(task, &generated.steps, steps)?;
    scores.notes = match (actual.ending(b"", task), expected.ending(b"reference plan: ", task)) {
        (Some(ours), Some(theirs)) => Some(ours.and(theirs)),
        (ours, theirs) => ours.or(theirs),
    };
    (scores.valid, scores.goal_reached) = (Some(actual.reaches_goal()), Some(actual.is_at_goal()));
    scores.first_failed_step = actual.failed.as_ref().map(|(step, _)| *step);
    if actual.failed.is_none() && expected.failed.is_none() {
        scores.state_distance = Some(state_distance(task, expected, &actual));
        scores.causal_distance = Some(causal_distance(task, expected, &actual)?);
    }
    Ok(())
}
