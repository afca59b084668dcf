//! What guides the search: reasonable orders of goals (Koehler and Hoffmann, "On reasonable and forced goal orderings",
//! 2000) and relaxed plans (Hoffmann and Nebel, "The FF planning system", 2001).
//!
//! An order proves nothing; where there is no relaxed plan there is no plan.

use crate::hashing::HashMap;
use crate::planning::mutex_groups::MutexGroups;
use crate::planning::task::{Bits, GroundTask, Lists};
use std::rc::Rc;

/// The goals that come after no other, then each other goal with those before it, earliest first.
pub struct OrderedGoals {
    first: Bits,
    later: Vec<(usize, Bits)>,
}

impl OrderedGoals {
    /// The goals that are true with all before them settled too, and the goals that are next in order.
    pub fn settled(&self, state: &Bits) -> (Bits, Bits) {
        let mut settled = state.clone().and(&self.first);
        let mut following = self.first.clone().but(&settled);
        for (bit, before) in &self.later {
            if before.within(&settled) {
                if state.has(*bit) { &mut settled } else { &mut following }.set(*bit);
            }
        }
        (settled, following)
    }
}

/// The bits of a goal in a reasonable order: a tower from below, a box in the corner before the one in the door.
///
/// A goal is ordered after another when every operator that makes the other true works only where the first one is false
/// or makes it false: reached first, it would have to be given up again. A cycle is cut somewhere.
pub fn reasonable_orders(task: &GroundTask, groups: &MutexGroups, goal: &Bits) -> OrderedGoals {
    let count = task.atoms.len();
    let mut spoilt: Vec<Option<Bits>> = vec![None; count];
    for operator in &task.operators {
        if operator.added.meets(goal) {
            let mut impossible = operator.deleted.clone();
            for index in operator.needed.clone().or(&operator.added).indexes() {
                impossible.add(&groups.excluded[index]);
            }
            for index in operator.added.clone().and(goal).indexes() {
                match &mut spoilt[index] {
                    Some(known) => known.keep(&impossible),
                    none => *none = Some(impossible.clone()),
                }
            }
        }
    }
    let mut before: HashMap<usize, Bits> = goal.indexes().map(|index| (index, Bits::none(count))).collect();
    for (earlier, spoilt) in spoilt.iter().enumerate() {
        let Some(spoilt) = spoilt else { continue };
        for index in spoilt.clone().and(goal).indexes().filter(|index| *index != earlier) {
            before.entry(index).and_modify(|before| before.set(earlier));
        }
    }
    let (mut first, mut placed) = (Bits::none(count), Bits::none(count));
    let mut later = Vec::new();
    let mut waiting: Vec<usize> = goal.indexes().collect();
    while !waiting.is_empty() {
        let place = waiting.iter().position(|index| before[index].within(&placed)).unwrap_or(0);
        let index = waiting.remove(place);
        let own = before[&index].clone().and(&placed);
        if own.is_empty() {
            first.set(index);
        } else {
            later.push((index, own));
        }
        placed.set(index);
    }
    OrderedGoals { first, later }
}

/// The literals that each operator needs, the operators that need each literal, the literals that each makes true.
///
/// Literal i is the atom of bit i and literal n + i its negation; literal 2n is always true.
pub struct Literals {
    needs: Lists,
    needed_by: Lists,
    makes: Lists,
    needed_false: Bits,
}

impl Literals {
    /// Of the negations those that operators need, and those of these bits.
    pub fn new(task: &GroundTask, no: &Bits) -> Literals {
        let (count, operators) = (task.atoms.len(), &task.operators);
        let mut needed_false = no.clone();
        operators.iter().for_each(|operator| needed_false.add(&operator.avoided));
        let (mut needs, mut makes) = (Vec::new(), Vec::new());
        for (position, operator) in operators.iter().enumerate() {
            let before = needs.len();
            let avoided = operator.avoided.indexes().map(|index| count + index);
            needs.extend(operator.needed.indexes().chain(avoided).map(|literal| (position, literal)));
            if needs.len() == before {
                needs.push((position, 2 * count));
            }
            let deleted = operator.deleted.indexes().filter(|index| needed_false.has(*index));
            let made = operator.added.indexes().chain(deleted.map(|index| count + index));
            makes.extend(made.map(|literal| (position, literal)));
        }
        let needed_by: Vec<_> = needs.iter().map(|(position, literal)| (*literal, *position)).collect();
        let [needs, makes] = [needs, makes].map(|pairs| Lists::new(operators.len(), &pairs));
        Literals { needs, needed_by: Lists::new(2 * count + 1, &needed_by), makes, needed_false }
    }
}

/// Relaxed planning towards a goal: all bits of `yes` set and none of `no`.
pub struct RelaxedPlanner {
    literals: Rc<Literals>,
    count: usize,
    yes: Bits,
    no: Bits,
    /// How many literals each operator needs.
    unmet: Vec<u32>,
}

impl RelaxedPlanner {
    pub fn new(task: &GroundTask, yes: &Bits, no: &Bits) -> RelaxedPlanner {
        let literals = if no.is_empty() { task.literals() } else { Rc::new(Literals::new(task, no)) };
        let unmet = (0..task.operators.len()).map(|position| literals.needs.of(position).len() as u32).collect();
        RelaxedPlanner { literals, count: task.atoms.len(), yes: yes.clone(), no: no.clone(), unmet }
    }

    /// What a relaxed plan for the aims makes true; None where the whole goal has no relaxed plan.
    ///
    /// The aims are bits to set; those to be false are aimed at, too.
    pub fn relaxed_plan(&self, state: &Bits, aims: &Bits) -> Option<Bits> {
        const NOBODY: u32 = u32::MAX;
        let count = self.count;
        let wrong = self.no.clone().and(state);
        let mut missing = self.yes.clone().but(state).count() + wrong.count();
        let mut queue = vec![2 * count];
        queue.extend(state.indexes());
        let Literals { needs, needed_by, makes, needed_false } = &*self.literals;
        queue.extend(needed_false.clone().but(state).indexes().map(|index| count + index));
        let mut reached = vec![false; 2 * count + 1];
        queue.iter().for_each(|literal| reached[*literal] = true);
        let mut unmet = self.unmet.clone();
        let mut maker = vec![NOBODY; 2 * count + 1];
        let mut next = 0;
        while next < queue.len() && missing > 0 {
            for position in needed_by.of(queue[next]) {
                unmet[*position as usize] -= 1;
                if unmet[*position as usize] == 0 {
                    for made in makes.of(*position as usize).iter().map(|made| *made as usize) {
                        if !reached[made] {
                            reached[made] = true;
                            maker[made] = *position;
                            queue.push(made);
                            let is_goal = if made < count { self.yes.has(made) } else { self.no.has(made - count) };
                            missing -= usize::from(is_goal);
                        }
                    }
                }
            }
            next += 1;
        }
        if missing > 0 {
            return None;
        }
        let mut path = vec![false; 2 * count + 1];
        let mut stack: Vec<usize> = aims.indexes().chain(wrong.indexes().map(|index| count + index)).collect();
        while let Some(literal) = stack.pop() {
            if maker[literal] != NOBODY && !path[literal] {
                path[literal] = true;
                stack.extend(needs.of(maker[literal] as usize).iter().map(|each| *each as usize));
            }
        }
        Some(Bits::of(count, (0..count).filter(|literal| path[*literal])))
    }
}
