//! Finds a cheapest plan where each operator costs 1: A*, beyond enumeration (definition/state_space.py).
//!
//! It is guided by LM-cut (Helmert and Domshlak, "Landmarks, critical paths and abstractions: what's the difference
//! anyway?", 2009), then by the number of open goals, which is poor and takes nothing. Neither is ever above what the goal
//! costs: the first plan is a cheapest one, and a search that runs out of states is a proof. LM-cut may fall by more than a
//! step costs, so a state is opened again where it is reached by fewer steps. Of states that cost the same because objects
//! change places (planning/symmetries.rs) one is opened.

use crate::hashing::HashMap;
use crate::left::{Answer, Left};
use crate::planning::invariants::dead_ends;
use crate::planning::search::Proof;
use crate::planning::symmetries::Symmetries;
use crate::planning::task::{Bits, Goal, GroundTask};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Atoms of operators that are looked at, all in all: about four seconds.
const MOST_WORK: usize = 1_000_000_000;

/// Words of memory for the states, some 100 megabytes, and for each of them beside its bits.
const MOST_WORDS: usize = 12_000_000;
const WORDS_PER_STATE: usize = 20;

/// The places of the operators of a plan of the fewest, or why there is none.
pub type Cheapest = Answer<Result<Vec<usize>, Proof>>;

/// A cheapest plan to a state with all these bits.
pub fn cheapest_plan(task: &GroundTask, goal: &Bits) -> Cheapest {
    if let Some(found) = task.shortest_plan(&Goal::of(goal, &Bits::default())) {
        return Ok(found.map_err(Proof::NoState));
    }
    search_cheapest(task, goal).or_else(|_| search_by_open_goals(task, goal))
}

/// As `cheapest_plan`, by LM-cut.
pub fn search_cheapest(task: &GroundTask, goal: &Bits) -> Cheapest {
    let mut cuts = Cuts::new(task, goal);
    search(task, goal, |state| {
        let before = cuts.work;
        (cuts.least(state), cuts.work - before)
    })
}

/// As `cheapest_plan`, by the number of open goals over those that one operator makes true at most.
pub fn search_by_open_goals(task: &GroundTask, goal: &Bits) -> Cheapest {
    let made = task.operators.iter().map(|each| each.added.clone().and(goal).count());
    let most = made.max().unwrap_or(0).max(1);
    search(task, goal, |state| (Some(goal.clone().but(state).count().div_ceil(most) as u32), goal.0.len()))
}

/// A* by what the goal costs at least from a state, None where it is out of reach, and what it takes to say that.
fn search(task: &GroundTask, goal: &Bits, mut least: impl FnMut(&Bits) -> (Option<u32>, usize)) -> Cheapest {
    let symmetries = Symmetries::new(task, goal);
    let dead = dead_ends(task, goal, &Bits::none(task.atoms.len())).unwrap_or_else(|_| Bits::none(task.atoms.len()));
    let words = WORDS_PER_STATE + 2 * goal.0.len();
    let (Some(first), mut work) = least(&task.initial) else { return Ok(Err(Proof::OutOfReach)) };
    let node = |state, steps, least, reached_by| Node { state, steps, least, reached_by, is_replaced: false };
    let mut nodes = vec![node(task.initial.clone(), 0, first, None)];
    let mut known: HashMap<Bits, usize> = HashMap::default();
    known.insert(symmetries.representative(&task.initial), 0);
    let mut open = BinaryHeap::from([Reverse((first, first, 0usize))]);
    let mut following = Vec::new();
    while let Some(Reverse((_, _, number))) = open.pop() {
        if nodes[number].is_replaced {
            continue; // it was reached by fewer since
        }
        let state = nodes[number].state.clone();
        if goal.within(&state) {
            return Ok(Ok(plan(&nodes, number)));
        }
        let steps = nodes[number].steps + 1;
        work += task.successors().of(&task.operators, &state, &mut following);
        work += following.len() * (goal.0.len() + symmetries.size());
        for place in following.iter().copied() {
            let after = task.operators[place].apply(&state);
            if after.meets(&dead) {
                continue;
            }
            let key = symmetries.representative(&after);
            let to_goal = match known.get(&key) {
                Some(other) if nodes[*other].steps <= steps => continue,
                Some(other) => {
                    nodes[*other].is_replaced = true;
                    nodes[*other].least
                }
                None => {
                    let (found, taken) = least(&after);
                    work += taken;
                    let Some(found) = found else { continue };
                    found
                }
            };
            known.insert(key, nodes.len());
            open.push(Reverse((steps + to_goal, to_goal, nodes.len())));
            nodes.push(node(after, steps, to_goal, Some((number, place))));
        }
        if work > MOST_WORK || words * nodes.len() > MOST_WORDS {
            return Err(Left::Budget);
        }
    }
    Ok(Err(Proof::RanOut(known.len())))
}

struct Node {
    state: Bits,
    steps: u32,
    /// What the goal costs from here at least.
    least: u32,
    reached_by: Option<(usize, usize)>,
    /// True where the state, or one that it stands for, was reached by fewer steps since.
    is_replaced: bool,
}

