//! cl(goal) between two bounds, where the reachable states are too many to list (definition/planning/bounds.py).
//!
//! Where the bounds that cost no further search do not meet, the definition asks on.

use crate::planning::invariants::unit_propagation;
use crate::planning::task::{Bits, GroundTask, States};

const MAX_EXAMINED: usize = 200_000;

/// cl(goal), if what invariants derive from the goal is what the goal states around a known one share.
pub fn closure_bounds(task: &GroundTask, first: &Bits, goal: &Bits) -> Option<Bits> {
    let lower = unit_propagation(task.groups(), goal)?;
    let upper = shared_around(task, first, goal, &lower);
    (lower == upper).then_some(lower)
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
