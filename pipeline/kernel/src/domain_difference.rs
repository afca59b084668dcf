//! The difference between two domains, as values: which operators are partners, and what one lacks that the other has
//! (definition/domain_difference.py); definition/words.py says it.

use crate::difference::Difference;
use crate::hashing::HashMap;
use crate::left::{Answer, Left};
use crate::model::{alternatives_in, Domain, Lifted, Operator, Word, EQUALITY, PLACES};
use crate::pddl::problems::Interner;
use crate::structure::graph::{sorted_equality, Vertex, PARTS, SORTED_PARTS};
use crate::structure::renaming::renamed_words;
use std::collections::BTreeMap;

/// Orders of an operator's parameters that are tried to find its partner: all of five.
const MOST_ORDERS: usize = 120;

/// Pairs of operators that are compared to find partners; what is left over is paired as it stands.
const MOST_COMPARED: usize = 100;

/// Literals of an operator; one that has more is no hot path.
const MOST_LITERALS: usize = 200;

/// An atom with the place of its part in the order of their names.
type Literal = (usize, Lifted);

/// An operator of the reference and the generated one that comes closest to it, by their numbers.
#[derive(Default)]
struct Partners {
    reference: Option<usize>,
    generated: Option<usize>,
    lacks: Vec<Literal>,
    has: Vec<Literal>,
    distance: usize,
}

/// Each operator of either domain with its partner, in the order of the reference.
fn partners(reference: &Domain, generated: &Domain, names: &mut Interner) -> Answer<Vec<Partners>> {
    let words = words(reference, generated, names);
    let (theirs, ours) = (&reference.operators, &generated.operators);
    let mut left: Vec<usize> = (0..ours.len()).collect();
    let mut found: BTreeMap<usize, Partners> = BTreeMap::new();
    let mut compared =
        |number: usize, other: usize| compared((number, &theirs[number]), (other, &ours[other]), &words, names);
    let own: HashMap<Word, usize> = ours.iter().enumerate().map(|(number, each)| (each.key, number)).collect();
    let mut pair = |number: usize, other: usize, left: &mut Vec<usize>, found: &mut BTreeMap<usize, Partners>| {
        if !found.contains_key(&number) && left.contains(&other) {
            left.retain(|each| *each != other);
            found.insert(number, compared(number, other)?);
        }
        Ok(())
    };
    for (number, operator) in theirs.iter().enumerate() {
        if let Some(other) = own.get(&operator.key) {
            pair(number, *other, &mut left, &mut found)?;
        }
    }
    let without: Vec<usize> = (0..theirs.len()).filter(|number| !found.contains_key(number)).collect();
    let pairs = without.iter().flat_map(|number| left.iter().map(|other| (*number, *other))).take(MOST_COMPARED);
    let mut distances = Vec::new();
    for (number, other) in pairs.collect::<Vec<_>>() {
        // A pair that is compared alone is the same pair when it is paired.
        let mut alone = (vec![other], BTreeMap::new());
        pair(number, other, &mut alone.0, &mut alone.1)?;
        distances.push((alone.1[&number].distance, number, other));
    }
    distances.sort_unstable();
    for (_, number, other) in distances {
        pair(number, other, &mut left, &mut found)?;
    }
    let without: Vec<usize> = without.into_iter().filter(|number| !found.contains_key(number)).collect();
    for (number, other) in without.into_iter().zip(left.clone()) {
        pair(number, other, &mut left, &mut found)?;
    }
    let alone = |number| Partners { reference: Some(number), ..Partners::default() };
    let mut lines: Vec<Partners> =
        (0..theirs.len()).map(|number| found.remove(&number).unwrap_or_else(|| alone(number))).collect();
    lines.extend(left.into_iter().map(|number| Partners { generated: Some(number), ..Partners::default() }));
    Ok(lines)
}

/// What is called otherwise: old names, each with the new one.
pub fn renaming_sentence(given: &Domain, other: &Domain, image: &[(Vertex, Vertex)], names: &Interner) -> Difference {
    let pairs = renamed_words(given, other, image).into_iter().filter(|(old, new)| old != new);
    Difference::of("other words").lists("different", pairs.map(|(old, new)| words_of(&[old, new], names)))
}

