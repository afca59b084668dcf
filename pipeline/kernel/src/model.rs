//! The values of planning (definition/model.py): words, atoms, problems.
//!
//! A word is its place, from 1, among the sorted words of its problem; an atom is one number made of up to five words.
//! So the order of numbers is Python's order of names, and that of tuples of names: `sorted` and `min` agree.

use crate::fraction::Fraction;
use crate::pddl::language::UPDATES;
use crate::pddl::problems::Interner;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The place of a word among the sorted words of a problem, from 1; 0 where an atom has no further argument.
pub type Word = u32;

/// A predicate and up to six arguments, each a word of 18 bits.
pub type Atom = u128;

const BITS: u32 = 18;
const MASK: u64 = (1 << BITS) - 1;

/// What words of an atom are made of that are not its first three.
const LOW: u32 = (MOST_ARGUMENTS as u32 - 2) * BITS;

/// The most arguments of an atom.
pub const MOST_ARGUMENTS: usize = 6;

/// The most different words of a problem, which an atom has room for: more names than a text of a million characters has.
pub const MOST_WORDS: usize = MASK as usize - 1;

/// A word that no problem has.
pub const UNKNOWN: Word = MASK as Word;

/// The atom of these words, first its predicate; 0 for arguments that it does not have.
#[inline]
pub fn atom_of([predicate, first, second, rest @ ..]: [Word; 1 + MOST_ARGUMENTS]) -> Atom {
    rest.iter().fold(0, |low, word| low << BITS | Atom::from(*word)) | atom(predicate, first, second)
}

#[inline]
pub fn atom(predicate: Word, first: Word, second: Word) -> Atom {
    Atom::from((u64::from(predicate) << BITS | u64::from(first)) << BITS | u64::from(second)) << LOW
}

/// The atom of a word for each of these places of its own, its predicate among them, and 0 for those that are none.
#[inline]
pub fn atom_from<P: Copy + PartialEq>(
    places: &[P; MOST_ARGUMENTS],
    none: P,
    predicate: Word,
    word: impl Fn(P) -> Word,
) -> Atom {
    let short = atom(predicate, word(places[0]), word(places[1]));
    if places[2] == none {
        return short;
    }
    short | places[2..].iter().fold(0, |low, place| low << BITS | Atom::from(word(*place)))
}

/// The words of an atom, as `atom_of` takes them.
#[inline]
pub fn words_of(atom: Atom) -> [Word; 1 + MOST_ARGUMENTS] {
    std::array::from_fn(|place| (atom >> ((MOST_ARGUMENTS - place) as u32 * BITS)) as Word & UNKNOWN)
}

/// The predicate and the first two arguments.
#[inline]
pub fn parts(atom: Atom) -> (Word, Word, Word) {
    let high = (atom >> LOW) as u64;
    ((high >> (2 * BITS)) as Word, (high >> BITS & MASK) as Word, (high & MASK) as Word)
}

pub fn predicate(atom: Atom) -> Word {
    (atom >> (LOW + 2 * BITS)) as Word
}

/// True where the atom has more than two arguments.
#[inline]
pub fn is_long(atom: Atom) -> bool {
    atom << (Atom::BITS - LOW) != 0
}

/// The arguments that the atom has.
pub fn arguments(atom: Atom) -> impl Iterator<Item = Word> {
    words_of(atom).into_iter().skip(1).take_while(|word| *word != 0)
}

/// The atom with other words for its predicate and its arguments; `arguments` have 0 for 0.
pub fn renamed(each: Atom, predicates: &[Word], arguments: &[Word]) -> Atom {
    let (own, first, second) = parts(each);
    let short = atom(predicates[own as usize], arguments[first as usize], arguments[second as usize]);
    if !is_long(each) {
        return short;
    }
    let [_, _, _, rest @ ..] = words_of(each);
    short | rest.iter().fold(0, |low, word| low << BITS | Atom::from(arguments[*word as usize]))
}

