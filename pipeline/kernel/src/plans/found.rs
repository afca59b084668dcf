//! What is read of a text (definition/plans/found.py). Steps are numbers, equal exactly for equal steps of a batch.

use crate::difference::Difference;
use crate::hashing::{factor, HashMap};

/// An action, or a set of concurrent actions.
pub type Step = u32;

const IS_SET: u32 = 1 << 31;
const BETWEEN_WORDS: u8 = 0x1F;
const NONE: u32 = u32::MAX;

/// Bytes of actions that are kept; then everything that was read is forgotten.
pub const MOST_BYTES: usize = 1 << 26;

/// What a text says: its plan, and why it holds none.
pub struct Plan {
    pub steps: Vec<Step>,
    /// Why there is no plan: a kind of the sentences in Python.
    pub missing: Option<&'static str>,
    /// The step after the last one, which cannot be read; where no action was found, the place of what stands there.
    pub damage: Option<Unread>,
}

/// A place where a step should be and could not be read; line and column count from 1.
pub struct Unread {
    pub line: usize,
    pub column: usize,
    pub text: Vec<u8>,
}

impl Unread {
    pub fn place(&self) -> Difference {
        Difference::of("place").number("line", self.line).number("column", self.column).word("text", &self.text)
    }
}

/// Texts by their numbers, one after the other.
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    hashes: Vec<u64>,
    slots: Vec<u32>,
}

impl Texts {
    fn new() -> Texts {
        Texts { bytes: Vec::new(), ends: vec![0], hashes: Vec::new(), slots: vec![NONE; 1 << 12] }
    }

    fn text(&self, number: u32) -> &[u8] {
        &self.bytes[self.ends[number as usize] as usize..self.ends[number as usize + 1] as usize]
    }

    /// The number of the text, else its hash and the free slot where the search for it ends.
    fn find(&self, text: &[u8]) -> Result<u32, (u64, usize)> {
        let hash = hash_of(text);
        let mut slot = hash as usize & (self.slots.len() - 1);
        while self.slots[slot] != NONE {
            let number = self.slots[slot];
            if self.hashes[number as usize] == hash && self.text(number) == text {
                return Ok(number);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        Err((hash, slot))
    }

    /// Add a text that was not found; it gets the next number.
    fn add(&mut self, text: &[u8], (hash, slot): (u64, usize)) -> u32 {
        let number = self.hashes.len() as u32;
        self.slots[slot] = number;
        self.hashes.push(hash);
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len() as u32);
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
}

/// The steps of a batch by their numbers.
pub struct Steps {
    /// The words of all actions, in lower case, apart by unit separators.
    actions: Texts,
    /// The words of the action that is being read.
    words: Vec<u8>,
    /// Actions as they were written, and their numbers: most come more than once.
    written: Texts,
    meant: Vec<Step>,
    sets: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, u32>,
}

impl Steps {
    pub fn new() -> Steps {
        Steps {
            actions: Texts::new(),
            words: Vec::new(),
            written: Texts::new(),
            meant: Vec::new(),
            sets: Vec::new(),
            numbers: HashMap::default(),
        }
    }

    /// How many actions and sets there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.actions.hashes.len(), self.sets.len())
    }

    pub fn is_full(&self) -> bool {
        self.actions.bytes.len() + self.written.bytes.len() > MOST_BYTES || self.sets.len() > MOST_BYTES / 64
    }

    /// Add a word to the action that is being read.
    pub fn push(&mut self, word: &[u8]) {
        if !self.words.is_empty() {
            self.words.push(BETWEEN_WORDS);
        }
        self.words.extend(word.iter().map(u8::to_ascii_lowercase));
    }

    /// Forget the words that were added.
    pub fn drop_words(&mut self) {
        self.words.clear();
    }

    /// The number of the action whose words were added.
    pub fn action(&mut self) -> Step {
        let found = self.actions.find(&self.words);
        let number = found.unwrap_or_else(|place| self.actions.add(&self.words, place));
        self.words.clear();
        number
    }

    /// The action that was written so before.
    pub fn meant_by(&self, written: &[u8]) -> Option<Step> {
        self.written.find(written).ok().map(|number| self.meant[number as usize])
    }

    /// Keep which action is written so.
    pub fn keep(&mut self, written: &[u8], action: Step) {
        if let Err(place) = self.written.find(written) {
            self.written.add(written, place);
            self.meant.push(action);
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
        self.actions.text(action).split(|byte| *byte == BETWEEN_WORDS)
    }
}

/// Of eight bytes at a time; the last eight may overlap those before.
fn hash_of(text: &[u8]) -> u64 {
    let number = |piece: &[u8]| u64::from_le_bytes(piece.try_into().unwrap_or_default());
    let hash = (text.len() as u64).wrapping_mul(factor());
    match text.len().checked_sub(8) {
        None => mixed(hash, text.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))),
        Some(last) => {
            let whole = text.chunks_exact(8).fold(hash, |hash, piece| mixed(hash, number(piece)));
            mixed(whole, number(&text[last..]))
        }
    }
}

fn mixed(hash: u64, piece: u64) -> u64 {
    let hash = (hash ^ piece).wrapping_mul(factor());
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
