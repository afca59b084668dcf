//! The values of planning (definition/model.py): words, atoms, problems.
//!
//! A word is its place, from 1, among the sorted words of its problem; an atom is one number made of up to three words.
//! So the order of numbers is Python's order of names, and that of tuples of names: `sorted` and `min` agree.

use crate::fraction::Fraction;
use crate::pddl::problems::Interner;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The place of a word among the sorted words of a problem, from 1; 0 where an atom has no further argument.
pub type Word = u32;

/// A predicate and up to two arguments.
pub type Atom = u64;

const BITS: u32 = 21;
const MASK: u64 = (1 << BITS) - 1;

/// The most different words of a problem; far below what an atom has room for, also where two problems are joined.
pub const MOST_WORDS: usize = 8_000;

pub fn atom(predicate: Word, first: Word, second: Word) -> Atom {
    u64::from(predicate) << (2 * BITS) | u64::from(first) << BITS | u64::from(second)
}

pub fn parts(atom: Atom) -> (Word, Word, Word) {
    ((atom >> (2 * BITS)) as Word, (atom >> BITS & MASK) as Word, (atom & MASK) as Word)
}

pub fn predicate(atom: Atom) -> Word {
    (atom >> (2 * BITS)) as Word
}

/// The atom with other words for its predicate and its arguments.
pub fn renamed(each: Atom, predicates: &[Word], arguments: &[Word]) -> Atom {
    let (predicate, first, second) = parts(each);
    let argument = |word: Word| {
        if word == 0 {
            0
        } else {
            arguments[word as usize]
        }
    };
    atom(predicates[predicate as usize], argument(first), argument(second))
}

macro_rules! known_words {
    ($($name:ident $text:literal)*) => {
        /// Words that the rules of the domains name. They are among the words of every problem.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Known { $($name,)* Other }

        /// Their texts, sorted.
        pub const KNOWN: &[&str] = &[$($text),*];

        const ALL: &[Known] = &[$(Known::$name),*];
    };
}

known_words! {
    ArmEmpty "arm-empty" At "at" AtRobby "at-robby" AvailableColor "available-color" Ball "ball"
    Blocksworld "blocksworld" Carry "carry" Clear "clear" Color "color" FloorTile "floor-tile" Free "free"
    Gripper "gripper" Holding "holding" Object "object" On "on" OnTable "on-table" Painted "painted" Right "right"
    Robot "robot" RobotAt "robot-at" RobotHas "robot-has" Room "room" TheGoal "the-goal" Tile "tile" Up "up"
}

impl Known {
    /// The known word with this number, `Other` for the numbers of other words.
    pub fn numbered(number: u32) -> Known {
        ALL.get(number as usize).copied().unwrap_or(Known::Other)
    }
}

/// How many known words there are.
pub const KNOWN_WORDS: usize = Known::Other as usize;

/// The sorted words of a problem.
#[derive(Default)]
pub struct Words {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    places: [Word; KNOWN_WORDS],
}

/// Where the bytes of a word are.
pub struct Span {
    pub start: u32,
    pub end: u32,
    pub known: Known,
    /// The first bytes as a number that is sorted like them.
    pub key: u64,
}

impl Words {
    /// The words at these spans of the bytes, which are sorted.
    pub fn new(bytes: Vec<u8>, spans: Vec<Span>) -> Words {
        let mut places = [0; KNOWN_WORDS];
        for (place, span) in (1..).zip(&spans) {
            if let Some(own) = places.get_mut(span.known as usize) {
                *own = place;
            }
        }
        Words { bytes, spans, places }
    }

    pub fn count(&self) -> usize {
        self.spans.len()
    }

    /// An array with a value for each word, and one for the absent word 0.
    pub fn each<T: Clone>(&self, value: T) -> Vec<T> {
        vec![value; self.count() + 1]
    }

    pub fn text(&self, word: Word) -> &[u8] {
        self.bytes_of(&self.spans[word as usize - 1])
    }

    fn bytes_of(&self, span: &Span) -> &[u8] {
        &self.bytes[span.start as usize..span.end as usize]
    }

    /// How a word is sorted beside one of other words.
    pub fn order(&self, word: Word, others: &Words, other: Word) -> Ordering {
        let (own, key) = (self.spans[word as usize - 1].key, others.spans[other as usize - 1].key);
        own.cmp(&key).then_with(|| match (self.text(word), others.text(other)) {
            (one, two) if one.len().max(two.len()) <= 8 => one.len().cmp(&two.len()), // the keys are all of them
            (one, two) => one.cmp(two),
        })
    }

    pub fn place(&self, known: Known) -> Word {
        self.places[known as usize]
    }

    /// Which known word this is.
    pub fn known(&self, word: Word) -> Known {
        self.spans[word as usize - 1].known
    }

    pub fn atom(&self, predicate: Known, first: Word, second: Word) -> Atom {
        atom(self.place(predicate), first, second)
    }

    /// The known predicate of an atom, with its arguments.
    pub fn read(&self, atom: Atom) -> (Known, Word, Word) {
        let (predicate, first, second) = parts(atom);
        (self.known(predicate), first, second)
    }
}

/// A problem as it is written: objects in the order of the text, atoms sorted, each once.
#[derive(Default)]
pub struct Problem {
    pub words: Words,
    pub domain: Word,
    /// Names and types.
    pub objects: Vec<(Word, Word)>,
    /// The number of each object, `NO_OBJECT` for other words.
    pub number: Vec<u32>,
    pub init: Vec<Atom>,
    pub goal: Vec<Atom>,
}

pub const NO_OBJECT: u32 = u32::MAX;