/// Sorts atoms, and keeps each once. Short ones are sorted by the half of the number that says them, in half the time: numbers
/// of eight bytes are sorted without branches.
pub fn sort_atoms(atoms: &mut Vec<Atom>) {
    if atoms.iter().any(|atom| is_long(*atom)) {
        atoms.sort_unstable();
    } else {
        let mut high: Vec<u64> = atoms.iter().map(|atom| (*atom >> LOW) as u64).collect();
        high.sort_unstable();
        atoms.iter_mut().zip(high).for_each(|(atom, high)| *atom = Atom::from(high) << LOW);
    }
    atoms.dedup();
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

/// The sorted words of a problem. Among them are the known words and those of its domain.
#[derive(Clone, Default)]
pub struct Words {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    /// The word of each number of the interner that the problem was read with.
    places: Vec<Word>,
}

/// Where the bytes of a word are.
#[derive(Clone)]
pub struct Span {
    pub start: u32,
    pub end: u32,
    /// The number of the word in the interner.
    pub number: u32,
    /// The first bytes as a number that is sorted like them.
    pub key: u64,
}

impl Words {
    /// The words at these spans of the bytes, which are sorted.
    pub fn new(bytes: Vec<u8>, spans: Vec<Span>, places: Vec<Word>) -> Words {
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
        let Span { start, end, .. } = self.spans[word as usize - 1];
        &self.bytes[start as usize..end as usize]
    }

    /// The words of an atom.
    pub fn texts(&self, atom: Atom) -> Vec<Vec<u8>> {
        let present = [predicate(atom)].into_iter().chain(arguments(atom));
        present.map(|word| self.text(word).to_vec()).collect()
    }

    /// True where all words are the same.
    pub fn are(&self, others: &Words) -> bool {
        let length = |span: &Span| span.end - span.start;
        let same = |(place, (one, other)): (usize, (&Span, &Span))| {
            let is_short = length(one) <= 8; // the keys are all of them
            let may_be = one.key == other.key && length(one) == length(other);
            may_be && (is_short || self.text(place as Word + 1) == others.text(place as Word + 1))
        };
        self.count() == others.count() && self.spans.iter().zip(&others.spans).enumerate().all(same)
    }

    /// How a word is sorted beside one of other words.
    pub fn order(&self, word: Word, others: &Words, other: Word) -> Ordering {
        let (own, key) = (self.spans[word as usize - 1].key, others.spans[other as usize - 1].key);
        own.cmp(&key).then_with(|| match (self.text(word), others.text(other)) {
            (one, two) if one.len().max(two.len()) <= 8 => one.len().cmp(&two.len()), // the keys are all of them
            (one, two) => one.cmp(two),
        })
    }

    /// The word of a known word, or of one of the domain, by its number.
    pub fn place_of(&self, number: u32) -> Word {
        self.places[number as usize]
    }

    /// The same where there may be none.
    pub fn argument(&self, number: u32) -> Word {
        self.places.get(number as usize).copied().unwrap_or(0)
    }

    /// The number of a word; a domain knows those of its own words.
    pub fn number(&self, word: Word) -> u32 {
        self.spans[word as usize - 1].number
    }

    pub fn place(&self, known: Known) -> Word {
        self.places[known as usize]
    }

    pub fn atom(&self, predicate: Known, first: Word, second: Word) -> Atom {
        atom(self.place(predicate), first, second)
    }

    /// The known predicate of an atom, with its arguments; no rules know a long one.
    pub fn read(&self, atom: Atom) -> (Known, Word, Word) {
        let (predicate, first, second) = parts(atom);
        let known = if is_long(atom) { Known::Other } else { Known::numbered(self.number(predicate)) };
        (known, first, second)
    }
}

/// A problem as it is written: objects in the order of the text, atoms sorted, each once.
#[derive(Clone, Default)]
pub struct Problem {
    pub words: Words,
    pub domain: Word,
    /// Names and types.
    pub objects: Vec<(Word, Word)>,
    /// The number of each object, `NO_OBJECT` for other words.
    pub number: Vec<u32>,
    pub init: Vec<Atom>,
    pub goal: Vec<Atom>,
    /// The goal's other conjuncts, each once, in the order of the text.
    pub others: Vec<Conjunct>,
    /// None where it says nothing of numbers but that `total-cost` is 0.
    pub numbers: Option<Box<Said>>,
}

impl Problem {
    /// True where sets of atoms say it all.
    pub fn is_strips(&self) -> bool {
        self.others.is_empty() && self.numbers.is_none()
    }

    /// The initial values, sorted.
    pub fn values(&self) -> &[(Atom, Fraction)] {
        self.numbers.as_ref().map_or(&[], |said| &said.values)
    }

    /// The numbers of the initial state and of the metric as atoms with labels, in the words that `to` gives: the fluents
    /// with each value, and with each factor.
    pub fn numbers_of(&self, to: &dyn Fn(Word) -> Word) -> BTreeSet<(Vec<u8>, Atom)> {
        let Some(said) = &self.numbers else { return BTreeSet::new() };
        let own = |atom: Atom| atom_of(words_of(atom).map(|word| if word == 0 { 0 } else { to(word) }));
        let values = said.values.iter().map(|(fluent, value)| (format!("= {}", value.text()), *fluent));
        let terms = said.metric.iter().flat_map(|metric| {
            metric.terms.iter().map(|(term, factor)| (format!("{} {}", metric.sense, factor.text()), *term))
        });
        values.chain(terms).map(|(label, fluent)| (label.into_bytes(), own(fluent))).collect()
    }
}

/// What a problem says of numbers.
#[derive(Clone)]
pub struct Said {
    /// Without a `total-cost` of 0; sorted.
    pub values: Vec<(Atom, Fraction)>,
    pub metric: Option<Metric>,
}

/// A sum of fluents, each with its factor that is not 0; atom 0 is what no fluent changes.
#[derive(Clone)]
pub struct Metric {
    pub sense: &'static str,
    pub terms: Vec<(Atom, Fraction)>,
    /// As PDDL writes it.
    pub written: Written,
}

/// What is written, with a 0 for each name of an object, and these names.
#[derive(Clone, Default)]
pub struct Written {
    pub text: Vec<u8>,
    pub named: Vec<Word>,
}

impl Written {
    /// It, with these texts of the names.
    pub fn shown<'a>(&self, text: impl Fn(Word) -> &'a [u8]) -> Vec<u8> {
        let mut pieces = self.text.split(|byte| *byte == 0);
        let mut shown = pieces.next().unwrap_or_default().to_vec();
        for (name, piece) in self.named.iter().zip(pieces) {
            shown.extend_from_slice(text(*name));
            shown.extend_from_slice(piece);
        }
        shown
    }
}

