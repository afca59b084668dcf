//! The first difference between two problems, as values (definition/difference.py); definition/words.py says it.
//!
//! A difference is a kind, a name of a function of definition/words.py, and its fields, which are the function's
//! parameters. So it crosses the border, typed; nothing here is said in words.

use crate::equivalence::Pair;
use crate::fraction::Fraction;
use crate::hashing::{HashMap, HashSet};
use crate::left::Answer;
use crate::model::{
    arguments, has, predicate, renamed, Atom, Conjunct, Problem, Word, Words, NO_OBJECT, TOTAL_COST, UNKNOWN,
};
use crate::task::{Task, Unsolvable};
use std::collections::{BTreeMap, BTreeSet};

/// Objects that a difference names.
const MOST_NAMES: usize = 5;

/// A field of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    Number(usize),
    Word(Vec<u8>),
    Words(Vec<Vec<u8>>),
    Lists(Vec<Vec<Vec<u8>>>),
    /// Another difference, at most one.
    Reason(Box<Difference>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Difference {
    pub kind: &'static str,
    pub fields: Vec<(&'static str, Field)>,
}

impl Difference {
    pub fn of(kind: &'static str) -> Difference {
        Difference { kind, fields: Vec::new() }
    }

    fn with(mut self, name: &'static str, field: Field) -> Difference {
        self.fields.push((name, field));
        self
    }

    pub fn number(self, name: &'static str, number: usize) -> Difference {
        self.with(name, Field::Number(number))
    }

    pub fn word(self, name: &'static str, word: &[u8]) -> Difference {
        self.with(name, Field::Word(word.to_vec()))
    }

    pub fn words<W: AsRef<[u8]>>(self, name: &'static str, words: impl IntoIterator<Item = W>) -> Difference {
        self.with(name, Field::Words(words.into_iter().map(|word| word.as_ref().to_vec()).collect()))
    }

    pub fn lists(self, name: &'static str, lists: impl IntoIterator<Item = Vec<Vec<u8>>>) -> Difference {
        self.with(name, Field::Lists(lists.into_iter().collect()))
    }

    pub fn because(self, name: &'static str, reason: Difference) -> Difference {
        self.with(name, Field::Reason(Box::new(reason)))
    }

    pub fn counts(self, found: usize, expected: usize) -> Difference {
        self.number("found", found).number("expected", expected)
    }
}

/// Both numbers of objects, and which objects are missing or extra where names tell.
pub fn object_count(pair: &Pair) -> Difference {
    let (ours, theirs) = (&pair.generated.problem, &pair.reference.problem);
    let is_known = |name: Word| {
        let known = pair.to_reference[name as usize];
        known != UNKNOWN && theirs.number[known as usize] != NO_OBJECT
    };
    let common: Vec<Word> = ours.objects.iter().map(|(name, _)| *name).filter(|name| is_known(*name)).collect();
    let difference = Difference::of("object count").counts(ours.objects.len(), theirs.objects.len());
    let (words, mut names): (_, Vec<Word>) = if common.len() == ours.objects.len() {
        let known: HashSet<Word> = common.iter().map(|name| pair.to_reference[*name as usize]).collect();
        let missing = theirs.objects.iter().map(|(name, _)| *name).filter(|name| !known.contains(name));
        (&theirs.words, missing.collect())
    } else if common.len() == theirs.objects.len() {
        let extra = ours.objects.iter().map(|(name, _)| *name).filter(|name| !is_known(*name));
        (&ours.words, extra.collect())
    } else {
        return difference;
    };
    names.sort_unstable();
    let names = names.iter().take(MOST_NAMES).map(|name| words.text(*name)).collect::<Vec<_>>();
    difference.words("names", names)
}

/// The first object whose type is another, by name where both sides use it, else the first count that is off.
pub fn type_difference(pair: &Pair) -> Difference {
    let (ours, theirs) = (&pair.generated.problem, &pair.reference.problem);
    for (name, type_) in &ours.objects {
        let known = pair.to_reference[*name as usize];
        if known == UNKNOWN || theirs.number[known as usize] == NO_OBJECT {
            continue;
        }
        let (_, expected) = theirs.objects[theirs.number[known as usize] as usize];
        if expected != pair.to_reference[*type_ as usize] {
            let name = ours.words.text(*name);
            let names = [name, ours.words.text(*type_), theirs.words.text(expected)];
            return Difference::of("object type").words("names", names);
        }
    }
    let mut counts: BTreeMap<&[u8], (usize, usize)> = BTreeMap::new();
    ours.objects.iter().for_each(|(_, type_)| counts.entry(ours.words.text(*type_)).or_default().0 += 1);
    theirs.objects.iter().for_each(|(_, type_)| counts.entry(theirs.words.text(*type_)).or_default().1 += 1);
    let off = counts.into_iter().find(|(_, (ours, theirs))| ours != theirs);
    let (type_, (ours, theirs)) = off.unwrap_or_default();
    Difference::of("type count").words("names", [type_]).counts(ours, theirs)
}

/// The words of both problems as the places in one sorted list.
struct Joined<'a> {
    words: Vec<&'a [u8]>,
    ours: Vec<Word>,
    theirs: Vec<Word>,
}

impl<'a> Joined<'a> {
    fn new(ours: &'a Words, theirs: &'a Words) -> Joined<'a> {
        let mut joined = Joined { words: vec![b""], ours: vec![0], theirs: vec![0] };
        let text = |words: &'a Words, at: usize| (at <= words.count()).then(|| words.text(at as Word));
        loop {
            let (own, other) = (text(ours, joined.ours.len()), text(theirs, joined.theirs.len()));
            let Some(next) = own.into_iter().chain(other).min() else {
                return joined;
            };
            let place = joined.words.len() as Word;
            joined.words.push(next);
            if own == Some(next) {
                joined.ours.push(place);
            }
            if other == Some(next) {
                joined.theirs.push(place);
            }
        }
    }

    fn texts(&self, atom: Atom) -> impl Iterator<Item = &[u8]> {
        let present = [predicate(atom)].into_iter().chain(arguments(atom));
        present.map(|word| self.words[word as usize])
    }
}

