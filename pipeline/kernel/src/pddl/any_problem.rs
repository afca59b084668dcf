//! A problem that plans are executed in: numbers in the initial state, a metric, negated atoms and comparisons in the
//! goal (definition/pddl/any_problem.py). Of a STRIPS problem it says what `problems` says.

use crate::formulas::is_ill_typed;
use crate::fraction::Fraction;
use crate::grounding::Objects;
use crate::hashing::{HashMap, HashSet};
use crate::left::{Answer, Left};
use crate::model::{
    self, atom_of, fluents_of, sort_atoms, Arithmetic, Atom, Domain, Expression, Form, Formula, Known, Lifted, Mark,
    Part, Problem, Said, Word, Written, EQUALITY, MOST_ARGUMENTS, NO_OBJECT, TOTAL_COST,
};
use crate::pddl::drafts::answer_of;
use crate::pddl::language::{encode_numbered, expression, form, formula, is_connective, show_formula, COMPARISONS};
use crate::pddl::problems::Interner;
use crate::pddl::sexpr::{block, Items, Openings, Tree};
use std::cell::RefCell;
use std::collections::BTreeMap;

const SECTIONS: [&[u8]; 6] = [b":domain", b":requirements", b":objects", b":init", b":goal", b":metric"];

/// A name that some readers refuse; nobody needs it.
const REFUSED: &[u8] = b"is-violated";

/// Objects that a conjunct of a goal names.
const MOST_NAMED: usize = 200;

/// A conjunct of a goal that is no atom.
pub enum Conjunct {
    /// Over numbers of words.
    Formed(model::Conjunct),
    /// With the same, which only pairs of problems ask for.
    Compared(Formula, Answer<model::Conjunct>),
}

impl Conjunct {
    /// What it is, but for a comparison.
    pub fn form(&self) -> Option<&Form> {
        match self {
            Conjunct::Formed(conjunct) => Some(&conjunct.form),
            Conjunct::Compared(..) => None,
        }
    }
}

pub struct AnyProblem {
    pub domain: Word,
    /// Names and types, in the order of the text.
    pub objects: Vec<(Word, Word)>,
    pub init: Vec<Lifted>,
    /// What it calls false in the initial state, which says nothing.
    pub denied: Vec<Lifted>,
    pub values: HashMap<Lifted, Fraction>,
    pub goal: Vec<Lifted>,
    /// The goal's other conjuncts, in the order of the text.
    pub others: Vec<Conjunct>,
    pub metric: Option<Metric>,
}

/// What a plan is to make least, or greatest.
pub struct Metric {
    sense: &'static str,
    pub expression: Expression,
    written: Vec<Mark>,
}

/// The problem of a text, if it is its only one; atoms may name objects that are not declared.
pub fn read_any_problem(text: &[u8], names: &mut Interner) -> Answer<AnyProblem> {
    let answer = answer_of(text)?;
    let starts = Openings::new(&answer, "problem").rest()?;
    let [start] = starts[..] else {
        return Err(if starts.is_empty() { Left::Reference } else { Left::Notation });
    };
    let block = block(&answer.as_bytes()[start..])?.ok_or(Left::Reference)?;
    problem_of_block(&Tree::new(block, names)?, names)
}