/// A conjunct of a goal that is no atom.
#[derive(Clone)]
pub struct Conjunct {
    /// Over the numbers of words.
    pub form: Form,
    /// As PDDL writes it.
    pub written: Written,
    /// It as it is written, objects and variables by their places, as digests have it.
    pub encoded: Vec<u8>,
}

impl Conjunct {
    /// An atom of a problem of these words.
    pub fn of(atom: Atom, words: &Words) -> Conjunct {
        let number = |word| words.number(word);
        let form = Form::Atom([predicate(atom)].into_iter().chain(arguments(atom)).map(number).collect());
        Conjunct { form, written: Written::default(), encoded: Vec::new() }
    }

    /// As PDDL writes it, with these texts of the names.
    pub fn shown<'a>(&self, text: impl Fn(Word) -> &'a [u8]) -> Vec<u8> {
        self.written.shown(text)
    }
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

#[derive(Clone, PartialEq, Eq, Hash)]
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

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
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
    /// Of an operator, as `Beyond` has it.
    pub encoded: Vec<u8>,
}

/// A condition, or an effect: in effects `Not` deletes an atom, and there is no `Or`, `Imply` or `Exists`. An equation is an
/// atom of `EQUALITY`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Form {
    Atom(Lifted),
    /// A comparison of numbers, or an effect on one, with its first word.
    Numeric(&'static [u8], Box<[Expression; 2]>),
    And(Vec<Form>),
    Or(Vec<Form>),
    Not(Box<Form>),
    Imply(Box<[Form; 2]>),
    /// With the names and types of the variables.
    Forall(Vec<(Word, Word)>, Box<Form>),
    Exists(Vec<(Word, Word)>, Box<Form>),
    When(Box<[Form; 2]>),
}

impl Form {
    /// The formulas that it is made of.
    fn parts(&self) -> &[Form] {
        match self {
            Form::Atom(_) | Form::Numeric(..) => &[],
            Form::And(parts) | Form::Or(parts) => parts,
            Form::Imply(parts) | Form::When(parts) => &parts[..],
            Form::Not(part) | Form::Forall(_, part) | Form::Exists(_, part) => std::slice::from_ref(part),
        }
    }

    /// True where `is_so` of some atom or fluent, for which it is given the variables around it, the innermost last.
    pub fn has_atom<F: Fn(&Lifted, &[(Word, Word)]) -> bool>(
        &self,
        variables: &mut Vec<(Word, Word)>,
        is_so: &F,
    ) -> bool {
        self.has_leaf(variables, &|leaf, variables| match leaf {
            Form::Atom(atom) => is_so(atom, variables),
            _ => leaf.fluents().any(|fluent| is_so(fluent, variables)),
        })
    }

