//! A STRIPS problem out of a raw model answer, or the reason why there is none (definition/pddl/problems.py).
//!
//! Plain blocks are read; a block that is not plain is the `pddl` package's business, so its row is left.

use crate::difference::Difference;
use crate::domains::Rules;
use crate::hashing::factor;
use crate::left::{named, Answer, Left};
use crate::model::{
    arguments, atom_from, sort_atoms, Atom, Known, Lifted, Problem, Span, Word, Words, KNOWN, KNOWN_WORDS,
    MOST_ARGUMENTS, MOST_WORDS, NO_OBJECT,
};
use crate::pddl::drafts::answer_of;
use crate::pddl::sexpr::{after_spaces, block, bytes_inside, is_blank, Openings, Token, Tokens, PACKAGE_NESTING};
use std::cmp::Ordering;
use std::sync::OnceLock;

/// What the package's grammar reads as a name and its validation refuses as one; `object`, a known word, is another.
const KEYWORDS: [&str; 20] = [
    "define",
    "problem",
    "domain",
    "either",
    "and",
    "or",
    "not",
    "imply",
    "forall",
    "exists",
    "when",
    "oneof",
    "assign",
    "increase",
    "decrease",
    "scale-up",
    "scale-down",
    "minimize",
    "maximize",
    "total-cost",
];
const FIXED_WORDS: usize = KNOWN_WORDS + KEYWORDS.len();

const REQUIREMENTS: [&str; 15] = [
    ":strips",
    ":typing",
    ":equality",
    ":adl",
    ":non-deterministic",
    ":negative-preconditions",
    ":disjunctive-preconditions",
    ":existential-preconditions",
    ":universal-preconditions",
    ":quantified-preconditions",
    ":derived-predicates",
    ":conditional-effects",
    ":numeric-fluents",
    ":fluents",
    ":action-costs",
];

const SECTIONS: [&str; 6] = [":domain", ":requirements", ":objects", ":init", ":goal", ":metric"];

/// Bytes of a word that a sentence may need; sentences cut words to fewer.
const LONGEST_QUOTED: usize = 64;

named! {
    /// Why a text holds no problem.
    Refused {
        Empty "empty"
        Unparseable "unparseable"
        NotStrips "not_strips"
        InvalidAtom "invalid_atom"
    }
}

pub struct Unreadable {
    pub verdict: Refused,
    pub difference: Difference,
}

/// What was read from a text, and whether the text began more than one problem.
pub struct Reading {
    pub outcome: Result<Problem, Unreadable>,
    pub several: bool,
}

/// What a domain says that its problems are read by.
#[derive(Default)]
pub struct Declared {
    /// The texts of its constants.
    pub constants: Vec<Vec<u8>>,
    /// Whether it declares types; None where the problem's name for its domain says it.
    pub is_typed: Option<bool>,
}

/// Why a block holds no problem: the text is refused, or the kernel cannot tell.
enum Stop {
    Refused(Unreadable),
    Left(Left),
}

impl From<Left> for Stop {
    fn from(left: Left) -> Stop {
        Stop::Left(left)
    }
}

fn refused<T>(verdict: Refused, difference: Difference) -> Result<T, Stop> {
    Err(Stop::Refused(Unreadable { verdict, difference }))
}

fn unparseable<T>(difference: Difference) -> Result<T, Stop> {
    refused(Refused::Unparseable, difference)
}

fn unexpected<T>(found: &[u8], expected: &[u8]) -> Result<T, Stop> {
    unparseable(Difference::of("unexpected").word("found", found).word("expected", expected))
}

/// The problem of the first block that holds one, as `read_problem` finds it.
pub fn read_problem(text: Option<&[u8]>, declared: &Declared, names: &mut Interner) -> Answer<Reading> {
    let empty = |kind| {
        let outcome = Err(Unreadable { verdict: Refused::Empty, difference: Difference::of(kind) });
        Ok(Reading { outcome, several: false })
    };
    let raw = text.unwrap_or_default();
    let answer = answer_of(raw)?;
    if is_blank(&answer) {
        return empty(if std::str::from_utf8(raw).is_ok_and(is_blank) { "empty text" } else { "only thoughts" });
    }
    let mut openings = Openings::new(&answer, "problem");
    let (mut first, mut several, mut reason) = (None, false, None);
    while let Some(start) = openings.next()? {
        several = first.is_some();
        first = first.or(Some(start));
        let mut text = &answer.as_bytes()[start..];
        // What is read to its last parenthesis is closed and plain; of all else the block is needed to say what it is.
        let mut read = read_plain_problem(text, declared, names);
        if read.is_err() {
            let Some(block) = block(text)? else { continue };
            text = block;
            read = read_plain_problem(text, declared, names);
        }
        match read {
            Ok((problem, tokens)) => {
                if !tokens.is_commented {
                    openings.at = start + tokens.at; // another one is no part of it
                }
                several |= !openings.rest()?.is_empty();
                return Ok(Reading { outcome: Ok(problem), several });
            }
            Err(Stop::Left(left)) => return Err(left),
            // Constraints, preferences and timed literals are not STRIPS, which the definition says.
            Err(Stop::Refused(_)) if says_times(text) => return Err(Left::Notation),
            Err(Stop::Refused(why)) => reason = reason.or(Some(why)),
        }
    }
    let outcome = Err(reason.unwrap_or_else(|| why_no_block(&answer, first)));
    Ok(Reading { outcome, several })
}

