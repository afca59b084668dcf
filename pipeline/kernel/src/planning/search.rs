//! Searches a plan in a ground task: best-first, complete, bounded by the number of states that it generates.
//!
//! After Lipovetzky and Geffner, "Best-first width search" (2017): states with something new come first, then those with
//! few open goals, then those that have achieved much of a relaxed plan. A relaxed plan is computed only after a step that
//! settled a goal, or lost an atom that nothing adds. A goal counts when the goals ordered before it count, and the relaxed
//! plan is for the goals that come next. A search that runs out of states is a proof.

use crate::difference::Difference;
use crate::hashing::HashMap;
use crate::left::{Answer, Left};
use crate::planning::heuristics::{reasonable_orders, RelaxedPlanner};
use crate::planning::invariants::{dead_ends, is_unreachable, unit_propagation};
use crate::planning::task::{Bits, Goal, GroundTask, States};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// States before h² and regression are asked whether there can be a plan.
const FIRST_STATES: usize = 10_000;

/// States that one question may generate.
pub const MAX_STATES: usize = 100_000;
const OPERATORS_PER_STATE: usize = 20;
const EXAMINED_PER_STATE: usize = 50;

/// Why no reachable state has all atoms of the goal.
#[derive(Clone)]
pub enum Proof {
    /// None of so many reachable states has them.
    NoState(usize),
    Excluded,
    OutOfReach,
    /// The search ran out after so many states.
    RanOut(usize),
    /// Regression: each way to the last of the goal's atoms is excluded.
    EachWay,
}

impl Proof {
    /// Why no reachable state has the goal.
    pub fn difference(&self) -> Difference {
        match self {
            Proof::NoState(states) => Difference::of("no state").number("states", *states),
            Proof::Excluded => Difference::of("excluded"),
            Proof::OutOfReach => Difference::of("out of reach"),
            Proof::RanOut(states) => Difference::of("ran out").number("states", *states),
            Proof::EachWay => Difference::of("each way"),
        }
    }
}

/// Operators, by their places; a proof; None where a limit was hit.
pub type Path = Option<Result<Vec<usize>, Proof>>;

struct Node {
    state: Bits,
    open_goals: usize,
    /// What its relaxed plan makes true, None where that was not computed, and how much of it was achieved.
    path: Option<Bits>,
    achieved: Bits,
    /// The node before, and the place of the operator that led here.
    reached_by: Option<(usize, usize)>,
}

/// What the search asks for: a state with all bits of `yes` and none of `no`, from a reachable state.
pub struct Question<'a> {
    pub start: &'a Bits,
    pub yes: &'a Bits,
    pub no: &'a Bits,
    /// States that are generated before the search gives up.
    pub most: usize,
}

/// States that may still be generated for one closure or plan.
pub struct StatesLeft(usize);

impl StatesLeft {
    pub fn new() -> StatesLeft {
        StatesLeft(60_000)
    }
}

/// The places of the operators of a plan to a state with all bits of `yes` and none of `no`: the alphabetically first of
/// the shortest where these can be enumerated.
pub fn find_plan(task: &GroundTask, yes: &Bits, no: &Bits) -> Answer<Result<Vec<usize>, Proof>> {
    if let Some(found) = task.shortest_plan(&Goal::of(yes, no)) {
        return Ok(found.map_err(Proof::NoState));
    }
    if task.is_beyond() {
        return Err(task.too_many(Left::Budget));
    }
    let question = Question { start: &task.initial, yes, no, most: MAX_STATES };
    find_path(task, &question, &mut StatesLeft::new())?.ok_or(Left::Budget)
}

/// The places of operators that lead to a state that is asked for.
pub fn find_path(task: &GroundTask, question: &Question, left: &mut StatesLeft) -> Answer<Path> {
    let Question { start, yes, no, most } = *question;
    let is_goal = |state: &Bits| yes.within(state) && !no.meets(state);
    if is_goal(start) {
        return Ok(Some(Ok(Vec::new())));
    }
    let groups = task.groups()?;
    if unit_propagation(task, yes, no, false)?.is_none() {
        return Ok(Some(Err(Proof::Excluded)));
    }
    let dead = dead_ends(task, yes, no)?;
    let goals = reasonable_orders(task, groups, yes);
    let planner = RelaxedPlanner::new(task, yes, no);
    let mut following = Vec::new();
    let nothing = Bits::none(task.atoms.len());
    let mut lasting = nothing.clone();
    task.operators.iter().for_each(|operator| lasting.add(&operator.added));
    let mut familiar: HashMap<(usize, usize), Bits> = HashMap::default();
    let mut rank = |state: &Bits, open_goals: usize, achieved: &Bits| {
        let progress = achieved.count();
        let known = familiar.entry((open_goals, progress)).or_insert_with(|| nothing.clone());
        let is_old = state.within(known);
        known.add(state);
        (is_old, open_goals, Reverse(progress))
    };
    let wrong = |state: &Bits| no.clone().and(state).count();
    let count_open = |state: &Bits| yes.count() - goals.settled(state).0.count() + wrong(state);
    let relaxed_path = |state: &Bits| planner.relaxed_plan(state, &goals.settled(state).1);
    let Some(path) = relaxed_path(start) else { return Ok(Some(Err(Proof::OutOfReach))) };
    let open_goals = count_open(start);
    let first = rank(start, open_goals, &nothing);
    let (state, achieved) = (start.clone(), nothing.clone());
    let mut nodes = vec![Node { state, open_goals, path: Some(path), achieved, reached_by: None }];
    let mut heap = BinaryHeap::from([Reverse((first, 0usize))]);
    let mut seen = States::of(start);
    let mut after = start.clone();
    let mut generated = 1 + task.operators.len() / OPERATORS_PER_STATE;
    let (mut doubted, mut counted) = (false, 0);
    while let Some(Reverse((_, number))) = heap.pop() {
        if generated > FIRST_STATES && !doubted {
            doubted = true;
            if is_unreachable(task, yes, no)? {
                return Ok(Some(Err(Proof::EachWay)));
            }
        }
        if generated > most {
            return Ok(None);
        }
        left.0 = left.0.checked_sub(generated - counted).ok_or(Left::Budget)?;
        counted = generated;
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
            if after.meets(&dead) || !seen.insert(&after) {
                continue;
            }
            generated += 1;
            if is_goal(&after) {
                return Ok(Some(Ok(plan(&nodes, number, place))));
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
    Ok(Some(Err(Proof::RanOut(seen.count))))
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
