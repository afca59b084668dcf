//! What numbers mean: comparisons, and the values that effects give fluents (definition/formulas.py), also in states that are
//! listed (definition/state_space.py).
//!
//! Such a state has, behind the bits of its atoms, a word for each fluent: 0 where that has no value, else from 1 the number
//! of its value. Of fluents that nothing reads it says only that they have values.

use crate::fraction::Fraction;
use crate::grounding::Atoms;
use crate::hashing::{HashMap, HashSet};
use crate::left::{Answer, Left};
use crate::model::{Arithmetic, Domain, Expression, Form, Lifted, Part, Word, TOTAL_COST};
use crate::pddl::language::UPDATES;
use crate::pddl::problems::Interner;
use std::cell::Cell;
use std::cmp::Ordering;

/// Fluents whose values may change.
const MOST_FLUENTS: usize = 300;

/// Parts of formulas over atoms that are looked at in the time of one of a number.
const PARTS_PER_NUMBER: usize = 30;

/// Truth values, where numbers may not be defined: of a conjunction the least, of a disjunction the greatest.
pub const FALSE: u8 = 0;
pub const UNDEFINED: u8 = 1;
pub const TRUE: u8 = 2;

/// A part of an expression in which fluents are numbers.
pub enum GroundPart {
    Value(Fraction),
    Fluent(usize),
    Operation(Arithmetic, usize),
}

pub type GroundExpression = Vec<GroundPart>;

/// Why there is no number.
pub enum Undefined {
    /// It has no value.
    Fluent(usize),
    ByZero,
    /// Effects that contradict each other.
    Conflict,
}

/// The number that an expression denotes where fluents have these values.
pub fn value_of(
    expression: &[GroundPart],
    value: &impl Fn(usize) -> Option<Fraction>,
) -> Answer<Result<Fraction, Undefined>> {
    let mut stack: Vec<Fraction> = Vec::with_capacity(expression.len());
    for part in expression {
        let value = match part {
            GroundPart::Value(value) => *value,
            GroundPart::Fluent(fluent) => match value(*fluent) {
                Some(value) => value,
                None => return Ok(Err(Undefined::Fluent(*fluent))),
            },
            GroundPart::Operation(operation, count) => {
                let operands = stack.split_off(stack.len() - count);
                let (first, others) = operands.split_first().ok_or(Left::Panic)?;
                match operation {
                    Arithmetic::Subtract if others.is_empty() => Fraction::ZERO.minus(*first)?,
                    Arithmetic::Divide if others.contains(&Fraction::ZERO) => return Ok(Err(Undefined::ByZero)),
                    _ => others.iter().try_fold(*first, |value, other| match operation {
                        Arithmetic::Add => value.plus(*other),
                        Arithmetic::Subtract => value.minus(*other),
                        Arithmetic::Multiply => value.times(*other),
                        Arithmetic::Divide => value.over(*other),
                    })?,
                }
            }
        };
        stack.push(value);
    }
    Ok(Ok(stack.pop().ok_or(Left::Panic)?))
}

/// Whether the comparison is true where fluents have these values.
pub fn compare(
    head: &[u8],
    sides: &[GroundExpression; 2],
    value: &impl Fn(usize) -> Option<Fraction>,
) -> Answer<Result<bool, Undefined>> {
    let order = match (value_of(&sides[0], value)?, value_of(&sides[1], value)?) {
        (Ok(one), Ok(other)) => one.order(other)?,
        (Err(why), _) | (_, Err(why)) => return Ok(Err(why)),
    };
    Ok(Ok(match head {
        b"<" => order == Ordering::Less,
        b"<=" => order != Ordering::Greater,
        b">" => order == Ordering::Greater,
        b">=" => order != Ordering::Less,
        _ => order == Ordering::Equal,
    }))
}

/// An effect's verb, its fluent and the amount.
pub type Change<'a> = (&'a [u8], usize, Fraction);

/// The values that effects give fluents together, in any order.
pub fn updated(
    changes: &[Change],
    value: &impl Fn(usize) -> Option<Fraction>,
) -> Answer<Result<Vec<(usize, Fraction)>, Undefined>> {
    let mut updated: Vec<(usize, Fraction)> = Vec::with_capacity(changes.len());
    for (verb, fluent, amount) in changes {
        let same = changes.iter().filter(|(_, other, _)| other == fluent);
        let is_alone = same.clone().count() == 1;
        if *verb == b"scale-down" && *amount == Fraction::ZERO {
            return Ok(Err(Undefined::ByZero));
        }
        if !is_alone && !same.clone().all(|(verb, ..)| matches!(*verb, b"increase" | b"decrease")) {
            return Ok(Err(Undefined::Conflict));
        }
        let place = updated.iter().position(|(other, _)| other == fluent);
        let before = match (place, value(*fluent)) {
            (Some(place), _) => updated[place].1,
            (None, Some(value)) => value,
            (None, None) if *verb == b"assign" => Fraction::ZERO,
            (None, None) => return Ok(Err(Undefined::Fluent(*fluent))),
        };
        let after = match *verb {
            b"increase" => before.plus(*amount)?,
            b"decrease" => before.minus(*amount)?,
            b"scale-up" => before.times(*amount)?,
            b"scale-down" => before.over(*amount)?,
            _ => *amount,
        };
        match place {
            Some(place) => updated[place].1 = after,
            None => updated.push((*fluent, after)),
        }
    }
    Ok(Ok(updated))
}

