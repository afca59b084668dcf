//! A problem that plans are executed in: numbers in the initial state, a metric, negated atoms and comparisons in the
//! goal (definition/pddl/any_problem.py). Of a STRIPS problem it says what `problems` says.

use crate::fraction::Fraction;
use crate::left::{Answer, Left};
use crate::model::{fluents_of, Domain, Expression, Formula, Known, Lifted, Part, Word, EQUALITY, TOTAL_COST};
use crate::pddl::drafts::{require_no_strings, without_thinking};
use crate::pddl::language::{expression, formula, show_formula, COMPARISONS};
use crate::pddl::problems::Interner;
use crate::pddl::sexpr::{block, openings, Items, Tree, LONGEST};
use std::collections::{BTreeMap, HashMap, HashSet};

const SECTIONS: [&[u8]; 6] = [b":domain", b":requirements", b":objects", b":init", b":goal", b":metric"];

/// A name that some readers refuse; nobody needs it.
const REFUSED: &[u8] = b"is-violated";

/// A conjunct of a goal that is no atom.
pub enum Conjunct {
    /// An atom that has to be false.
    Denied(Lifted),
    Compared(Formula),
}

pub struct AnyProblem {
    pub domain: Word,
    /// Names and types.
    pub objects: BTreeMap<Word, Word>,
    pub init: Vec<Lifted>,
    /// What it calls false in the initial state, which says nothing.
    pub denied: Vec<Lifted>,
    pub values: HashMap<Lifted, Fraction>,
    pub goal: Vec<Lifted>,
    /// The goal's other conjuncts, in the order of the text.
    pub others: Vec<Conjunct>,
    pub metric: Option<Expression>,
}

/// The problem of a text, if it is its only one; atoms may name objects that are not declared.
pub fn read_any_problem(text: &[u8], names: &mut Interner) -> Answer<AnyProblem> {
    if text.len() > LONGEST {
        return Err(Left::Text);
    }
    let mut answer = std::str::from_utf8(text).map_err(|_| Left::Text)?.to_ascii_lowercase();
    without_thinking(&mut answer)?;
    require_no_strings(&answer)?;
    let starts = openings(&answer, "problem")?;
    let [start] = starts[..] else {
        return Err(if starts.is_empty() { Left::Reference } else { Left::Notation });
    };
    let block = block(&answer.as_bytes()[start..])?.ok_or(Left::Reference)?;
    problem_of_block(&Tree::new(block, names)?, names)
}

fn problem_of_block(tree: &Tree, names: &Interner) -> Answer<AnyProblem> {
    let mut listed = tree.items(0)?;
    tree.next_word(&mut listed)?; // `define`
    let (header, _) = tree.next(&mut listed).ok_or(Left::Notation)?;
    let (word, header) = tree.named(header)?;
    if names.text(word) != b"problem" {
        return Err(Left::Notation);
    }
    name(tree, header, names)?;
    let mut sections: [Option<Items>; SECTIONS.len()] = Default::default();
    let mut last = 0;
    while let Some((place, _)) = tree.next(&mut listed) {
        let (keyword, body) = tree.named(place)?;
        let section = SECTIONS.iter().position(|known| *known == names.text(keyword)).ok_or(Left::Notation)?;
        if sections[section].replace(body).is_some() || section < last {
            return Err(Left::Sections); // another order is said
        }
        last = section;
    }
    let [domain, requirements, listing, start, end, aim] = sections;
    if let Some(mut requirements) = requirements {
        while requirements.at < requirements.end {
            tree.next_word(&mut requirements)?;
        }
    }
    let domain = name(tree, domain.ok_or(Left::Notation)?, names)?;
    let objects = listing.map_or(Ok(BTreeMap::new()), |listing| objects(tree, listing, names))?;
    let (init, denied, values) = init(tree, start.ok_or(Left::Notation)?, names)?;
    let (goal, others) = goal(tree, end.ok_or(Left::Notation)?, names)?;
    let metric = aim.map(|section| metric(tree, section, names)).transpose()?;
    Ok(AnyProblem { domain, objects, init, denied, values, goal, others, metric })
}