/// The first atom of each initial state that is not in the other, else the first number, or the metrics.
pub fn init_difference(pair: &Pair) -> Answer<Difference> {
    let (ours, theirs) = (&pair.generated.problem, &pair.reference.problem);
    let joined = Joined::new(&ours.words, &theirs.words);
    let mut matching = joined.ours.clone();
    let mut back: Vec<Word> = (0..joined.words.len() as Word).collect();
    for (own, other) in closest_matching(pair, &joined) {
        matching[own as usize] = joined.theirs[other as usize];
        back[joined.theirs[other as usize] as usize] = joined.ours[own as usize];
    }
    let mut found: Vec<Atom> = ours.init.iter().map(|atom| renamed(*atom, &joined.ours, &matching)).collect();
    found.sort_unstable();
    let wanted: Vec<Atom> = theirs.init.iter().map(|atom| renamed(*atom, &joined.theirs, &joined.theirs)).collect();
    let all: Vec<Word> = (0..joined.words.len() as Word).collect();
    let in_ours = |atom: Atom| renamed(atom, &all, &back);
    let missing = wanted.iter().find(|atom| !has(&found, **atom));
    let extra = found.iter().find(|atom| !has(&wanted, **atom));
    if missing.is_none() && extra.is_none() {
        return number_difference(pair, &joined, &matching, in_ours);
    }
    let mut difference = Difference::of("init");
    if let Some(atom) = missing {
        difference = difference.words("lacks", joined.texts(*atom)).words("lacks_here", joined.texts(in_ours(*atom)));
    }
    if let Some(atom) = extra {
        difference = difference.words("has", joined.texts(in_ours(*atom)));
    }
    Ok(difference)
}