/// The numbers of a ground task.
#[derive(Default)]
pub struct Numbers {
    /// All words of conditions and effects but for what these update, which is in `updated`.
    read: HashSet<Word>,
    /// The functions that effects update; true for those that some effect only updates where they have a value.
    updated: HashMap<Word, bool>,
    total_cost: Option<Word>,
    /// The values of fluents that no effect updates.
    fixed: HashMap<Lifted, Fraction>,
    fluents: Atoms,
    comparisons: Vec<(&'static [u8], [GroundExpression; 2])>,
    updates: Vec<(&'static [u8], usize, GroundExpression)>,
    values: Vec<Fraction>,
    known: HashMap<Fraction, u64>,
    /// The bits of atoms; above these are comparisons.
    pub bits: usize,
    /// What it took since somebody asked.
    work: Cell<usize>,
}

impl Numbers {
    /// Those of a domain, in which fluents have these values at first.
    pub fn new(domain: &Domain, values: &[(Lifted, Fraction)], names: &Interner) -> Numbers {
        let mut numbers = Numbers { total_cost: names.find(TOTAL_COST), ..Numbers::default() };
        let mut words = Vec::new();
        for beyond in domain.operators.iter().flat_map(|operator| &operator.beyond) {
            beyond.form.words(&mut words);
            beyond.form.each_leaf(&mut |leaf| {
                if let Form::Numeric(verb, sides) = leaf {
                    if let ([Part::Fluent(fluent)], true) = (&sides[0][..], UPDATES.contains(verb)) {
                        *numbers.updated.entry(fluent[0]).or_default() |= *verb != b"assign";
                    }
                }
            });
        }
        for rule in &domain.rules {
            rule.body.words(&mut words);
            words.extend(rule.variables.iter().map(|(_, type_)| *type_).chain([rule.name]));
        }
        numbers.read.extend(words);
        numbers.fluents.number(numbers.total_cost.into_iter().collect());
        for (fluent, value) in values {
            match numbers.updated.contains_key(&fluent[0]) {
                true => _ = numbers.fluents.number(fluent.clone()),
                false => _ = numbers.fixed.insert(fluent.clone(), *value),
            }
        }
        numbers
    }

    /// The functions and all other words of conditions and effects.
    pub fn words(&self) -> impl Iterator<Item = Word> + '_ {
        self.read.iter().chain(self.updated.keys()).copied()
    }

    /// True for a word of a goal that is a function of whose values states say nothing, though they may change.
    pub fn is_unread(&self, word: Word) -> bool {
        self.updated.contains_key(&word) && !self.read.contains(&word)
    }

    /// True where something depends on it whether, or which, values its fluents have.
    fn is_told(&self, function: Word) -> bool {
        let is_needed = |needs: &bool| *needs && Some(function) != self.total_cost;
        self.updated.get(&function).is_some_and(|needs| is_needed(needs) || self.read.contains(&function))
    }

    fn ground(&mut self, expression: &Expression, with_values: &dyn Fn(&Lifted) -> Lifted) -> GroundExpression {
        let part = |part: &Part| match part {
            Part::Value(value) => GroundPart::Value(*value),
            Part::Operation(operation, count) => GroundPart::Operation(*operation, *count),
            Part::Fluent(fluent) => {
                let fluent = with_values(fluent);
                if self.updated.contains_key(&fluent[0]) {
                    return GroundPart::Fluent(self.fluents.number(fluent) as usize);
                }
                let known = self.fixed.get(&fluent).copied();
                let is_cost = fluent.len() == 1 && Some(fluent[0]) == self.total_cost;
                let value = known.or(is_cost.then_some(Fraction::ZERO));
                value.map_or(GroundPart::Fluent(usize::MAX), GroundPart::Value)
            }
        };
        expression.iter().map(part).collect()
    }

    /// The number of a comparison, or of an update, with these values of its variables.
    pub fn number(&mut self, head: &'static [u8], sides: &[Expression; 2], value: &dyn Fn(&Lifted) -> Lifted) -> usize {
        let [one, other] = sides.each_ref().map(|side| self.ground(side, value));
        match (UPDATES.contains(&head), &one[..]) {
            (true, [GroundPart::Fluent(fluent)]) => {
                self.updates.push((head, *fluent, other));
                self.updates.len() - 1
            }
            _ => {
                self.comparisons.push((head, [one, other]));
                self.comparisons.len() - 1
            }
        }
    }

    /// The words of the first state that are not bits of its atoms.
    pub fn start(&mut self, bits: usize, values: &[(Lifted, Fraction)]) -> Answer<Vec<u64>> {
        self.bits = bits;
        if self.updated.is_empty() {
            return Ok(Vec::new());
        }
        if self.fluents.atoms.len() > MOST_FLUENTS {
            return Err(Left::Budget);
        }
        let mut words = vec![0; bits.div_ceil(64) + self.fluents.atoms.len()];
        self.write(0, Fraction::ZERO, &mut words); // of `total-cost`
        for (fluent, value) in values {
            if let Some(fluent) = self.fluents.find(fluent) {
                self.write(fluent as usize, *value, &mut words);
            }
        }
        Ok(words.split_off(bits.div_ceil(64)))
    }

    fn write(&mut self, fluent: usize, value: Fraction, words: &mut [u64]) {
        let Some(function) = self.fluents.atoms[fluent].first().filter(|function| self.is_told(**function)) else {
            return;
        };
        let value = if self.read.contains(function) { value } else { Fraction::ZERO };
        let next = self.values.len() as u64 + 1;
        let number = *self.known.entry(value).or_insert(next);
        if number == next {
            self.values.push(value);
        }
        words[self.bits.div_ceil(64) + fluent] = number;
    }

    fn value(&self, fluent: usize, words: &[u64]) -> Option<Fraction> {
        let number = words.get(self.bits.div_ceil(64)..)?.get(fluent).copied().unwrap_or(0);
        match number {
            0 => (fluent == 0).then_some(Fraction::ZERO),
            _ => self.values.get(number as usize - 1).copied(),
        }
    }

    /// The fluents whose values tell states apart, with these.
    pub fn told<'a>(&'a self, words: &'a [u64]) -> impl Iterator<Item = (&'a Lifted, Fraction)> + 'a {
        let is_read = |fluent: &Lifted| fluent.first().is_some_and(|function| self.read.contains(function));
        let numbers = words.get(self.bits.div_ceil(64)..).unwrap_or_default().iter().enumerate();
        let valued = numbers.filter(|(_, number)| **number != 0);
        let said = valued.filter_map(|(fluent, _)| Some((fluent, self.value(fluent, words)?)));
        let is_said = |(fluent, value): &(usize, Fraction)| *fluent != 0 || *value != Fraction::ZERO;
        said.filter(is_said)
            .map(|(fluent, value)| (&self.fluents.atoms[fluent], value))
            .filter(move |each| is_read(each.0))
    }

    /// Whether a comparison is true in a state.
    pub fn truth(&self, comparison: usize, words: &[u64]) -> u8 {
        let Some((head, sides)) = self.comparisons.get(comparison) else { return UNDEFINED };
        let work = PARTS_PER_NUMBER * sides.iter().map(Vec::len).sum::<usize>();
        let (found, work) = match compare(head, sides, &|fluent| self.value(fluent, words)) {
            Ok(Ok(is_so)) => (if is_so { TRUE } else { FALSE }, work),
            Ok(Err(_)) => (UNDEFINED, work),
            Err(_) => (UNDEFINED, usize::MAX),
        };
        self.work.set(self.work.get().saturating_add(work));
        found
    }

    /// Writes the values after these updates; false where they cannot happen.
    pub fn update(&mut self, updates: &[usize], before: &[u64], after: &mut [u64]) -> Answer<bool> {
        let mut changes = Vec::with_capacity(updates.len());
        for (verb, fluent, amount) in updates.iter().filter_map(|update| self.updates.get(*update)) {
            *self.work.get_mut() += PARTS_PER_NUMBER * (1 + amount.len());
            match value_of(amount, &|fluent| self.value(fluent, before))? {
                Ok(amount) => changes.push((*verb, *fluent, amount)),
                Err(_) => return Ok(false),
            }
        }
        let Ok(updated) = updated(&changes, &|fluent| self.value(fluent, before))? else { return Ok(false) };
        updated.into_iter().for_each(|(fluent, value)| self.write(fluent, value, after));
        Ok(true)
    }

    /// What it took since somebody asked.
    pub fn spent(&self) -> usize {
        self.work.take()
    }
}