/// Both numbers, and the operators that have no partner.
pub fn count_sentence(reference: &Domain, generated: &Domain, names: &mut Interner) -> Answer<Difference> {
    let pairs = partners(reference, generated, names)?;
    let missing = pairs.iter().filter(|each| each.generated.is_none()).filter_map(|each| each.reference);
    let missing = missing.map(|number| names.text(reference.operators[number].name));
    let extra = pairs.iter().filter(|each| each.reference.is_none()).filter_map(|each| each.generated);
    let extra = extra.map(|number| names.text(generated.operators[number].name));
    let found = Difference::of("operator count").number("count", generated.operators.len());
    Ok(found.number("expected", reference.operators.len()).words("missing", missing).words("extra", extra))
}

/// The first difference of the two partners that are closest to each other and differ.
pub fn nearest_sentence(reference: &Domain, generated: &Domain, names: &mut Interner) -> Answer<Difference> {
    let pairs = partners(reference, generated, names)?;
    let nearest = pairs.iter().filter(|each| each.distance > 0).min_by_key(|each| each.distance);
    let Some(Partners { reference: Some(theirs), generated: Some(ours), lacks, has, .. }) = nearest else {
        return Ok(Difference::of("no renaming"));
    };
    let (theirs, ours) = (&reference.operators[*theirs], &generated.operators[*ours]);
    let named =
        |kind| Difference::of(kind).word("generated", names.text(ours.name)).word("reference", names.text(theirs.name));
    for (verb, literals) in [(&b"lacks"[..], lacks), (b"has", has)] {
        if let Some((part, atom)) = literals.first() {
            let part = PARTS[SORTED_PARTS[*part]].as_bytes();
            let found = named("literal").word("verb", verb).word("part", part);
            return Ok(found.words("atom", words_of(atom, names)));
        }
    }
    let [count, expected] = [ours, theirs].map(|operator| operator.parameters.len());
    Ok(named("parameters").number("count", count).number("expected", expected))
}

/// The words of an atom.
pub fn words_of(atom: &[Word], names: &Interner) -> Vec<Vec<u8>> {
    atom.iter().map(|word| names.text(*word).to_vec()).collect()
}

/// The first parameter whose type is another one, under a renaming that ignores types.
pub fn types_sentence(
    reference: &Domain,
    generated: &Domain,
    image: &[(Vertex, Vertex)],
    names: &Interner,
) -> Difference {
    let image: HashMap<Vertex, Vertex> = image.iter().copied().collect();
    for (number, operator) in generated.operators.iter().enumerate() {
        let Some(Vertex::Operator(other)) = image.get(&Vertex::Operator(number)) else { continue };
        let theirs = &reference.operators[*other];
        for (place, (parameter, type_)) in operator.parameters.iter().enumerate() {
            let Some(Vertex::Parameter(_, new)) = image.get(&Vertex::Parameter(number, place)) else { continue };
            let (expected, wanted) = theirs.parameters[*new];
            if *type_ != wanted {
                let text = |word: Word| names.text(word);
                let ours = Difference::of("parameter type").word("generated", text(operator.name));
                let ours = ours.word("parameter", text(*parameter)).words("types", alternatives_in(text(*type_)));
                let both = ours.word("reference", text(theirs.name)).word("expected", text(expected));
                return both.words("wanted", alternatives_in(text(wanted)));
            }
        }
    }
    Difference::of("other types")
}

/// Predicates and constants of the generated domain in the words of the reference.
struct Words {
    constants: HashMap<Word, Word>,
    /// By name and number of arguments.
    predicates: HashMap<(Word, usize), Word>,
}

impl Words {
    fn atom(&self, atom: &Lifted) -> Lifted {
        let mut renamed = atom.clone();
        renamed[0] = *self.predicates.get(&(atom[0], atom.len() - 1)).unwrap_or(&atom[0]);
        for term in &mut renamed[1..] {
            *term = *self.constants.get(term).unwrap_or(term);
        }
        renamed
    }
}

/// A predicate, or a constant, with the number of its arguments.
type Symbol = (bool, Word, usize);