fn plan(nodes: &[Node], mut number: usize) -> Vec<usize> {
    let mut plan = Vec::new();
    while let Some((before, place)) = nodes[number].reached_by {
        plan.push(place);
        number = before;
    }
    plan.reverse();
    plan
}

/// The relaxed task: operators as lists of atoms. Behind the atoms stand one that is always true and one for the goal.
struct Cuts {
    needs: Vec<Vec<usize>>,
    adds: Vec<Vec<usize>>,
    needed_by: Vec<Vec<usize>>,
    added_by: Vec<Vec<usize>>,
    /// What a pass over the operators may look at.
    pass: usize,
    work: usize,
}

const NEVER: u32 = u32::MAX;
const NO_ATOM: usize = usize::MAX;

impl Cuts {
    fn new(task: &GroundTask, goal: &Bits) -> Cuts {
        let count = task.atoms.len();
        let or_true = |bits: &Bits| if bits.is_empty() { vec![count] } else { bits.indexes().collect() };
        let mut needs: Vec<Vec<usize>> = task.operators.iter().map(|each| or_true(&each.needed)).collect();
        let mut adds: Vec<Vec<usize>> = task.operators.iter().map(|each| each.added.indexes().collect()).collect();
        needs.push(or_true(goal));
        adds.push(vec![count + 1]);
        let turned = |lists: &[Vec<usize>]| {
            let mut turned = vec![Vec::new(); count + 2];
            let pairs =
                lists.iter().enumerate().flat_map(|(place, atoms)| atoms.iter().map(move |atom| (*atom, place)));
            pairs.for_each(|(atom, place)| turned[atom].push(place));
            turned
        };
        let pass = count + needs.iter().chain(&adds).map(Vec::len).sum::<usize>();
        Cuts { needed_by: turned(&needs), added_by: turned(&adds), needs, adds, pass, work: 0 }
    }

    /// How many disjoint landmarks of operators the relaxed task has from a state; None where the goal is out of reach.
    fn least(&mut self, state: &Bits) -> Option<u32> {
        let goal = self.needed_by.len() - 1;
        let start: Vec<usize> = state.indexes().chain([goal - 1]).collect();
        let mut costs = vec![1u32; self.needs.len()];
        costs[self.needs.len() - 1] = 0;
        let mut least = 0;
        loop {
            let (dearest, to_goal) = self.dearest(&start, &costs);
            if to_goal == NEVER {
                return None;
            }
            if to_goal == 0 {
                return Some(least);
            }
            for place in self.cut(&start, &costs, &dearest) {
                costs[place] = 0;
            }
            least += 1;
        }
    }

    /// Of each operator the dearest atom that it needs (h^max), and what the goal costs; costs are 0 and 1.
    fn dearest(&mut self, start: &[usize], costs: &[u32]) -> (Vec<usize>, u32) {
        let goal = self.needed_by.len() - 1;
        let mut cost_of = vec![NEVER; goal + 1];
        let mut is_done = vec![false; goal + 1];
        let mut open: Vec<usize> = self.needs.iter().map(Vec::len).collect();
        let mut dearest = vec![NO_ATOM; costs.len()];
        start.iter().for_each(|atom| cost_of[*atom] = 0);
        let mut waiting: VecDeque<usize> = start.iter().copied().collect();
        self.work += self.pass;
        while let Some(atom) = waiting.pop_front() {
            if std::mem::replace(&mut is_done[atom], true) {
                continue;
            }
            for place in &self.needed_by[atom] {
                open[*place] -= 1;
                if open[*place] == 0 {
                    dearest[*place] = atom;
                    let cost = cost_of[atom] + costs[*place];
                    for added in &self.adds[*place] {
                        if cost < cost_of[*added] {
                            cost_of[*added] = cost;
                            if costs[*place] == 0 {
                                waiting.push_front(*added)
                            } else {
                                waiting.push_back(*added)
                            }
                        }
                    }
                }
            }
        }
        (dearest, cost_of[goal])
    }

    /// The operators on the border of what reaches the goal at no cost: each relaxed plan has one of them.
    fn cut(&self, start: &[usize], costs: &[u32], dearest: &[usize]) -> Vec<usize> {
        let goal = self.needed_by.len() - 1;
        let mut in_zone = vec![false; goal + 1];
        in_zone[goal] = true;
        let mut waiting = vec![goal];
        while let Some(atom) = waiting.pop() {
            for place in self.added_by[atom].iter().filter(|place| costs[**place] == 0) {
                let needed = dearest[*place];
                if needed != NO_ATOM && !std::mem::replace(&mut in_zone[needed], true) {
                    waiting.push(needed);
                }
            }
        }
        let (mut cut, mut is_reached) = (Vec::new(), vec![false; goal + 1]);
        waiting.extend(start);
        start.iter().for_each(|atom| is_reached[*atom] = true);
        while let Some(atom) = waiting.pop() {
            for place in self.needed_by[atom].iter().filter(|place| dearest[**place] == atom) {
                if self.adds[*place].iter().any(|added| in_zone[*added]) {
                    cut.push(*place);
                    continue;
                }
                for added in &self.adds[*place] {
                    if !std::mem::replace(&mut is_reached[*added], true) {
                        waiting.push(*added);
                    }
                }
            }
        }
        cut
    }
}
