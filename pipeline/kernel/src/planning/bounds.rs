//! cl(goal) between two bounds, where the reachable states are too many to list.
//!
//! What invariants derive from the goal is in cl(goal); what a reachable goal state lacks is not. Each atom in between is
//! a planning task of its own: is there a goal state without it? Where the bounds meet they are the closure.

use crate::left::Answer;
use crate::planning::invariants::unit_propagation;
use crate::planning::search::{find_path, Question, StatesLeft, MAX_STATES};
use crate::planning::task::{Bits, GroundTask, States};

const MAX_EXAMINED: usize = 200_000;
const MAX_QUESTIONS: usize = 50;
const STATES_NEARBY: usize = 3_000;

/// cl(goal), of which `first` is a state, if the bounds meet.
pub fn closure_bounds(task: &GroundTask, first: &Bits, goal: &Bits) -> Answer<Option<Bits>> {
    let count = task.atoms.len();
    let implied = |goal: &Bits, with_h2| -> Answer<Bits> {
        let literals = unit_propagation(task, goal, &Bits::none(count), with_h2)?;
        Ok(literals.map_or_else(|| Bits::of(count, 0..count), |(yes, _)| yes))
    };
    let mut lower = implied(goal, false)?;
    let mut upper = shared_around(task, first, goal, &lower);
    if lower != upper {
        lower = implied(goal, true)?;
    }
    // Each atom between the bounds: is there a goal state without it?
    let mut left = StatesLeft::new();
    for _ in 0..MAX_QUESTIONS {
        let Some(atom) = upper.clone().but(&lower).indexes().next() else { break };
        let no = Bits::of(count, [atom]);
        let near = Question { start: first, yes: goal, no: &no, most: STATES_NEARBY };
        let far = Question { start: &task.initial, most: MAX_STATES, ..near };
        let mut found = find_path(task, &near, &mut left)?;
        let mut start = first;
        if !matches!(found, Some(Ok(_))) {
            found = find_path(task, &far, &mut left)?;
            start = &task.initial;
        }
        match found {
            Some(Ok(path)) => upper.keep(&task.after(start, &path)),
            Some(Err(_)) => {
                lower.set(atom);
                lower = implied(&lower, true)?;
            }
            None => return Ok(None),
        }
    }
    Ok((lower == upper).then_some(lower))
}

/// What the goal states around the first one share: states that show no literal for the first time are not passed.
///
/// Literals are counted apart for states with and without the goal. Stops when nothing but `lower` is left.
fn shared_around(task: &GroundTask, first: &Bits, goal: &Bits, lower: &Bits) -> Bits {
    let count = task.atoms.len();
    let everything = Bits::of(count, 0..count);
    let negated = |state: &Bits| everything.clone().but(state);
    let nothing = Bits::none(count);
    // The literals that were true and those that were false, in states without the goal and with it.
    let mut shown = [(nothing.clone(), nothing), (first.clone(), negated(first))];
    let mut shared = first.clone();
    let mut seen = States::of(first);
    let mut examined = 0;
    let mut queue = vec![first.clone()];
    let (mut next, mut after, mut following) = (0, first.clone(), Vec::new());
    while next < queue.len() {
        let state = queue[next].clone();
        next += 1;
        examined += task.successors().of(&task.operators, &state, &mut following);
        for place in &following {
            task.operators[*place].apply_to(&state, &mut after);
            if !seen.insert(&after) {
                continue;
            }
            let has_goal = goal.within(&after);
            let (yes, no) = &mut shown[usize::from(has_goal)];
            let false_after = negated(&after);
            if !after.within(yes) || !false_after.within(no) {
                yes.add(&after);
                no.add(&false_after);
                if has_goal {
                    shared.keep(&after);
                }
                queue.push(after.clone());
            }
        }
        if shared == *lower || examined > MAX_EXAMINED {
            break;
        }
    }
    shared
}
