//! What actions two plans share (definition/metrics/actions.py).

use crate::left::{Answer, Left};
use crate::plans::found::{Step, Steps};

/// Words of the masks of a reference: 64 MB.
const MOST_WORDS: usize = 1 << 23;

/// Numbers of the steps of a batch that one comparison needs, kept from row to row.
#[derive(Default)]
pub struct Marks {
    /// For each action and each set: the comparison that marked it last, and its mark.
    actions: Vec<(u32, u32)>,
    sets: Vec<(u32, u32)>,
    comparison: u32,
}

impl Marks {
    fn start(&mut self, steps: &Steps) {
        let (actions, sets) = steps.counts();
        self.actions.resize(actions, (0, 0));
        self.sets.resize(sets, (0, 0));
        self.comparison = self.comparison.checked_add(1).unwrap_or_else(|| {
            self.actions.fill((0, 0));
            self.sets.fill((0, 0));
            1
        });
    }

    /// The mark of a step; 0 where it has none in this comparison.
    fn mark(&mut self, steps: &Steps, step: Step) -> &mut u32 {
        let (comparison, mark) = match steps.set_number(step) {
            Some(number) => &mut self.sets[number],
            None => &mut self.actions[step as usize],
        };
        if *comparison != self.comparison {
            (*comparison, *mark) = (self.comparison, 0);
        }
        mark
    }

    /// The length of the longest common subsequence: bit-parallel (Hyyrö 2004), a word for 64 steps of the reference.
    pub fn common_subsequence(&mut self, reference: &[Step], generated: &[Step], steps: &Steps) -> Answer<usize> {
        let mut same = reference.iter().zip(generated).take_while(|(one, other)| one == other).count();
        let (reference, generated) = (&reference[same..], &generated[same..]);
        let backwards = reference.iter().rev().zip(generated.iter().rev());
        let end = backwards.take_while(|(one, other)| one == other).count();
        let (reference, generated) = (&reference[..reference.len() - end], &generated[..generated.len() - end]);
        same += end;
        if reference.is_empty() || generated.is_empty() {
            return Ok(same);
        }
        self.start(steps);
        let words = reference.len().div_ceil(64);
        if reference.len() * words > MOST_WORDS {
            return Err(Left::Budget);
        }
        let mut masks = Vec::with_capacity((reference.len() + 1) * words);
        masks.resize(words, 0u64); // for steps that the reference does not have; then those of each that it has
        for (place, step) in reference.iter().enumerate() {
            let mark = self.mark(steps, *step);
            if *mark == 0 {
                *mark = (masks.len() / words) as u32;
                masks.resize(masks.len() + words, 0);
            }
            masks[*mark as usize * words + place / 64] |= 1 << (place % 64);
        }
        let mut state = vec![u64::MAX; words];
        for step in generated {
            let at = *self.mark(steps, *step) as usize * words;
            if at == 0 {
                continue;
            }
            let mut carry = false;
            for (state, mask) in state.iter_mut().zip(&masks[at..at + words]) {
                let growing = *state & mask;
                let (sum, first) = state.overflowing_add(growing);
                let (sum, second) = sum.overflowing_add(u64::from(carry));
                carry = first | second;
                *state = sum | (*state & !mask);
            }
        }
        let rest = reference.len() % 64;
        if rest > 0 {
            state[words - 1] |= u64::MAX << rest;
        }
        Ok(same + state.iter().map(|word| word.count_zeros() as usize).sum::<usize>())
    }

    /// The shared actions over all actions.
    pub fn plan_jaccard(&mut self, reference: &[Step], generated: &[Step], steps: &Steps) -> f64 {
        self.start(steps);
        let (mut common, mut union) = (0u32, 0u32);
        for (plan, own) in [(reference, 1), (generated, 2)] {
            for action in plan.iter().flat_map(|step| steps.actions_of(step)) {
                let mark = self.mark(steps, *action);
                union += u32::from(*mark == 0);
                common += u32::from(*mark == 1 && own == 2);
                *mark |= own;
            }
        }
        if union == 0 {
            1.0
        } else {
            f64::from(common) / f64::from(union)
        }
    }
}