    /// The same of what is not made of others.
    pub fn has_leaf<F: Fn(&Form, &[(Word, Word)]) -> bool>(
        &self,
        variables: &mut Vec<(Word, Word)>,
        is_so: &F,
    ) -> bool {
        if let Form::Atom(_) | Form::Numeric(..) = self {
            return is_so(self, variables);
        }
        let around = variables.len();
        if let Form::Forall(own, _) | Form::Exists(own, _) = self {
            variables.extend(own);
        }
        let found = self.parts().iter().any(|part| part.has_leaf(variables, is_so));
        variables.truncate(around);
        found
    }

    /// The fluents of a comparison, or of an effect on a number.
    pub fn fluents(&self) -> impl Iterator<Item = &Lifted> {
        let sides: &[Expression] = if let Form::Numeric(_, sides) = self { &sides[..] } else { &[] };
        sides.iter().flat_map(fluents_of)
    }

    /// True where it says something of numbers.
    pub fn is_numeric(&self) -> bool {
        self.has_leaf(&mut Vec::new(), &|leaf, _| matches!(leaf, Form::Numeric(..)))
    }

    /// Does something with all that is not made of others.
    pub fn each_leaf<'a>(&'a self, something: &mut dyn FnMut(&'a Form)) {
        match self {
            Form::Atom(_) | Form::Numeric(..) => something(self),
            _ => self.parts().iter().for_each(|part| part.each_leaf(something)),
        }
    }

    /// The same in other words: `predicate` of predicates and types, `term` of all else.
    pub fn renamed(&self, predicate: &dyn Fn(Word) -> Word, term: &dyn Fn(Word) -> Word) -> Form {
        let inner = |form: &Form| form.renamed(predicate, term);
        let all = |parts: &[Form]| parts.iter().map(inner).collect();
        let typed = |listing: &[(Word, Word)]| listing.iter().map(|each| (term(each.0), predicate(each.1))).collect();
        match self {
            Form::Atom(atom) => {
                Form::Atom([predicate(atom[0])].into_iter().chain(atom[1..].iter().map(|each| term(*each))).collect())
            }
            Form::Numeric(head, sides) => {
                let own = |fluent: &Lifted| {
                    [predicate(fluent[0])].into_iter().chain(fluent[1..].iter().map(|each| term(*each))).collect()
                };
                let part = |part: &Part| match part {
                    Part::Fluent(fluent) => Part::Fluent(own(fluent)),
                    other => other.clone(),
                };
                Form::Numeric(head, Box::new(sides.each_ref().map(|side| side.iter().map(part).collect())))
            }
            Form::And(parts) => Form::And(all(parts)),
            Form::Or(parts) => Form::Or(all(parts)),
            Form::Not(part) => Form::Not(Box::new(inner(part))),
            Form::Imply(parts) => Form::Imply(Box::new(parts.each_ref().map(inner))),
            Form::When(parts) => Form::When(Box::new(parts.each_ref().map(inner))),
            Form::Forall(listing, body) => Form::Forall(typed(listing), Box::new(inner(body))),
            Form::Exists(listing, body) => Form::Exists(typed(listing), Box::new(inner(body))),
        }
    }

    /// The words of its atoms, its numbers and its types, but for the fluents that effects update.
    pub fn words(&self, found: &mut Vec<Word>) {
        match self {
            Form::Atom(atom) => found.extend(atom),
            Form::Numeric(head, sides) => {
                let read = &sides[usize::from(UPDATES.contains(head))..];
                found.extend(read.iter().flat_map(fluents_of).flatten());
            }
            Form::Forall(variables, _) | Form::Exists(variables, _) => {
                found.extend(variables.iter().map(|(_, type_)| *type_));
            }
            _ => {}
        }
        self.parts().iter().for_each(|part| part.words(found));
    }

    /// The predicates that an effect adds or deletes.
    pub fn changed(&self, found: &mut Vec<Word>) {
        match self {
            Form::Atom(atom) => found.push(atom[0]),
            Form::When(parts) => parts[1].changed(found),
            _ => self.parts().iter().for_each(|part| part.changed(found)),
        }
    }

    /// Its predicates, each with whether it occurs negated.
    pub fn predicates(&self, denied: bool, found: &mut Vec<(Word, bool)>) {
        match self {
            Form::Atom(atom) => found.push((atom[0], denied)),
            Form::Not(part) => part.predicates(!denied, found),
            Form::Imply(parts) => {
                parts[0].predicates(!denied, found);
                parts[1].predicates(denied, found);
            }
            _ => self.parts().iter().for_each(|part| part.predicates(denied, found)),
        }
    }