fn number_difference(
    pair: &Pair,
    joined: &Joined,
    matching: &[Word],
    in_ours: impl Fn(Atom) -> Atom,
) -> Answer<Difference> {
    let (ours, theirs) = (&pair.generated.problem, &pair.reference.problem);
    let mut values: BTreeMap<Atom, [Option<Fraction>; 2]> = BTreeMap::new();
    for (fluent, value) in ours.values() {
        values.entry(renamed(*fluent, &joined.ours, matching)).or_default()[0] = Some(*value);
    }
    for (fluent, value) in theirs.values() {
        values.entry(renamed(*fluent, &joined.theirs, &joined.theirs)).or_default()[1] = Some(*value);
    }
    if let Some((fluent, both)) = values.into_iter().find(|(_, [one, other])| one != other) {
        let is_cost = joined.texts(fluent).eq([TOTAL_COST]);
        let shown = |value: Option<Fraction>| match value {
            Some(value) => value.shown(),
            None => Ok(if is_cost { "0" } else { "" }.to_string()),
        };
        let names = [shown(both[0])?, shown(both[1])?];
        let here = in_ours(fluent);
        let has: Vec<&[u8]> = if names[1].is_empty() { joined.texts(here).collect() } else { Vec::new() };
        let found = Difference::of("value").words("names", names).words("lacks", joined.texts(fluent));
        return Ok(found.words("lacks_here", joined.texts(here)).words("has", has));
    }
    let metric = |problem: &Problem, text: &dyn Fn(Word) -> Word| {
        let said = problem.numbers.as_ref().and_then(|said| said.metric.as_ref());
        said.map_or(Vec::new(), |metric| metric.written.shown(|name| joined.words[text(name) as usize]))
    };
    let metrics = [metric(ours, &|name| matching[name as usize]), metric(theirs, &|name| joined.theirs[name as usize])];
    let is_same = metrics[0] == metrics[1];
    Ok(if is_same { Difference::of("init") } else { Difference::of("metric").words("names", metrics) })
}

/// A plausible map of objects for problems that are not isomorphic: by name, then by role.
fn closest_matching(pair: &Pair, joined: &Joined) -> Vec<(Word, Word)> {
    let (ours, theirs) = (&pair.generated.problem, &pair.reference.problem);
    let mut matching: Vec<(Word, Word)> = Vec::new();
    let mut is_matched = theirs.words.each(false);
    let mut unmatched: Vec<usize> = Vec::new();
    for (place, (name, _)) in ours.objects.iter().enumerate() {
        let known = pair.to_reference[*name as usize];
        if known != UNKNOWN && theirs.number[known as usize] != NO_OBJECT {
            matching.push((*name, known));
            is_matched[known as usize] = true;
        } else {
            unmatched.push(place);
        }
    }
    if unmatched.is_empty() {
        return matching;
    }
    // For each role, in the order in which it comes first, the reference's objects that have it.
    let mut roles: Vec<Vec<Word>> = Vec::new();
    let mut places: HashMap<Vec<u64>, usize> = HashMap::default();
    for ((name, _), role) in theirs.objects.iter().zip(object_roles(theirs, &joined.theirs)) {
        if !is_matched[*name as usize] {
            let place = *places.entry(role).or_insert(roles.len());
            if place == roles.len() {
                roles.push(Vec::new());
            }
            roles[place].push(*name);
        }
    }
    let mut used = vec![0; roles.len()];
    let own_roles = object_roles(ours, &joined.ours);
    unmatched.retain(|object| {
        let Some(place) = places.get(&own_roles[*object]) else {
            return true;
        };
        let Some(other) = roles[*place].get(used[*place]) else {
            return true;
        };
        used[*place] += 1;
        matching.push((ours.objects[*object].0, *other));
        false
    });
    let rest = roles.iter().zip(used).flat_map(|(names, used)| names[used..].iter());
    matching.extend(unmatched.iter().map(|object| ours.objects[*object].0).zip(rest.copied()));
    matching
}

/// What each object is and does: its type, and in which places of which predicates of which scene it stands.
fn object_roles(problem: &Problem, joined: &[Word]) -> Vec<Vec<u64>> {
    let mut roles: Vec<Vec<u64>> = vec![Vec::new(); problem.objects.len()];
    for (scene, atoms) in [(0, &problem.init), (1, &problem.goal)] {
        for atom in atoms {
            for (position, name) in (0..).zip(arguments(*atom)) {
                let role = u64::from(joined[predicate(*atom) as usize]) << 8 | position << 1 | scene;
                if let Some(own) = roles.get_mut(problem.number[name as usize] as usize) {
                    own.push(role); // of an object, no constant
                }
            }
        }
    }
    for (role, (_, type_)) in roles.iter_mut().zip(&problem.objects) {
        role.sort_unstable();
        role.push(u64::from(joined[*type_ as usize]));
    }
    roles
}

