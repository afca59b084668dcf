//! What is read of a text (definition/plans/found.py). Steps are numbers, equal exactly for equal steps of a batch.

use crate::difference::Difference;
use crate::hashing::HashMap;
use crate::left::Answer;
use crate::model::MOST_WORDS;
use crate::pddl::problems::Interner;

/// An action, or a set of concurrent actions.
pub type Step = u32;

const IS_SET: u32 = 1 << 31;
const BETWEEN_WORDS: u8 = 0x1F;

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

/// The steps of a batch by their numbers.
pub struct Steps {
    /// The words of all actions, in lower case, apart by unit separators.
    actions: Interner,
    /// The words of the action that is being read.
    words: Vec<u8>,
    /// Actions as they were written, and by their numbers what they mean: most come more than once.
    written: Interner,
    meant: Vec<Step>,
    sets: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, u32>,
}

impl Steps {
    pub fn new() -> Steps {
        let (actions, written) = (Interner::new(), Interner::new());
        let meant = vec![0; written.count()]; // of words that no action is written as
        Steps { actions, words: Vec::new(), written, meant, sets: Vec::new(), numbers: HashMap::default() }
    }

    /// How many actions and sets there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.actions.count(), self.sets.len())
    }

    pub fn is_full(&self) -> bool {
        let is_large = |texts: &Interner| texts.length() > MOST_BYTES / 2 || 2 * texts.count() > MOST_WORDS;
        is_large(&self.actions) || is_large(&self.written) || self.sets.len() > MOST_BYTES / 64
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
    pub fn action(&mut self) -> Answer<Step> {
        let number = self.actions.number(&self.words, 0, self.words.len());
        self.words.clear();
        number
    }

    /// The action that was written so before.
    pub fn meant_by(&self, written: &[u8]) -> Option<Step> {
        self.written.find(written).map(|number| self.meant[number as usize])
    }

    /// Keep which action is written so.
    pub fn keep(&mut self, written: &[u8], action: Step) {
        if self.written.number(written, 0, written.len()).is_ok() && self.meant.len() < self.written.count() {
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
