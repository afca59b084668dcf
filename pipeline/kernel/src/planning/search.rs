//! Searches a plan in a ground task: best-first, after Lipovetzky and Geffner 2017 (definition/planning/search.py).

use crate::left::{Answer, Left};
use crate::planning::heuristics::{reasonable_orders, RelaxedPlanner};
use crate::planning::invariants::unit_propagation;
use crate::planning::task::{Bits, GroundTask, States};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// States before h² and regression would be asked whether there can be a plan: what takes longer is the definition's.
const FIRST_STATES: usize = 10_000;
const OPERATORS_PER_STATE: usize = 20;
const EXAMINED_PER_STATE: usize = 50;

/// Why no reachable state has all atoms of the goal.
#[derive(Clone)]
pub enum Proof {
    Excluded,
    OutOfReach,
    /// The search ran out after so many states.
    RanOut(usize),
}

struct Node {
    state: Bits,
    open_goals: usize,
    /// What its relaxed plan makes true, None where that was not computed, and how much of it was achieved.
    path: Option<Bits>,
    achieved: Bits,
    /// The node before, and the place of the operator that led here.
    reached_by: Option<(usize, usize)>,
}

/// The places of operators that lead from the initial state to one with all bits of the goal.
pub fn find_path(task: &GroundTask, goal: &Bits) -> Answer<Result<Vec<usize>, Proof>> {
    if goal.within(&task.initial) {
        return Ok(Ok(Vec::new()));
    }
    let groups = task.groups();
    if unit_propagation(groups, goal).is_none() {
        return Ok(Err(Proof::Excluded));
    }
    let goals = reasonable_orders(task, groups, goal);
    let planner = RelaxedPlanner::new(task, goal);
    let mut following = Vec::new();
    let nothing = Bits::none(task.atoms.len());
    let mut lasting = nothing.clone();
    task.operators.iter().for_each(|operator| lasting.add(&operator.added));
    let mut familiar: HashMap<(usize, usize), Bits> = HashMap::new();
    let mut rank = |state: &Bits, open_goals: usize, achieved: &Bits| {
        let progress = achieved.count();
        let known = familiar.entry((open_goals, progress)).or_insert_with(|| nothing.clone());
        let is_old = state.within(known);
        known.add(state);
        (is_old, open_goals, Reverse(progress))
    };
    let count_open = |state: &Bits| goal.count() - goals.settled(state).0.count();
    let relaxed_path = |state: &Bits| planner.relaxed_plan(state, &goals.settled(state).1);
    let Some(path) = relaxed_path(&task.initial) else { return Ok(Err(Proof::OutOfReach)) };
    let open_goals = count_open(&task.initial);
    let first = rank(&task.initial, open_goals, &nothing);
    let (state, achieved) = (task.initial.clone(), nothing.clone());
    let mut nodes = vec![Node { state, open_goals, path: Some(path), achieved, reached_by: None }];
    let mut heap = BinaryHeap::from([Reverse((first, 0usize))]);
    let mut seen = States::of(&task.initial);
    let mut after = task.initial.clone();
    let mut generated = 1 + task.operators.len() / OPERATORS_PER_STATE;
    while let Some(Reverse((_, number))) = heap.pop() {
        if generated > FIRST_STATES {
            return Err(Left::Budget);
        }
        let node = &nodes[number];
        let (state, open_goals) = (node.state.clone(), node.open_goals);
        let path = match &node.path {
            Some(path) => path.clone(),
            None => {
                let path = relaxed_path(&state);
                generated += task.operators.len() / OPERATORS_PER_STATE;
                let Some(path) = path else { continue };
                path
            }
        };
        let achieved = node.achieved.clone();
        let examined = task.successors().of(&task.operators, &state, &mut following);
        generated += 1 + examined / EXAMINED_PER_STATE;
        for place in following.iter().copied() {
            task.operators[place].apply_to(&state, &mut after);
            if !seen.insert(&after) {
                continue;
            }
            generated += 1;
            if goal.within(&after) {
                return Ok(Ok(plan(&nodes, number, place)));
            }
            let now_open = count_open(&after);
            let lost = state.clone().but(&after).but(&lasting);
            let look_again = now_open < open_goals || !lost.is_empty();
            let now_achieved = if look_again { nothing.clone() } else { after.clone().and(&path).or(&achieved) };
            let own = rank(&after, now_open, &now_achieved);
            heap.push(Reverse((own, nodes.len())));
            nodes.push(Node {
                state: after.clone(),
                open_goals: now_open,
                path: (!look_again).then(|| path.clone()),
                achieved: now_achieved,
                reached_by: Some((number, place)),
            });
        }
    }
    Ok(Err(Proof::RanOut(seen.count)))
}

fn plan(nodes: &[Node], mut number: usize, last: usize) -> Vec<usize> {
    let mut plan = vec![last];
    while let Some((before, place)) = nodes[number].reached_by {
        plan.push(place);
        number = before;
    }
    plan.reverse();
    plan
}
