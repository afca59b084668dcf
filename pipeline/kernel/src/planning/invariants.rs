//! What holds in every reachable state: unit propagation of literals, the table h², and regression.
//!
//! All of it is sound and not complete: what is derived holds; what is missing may hold too.

use crate::left::{Answer, Left};
use crate::planning::task::{BitOperator, Bits, GroundTask};
use std::collections::VecDeque;

const MAX_LITERALS: usize = 1_200;

/// Evaluations of an operator by h².
const MAX_EVALUATIONS: usize = 30_000;
const MAX_REGRESSIONS: usize = 300;

/// For each literal the literals that may be true with it in one reachable state; literal n + i is the negation of i.
pub type H2 = Vec<Bits>;

/// The bits that are true and the bits that are false; the others are open.
type Literals = (Bits, Bits);

/// The literals as one set.
fn joined(yes: &Bits, no: &Bits, count: usize) -> Bits {
    Bits::of(2 * count, yes.indexes().chain(no.indexes().map(|index| count + index)))
}

/// Every literal that the invariants derive from the given ones, these included; None: no reachable state has them.
pub fn unit_propagation(task: &GroundTask, yes: &Bits, no: &Bits, with_h2: bool) -> Answer<Option<Literals>> {
    let (groups, count) = (task.groups()?, task.atoms.len());
    let table = if with_h2 { task.h2()? } else { None };
    let (mut yes, mut no) = (yes.clone(), no.clone().or(&groups.impossible));
    let (mut seen_yes, mut seen_no) = (Bits::none(count), Bits::none(count));
    while yes != seen_yes || no != seen_no {
        let (new_yes, new_no) = (yes.clone().but(&seen_yes), no.clone().but(&seen_no));
        (seen_yes, seen_no) = (yes.clone(), no.clone());
        new_yes.indexes().for_each(|index| no.add(&groups.excluded[index]));
        if let Some(table) = table {
            let mut compatible = Bits::of(2 * count, 0..2 * count);
            joined(&new_yes, &new_no, count).indexes().for_each(|literal| compatible.keep(&table[literal]));
            for index in 0..count {
                if !compatible.has(count + index) {
                    yes.set(index);
                }
                if !compatible.has(index) {
                    no.set(index);
                }
            }
        }
        for group in &groups.exactly_one {
            let left = group.clone().but(&no);
            match left.count() {
                0 => return Ok(None),
                1 => yes.add(&left),
                _ => {}
            }
        }
        if yes.meets(&no) {
            return Ok(None);
        }
    }
    Ok(Some((yes, no)))
}

/// The bits that no operator deletes and that exclude the goal: from a state that has one it cannot be reached.
pub fn dead_ends(task: &GroundTask, yes: &Bits, no: &Bits) -> Answer<Bits> {
    let mut dead = no.clone();
    yes.indexes().try_for_each(|index| task.groups().map(|groups| dead.add(&groups.excluded[index])))?;
    task.operators.iter().for_each(|operator| dead.remove(&operator.deleted));
    Ok(dead)
}