    /// True where a condition, or a condition in an effect, asks for something to be false; equations do not count.
    pub fn negates(&self, is_effect: bool, names: &Interner) -> bool {
        let is_equation = |form: &Form| match form {
            Form::Atom(atom) => names.text(atom[0]) == EQUALITY,
            Form::Numeric(head, _) => *head == EQUALITY,
            _ => false,
        };
        match self {
            Form::Imply(_) => true,
            Form::Not(part) if !is_effect && !is_equation(part) => true,
            Form::When(parts) => parts[0].negates(false, names) || parts[1].negates(is_effect, names),
            _ => self.parts().iter().any(|part| part.negates(is_effect, names)),
        }
    }
}

/// Variables of a list, and in one another's reach, where each is a call.
pub const MOST_VARIABLES: usize = 500;

/// What sets of atoms cannot say of an operator.
#[derive(Clone)]
pub struct Beyond {
    pub is_effect: bool,
    pub form: Form,
    /// False for one that must not hold; `form` says so, what is written does not.
    pub holds: bool,
    pub written: Vec<Mark>,
    /// Its part with the formula as it is written, variables by their places, as digests have it.
    pub encoded: Vec<u8>,
}

/// A derived predicate with its variables and the formula from which it follows.
#[derive(Clone)]
pub struct Rule {
    pub name: Word,
    pub variables: Vec<(Word, Word)>,
    pub body: Form,
    pub stratum: usize,
    /// It as it is written, variables by their places, as digests have it.
    pub encoded: Vec<u8>,
}

impl Rule {
    /// The atom that it derives.
    pub fn head(&self) -> Lifted {
        [self.name].into_iter().chain(self.variables.iter().map(|(name, _)| *name)).collect()
    }
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
    /// What it says of numbers, as written; only `formulas` asks for them.
    pub formulas: Vec<Formula>,
    /// Other conditions and effects that sets of atoms cannot say; only `planning` asks for them.
    pub beyond: Vec<Beyond>,
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
        let (formulas, beyond) = (Vec::new(), Vec::new());
        Operator { name, key, parameters, parts, by_position, formulas, beyond }
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

    /// The predicates that its effects add or delete.
    pub fn changed(&self) -> Vec<Word> {
        let mut found = self.parts[2..].iter().flatten().map(|atom| atom[0]).collect();
        self.beyond.iter().filter(|each| each.is_effect).for_each(|each| each.form.changed(&mut found));
        found
    }
}

/// The texts of the alternatives that a type is, as they are written.
pub fn alternatives_in(type_: &[u8]) -> impl Iterator<Item = &[u8]> {
    type_.split(|byte| *byte == b' ').step_by(2)
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
    /// The declared predicates, with the types of their arguments.
    pub predicates: BTreeMap<Word, Vec<Word>>,
    /// Of a type that is alternatives (`a or b`) these, each once, and the least of them that say as much, by their texts.
    pub alternatives: BTreeMap<Word, [Vec<Word>; 2]>,
    pub functions: BTreeMap<Word, Vec<Word>>,
    /// True where functions are declared; no operator uses them.
    pub has_functions: bool,
    pub operators: Vec<Operator>,
    /// By their strata.
    pub rules: Vec<Rule>,
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

    /// The type of a parameter of the operator, or of a constant.
    pub fn type_in(&self, operator: &Operator, term: Word) -> Option<Word> {
        let own = operator.parameters.iter().find(|(name, _)| *name == term).map(|(_, type_)| *type_);
        own.or_else(|| self.constants.get(&term).copied())
    }

    /// The alternatives that a type is, most often itself.
    pub fn alternatives_of<'a>(&'a self, type_: &'a Word) -> &'a [Word] {
        self.alternatives.get(type_).map_or(std::slice::from_ref(type_), |[all, _]| all)
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
        if let Some([all, _]) = self.alternatives.get(&wanted) {
            return all.iter().any(|each| self.fits(type_, *each));
        }
        if wanted == type_ || !self.types.contains_key(&wanted) {
            return true;
        }
        let above = std::iter::successors(Some(type_), |each| self.types.get(each).copied());
        above.take(self.types.len() + 1).any(|each| each == wanted) // which may be in a circle
    }
}