/// The proof that no reachable state has the reference's goal, and which predicates the known domain without rules does
/// not have; None where one has it.
pub fn reference_unsolvable(reference: &Task) -> Answer<Option<Difference>> {
    let (Problem { words, init, goal, .. }, domain) = (&*reference.problem, &reference.domain);
    if reference.has_many_states() {
        return Ok(None);
    }
    let Err(proof) = reference.closure()? else { return Ok(None) };
    let found = unsolvable("reference unsolvable", words, proof);
    let declared = &domain.structure.domain.predicates;
    let used: BTreeSet<Word> = init.iter().chain(goal).map(|atom| predicate(*atom)).collect();
    let unknown: Vec<Word> = used.into_iter().filter(|name| !declared.contains_key(&words.number(*name))).collect();
    if !domain.is_rover || unknown.is_empty() {
        return Ok(Some(found));
    }
    let name = domain.names.text(domain.structure.domain.name);
    let shown = [name].into_iter().chain(unknown.iter().take(MOST_NAMES).map(|name| words.text(*name)));
    Ok(Some(found.words("names", shown).number("found", unknown.len())))
}

/// The proof that the goal is out of reach.
pub fn unsolvable(kind: &'static str, words: &Words, proof: &Unsolvable) -> Difference {
    let reason = match proof {
        Unsolvable::ByRules(proof) => {
            let says = if proof.never_true { "never true" } else { "exclude each other" };
            Difference::of(says).lists("atoms", proof.atoms.iter().map(|atom| words.texts(*atom)))
        }
        Unsolvable::NeverAdded(atom) => Difference::of("never added").words("atom", words.texts(*atom)),
        Unsolvable::BySearch(proof) => proof.difference(),
    };
    Difference::of(kind).because("reason", reason)
}

/// An atom of the reference's goal that the answer's does not imply, in the words of both.
pub fn reference_asks(pair: &Pair, theirs: Atom, map: &[Word]) -> Difference {
    let words = &pair.reference.problem.words;
    let mut here = vec![words.text(predicate(theirs))];
    for argument in arguments(theirs) {
        let ours = pair.generated.problem.objects.iter().find(|(name, _)| map[*name as usize] == argument);
        here.push(ours.map_or(words.text(argument), |(name, _)| pair.generated.problem.words.text(*name)));
    }
    Difference::of("goal").words("lacks", words.texts(theirs)).words("lacks_here", here)
}

/// The same of a conjunct that is no atom; `back` are the answer's words of objects.
pub fn reference_asks_for(pair: &Pair, asked: &Conjunct, back: &[Word]) -> Difference {
    let (ours, theirs) = (&pair.generated.problem.words, &pair.reference.problem.words);
    let here = |name: Word| match back[name as usize] {
        UNKNOWN => theirs.text(name),
        own => ours.text(own),
    };
    Difference::of("goal").word("lacks", &asked.shown(|name| theirs.text(name))).word("lacks_here", &asked.shown(here))
}

/// An atom of the answer's goal that the reference's does not imply.
pub fn generated_asks(pair: &Pair, asked: Atom) -> Difference {
    Difference::of("goal").words("has", pair.generated.problem.words.texts(asked))
}

/// How many atoms full specification added to each goal.
pub fn closures_agree(ours: usize, theirs: usize) -> Difference {
    Difference::of("closures agree").counts(ours, theirs)
}

/// Why the declarations of a domain do not admit an atom: `declared` are the types of its predicate's arguments, and
/// `wrong` says of an argument which type it should have, and which one it has, where it does not fit.
pub fn misfit<'a>(
    declared: Option<&Vec<Word>>,
    arguments: usize,
    atom: impl Fn() -> Vec<Vec<u8>>,
    wrong: impl Fn(usize, Word) -> Option<[&'a [u8]; 2]>,
) -> Option<Difference> {
    let of_predicate = |kind| Difference::of(kind).word("predicate", &atom()[0]);
    let why = match declared {
        None => of_predicate("no such predicate"),
        Some(declared) if declared.len() != arguments => {
            of_predicate("wrong number of arguments").number("takes", declared.len()).number("given", arguments)
        }
        Some(declared) => {
            let mut all = declared.iter().enumerate();
            let (place, [wanted, type_]) = all.find_map(|(place, wanted)| Some((place, wrong(place, *wanted)?)))?;
            let found = of_predicate("wrong type").number("number", 1 + place);
            found.word("wanted", wanted).word("type_", type_)
        }
    };
    Some(Difference::of("of atom").words("atom", atom()).because("why", why))
}
