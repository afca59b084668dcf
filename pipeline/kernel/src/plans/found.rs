//! What is read of a text (definition/plans/found.py). Steps are numbers, equal exactly for equal steps of a batch.

use crate::difference::Difference;
use std::collections::HashMap;

/// An action, or a set of concurrent actions.
pub type Step = u32;

const IS_SET: u32 = 1 << 31;
const BETWEEN_WORDS: u8 = 0x1F;
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
const NONE: u32 = u32::MAX;

/// Bytes of actions that are kept; then everything that was read is forgotten.
pub const MOST_BYTES: usize = 1 << 26;

/// What a text says: its plan, and why it holds none.
pub struct Plan {
    pub steps: Vec<Step>,
    /// Why there is no plan: a kind of the sentences in Python.
    pub missing: Option<&'static str>,
    /// The step after the last one, which cannot be read.
    pub damage: Option<Unread>,
}

/// A place where a step should be and could not be read; line and column count from 1.
pub struct Unread {
    pub line: usize,
    pub column: usize,
    pub text: Vec<u8>,
}

impl Unread {
    /// A note on it, or why a step fails.
    pub fn noted(&self, what: &[u8]) -> Difference {
        Difference::of(&[what, self.line.to_string().as_bytes(), self.column.to_string().as_bytes(), &self.text])
    }
}

/// The steps of a batch by their numbers.
pub struct Steps {
    /// The words of all actions, in lower case, apart by unit separators.
    bytes: Vec<u8>,
    /// Where the action begins that is being read.
    start: usize,
    ends: Vec<u32>,
    hashes: Vec<u64>,
    slots: Vec<u32>,
    sets: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, u32>,
}

impl Steps {
    pub fn new() -> Steps {
        let slots = vec![NONE; 1 << 12];
        Steps {
            bytes: Vec::new(),
            start: 0,
            ends: vec![0],
            hashes: Vec::new(),
            slots,
            sets: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    /// How many actions and sets there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.hashes.len(), self.sets.len())
    }

    pub fn is_full(&self) -> bool {
        self.bytes.len() > MOST_BYTES || self.sets.len() > MOST_BYTES / 64
    }

    /// Add a word to the action that is being read.
    pub fn push(&mut self, word: &[u8]) {
        if self.bytes.len() > self.start {
            self.bytes.push(BETWEEN_WORDS);
        }
        self.bytes.extend(word.iter().map(u8::to_ascii_lowercase));
    }

    /// Forget the words that were added.
    pub fn drop_words(&mut self) {
        self.bytes.truncate(self.start);
    }

    fn end(&self, number: usize) -> usize {
        self.ends[number] as usize
    }

    /// The number of the action whose words were added.
    pub fn action(&mut self) -> Step {
        let start = self.start;
        let word = &self.bytes[start..];
        let mut hash = (word.len() as u64).wrapping_mul(MIX);
        let mut pieces = word.chunks_exact(8);
        for piece in &mut pieces {
            hash = mixed(hash, u64::from_le_bytes(piece.try_into().unwrap_or_default()));
        }
        let rest = pieces.remainder().iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        hash = mixed(hash, rest);
        let mut slot = hash as usize & (self.slots.len() - 1);
        while self.slots[slot] != NONE {
            let number = self.slots[slot] as usize;
            if self.hashes[number] == hash && self.bytes[self.end(number)..self.end(number + 1)] == self.bytes[start..]
            {
                self.bytes.truncate(start);
                return number as Step;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        let number = self.hashes.len() as u32;
        self.slots[slot] = number;
        self.hashes.push(hash);
        self.ends.push(self.bytes.len() as u32);
        self.start = self.bytes.len();
        if self.hashes.len() * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 4;
        self.slots = vec![NONE; size];
        for (number, hash) in self.hashes.iter().enumerate() {
            let mut slot = *hash as usize & (size - 1);
            while self.slots[slot] != NONE {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = number as u32;
        }
    }

    /// The number of a set of concurrent actions.
    pub fn set(&mut self, mut actions: Vec<Step>) -> Step {
        actions.sort_unstable();
        actions.dedup();
        if let Some(number) = self.numbers.get(&actions) {
            return IS_SET | number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(actions.clone());
        self.numbers.insert(actions, number);
        IS_SET | number
    }

    /// The actions of a step.
    pub fn actions_of<'a>(&'a self, step: &'a Step) -> &'a [Step] {
        match self.set_number(*step) {
            Some(number) => &self.sets[number],
            None => std::slice::from_ref(step),
        }
    }

    pub fn set_number(&self, step: Step) -> Option<usize> {
        (step & IS_SET != 0).then_some((step & !IS_SET) as usize)
    }

    /// The words of an action.
    pub fn words(&self, action: Step) -> impl Iterator<Item = &[u8]> {
        let (start, end) = (self.end(action as usize), self.end(action as usize + 1));
        self.bytes[start..end].split(|byte| *byte == BETWEEN_WORDS)
    }
}

fn mixed(hash: u64, piece: u64) -> u64 {
    let hash = (hash ^ piece).wrapping_mul(MIX);
    hash ^ hash >> 32
}

/// The steps, those in sequence with equal times as one (`in_time`).
pub fn in_time(timed: Vec<(Option<f64>, Step)>, steps: &mut Steps) -> Vec<Step> {
    let mut plan = Vec::with_capacity(timed.len());
    let mut at = 0;
    while at < timed.len() {
        let time = timed[at].0;
        let same = timed[at + 1..].iter().take_while(|(other, _)| time.is_some() && *other == time).count();
        let group = &timed[at..=at + same];
        plan.push(match group {
            [(_, step)] => *step,
            _ => {
                let all = group.iter().flat_map(|(_, step)| steps.actions_of(step)).copied().collect();
                steps.set(all)
            }
        });
        at += same + 1;
    }
    plan
}