/// True where all of these atoms are among those; both are sorted.
pub fn subset(these: &[Atom], those: &[Atom]) -> bool {
    these.iter().all(|each| has(those, *each))
}

/// True where the atom is among those, which are sorted.
pub fn has(those: &[Atom], atom: Atom) -> bool {
    those.binary_search(&atom).is_ok()
}

/// An atom of an operator: words of an `Interner`. A variable begins with `?`.
pub type Lifted = Vec<Word>;

/// The words of the places of parameters, counted down from here.
pub const PLACES: Word = Word::MAX;

/// What a number is added up from: its parts in the order in which they are computed.
pub type Expression = Vec<Part>;

#[derive(Clone)]
pub enum Part {
    Value(Fraction),
    /// A function and its arguments.
    Fluent(Lifted),
    /// Of so many numbers before it.
    Operation(Arithmetic, usize),
}

/// The fluents of an expression.
pub fn fluents_of(expression: &Expression) -> impl Iterator<Item = &Lifted> + Clone {
    expression.iter().filter_map(|part| if let Part::Fluent(fluent) = part { Some(fluent) } else { None })
}

#[derive(Clone, Copy)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// What a formula is written in.
#[derive(Clone, Copy)]
pub enum Mark {
    Open,
    Close,
    Word(Word),
}

/// A comparison of numbers, or an effect on one.
#[derive(Clone)]
pub struct Formula {
    pub is_effect: bool,
    /// False for a comparison that must not hold.
    pub holds: bool,
    pub head: Word,
    pub sides: [Expression; 2],
    pub written: Vec<Mark>,
}

/// An operator; preconditions, negative preconditions, add effects and delete effects are its parts.
#[derive(Clone)]
pub struct Operator {
    pub name: Word,
    /// The name by which operators match, in which `_` is `-`.
    pub key: Word,
    /// Names and types.
    pub parameters: Vec<(Word, Word)>,
    /// Each sorted as texts are.
    pub parts: [Vec<Lifted>; 4],
    /// The same with places in the place of parameters, and equations sorted; each sorted by the numbers of words.
    pub by_position: [Vec<Lifted>; 4],
    /// What sets of atoms cannot say, as written; only `formulas` asks for them.
    pub formulas: Vec<Formula>,
}

impl Operator {
    pub fn new(
        name: Word,
        key: Word,
        parameters: Vec<(Word, Word)>,
        mut parts: [Vec<Lifted>; 4],
        names: &Interner,
    ) -> Operator {
        for part in &mut parts {
            names.sort(part);
            part.dedup();
        }
        let place_of = |term: &Word| parameters.iter().position(|(name, _)| name == term);
        let placed = |atom: &Lifted| {
            let place = |term: &Word| place_of(term).map_or(*term, |place| PLACES - place as Word);
            let mut placed: Lifted = atom.iter().map(place).collect();
            if names.text(atom[0]) == EQUALITY {
                placed[1..].sort_unstable();
            }
            placed
        };
        let by_position = parts.each_ref().map(|part| {
            let mut part: Vec<Lifted> = part.iter().map(placed).collect();
            part.sort_unstable();
            part.dedup();
            part
        });
        Operator { name, key, parameters, parts, by_position, formulas: Vec::new() }
    }
}

impl Operator {
    /// The fluents of its formulas.
    pub fn fluents(&self) -> impl Iterator<Item = &Lifted> {
        self.formulas.iter().flat_map(|formula| &formula.sides).flat_map(fluents_of)
    }

    pub fn atoms_and_fluents(&self) -> impl Iterator<Item = &Lifted> {
        self.parts.iter().flatten().chain(self.fluents())
    }
}

/// The predicate of equations, which are decided by their arguments.
pub const EQUALITY: &[u8] = b"=";

/// The function that is 0 where the initial state does not say what it is.
pub const TOTAL_COST: &[u8] = b"total-cost";

/// A domain.
#[derive(Clone, Default)]
pub struct Domain {
    pub name: Word,
    /// Types and their parents.
    pub types: BTreeMap<Word, Word>,
    pub constants: BTreeMap<Word, Word>,
    pub predicates: BTreeMap<Word, Vec<Word>>,
    pub functions: BTreeMap<Word, Vec<Word>>,
    /// True where functions are declared; no operator uses them.
    pub has_functions: bool,
    pub operators: Vec<Operator>,
}

impl Domain {
    /// The same domain with every parameter and constant a plain `object`.
    pub fn without_types(&self) -> Domain {
        let mut plain = self.clone();
        let object = Known::Object as Word;
        plain.types.clear();
        let parameters = plain.operators.iter_mut().flat_map(|each| &mut each.parameters).map(|(_, type_)| type_);
        let declared = plain.predicates.values_mut().flatten();
        plain.constants.values_mut().chain(declared).chain(parameters).for_each(|type_| *type_ = object);
        plain
    }

    /// The type itself, then its ancestors up to `object`.
    pub fn ancestors(&self, type_: Word) -> Vec<Word> {
        let mut seen = Vec::new();
        let mut next = type_;
        while let Some(parent) = self.types.get(&next).filter(|_| !seen.contains(&next)) {
            seen.push(next);
            next = *parent;
        }
        seen.push(Known::Object as Word);
        seen
    }

    /// True when an object of that type may stand for a parameter; an undeclared type asks for a plain object.
    pub fn fits(&self, type_: Word, wanted: Word) -> bool {
        if wanted == type_ || !self.types.contains_key(&wanted) {
            return true;
        }
        let above = std::iter::successors(Some(type_), |each| self.types.get(each).copied());
        above.take(self.types.len() + 1).any(|each| each == wanted) // which may be in a circle
    }
}