/// Whether a block may have constraints, preferences or timed literals.
fn says_times(block: &[u8]) -> bool {
    let words = block.split(|byte| byte.is_ascii_whitespace() || b"();".contains(byte)).filter(|word| !word.is_empty());
    let mut last: &[u8] = b"";
    words.into_iter().any(|word| {
        let is_timed = last == b"at" && word[0].is_ascii_digit() | b".-".contains(&word[0]);
        last = word;
        is_timed || word == b":constraints" || word == b"preference"
    })
}

fn why_no_block(answer: &str, opening: Option<usize>) -> Unreadable {
    let difference = match opening {
        None => Difference::of("no block"),
        Some(start) => {
            let line = answer.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1;
            Difference::of("never closed").number("line", line)
        }
    };
    Unreadable { verdict: Refused::Unparseable, difference }
}

/// Words of a block as small numbers, in the order in which they come; known words, keywords and perhaps the words of a
/// domain have numbers of their own, which stay.
#[derive(Clone)]
pub struct Interner {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// The number of the reading in which a slot was filled, 0 for fixed words, and the word; half of them stay free.
    slots: Vec<(u32, u32)>,
    /// How many low bits of a hash are not the number of a slot.
    slot_shift: u32,
    /// What hashes are multiplied with, so that nobody can write words that collide.
    factor: u64,
    reading: u32,
    /// How many words and bytes stay.
    fixed: usize,
    fixed_bytes: usize,
    /// The words that are among those of every problem, sorted.
    vocabulary: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Entry {
    /// The first eight bytes, as a number that is sorted like them.
    key: u64,
    start: u32,
    length: u32,
    /// A name that is no keyword.
    is_name: bool,
    is_declared: bool,
}

/// How many slots there are at first, as a power of two: what a cache holds.
const SLOT_BITS: u32 = 9;

/// Slots that stay from one text to the next.
const MANY_SLOTS: usize = 1 << 15;

const FREE: (u32, u32) = (u32::MAX, 0);

/// Words of an interner that many texts share, beyond which it is given up.
const MANY_WORDS: usize = 4_000;

/// What each is at first.
static FIRST: OnceLock<Interner> = OnceLock::new();

impl Interner {
    pub fn new() -> Interner {
        FIRST.get_or_init(Interner::with_known_words).clone()
    }

    fn with_known_words() -> Interner {
        let mut names = Interner {
            bytes: Vec::new(),
            entries: Vec::new(),
            slots: vec![FREE; 1 << SLOT_BITS],
            slot_shift: 64 - SLOT_BITS,
            factor: factor(),
            reading: 0,
            fixed: FIXED_WORDS,
            fixed_bytes: 0,
            vocabulary: (0..KNOWN_WORDS as u32).collect(), // which are sorted
        };
        for word in KNOWN.iter().chain(&KEYWORDS) {
            let _ = names.number(word.as_bytes(), 0, word.len());
        }
        let is_keyword = |number: usize| number == Known::Object as usize || number >= KNOWN_WORDS;
        for (number, entry) in names.entries.iter_mut().enumerate() {
            entry.is_name = !is_keyword(number);
        }
        names.fixed_bytes = names.bytes.len();
        names
    }

    /// The same with further words that are among those of every problem.
    pub fn with<'a>(words: impl Iterator<Item = &'a [u8]>) -> Answer<Interner> {
        let mut names = Interner::new();
        for word in words {
            let number = names.number(word, 0, word.len())?;
            if !names.vocabulary.contains(&number) {
                names.vocabulary.push(number);
            }
        }
        let mut vocabulary = std::mem::take(&mut names.vocabulary);
        names.sort_words(&mut vocabulary);
        (names.fixed, names.fixed_bytes, names.vocabulary) = (names.entries.len(), names.bytes.len(), vocabulary);
        Ok(names)
    }

    /// Give up the words of the last text.
    pub fn start(&mut self) {
        self.entries.truncate(self.fixed);
        self.entries.iter_mut().for_each(|entry| entry.is_declared = false);
        self.bytes.truncate(self.fixed_bytes);
        if self.slots.len() > MANY_SLOTS && 4 * self.fixed < MANY_SLOTS {
            self.resize(SLOT_BITS.max(66 - self.fixed.leading_zeros())); // a large text is rare
        }
        self.reading += 1;
        if self.reading == FREE.0 {
            self.slots.iter_mut().filter(|(reading, _)| *reading != 0).for_each(|slot| *slot = FREE);
            self.reading = 1;
        }
    }

