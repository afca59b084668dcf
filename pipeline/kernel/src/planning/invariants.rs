//! What holds in every reachable state: unit propagation of literals (definition/planning/invariants.py).

use crate::planning::mutex_groups::MutexGroups;
use crate::planning::task::Bits;

/// Every atom that the groups derive from the given ones, these included; None: no reachable state has them.
pub fn unit_propagation(groups: &MutexGroups, goal: &Bits) -> Option<Bits> {
    let (mut yes, mut no) = (goal.clone(), groups.impossible.clone());
    let mut seen = Bits(vec![0; yes.0.len()]);
    let mut seen_false = seen.clone();
    while yes != seen || no != seen_false {
        let new = yes.clone().but(&seen);
        (seen, seen_false) = (yes.clone(), no.clone());
        new.indexes().for_each(|index| no.add(&groups.excluded[index]));
        for group in &groups.exactly_one {
            let left = group.clone().but(&no);
            match left.count() {
                0 => return None,
                1 => yes.add(&left),
                _ => {}
            }
        }
        if yes.meets(&no) {
            return None;
        }
    }
    Some(yes)
}