/// The table of Haslum and Geffner, "Admissible heuristics for optimal planning" (2000), as yes or no; None where it
/// would be too large.
///
/// An empty set: the literal is true in no reachable state. With negations a pair that is never true together is also an
/// implication: `have` is true wherever `communicated` is, for `communicated` and *not* `have` exclude each other.
pub fn h2(task: &GroundTask) -> Answer<Option<H2>> {
    let count = task.atoms.len();
    if 2 * count > MAX_LITERALS {
        return Ok(None);
    }
    let nothing = Bits::none(2 * count);
    let everything = Bits::of(count, 0..count);
    let initial = joined(&task.initial, &everything.but(&task.initial), count);
    let start = |literal| if initial.has(literal) { initial.clone() } else { nothing.clone() };
    let mut table: H2 = (0..2 * count).map(start).collect();
    struct Sets {
        needed: Bits,
        made: Bits,
        true_after: Bits,
        decided: Bits,
    }
    let sets = |operator: &BitOperator| {
        let needed = joined(&operator.needed, &operator.avoided, count);
        let made = joined(&operator.added, &operator.deleted, count);
        let lost = joined(&operator.deleted, &operator.added, count);
        let true_after = needed.clone().but(&lost).or(&made);
        Sets { needed, made, decided: lost.or(&true_after), true_after }
    };
    let operators: Vec<Sets> = task.operators.iter().map(sets).collect();
    let mut reached = initial.clone();
    let mut changed = initial;
    let mut evaluations = 0;
    while !changed.is_empty() {
        let changing = std::mem::replace(&mut changed, nothing.clone());
        for Sets { needed, made, true_after, decided } in &operators {
            if !needed.is_empty() && !needed.meets(&changing) && !needed.meets(&changed) {
                continue;
            }
            evaluations += 1;
            if needed.indexes().any(|literal| !needed.within(&table[literal])) {
                continue; // two of its preconditions are not true together, as far as is known
            }
            // What may be true before it with all its preconditions may be true after it, unless it decides that.
            let mut after = reached.clone();
            needed.indexes().for_each(|literal| after.keep(&table[literal]));
            let after = after.but(decided).or(true_after);
            let mut new = nothing.clone();
            for literal in made.indexes() {
                new.add(&after.clone().but(&table[literal]));
                table[literal].add(&after);
            }
            if !new.is_empty() {
                new.indexes().for_each(|other| table[other].add(made));
                reached.add(made);
                changed.add(&new);
                changed.add(made);
            }
        }
        if evaluations > MAX_EVALUATIONS {
            return Err(Left::Budget);
        }
    }
    Ok(Some(table))
}

/// True when regression proves that no reachable state has all bits of `yes` and none of `no`.
///
/// A set of literals that does not hold initially needs an operator that makes the last of them true, applied in a state
/// that has the operator's preconditions and the other literals already. Where invariants exclude every such predecessor
/// the set is unreachable: three blocks in a circle fail here after one step, which no pair of atoms shows.
///
/// The proof. Let some reachable state have all literals of a set that was examined, and take the shortest plan to such a
/// state, over all sets. It is not empty: no set holds initially. Its last operator made a literal of the set true, or the
/// plan without it would be shorter. So the state before it has the literals of a predecessor. That was examined too, or
/// contains a set that was, and its plan is shorter: a contradiction; or invariants exclude it. False says nothing: a
/// limit was hit or a set holds initially.
pub fn is_unreachable(task: &GroundTask, yes: &Bits, no: &Bits) -> Answer<bool> {
    let mut seen: Vec<Literals> = Vec::new();
    let mut queue = VecDeque::from([(yes.clone(), no.clone())]);
    let mut count = 0;
    while let Some((yes, no)) = queue.pop_front() {
        count += 1;
        let Some((yes, no)) = unit_propagation(task, &yes, &no, true)? else { continue };
        if seen.iter().any(|(t, f)| t.within(&yes) && f.within(&no)) {
            continue;
        }
        if yes.within(&task.initial) && !no.meets(&task.initial) {
            return Ok(false);
        }
        // What must hold before each operator that makes one of the literals true and none of them false.
        let makes = |operator: &&BitOperator| {
            (operator.added.meets(&yes) || operator.deleted.meets(&no))
                && !operator.deleted.meets(&yes)
                && !operator.added.meets(&no)
        };
        let before = task.operators.iter().filter(makes).map(|operator| {
            let before_yes = yes.clone().but(&operator.added).or(&operator.needed);
            (before_yes, no.clone().but(&operator.deleted).or(&operator.avoided))
        });
        queue.extend(before.filter(|(yes, no)| !yes.meets(no)).take(MAX_REGRESSIONS + 1));
        seen.push((yes, no));
        if count + queue.len() > MAX_REGRESSIONS + 1 {
            return Ok(false);
        }
    }
    Ok(true)
}