    /// The number of the word that stands there in the block.
    #[inline(always)]
    pub fn number(&mut self, block: &[u8], start: usize, end: usize) -> Answer<u32> {
        let word = &block[start..end];
        let key = match (block[start..].first_chunk(), FIRST_BYTES.get(word.len())) {
            (Some(bytes), Some(mask)) => u64::from_be_bytes(*bytes) & mask,
            _ => return self.look_up(word, first_bytes(word)),
        };
        self.short(key, word.len()).or_else(|slot| self.enter(word, key, slot))
    }

    /// The number of the word that stands there, if it has one and is at most eight bytes long; with where it ends.
    #[inline(always)]
    fn known_at(&self, block: &[u8], start: usize) -> Option<(u32, usize)> {
        let bytes = u64::from_le_bytes(*block.get(start..)?.first_chunk()?);
        let length = bytes_inside(bytes); // with a semicolon inside it is no word that came before
        let key = bytes.swap_bytes() & FIRST_BYTES[length];
        Some((self.short(key, length).ok()?, start + length))
    }

    /// The number of a word of at most eight bytes, or the free slot where the search for it ends.
    #[inline(always)]
    fn short(&self, key: u64, length: usize) -> Result<u32, usize> {
        let mut slot = self.slot(key, length, &[]);
        loop {
            let (reading, number) = self.slots[slot];
            // The word of this number is what is looked for even if the slot is of an earlier reading.
            let entry = self.entries.get(number as usize);
            if entry.is_some_and(|entry| entry.key == key && entry.length as usize == length) {
                return Ok(number);
            }
            if reading != self.reading && reading != 0 {
                return Err(slot);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    #[inline(never)]
    fn look_up(&mut self, word: &[u8], key: u64) -> Answer<u32> {
        self.search(word, key).or_else(|slot| self.enter(word, key, slot))
    }

    /// The number of a word that has one.
    pub fn find(&self, word: &[u8]) -> Option<u32> {
        self.search(word, first_bytes(word)).ok()
    }

    /// The number of the word, or the free slot where the search for it ends.
    fn search(&self, word: &[u8], key: u64) -> Result<u32, usize> {
        let mut slot = self.slot(key, word.len(), word.get(8..).unwrap_or_default());
        loop {
            let (reading, number) = self.slots[slot];
            if reading != self.reading && reading != 0 {
                return Err(slot);
            }
            let entry = &self.entries[number as usize];
            let same_start = entry.key == key && entry.length as usize == word.len();
            if same_start && (word.len() <= 8 || self.text(number) == word) {
                return Ok(number);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// Where a word is looked for first.
    #[inline]
    fn slot(&self, key: u64, length: usize, beyond_key: &[u8]) -> usize {
        let mut hash = (key ^ length as u64).wrapping_mul(self.factor);
        let mut rest = beyond_key;
        while let Some((piece, more)) = rest.split_first_chunk() {
            (hash, rest) = ((hash ^ u64::from_le_bytes(*piece)).wrapping_mul(self.factor), more);
        }
        if !rest.is_empty() {
            hash = (hash ^ first_bytes(rest)).wrapping_mul(self.factor);
        }
        hash.wrapping_shr(self.slot_shift) as usize // the high bits of a product are mixed best
    }

    #[inline(never)]
    fn enter(&mut self, word: &[u8], key: u64, slot: usize) -> Answer<u32> {
        let number = self.entries.len() as u32;
        if self.entries.len() >= MOST_WORDS {
            return Err(Left::Text);
        }
        let (start, length) = (self.bytes.len() as u32, word.len() as u32);
        if word.len() <= 8 {
            self.bytes.extend_from_slice(&key.to_be_bytes()); // a length that the compiler knows
            self.bytes.truncate((start + length) as usize);
        } else {
            self.bytes.extend_from_slice(word);
        }
        self.entries.push(Entry { key, start, length, is_name: is_name(word), is_declared: false });
        self.slots[slot] = (self.reading, number);
        if 2 * self.entries.len() > self.slots.len() {
            self.resize(66 - self.slot_shift); // four times as many: rarely, for all words are entered anew
        }
        Ok(number)
    }

    /// Have so many slots, as a power of two.
    fn resize(&mut self, bits: u32) {
        self.slot_shift = 64 - bits;
        self.slots = vec![FREE; 1 << bits];
        for number in 0..self.entries.len() as u32 {
            let word = self.text(number);
            let beyond_key = word.get(8..).unwrap_or_default();
            let mut slot = self.slot(self.entries[number as usize].key, word.len(), beyond_key);
            while self.slots[slot].0 != FREE.0 {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.slots[slot] = (if (number as usize) < self.fixed { 0 } else { self.reading }, number);
        }
    }

    pub fn text(&self, number: u32) -> &[u8] {
        let Entry { start, length, .. } = self.entries[number as usize];
        &self.bytes[start as usize..(start + length) as usize]
    }

    /// True for a name that is no keyword.
    pub fn is_name(&self, number: u32) -> bool {
        self.entries[number as usize].is_name
    }

    /// How words are sorted.
    pub fn order(&self, a: u32, b: u32) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let key = |number: u32| self.entries[number as usize].key;
        key(a).cmp(&key(b)).then_with(|| self.text(a).cmp(self.text(b)))
    }

    /// How atoms are sorted, as Python sorts tuples.
    pub fn order_of(&self, one: &[u32], other: &[u32]) -> Ordering {
        let different = one.iter().zip(other).map(|(a, b)| self.order(*a, *b)).find(|order| order.is_ne());
        different.unwrap_or_else(|| one.len().cmp(&other.len()))
    }

    /// Sorts atoms as Python sorts tuples: here, because each sort by a comparison of its own is compiled anew.
    pub fn sort<A: AsRef<[u32]>>(&self, atoms: &mut [A]) {
        atoms.sort_unstable_by(|one, other| self.order_of(one.as_ref(), other.as_ref()));
    }

    /// Sorts the numbers of atoms by what they number.
    pub fn sort_numbers(&self, numbers: &mut [u32], atoms: &[Lifted]) {
        numbers.sort_unstable_by(|one, other| self.order_of(&atoms[*one as usize], &atoms[*other as usize]));
    }

    /// Sorts words by their texts.
    pub fn sort_words(&self, words: &mut [u32]) {
        words.sort_unstable_by(|one, other| self.order(*one, *other));
    }

    /// True where it is time for another one.
    pub fn is_full(&self) -> bool {
        self.entries.len() > MANY_WORDS
    }

    /// How many bytes its words have.
    pub fn length(&self) -> usize {
        self.bytes.len()
    }

    /// How many words there are.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// The vocabulary and what was read, sorted; keywords are no words of a problem.
    pub fn sorted(&self) -> Words {
        let keyed = |number: u32| (self.entries[number as usize].key, number);
        let mut own: Vec<(u64, u32)> = (self.fixed as u32..self.entries.len() as u32).map(keyed).collect();
        let order = |a: &(u64, u32), b: &(u64, u32)| a.0.cmp(&b.0).then_with(|| self.text(a.1).cmp(self.text(b.1)));
        own.sort_unstable_by(order);
        let mut places = vec![0; self.entries.len()];
        let mut spans = Vec::with_capacity(own.len() + self.vocabulary.len());
        let mut add = |number: u32| {
            let Entry { key, start, length, .. } = self.entries[number as usize];
            spans.push(Span { start, end: start + length, number, key });
            places[number as usize] = spans.len() as Word;
        };
        let mut own = own.iter();
        for fixed in &self.vocabulary {
            while let Some(each) = own.as_slice().first().filter(|each| order(each, &keyed(*fixed)).is_lt()) {
                add(each.1);
                own.next();
            }
            add(*fixed);
        }
        own.for_each(|each| add(each.1));
        Words::new(self.bytes.clone(), spans, places)
    }
}

/// Masks of the first bytes of a number, by how many.
const FIRST_BYTES: [u64; 9] = {
    let mut masks = [0; 9];
    let mut bytes = 1;
    while bytes < 9 {
        masks[bytes] = u64::MAX << (64 - 8 * bytes);
        bytes += 1;
    }
    masks
};

/// The first eight bytes as a number that is sorted like them.
#[inline(never)]
fn first_bytes(text: &[u8]) -> u64 {
    match text.first_chunk() {
        Some(start) => u64::from_be_bytes(*start),
        None => text.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)) << (8 * (8 - text.len() as u32) % 64),
    }
}

struct Reader<'a, 'b> {
    tokens: Tokens<'a>,
    names: &'b mut Interner,
    /// Names and types by number.
    objects: Vec<(u32, u32)>,
    /// True where one of them is a constant, too.
    has_constants: bool,
}

/// An atom of a block: its words, and `NONE` where it has no further argument.
type Read = [u32; 1 + MOST_ARGUMENTS];

/// Stands where an atom has no further argument.
const NONE: u32 = u32::MAX;

/// The atoms of a section, each with whether it names something that is not declared, and what goes beyond STRIPS.
struct Atoms {
    atoms: Vec<Read>,
    undeclared: bool,
    beyond: &'static str,
    /// True where it calls atoms false: in an initial state that says nothing under a closed world.
    has_denied: bool,
    /// Atoms with more arguments.
    longer: Vec<Vec<u32>>,
}

impl Atoms {
    fn new() -> Atoms {
        let (atoms, longer) = (Vec::with_capacity(64), Vec::new());
        Atoms { atoms, undeclared: false, beyond: "", has_denied: false, longer }
    }

    fn has_one_of(&self, others: &Atoms) -> bool {
        let (mut atoms, mut longer) = (self.atoms.clone(), self.longer.clone());
        if !others.atoms.is_empty() {
            atoms.sort_unstable();
        }
        if !others.longer.is_empty() {
            longer.sort_unstable();
        }
        others.atoms.iter().any(|each| atoms.binary_search(each).is_ok())
            || others.longer.iter().any(|each| longer.binary_search(each).is_ok())
    }
}

/// What a block is made of: its domain, its initial state and its goal; the reader has its objects.
type Sections<'a, 'b> = (Reader<'a, 'b>, u32, Atoms, Atoms);

/// The sections of a block; atoms may name these constants, too.
fn read_sections<'a, 'b>(
    block: &'a [u8],
    names: &'b mut Interner,
    Declared { constants, .. }: &Declared,
) -> Result<Sections<'a, 'b>, Stop> {
    names.start();
    let mut reader =
        Reader { tokens: Tokens::new(block), names, objects: Vec::with_capacity(64), has_constants: false };
    for _ in 0..3 {
        reader.tokens.next(); // `(`, `define`, `(`
    }
    let Token::Word(start, end) = reader.tokens.next() else {
        return Err(Left::Notation.into());
    };
    if &block[start..end] != b"problem" {
        return Err(Left::Notation.into());
    }
    let name = reader.name(b"`(problem \xE2\x80\xA6)`")?;
    reader.section(&[":domain"])?;
    let domain = reader.name(b"`(:domain \xE2\x80\xA6)`")?;
    let mut keyword = reader.section(&[":requirements", ":objects", ":init"])?;
    if keyword == ":requirements" {
        reader.requirements()?;
        keyword = reader.section(&[":objects", ":init"])?;
    }
    if keyword == ":objects" {
        reader.read_objects()?;
        reader.section(&[":init"])?;
    }
    for constant in constants {
        let number = reader.names.number(constant, 0, constant.len())?;
        reader.has_constants |= std::mem::replace(&mut reader.names.entries[number as usize].is_declared, true);
    }
    let init = reader.init()?;
    reader.section(&[":goal"])?;
    let goal = reader.goal()?;
    if reader.tokens.peek() != Token::Close {
        let opening = reader.opening();
        let keyword = opening.strip_prefix(b"(").unwrap_or_default();
        if keyword.starts_with(b":metric") || SECTIONS.iter().any(|each| each.as_bytes() == keyword) {
            return Err(Left::Sections.into()); // VAL reads them in any order
        }
        return unexpected(&opening, "`)` after `(:goal …)`".as_bytes());
    }
    reader.tokens.next();
    if reader.tokens.is_beyond_end() {
        return Err(Left::Notation.into());
    }
    for number in [name, domain] {
        if !reader.names.is_name(number) {
            return reader.not_a_name(reader.names.text(number), b"the header", b"");
        }
    }
    for (part, place) in [(&init, ":init"), (&goal, "the goal")] {
        if !part.beyond.is_empty() {
            let beyond = Difference::of("not strips").word("where", place.as_bytes());
            return refused(Refused::NotStrips, beyond.word("construct", part.beyond.as_bytes()));
        }
    }
    Ok((reader, domain, init, goal))
}

/// The problem that a lower-case block states, with which the text begins, and what follows it.
///
/// A constant of the domain is one even if the problem declares it again.
fn read_plain_problem<'a>(
    block: &'a [u8],
    declared: &Declared,
    names: &mut Interner,
) -> Result<(Problem, Tokens<'a>), Stop> {
    let (reader, domain, init, goal) = read_sections(block, names, declared)?;
    if !init.longer.is_empty() || !goal.longer.is_empty() {
        return Err(Left::Arity.into());
    }
    let has_types = || Rules::named(Known::numbered(domain)).is_some_and(Rules::has_types);
    if init.has_denied && declared.is_typed.unwrap_or_else(has_types) {
        return Err(Left::Notation.into()); // whether it is well typed
    }
    let words = reader.names.sorted();
    let place = |number: u32| words.place_of(number);
    let mut objects: Vec<(Word, Word)> =
        reader.objects.iter().map(|(name, type_)| (place(*name), place(*type_))).collect();
    if reader.has_constants {
        objects.retain(|(name, _)| !declared.constants.iter().any(|constant| constant == words.text(*name)));
    }
    let mut number = words.each(NO_OBJECT);
    for (i, (name, _)) in objects.iter().enumerate() {
        number[*name as usize] = i as u32;
    }
    let packed = |[predicate, rest @ ..]: &Read| atom_from(rest, NONE, place(*predicate), |word| words.argument(word));
    let packed = |part: &Atoms| {
        let mut atoms: Vec<Atom> = part.atoms.iter().map(packed).collect();
        sort_atoms(&mut atoms);
        atoms
    };
    let (own_init, own_goal) = (packed(&init), packed(&goal));
    let problem =
        Problem { domain: place(domain), words, objects, number, init: own_init, goal: own_goal, ..Problem::default() };
    if init.undeclared || goal.undeclared {
        return Err(undeclared_object(&problem, reader.names));
    }
    Ok((problem, reader.tokens))
}

/// The first atom that names an object that neither the problem nor the domain declares.
fn undeclared_object(problem: &Problem, names: &Interner) -> Stop {
    let words = &problem.words;
    let unknown = |word: &Word| !names.entries[words.number(*word) as usize].is_declared;
    let is_strange = |each: &Atom| arguments(*each).any(|word| unknown(&word));
    let in_init = problem.init.iter().copied().find(is_strange);
    let in_goal = problem.goal.iter().copied().find(is_strange);
    let found = in_init.into_iter().chain(in_goal).min();
    let Some((atom, name)) = found.and_then(|atom| Some((atom, arguments(atom).find(unknown)?))) else {
        return Stop::Left(Left::Notation);
    };
    let place: &[u8] = if in_init == Some(atom) { b":init" } else { b"the goal" };
    let difference = Difference::of("undeclared").words("atom", words.texts(atom)).word("where", place);
    Stop::Refused(Unreadable { verdict: Refused::InvalidAtom, difference: difference.word("name", words.text(name)) })
}

impl Reader<'_, '_> {
    fn text(&self, start: usize, end: usize) -> &[u8] {
        &self.tokens.block[start..end]
    }

    /// Take the parenthesis and the keyword of the next section, which is one of these.
    fn section(&mut self, possible: &[&'static str]) -> Result<&'static str, Stop> {
        let before = self.tokens;
        if let (Token::Open, Token::Word(start, end)) = (self.tokens.next(), self.tokens.next()) {
            if let Some(keyword) = possible.iter().find(|each| each.as_bytes() == self.text(start, end)) {
                return Ok(keyword);
            }
        }
        self.tokens = before;
        let opening = self.opening();
        let section = opening.strip_prefix(b"(").unwrap_or_default();
        if possible.iter().any(|each| section.starts_with(each.as_bytes())) {
            return Err(Left::Notation.into());
        }
        if SECTIONS.iter().any(|each| each.as_bytes() == section) {
            return Err(Left::Sections.into()); // VAL reads them in any order
        }
        let kind = if section.is_empty() { "section" } else { "no section" };
        unparseable(Difference::of(kind).word("found", &opening).words("possible", possible))
    }

    /// The next word, or the parenthesis that opens a list with what follows it, unread.
    fn opening(&mut self) -> Vec<u8> {
        let block = self.tokens.block;
        let shown = |token: Token| match token {
            Token::Open => b"(".to_vec(),
            Token::Close => b")".to_vec(),
            Token::Word(start, end) => block[start..end.min(start + LONGEST_QUOTED)].to_vec(),
        };
        match self.tokens.ahead() {
            (Token::Open, inner) => [b"(".to_vec(), shown(inner)].concat(),
            (other, _) => shown(other),
        }
    }

    /// The name that a section is made of, and the section's end.
    fn name(&mut self, place: &[u8]) -> Result<u32, Stop> {
        let (start, end) = match self.tokens.next() {
            Token::Word(start, end) => (start, end),
            Token::Open => return self.not_a_name(b"(", place, b""),
            Token::Close => return self.not_a_name(b")", place, b""),
        };
        let block = self.tokens.block;
        if !is_name(&block[start..end]) {
            return self.not_a_name(&block[start..end], place, b"");
        }
        if self.tokens.peek() != Token::Close {
            let opening = self.opening();
            return unexpected(&opening, &[b"`)` after the name in ", place].concat());
        }
        self.tokens.next();
        Ok(self.names.number(block, start, end)?)
    }

    fn requirements(&mut self) -> Result<(), Stop> {
        let mut count = 0;
        loop {
            let word = match self.tokens.next() {
                Token::Close if count == 0 => return unparseable(Difference::of("no requirement")),
                Token::Close => return Ok(()),
                Token::Word(start, end) => self.text(start, end),
                Token::Open => b"(",
            };
            if !REQUIREMENTS.iter().any(|known| known.as_bytes() == word) {
                if REQUIREMENTS.iter().any(|known| word.starts_with(known.as_bytes())) {
                    return Err(Left::Notation.into());
                }
                return unparseable(Difference::of("requirement").word("word", word));
            }
            count += 1;
        }
    }

    /// The objects with their types, in the order of the text. Of several mistakes one in the list is said, else the first
    /// word that is no name, else a type that is none.
    fn read_objects(&mut self) -> Result<(), Stop> {
        let block = self.tokens.block;
        let (mut typed, mut is_twice) = (0, false);
        let (mut no_name, mut no_type, mut is_chance): (Option<&[u8]>, Option<&[u8]>, _) = (None, None, false);
        loop {
            let (start, end) = match self.tokens.next() {
                Token::Close => break,
                Token::Word(start, end) => (start, end),
                Token::Open => {
                    self.tokens.skip_list();
                    no_name = no_name.or(Some(b"("));
                    self.objects.push((Known::Object as u32, Known::Object as u32));
                    continue;
                }
            };
            if &block[start..end] != b"-" {
                let number = self.names.number(block, start, end)?;
                let entry = &mut self.names.entries[number as usize];
                if !entry.is_name {
                    no_name = no_name.or(Some(&block[start..end]));
                }
                is_twice |= std::mem::replace(&mut entry.is_declared, true);
                self.objects.push((number, Known::Object as u32));
                continue;
            }
            let type_ = match self.tokens.next() {
                Token::Open => return unparseable(Difference::of("either")),
                Token::Word(start, end) if typed < self.objects.len() && &block[start..end] != b"-" => (start, end),
                _ => return Err(Left::Notation.into()), // VAL reads a type without names
            };
            let number = self.names.number(block, type_.0, type_.1)?;
            if number != Known::Object as u32 && !self.names.is_name(number) {
                let word = &block[type_.0..type_.1];
                is_chance |= no_type.is_some_and(|first| first != word); // which of several is named
                no_type = Some(word);
            }
            self.objects[typed..].iter_mut().for_each(|(_, type_)| *type_ = number);
            typed = self.objects.len();
        }
        match (no_name, no_type) {
            (Some(word), _) => self.not_a_name(word, b":objects", b"-"),
            _ if is_chance || (is_twice && no_type.is_none()) => Err(Left::Notation.into()), // VAL reads an object twice
            (None, Some(word)) => self.not_a_name(word, b":objects", b""),
            (None, None) => Ok(()),
        }
    }

    /// Atoms as most are written, up to the first that is not: names that have come before, and single blanks.
    fn plain_atoms(&mut self, found: &mut Atoms) {
        let (block, names) = (self.tokens.block, &*self.names);
        let mut at = self.tokens.at;
        loop {
            at = after_spaces(block, at);
            if block.get(at) != Some(&b'(') {
                return;
            }
            let (mut words, mut count, mut undeclared) = ([NONE; 1 + MOST_ARGUMENTS], 0, false);
            loop {
                let Some((number, end)) = names.known_at(block, at + 1) else { return };
                let (Some(word), Some(next)) = (words.get_mut(count), block.get(end)) else { return };
                let Entry { is_name, is_declared, .. } = names.entries[number as usize];
                if !is_name {
                    return;
                }
                (*word, at) = (number, end);
                undeclared |= (count > 0) & !is_declared;
                count += 1;
                match next {
                    b' ' => {}
                    b')' => break,
                    _ => return,
                }
            }
            found.atoms.push(words);
            found.undeclared |= undeclared;
            at += 1;
            self.tokens.at = at;
        }
    }

    /// The atoms of the initial state, up to the end of the section.
    fn init(&mut self) -> Result<Atoms, Stop> {
        let (mut found, mut denied) = (Atoms::new(), Atoms::new());
        loop {
            self.plain_atoms(&mut found);
            match self.tokens.next() {
                Token::Close => {
                    found.has_denied = !denied.atoms.is_empty() || !denied.longer.is_empty();
                    let is_wrong = denied.undeclared || found.has_one_of(&denied);
                    return if is_wrong { Err(Left::Notation.into()) } else { Ok(found) };
                }
                Token::Word(start, end) => {
                    let word = self.text(start, end.min(start + LONGEST_QUOTED));
                    return unexpected(word, b"`)` after the atoms of :init");
                }
                Token::Open => {}
            }
            let head = self.tokens.next();
            if let Token::Word(start, end) = head {
                match self.text(start, end) {
                    b"=" => return Err(Left::Notation.into()),
                    b"not" => {
                        self.negated(&mut denied)?;
                        continue;
                    }
                    _ => {}
                }
            }
            self.atom(head, &mut found, b":init", [b"=", b"="])?;
        }
    }

    /// What follows `(not` in the initial state: an atom and the end, which is all that is read here.
    fn negated(&mut self, denied: &mut Atoms) -> Result<(), Stop> {
        if self.tokens.next() != Token::Open {
            return Err(Left::Notation.into());
        }
        let head = self.tokens.next();
        match self.atom(head, denied, b":init", [b"=", b"="]) {
            Ok(()) if self.tokens.next() == Token::Close => Ok(()),
            _ => Err(Left::Notation.into()),
        }
    }

    /// An atom of which the first word is read. `also`: what a predicate and a term may begin with, beside a letter.
    #[inline]
    fn atom(&mut self, head: Token, found: &mut Atoms, place: &[u8], also: [&[u8]; 2]) -> Result<(), Stop> {
        let (block, has_variables) = (self.tokens.block, also[1] == b"?");
        let mut words = [NONE; 1 + MOST_ARGUMENTS];
        let mut count = 0;
        let mut further = Vec::new();
        let mut next = head;
        while let Token::Word(mut start, end) = next {
            if has_variables && count > 0 && block[start] == b'?' {
                start += 1;
                found.beyond = if found.beyond.is_empty() { "a variable" } else { found.beyond };
            }
            let number = self.names.number(block, start, end)?;
            let entry = &self.names.entries[number as usize];
            if !entry.is_name {
                return self.not_a_name(&block[start..end], place, also[count.min(1)]);
            }
            found.undeclared |= count > 0 && !entry.is_declared;
            match words.get_mut(count) {
                Some(word) => *word = number,
                None => further.push(number),
            }
            count += 1;
            next = self.tokens.next();
        }
        if next == Token::Open {
            return self.not_a_name(b"(", place, also[count.min(1)]);
        }
        if count == 0 {
            return unparseable(Difference::of("no atom").word("where", place));
        }
        if !further.is_empty() {
            found.longer.push([&words[..], &further].concat());
            return Ok(());
        }
        found.atoms.push(words);
        Ok(())
    }

    /// The atoms of the goal, up to the end of the section.
    fn goal(&mut self) -> Result<Atoms, Stop> {
        let mut found = Atoms::new();
        let mut negated = false;
        // The operators that are open, each with the number of its operands so far.
        let mut open: Vec<(&'static [u8], usize)> = Vec::with_capacity(4);
        open.push((b":goal", 0));
        loop {
            let nesting = open.len() + 2; // of what opens next
            let Some((operator, operands)) = open.last_mut() else { break };
            let one = *operator != b"and";
            if !one && nesting <= PACKAGE_NESTING {
                self.plain_atoms(&mut found);
            }
            match self.tokens.next() {
                Token::Close => {
                    if one && *operands == 0 {
                        return unparseable(Difference::of("no formula").word("operator", operator));
                    }
                    open.pop();
                    continue;
                }
                Token::Word(start, end) => {
                    let word = self.text(start, end.min(start + LONGEST_QUOTED));
                    return unexpected(word, b"a formula in the goal");
                }
                Token::Open => *operands += 1,
            }
            if nesting > PACKAGE_NESTING {
                return Err(Left::Notation.into());
            }
            if one && *operands > 1 {
                return unparseable(Difference::of("too many formulas").word("operator", operator));
            }
            let first = self.tokens.next();
            let head = match first {
                Token::Word(start, end) => &self.tokens.block[start..end],
                Token::Open => return self.not_a_name(b"(", b"the goal", b"=<>"),
                Token::Close => return self.not_a_name(b")", b"the goal", b"=<>"),
            };
            match head {
                b"and" | b"not" => {
                    negated |= head == b"not";
                    open.push(if head == b"and" { (b"and", 0) } else { (b"not", 0) });
                }
                b"or" | b"imply" | b"forall" | b"exists" | b"=" => return Err(Left::Formula.into()),
                _ => self.atom(first, &mut found, b"the goal", [b"=<>", b"?"])?,
            }
        }
        if negated {
            found.beyond = "`not`";
        }
        Ok(found)
    }

    /// The refusal of a word in place of a name; words of which the package's lexer may make several tokens are left.
    fn not_a_name<T>(&self, word: &[u8], place: &[u8], also_possible: &[u8]) -> Result<T, Stop> {
        let word = &word[..word.len().min(LONGEST_QUOTED)];
        let is_token = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_:=<>+*/?-".contains(byte);
        let is_keyword = word == b"object" || KEYWORDS.iter().any(|each| each.as_bytes() == word);
        let kind = match word {
            b"" => return Err(Left::Notation.into()), // of a lone `?`
            b"(" | b")" => "expected name",
            _ if is_keyword => "keyword",
            [first, ..] if first.is_ascii_lowercase() || also_possible.contains(first) => {
                if word.iter().all(is_token) {
                    return Err(Left::Notation.into());
                }
                "no name"
            }
            _ => "no name",
        };
        unparseable(Difference::of(kind).word("word", word).word("where", place))
    }
}

/// `[a-z][a-z0-9_-]*`
fn is_name(word: &[u8]) -> bool {
    word.first().is_some_and(u8::is_ascii_lowercase) && word.iter().all(|byte| IN_NAMES[usize::from(*byte)])
}

const IN_NAMES: [bool; 256] = {
    let mut within = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let each = byte as u8;
        within[byte] = each.is_ascii_lowercase() || each.is_ascii_digit() || each == b'_' || each == b'-';
        byte += 1;
    }
    within
};