/// The one name of a section.
fn name(tree: &Tree, mut listing: Items, names: &Interner) -> Answer<Word> {
    let word = tree.next_word(&mut listing)?;
    if listing.at < listing.end {
        return Err(Left::Notation);
    }
    plain(word, names)
}

/// The word, if all readers take it for a name.
fn plain(word: Word, names: &Interner) -> Answer<Word> {
    if !names.is_name(word) || names.text(word) == REFUSED {
        return Err(Left::Notation);
    }
    Ok(word)
}

fn objects(tree: &Tree, mut listing: Items, names: &Interner) -> Answer<BTreeMap<Word, Word>> {
    let mut objects: BTreeMap<Word, Word> = BTreeMap::new();
    let mut untyped: Vec<Word> = Vec::new();
    while listing.at < listing.end {
        let word = tree.next_word(&mut listing)?;
        if names.text(word) == b"-" {
            let type_ = tree.next_word(&mut listing)?;
            if type_ != Known::Object as Word {
                plain(type_, names)?;
            }
            if untyped.is_empty() {
                return Err(Left::Notation);
            }
            objects.extend(untyped.drain(..).map(|name| (name, type_)));
        } else if objects.contains_key(&word) || untyped.contains(&word) {
            return Err(Left::Reference); // twice
        } else {
            untyped.push(plain(word, names)?);
        }
    }
    objects.extend(untyped.into_iter().map(|name| (name, Known::Object as Word)));
    Ok(objects)
}

/// The atoms of an initial state, those that it calls false, and its numbers.
type Init = (Vec<Lifted>, Vec<Lifted>, HashMap<Lifted, Fraction>);

fn init(tree: &Tree, mut listing: Items, names: &Interner) -> Answer<Init> {
    let (mut init, mut values) = (Vec::new(), HashMap::new());
    let mut denied: Vec<Lifted> = Vec::new();
    while let Some((place, _)) = tree.next(&mut listing) {
        let (head, mut terms) = tree.named(place)?;
        match names.text(head) {
            EQUALITY => {
                let (function, _) = tree.next(&mut terms).ok_or(Left::Notation)?;
                let fluent = match &expression(tree, function, names)?[..] {
                    [Part::Fluent(fluent)] if names.text(fluent[0]) == TOTAL_COST => fluent.clone(),
                    [Part::Fluent(fluent)] if plain(fluent[0], names).is_ok() => fluent.clone(),
                    _ => return Err(Left::Notation),
                };
                let value = Fraction::parse(names.text(tree.next_word(&mut terms)?))?;
                if terms.at < terms.end || *values.entry(fluent).or_insert(value) != value {
                    return Err(Left::Notation);
                }
            }
            b"not" => {
                let (inner, _) = tree.next(&mut terms).ok_or(Left::Notation)?;
                denied.push(atom(tree, inner, names)?);
                if terms.at < terms.end {
                    return Err(Left::Notation);
                }
            }
            _ => init.push(atom(tree, place, names)?),
        }
    }
    if !denied.is_empty() {
        let true_: HashSet<&Lifted> = init.iter().collect();
        if denied.iter().any(|atom| true_.contains(atom)) {
            return Err(Left::Reference); // both true and false
        }
    }
    Ok((init, denied, values))
}

/// The atom that stands there.
fn atom(tree: &Tree, place: usize, names: &Interner) -> Answer<Lifted> {
    let (head, mut terms) = tree.named(place)?;
    let mut atom = Vec::with_capacity(terms.end - terms.at + 1);
    atom.push(plain(head, names)?);
    while terms.at < terms.end {
        atom.push(plain(tree.next_word(&mut terms)?, names)?);
    }
    Ok(atom)
}