fn problem_of_block(tree: &Tree, names: &mut Interner) -> Answer<AnyProblem> {
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
    let objects = listing.map_or(Ok(Vec::new()), |listing| objects(tree, listing, names))?;
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

fn objects(tree: &Tree, mut listing: Items, names: &Interner) -> Answer<Vec<(Word, Word)>> {
    let (mut objects, mut seen) = (Vec::new(), HashSet::default());
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
        } else if !seen.insert(word) {
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
    let (mut init, mut values) = (Vec::new(), HashMap::default());
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
fn goal(tree: &Tree, mut section: Items, names: &mut Interner) -> Answer<(Vec<Lifted>, Vec<Conjunct>)> {
    let (mut atoms, mut others) = (Vec::new(), Vec::new());
    let mut seen: HashSet<Vec<u8>> = HashSet::default();
    let mut waiting = vec![tree.next(&mut section).ok_or(Left::Notation)?.0];
    if section.at < section.end {
        return Err(Left::Notation);
    }
    while let Some(whole) = waiting.pop() {
        let mut place = whole;
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
        let is_equation = names.text(head) == EQUALITY && tree.has_only_words(terms);
        if holds && !is_compared && !is_connective(names.text(head)) {
            atoms.push(atom(tree, place, names)?);
            continue;
        }
        let other = if is_compared && !is_equation {
            let conjunct = conjunct(tree, whole, names);
            Conjunct::Compared(formula(tree, place, false, holds, names)?, conjunct)
        } else {
            Conjunct::Formed(conjunct(tree, whole, names)?)
        };
        let shown = show_formula(&tree.written(whole), true, |word| names.text(word));
        others.extend(seen.insert(shown).then_some(other));
    }
    Ok((atoms, others))
}

/// The conjunct that stands there.
fn conjunct(tree: &Tree, place: usize, names: &mut Interner) -> Answer<model::Conjunct> {
    let mut alternatives = BTreeMap::new();
    let form = form(tree, place, false, &mut alternatives, names)?;
    let is_variable = |term: &Word| names.text(*term).starts_with(b"?");
    let named: RefCell<Vec<Word>> = RefCell::default();
    let is_free = |atom: &Lifted, variables: &[(Word, Word)]| {
        let is_free = |term: &Word| is_variable(term) && !variables.iter().any(|(name, _)| name == term);
        named.borrow_mut().extend(atom[1..].iter().filter(|term| !is_variable(term)));
        atom[1..].iter().any(is_free)
    };
    if form.has_atom(&mut Vec::new(), &is_free) || !alternatives.is_empty() {
        return Err(Left::Formula);
    }
    let named = named.into_inner();
    let mut numbers: Vec<(Word, usize)> = Vec::new();
    for name in &named {
        plain(*name, names)?;
        if numbers.len() <= MOST_NAMED && !numbers.iter().any(|(known, _)| known == name) {
            numbers.push((*name, numbers.len()));
        }
    }
    if numbers.len() > MOST_NAMED {
        return Err(Left::Budget);
    }
    let written = written(&tree.written(place), named, names)?;
    let (mut encoded, mut count) = (Vec::new(), numbers.len());
    encode_numbered(tree, place, &mut numbers.clone(), &mut count, names, &mut encoded);
    Ok(model::Conjunct { form, written, encoded })
}

/// What is written with these names of objects, in their order.
fn written(marks: &[Mark], named: Vec<Word>, names: &Interner) -> Answer<Written> {
    let distinct: HashSet<Word> = named.iter().copied().collect();
    let is_named = |word: Word| distinct.contains(&word);
    let often = marks.iter().filter(|mark| matches!(mark, Mark::Word(word) if is_named(*word))).count();
    if often != named.len() {
        return Err(Left::Formula); // what is an object stands in the place of a predicate or a type, too
    }
    let text = show_formula(marks, true, |word| if is_named(word) { b"\0" } else { names.text(word) });
    Ok(Written { text, named })
}

fn metric(tree: &Tree, mut section: Items, names: &Interner) -> Answer<Metric> {
    let direction = tree.next_word(&mut section)?;
    let (place, _) = tree.next(&mut section).ok_or(Left::Notation)?;
    let sense = ["minimize", "maximize"].into_iter().find(|known| known.as_bytes() == names.text(direction));
    if section.at < section.end {
        return Err(Left::Notation);
    }
    let expression = expression(tree, place, names)?;
    Ok(Metric { sense: sense.ok_or(Left::Notation)?, expression, written: tree.written(place) })
}

/// A sum of fluents, each with its factor; no fluent is what none changes.
type Sum = BTreeMap<Lifted, Fraction>;

/// An expression as such a sum.
fn linear(expression: &Expression) -> Answer<Sum> {
    let mut stack: Vec<Sum> = Vec::new();
    let constant = |sum: &Sum| sum.get(&Lifted::new()).copied().filter(|_| sum.len() == 1);
    let times = |sum: Sum, factor: Fraction| -> Answer<Sum> {
        sum.into_iter().map(|(term, own)| Ok((term, own.times(factor)?))).collect()
    };
    for part in expression {
        let sum = match part {
            Part::Value(value) => Sum::from([(Lifted::new(), *value)]),
            Part::Fluent(fluent) => Sum::from([(fluent.clone(), Fraction::ONE)]),
            Part::Operation(operation, count) => {
                let mut operands = stack.split_off(stack.len() - count).into_iter();
                let mut found = operands.next().ok_or(Left::Panic)?;
                let minus = Fraction::ZERO.minus(Fraction::ONE)?;
                if let (Arithmetic::Subtract, 1) = (operation, count) {
                    found = times(found, minus)?;
                }
                for other in operands {
                    found = match (operation, constant(&other), constant(&found)) {
                        (Arithmetic::Add | Arithmetic::Subtract, ..) => {
                            let is_sum = matches!(operation, Arithmetic::Add);
                            for (term, own) in if is_sum { other } else { times(other, minus)? } {
                                let before = found.entry(term).or_insert(Fraction::ZERO);
                                *before = before.plus(own)?;
                            }
                            found
                        }
                        (Arithmetic::Multiply, Some(factor), _) => times(found, factor)?,
                        (Arithmetic::Multiply, _, Some(factor)) => times(other, factor)?,
                        (Arithmetic::Divide, Some(divisor), _) if divisor != Fraction::ZERO => {
                            times(found, Fraction::ONE.over(divisor)?)?
                        }
                        _ => return Err(Left::Numbers), // which is compared as written
                    };
                }
                found
            }
        };
        stack.push(sum);
    }
    stack.pop().ok_or(Left::Panic)
}

impl AnyProblem {
    /// The atoms that it states, those that are false included.
    pub fn atoms(&self) -> impl Iterator<Item = &Lifted> {
        self.init.iter().chain(&self.denied).chain(&self.goal)
    }

    /// The objects and the constants of a domain; one of them is one even if the problem declares it again.
    pub fn objects_in(&self, domain: &Domain) -> Objects {
        self.objects.iter().copied().chain(domain.constants.iter().map(|(name, type_)| (*name, *type_))).collect()
    }

    /// What conjuncts of the goal name that are no atoms.
    pub fn named(&self) -> impl Iterator<Item = &Word> {
        self.others.iter().flat_map(|conjunct| match conjunct {
            Conjunct::Formed(conjunct) => &conjunct.written.named[..],
            Conjunct::Compared(..) => &[],
        })
    }

    /// The fluents of which it says something.
    pub fn fluents(&self) -> impl Iterator<Item = &Lifted> + Clone {
        let compared = self.others.iter().flat_map(|conjunct| match conjunct {
            Conjunct::Formed(_) => &[],
            Conjunct::Compared(formula, _) => &formula.sides[..],
        });
        let metric = self.metric.iter().map(|metric| &metric.expression);
        compared.chain(metric).flat_map(fluents_of).chain(self.values.keys())
    }

    /// Err where it says more than sets of atoms; which are sorted by the numbers of words then.
    pub fn require_strips(&mut self, domain: &Domain) -> Answer<()> {
        if !(self.values.is_empty() && self.others.is_empty() && self.metric.is_none()) {
            return Err(Left::Reference);
        }
        let is_constant = |name: &Word| domain.constants.contains_key(name);
        if self.objects.iter().any(|(name, _)| is_constant(name))
            || !(self.denied.is_empty() || domain.types.is_empty())
        {
            return Err(Left::Notation); // an object beside a constant; whether what is false is well typed
        }
        self.require_declared(&self.objects_in(domain))?;
        for part in [&mut self.init, &mut self.goal] {
            part.sort_unstable();
            part.dedup();
        }
        Ok(())
    }

    /// The problem as pairs have it, where it says more than sets of atoms.
    pub fn beyond_strips(self, domain: &Domain, names: &Interner) -> Answer<Problem> {
        let objects = self.objects_in(domain);
        self.require_declared(&objects)?;
        let is_strips = self.others.is_empty() && self.values.is_empty() && self.metric.is_none();
        if is_strips || !(self.denied.is_empty() || domain.types.is_empty()) {
            return Err(Left::Notation); // which only the `pddl` package reads; whether what is false is well typed
        }
        let type_of = |term: Word| objects.get(&term).copied();
        if self.fluents().any(|fluent| is_ill_typed(domain, fluent, type_of, names)) {
            return Err(Left::Numbers);
        }
        let words = names.sorted();
        let place = |number: &Word| words.place_of(*number);
        let one = |atom: &Lifted| -> Answer<Atom> {
            let mut own = [0; 1 + MOST_ARGUMENTS];
            own.get_mut(..atom.len()).ok_or(Left::Arity)?.iter_mut().zip(atom).for_each(|(to, word)| *to = place(word));
            Ok(atom_of(own))
        };
        let packed = |atoms: &[Lifted]| -> Answer<Vec<Atom>> {
            let mut found = atoms.iter().map(one).collect::<Answer<Vec<Atom>>>()?;
            sort_atoms(&mut found);
            Ok(found)
        };
        let (init, goal) = (packed(&self.init)?, packed(&self.goal)?);
        let own = self.objects.iter().filter(|(name, _)| !domain.constants.contains_key(name));
        let objects: Vec<(Word, Word)> = own.map(|(name, type_)| (place(name), place(type_))).collect();
        let mut number = words.each(NO_OBJECT);
        (0..).zip(&objects).for_each(|(count, (name, _))| number[*name as usize] = count);
        let (mut others, mut values) = (Vec::new(), Vec::new());
        for (fluent, value) in &self.values {
            if names.text(fluent[0]) != TOTAL_COST || fluent.len() > 1 || *value != Fraction::ZERO {
                values.push((one(fluent)?, *value));
            }
        }
        values.sort_unstable_by_key(|(fluent, _)| *fluent);
        let metric = match &self.metric {
            None => None,
            Some(Metric { sense, expression, written: marks }) => {
                let mut terms = Vec::new();
                for (term, factor) in linear(expression)?.into_iter().filter(|(_, factor)| *factor != Fraction::ZERO) {
                    terms.push((one(&term)?, factor));
                }
                if terms.is_empty() {
                    terms.push((0, Fraction::ZERO));
                }
                let named = fluents_of(expression).flat_map(|fluent| &fluent[1..]).copied().collect();
                let mut written = written(marks, named, names)?;
                written.text = [b"(", sense.as_bytes(), b" ", &written.text[..], b")"].concat();
                written.named.iter_mut().for_each(|name| *name = place(name));
                Some(model::Metric { sense, terms, written })
            }
        };
        for conjunct in self.others {
            let mut conjunct = match conjunct {
                Conjunct::Formed(conjunct) => conjunct,
                Conjunct::Compared(_, conjunct) => conjunct?,
            };
            if conjunct.form.has_atom(&mut Vec::new(), &|atom, _| atom.len() > 1 + MOST_ARGUMENTS) {
                return Err(Left::Arity);
            }
            conjunct.written.named.iter_mut().for_each(|name| *name = place(name));
            others.push(conjunct);
        }
        let has_numbers = !values.is_empty() || metric.is_some() || others.iter().any(|each| each.form.is_numeric());
        let numbers = has_numbers.then(|| Box::new(Said { values, metric }));
        Ok(Problem { domain: place(&self.domain), words, objects, number, init, goal, others, numbers })
    }

    /// Err where something is named that is none of these objects.
    pub fn require_declared(&self, objects: &Objects) -> Answer<()> {
        let is_known = |word: &Word| objects.contains_key(word);
        let fluents = self.fluents();
        if fluents.clone().any(|fluent| is_known(&fluent[0])) {
            return Err(Left::Notation); // perhaps an object where a number is expected
        }
        let mut terms = self.atoms().chain(fluents).flat_map(|atom| &atom[1..]).chain(self.named());
        if terms.all(is_known) {
            Ok(())
        } else {
            Err(Left::Reference)
        }
    }
}