/// By the same names, else the most similar uses first.
fn words(reference: &Domain, generated: &Domain, names: &Interner) -> Words {
    let (theirs, ours) = (uses(reference, names), uses(generated, names));
    let has = |uses: &[(Symbol, Uses)], symbol: &Symbol| uses.iter().any(|(known, _)| known == symbol);
    let mut free: Vec<&(Symbol, Uses)> = theirs.iter().filter(|(symbol, _)| !has(&ours, symbol)).collect();
    let mut found: Vec<(Symbol, Symbol)> =
        ours.iter().filter(|(symbol, _)| has(&theirs, symbol)).map(|(symbol, _)| (*symbol, *symbol)).collect();
    for (symbol, uses) in ours.iter().filter(|(symbol, _)| !has(&theirs, symbol)) {
        let alike = free.iter().enumerate().filter(|(_, (other, _))| other.0 == symbol.0);
        if let Some((place, _)) = alike.min_by_key(|(_, (_, other))| different(uses, other)) {
            found.push((*symbol, free.remove(place).0));
        }
    }
    let constants = found.iter().filter(|(old, _)| !old.0).map(|(old, new)| (old.1, new.1)).collect();
    let known: Vec<((Word, usize), Word)> =
        found.iter().filter(|(old, _)| old.0).map(|(old, new)| ((old.1, old.2), new.1)).collect();
    // A one-to-one map from some names to some becomes a permutation of all of them.
    let old: HashMap<(Word, usize), (Word, usize)> = known.iter().map(|(old, new)| ((*new, old.1), *old)).collect();
    let mut predicates: HashMap<(Word, usize), Word> = known.into_iter().collect();
    for symbol in old.keys().filter(|symbol| !predicates.contains_key(symbol)).copied().collect::<Vec<_>>() {
        let mut free = symbol;
        while let Some(before) = old.get(&free) {
            free = *before;
        }
        predicates.insert(symbol, free.0);
    }
    Words { constants, predicates }
}

/// How often something stands in which part, in atoms of how many words, at which place.
type Uses = BTreeMap<(usize, usize, usize), usize>;

/// The uses of each predicate and each constant, in the order in which they come.
fn uses(domain: &Domain, names: &Interner) -> Vec<(Symbol, Uses)> {
    let mut found: Vec<(Symbol, Uses)> = Vec::new();
    let mut number: HashMap<Symbol, usize> = HashMap::default();
    for operator in &domain.operators {
        for (part, atoms) in operator.parts.iter().enumerate() {
            for atom in atoms {
                for (place, word) in atom.iter().enumerate() {
                    let text = names.text(*word);
                    if text != EQUALITY && !text.starts_with(b"?") {
                        let symbol = (place == 0, *word, if place == 0 { atom.len() - 1 } else { 0 });
                        let own = *number.entry(symbol).or_insert_with(|| {
                            found.push((symbol, Uses::new()));
                            found.len() - 1
                        });
                        *found[own].1.entry((part, atom.len(), place)).or_insert(0) += 1;
                    }
                }
            }
        }
    }
    found
}

/// How many uses only one of two has.
fn different(one: &Uses, other: &Uses) -> usize {
    let more = |one: &Uses, other: &Uses| -> usize {
        one.iter().map(|(use_, count)| count.saturating_sub(other.get(use_).copied().unwrap_or(0))).sum()
    };
    more(one, other) + more(other, one)
}