/// The atoms of the goal's conjunction, some perhaps more than once, and what else it is made of.
fn goal(tree: &Tree, mut section: Items, names: &Interner) -> Answer<(Vec<Lifted>, Vec<Conjunct>)> {
    let (mut atoms, mut others) = (Vec::new(), Vec::new());
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut waiting = vec![tree.next(&mut section).ok_or(Left::Notation)?.0];
    if section.at < section.end {
        return Err(Left::Notation);
    }
    while let Some(mut place) = waiting.pop() {
        let (mut head, mut terms) = tree.named(place)?;
        if names.text(head) == b"and" {
            let start = waiting.len();
            while let Some((inner, _)) = tree.next(&mut terms) {
                waiting.push(inner);
            }
            waiting[start..].reverse();
            continue;
        }
        let holds = names.text(head) != b"not";
        if !holds {
            place = tree.next(&mut terms).ok_or(Left::Notation)?.0;
            if terms.at < terms.end {
                return Err(Left::Notation);
            }
            (head, terms) = tree.named(place)?;
        }
        let is_compared = COMPARISONS.contains(&names.text(head));
        if is_compared && names.text(head) == EQUALITY && tree.has_only_words(terms) {
            return Err(Left::Notation); // perhaps an equation of objects
        }
        if holds && !is_compared {
            atoms.push(atom(tree, place, names)?);
            continue;
        }
        let other = if is_compared {
            Conjunct::Compared(formula(tree, place, false, holds, names)?)
        } else {
            Conjunct::Denied(atom(tree, place, names)?)
        };
        let shown = show_formula(&tree.written(place), holds, |word| word, names);
        others.extend(seen.insert(shown).then_some(other));
    }
    Ok((atoms, others))
}

fn metric(tree: &Tree, mut section: Items, names: &Interner) -> Answer<Expression> {
    let direction = tree.next_word(&mut section)?;
    let (place, _) = tree.next(&mut section).ok_or(Left::Notation)?;
    if section.at < section.end || !matches!(names.text(direction), b"minimize" | b"maximize") {
        return Err(Left::Notation);
    }
    expression(tree, place, names)
}

impl AnyProblem {
    /// The atoms that it states, those that are or have to be false included.
    pub fn atoms(&self) -> impl Iterator<Item = &Lifted> {
        let denied = self.others.iter().filter_map(|conjunct| match conjunct {
            Conjunct::Denied(atom) => Some(atom),
            Conjunct::Compared(_) => None,
        });
        self.init.iter().chain(&self.denied).chain(&self.goal).chain(denied)
    }

    /// The fluents of which it says something.
    pub fn fluents(&self) -> impl Iterator<Item = &Lifted> + Clone {
        let compared = self.others.iter().flat_map(|conjunct| match conjunct {
            Conjunct::Denied(_) => &[],
            Conjunct::Compared(formula) => &formula.sides[..],
        });
        compared.chain(&self.metric).flat_map(fluents_of).chain(self.values.keys())
    }

    /// Err where it says more than sets of atoms; which are sorted by the numbers of words then.
    pub fn require_strips(&mut self, domain: &Domain) -> Answer<()> {
        if !(self.values.is_empty() && self.others.is_empty() && self.metric.is_none()) {
            return Err(Left::Reference);
        }
        let is_constant = |name: &Word| domain.constants.contains_key(name);
        if self.objects.keys().any(is_constant) || !(self.denied.is_empty() || domain.types.is_empty()) {
            return Err(Left::Notation); // an object beside a constant; whether what is false is well typed
        }
        self.require_declared(&domain.constants)?;
        for part in [&mut self.init, &mut self.goal] {
            part.sort_unstable();
            part.dedup();
        }
        Ok(())
    }

    /// Err where something is named that neither the problem nor the domain declares.
    pub fn require_declared(&self, constants: &BTreeMap<Word, Word>) -> Answer<()> {
        let is_known = |word: &Word| self.objects.contains_key(word) || constants.contains_key(word);
        let fluents = self.fluents();
        if fluents.clone().any(|fluent| is_known(&fluent[0])) {
            return Err(Left::Notation); // perhaps an object where a number is expected
        }
        let mut terms = self.atoms().chain(fluents).flat_map(|atom| &atom[1..]);
        if terms.all(is_known) {
            Ok(())
        } else {
            Err(Left::Reference)
        }
    }
}