/// Two operators as partners, their parameters in the order that leaves the least difference.
fn compared(
    (number, reference): (usize, &Operator),
    (other, generated): (usize, &Operator),
    words: &Words,
    names: &mut Interner,
) -> Answer<Partners> {
    if reference.parameters.len() == generated.parameters.len() && reference.by_position == generated.by_position {
        return Ok(Partners { reference: Some(number), generated: Some(other), ..Partners::default() });
    }
    let theirs = literals(reference, names)?;
    let known: Vec<Word> = reference.parameters.iter().map(|(name, _)| *name).collect();
    let own: Vec<Word> = generated.parameters.iter().map(|(name, _)| *name).collect();
    let mut ours: Vec<Literal> = literals(generated, names)?;
    ours.iter_mut().for_each(|(_, atom)| *atom = words.atom(atom));
    ours.sort_unstable();
    ours.dedup();
    // The known names as they stand, then in other orders; extra ones where they end.
    let mut extra: Vec<Word> = own.iter().filter(|name| !known.contains(name)).copied().collect();
    for name in own.iter().filter(|name| known.contains(name)) {
        let text = [names.text(*name), b"'"].concat();
        extra.push(names.number(&text, 0, text.len())?);
    }
    extra.truncate(own.len().saturating_sub(known.len()));
    let all: Vec<Word> = known.iter().copied().chain(extra).collect();
    let names = &*names;
    // Of each of ours, those of theirs that it may become.
    let alike = |(part, atom): &Literal| -> Vec<&Lifted> {
        let is_alike = |other: &&Literal| other.0 == *part && other.1[0] == atom[0] && other.1.len() == atom.len();
        theirs.iter().filter(is_alike).map(|(_, other)| other).collect()
    };
    let placed = |(part, atom): &Literal| {
        let place = |term: &Word| own.iter().position(|name| name == term).map_or(*term, |at| PLACES - at as Word);
        (*part, atom.iter().map(place).collect::<Lifted>())
    };
    let candidates: Vec<(Lifted, Vec<&Lifted>)> = ours.iter().map(|each| (placed(each).1, alike(each))).collect();
    // What no order can be better than.
    let most = candidates.iter().filter(|(_, alike)| !alike.is_empty()).count().min(theirs.len());
    let least = theirs.len() + ours.len() - 2 * most + known.len().abs_diff(own.len());
    let mut best: Option<Partners> = None;
    let mut order: Vec<usize> = (0..own.len()).collect();
    let first_place = PLACES - own.len() as Word;
    for _ in 0..MOST_ORDERS {
        let value = |term: Word| if term > first_place { all[order[(PLACES - term) as usize]] } else { term };
        let becomes = |atom: &[Word], other: &[Word]| {
            let same = |(one, other): (&Word, &Word)| value(*one) == *other;
            atom.iter().zip(other).all(same)
                || (names.text(atom[0]) == EQUALITY && atom[1..].iter().zip(other[1..].iter().rev()).all(same))
        };
        let common = candidates.iter().filter(|(atom, alike)| alike.iter().any(|other| becomes(atom, other))).count();
        let distance = theirs.len() + ours.len() - 2 * common + known.len().abs_diff(own.len());
        if best.as_ref().map_or(true, |best| distance < best.distance) {
            let bound = |(each, (atom, _)): (&Literal, &(Lifted, Vec<&Lifted>))| {
                (each.0, sorted_equality(&atom.iter().map(|term| value(*term)).collect(), names).into_owned())
            };
            let mut found: Vec<Literal> = ours.iter().zip(&candidates).map(bound).collect();
            found.sort_unstable();
            found.dedup();
            let sorted = |literals: &mut Vec<Literal>| {
                literals.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| names.order_of(&a.1, &b.1)));
            };
            let but = |these: &[Literal], those: &[Literal]| {
                these.iter().filter(|literal| those.binary_search(literal).is_err()).cloned().collect()
            };
            let (mut lacks, mut has) = (but(&theirs, &found), but(&found, &theirs));
            sorted(&mut lacks);
            sorted(&mut has);
            best = Some(Partners { reference: Some(number), generated: Some(other), lacks, has, distance });
        }
        let is_best =
            best.as_ref().is_some_and(|best| best.distance == least || (best.lacks.is_empty() && best.has.is_empty()));
        if is_best || !next_order(&mut order, all.len()) {
            break;
        }
    }
    best.ok_or(Left::Panic)
}

/// The next of the orders of some of so many things, as Python's `permutations` has them; false after the last.
fn next_order(order: &mut [usize], count: usize) -> bool {
    for place in (0..order.len()).rev() {
        let before = &order[..place];
        if let Some(next) = (order[place] + 1..count).find(|each| !before.contains(each)) {
            order[place] = next;
            for later in place + 1..order.len() {
                let before = &order[..later];
                let Some(least) = (0..count).find(|each| !before.contains(each)) else { return false };
                order[later] = least;
            }
            return true;
        }
    }
    false
}

/// The literals of an operator, sorted by the numbers of words.
fn literals(operator: &Operator, names: &Interner) -> Answer<Vec<Literal>> {
    let parts = SORTED_PARTS.into_iter().enumerate();
    let literals = |(place, part): (usize, usize)| {
        operator.parts[part].iter().map(move |atom| (place, sorted_equality(atom, names).into_owned()))
    };
    let mut found: Vec<Literal> = parts.flat_map(literals).collect();
    found.sort_unstable();
    found.dedup();
    if found.len() > MOST_LITERALS {
        return Err(Left::Budget);
    }
    Ok(found)
}
