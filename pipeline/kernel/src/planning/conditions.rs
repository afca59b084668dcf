//! Conditions and effects that sets of atoms cannot say, over numbered atoms: what no effect changes is decided on the way
//! (definition/formulas.py).

use crate::grounding::{bound, objects_that_fit, terms_of, Atoms, Objects};
use crate::hashing::{HashMap, HashSet};
use crate::left::{Answer, Left};
use crate::model::{Domain, Expression, Form, Lifted, Operator, Rule, Word, EQUALITY, MOST_VARIABLES};
use crate::numbers::Numbers;
use crate::pddl::problems::Interner;
use crate::state_space::{Formula, AND, NOT, OR};
use std::rc::Rc;

/// Parts of a task's formulas that are put together, and atoms in them.
const MOST_PARTS: usize = 1_000_000;
const MOST_ATOMS: usize = 100_000;

const TRUE: [u32; 1] = [AND];
const FALSE: [u32; 1] = [OR];

/// A condition with the atoms that are added and deleted where it is true, and updates of numbers.
pub type ConditionalEffect = (Formula, [Vec<u32>; 3]);

/// The first word of what stands for a comparison of numbers; its number is the second.
pub const COMPARED: Word = Word::MAX;

/// The parts of a ground operator, its condition and its effects.
type Made = ([Vec<u32>; 4], Formula, Vec<ConditionalEffect>);

/// Variables with their values, the innermost last.
type Binding = Vec<(Word, Word)>;

pub struct Conditions<'a> {
    objects: &'a Objects,
    domain: &'a Domain,
    names: &'a Interner,
    is_fluent: &'a dyn Fn(Word) -> bool,
    /// What is true in all states.
    always: HashSet<&'a Lifted>,
    pub atoms: Atoms,
    pub ranges: Ranges,
    /// None where formulas say nothing of numbers.
    pub numbers: Option<Numbers>,
    /// How many parts were put together.
    pub parts: usize,
}

/// The objects that variables of a type range over, in alphabetical order.
pub type Ranges = HashMap<Word, Rc<Vec<Word>>>;

impl<'a> Conditions<'a> {
    pub fn new(
        objects: &'a Objects,
        init: &'a [Lifted],
        domain: &'a Domain,
        names: &'a Interner,
        is_fluent: &'a dyn Fn(Word) -> bool,
    ) -> Conditions<'a> {
        let always = init.iter().filter(|atom| !is_fluent(atom[0])).collect();
        let (atoms, ranges) = (Atoms::default(), HashMap::default());
        Conditions { objects, domain, names, is_fluent, always, atoms, ranges, numbers: None, parts: 0 }
    }

    /// The operator with these arguments; None where it applies in no state.
    pub fn operator(&mut self, operator: &Operator, arguments: &[Word]) -> Answer<Option<Made>> {
        let mut sets: [Vec<u32>; 4] = Default::default();
        for (place, part) in operator.parts.iter().enumerate() {
            for atom in part.iter().filter(|atom| self.names.text(atom[0]) != EQUALITY) {
                let atom = bound(&terms_of(atom, operator), arguments);
                self.count(1)?;
                if (self.is_fluent)(atom[0]) {
                    sets[place].push(self.atoms.number(atom));
                } else if self.always.contains(&atom) != (place == 0) {
                    return Ok(None);
                }
            }
        }
        let (conditions, mut effects) = self.forms(operator, arguments)?;
        let condition = self.joined(AND, conditions)?;
        if condition == FALSE {
            return Ok(None);
        }
        let [_, _, added, deleted] = &mut sets;
        effects.retain_mut(|(condition, [adds, deletes, updates])| {
            if *condition == TRUE {
                added.append(adds);
                deleted.append(deletes);
            }
            *condition != TRUE || !updates.is_empty()
        });
        Ok(Some((sets, condition, effects)))
    }

    /// The conditions and the effects that sets of atoms cannot say.
    pub fn forms(&mut self, operator: &Operator, arguments: &[Word]) -> Answer<(Vec<Formula>, Vec<ConditionalEffect>)> {
        let mut binding: Binding =
            operator.parameters.iter().zip(arguments).map(|((name, _), value)| (*name, *value)).collect();
        let (mut conditions, mut effects) = (Vec::new(), Vec::new());
        for each in &operator.beyond {
            match each.is_effect {
                true => self.effects(&each.form, &mut binding, &TRUE, &mut effects)?,
                false => conditions.push(self.condition(&each.form, &mut binding)?),
            }
        }
        Ok((conditions, effects))
    }

    /// The instances of a rule: each an atom with the formula from which it follows.
    pub fn instances(&mut self, rule: &Rule) -> Answer<Vec<(u32, Formula)>> {
        let (head, mut found) = (rule.head(), Vec::new());
        self.each(&rule.variables, &mut Vec::new(), &mut |own, binding| {
            let body = own.condition(&rule.body, binding)?;
            if body != FALSE {
                found.push((own.atoms.number(ground(&head, binding)), body));
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The conjuncts that a goal stands for, those of `forall` with each choice of objects, some perhaps more than once.
    pub fn instances_of(&mut self, goal: &Form, binding: &mut Binding, found: &mut Vec<Form>) -> Answer<()> {
        let mut words = Vec::new();
        goal.words(&mut words);
        self.count(1 + words.len())?;
        match goal {
            Form::And(parts) => parts.iter().try_for_each(|part| self.instances_of(part, binding, found)),
            Form::Forall(variables, body) => {
                self.each(variables, binding, &mut |own: &mut Self, binding| own.instances_of(body, binding, found))
            }
            _ => {
                found.push(goal.renamed(&|name| name, &|term| value(&term, binding)));
                Ok(())
            }
        }
    }

    /// The condition with these values; `TRUE` or `FALSE` where that is so in all states.
    pub fn condition(&mut self, form: &Form, binding: &mut Binding) -> Answer<Formula> {
        self.count(1)?;
        match form {
            Form::Atom(atom) => {
                let atom = ground(atom, binding);
                let is_so = if self.names.text(atom[0]) == EQUALITY {
                    atom[1] == atom[2]
                } else if (self.is_fluent)(atom[0]) {
                    return Ok(vec![4 * self.atoms.number(atom)]);
                } else {
                    self.always.contains(&atom)
                };
                Ok(if is_so { TRUE } else { FALSE }.to_vec())
            }
            Form::Numeric(head, sides) => {
                let number = self.number(head, sides, binding, Left::Formula)? as Word;
                Ok(vec![4 * self.atoms.number(vec![COMPARED, number])])
            }
            Form::And(parts) | Form::Or(parts) => {
                let mut found = Vec::with_capacity(parts.len());
                for part in parts {
                    found.push(self.condition(part, binding)?);
                }
                self.joined(if matches!(form, Form::And(_)) { AND } else { OR }, found)
            }
            Form::Not(part) => Ok(negated(self.condition(part, binding)?)),
            Form::Imply(parts) => {
                let found = vec![negated(self.condition(&parts[0], binding)?), self.condition(&parts[1], binding)?];
                self.joined(OR, found)
            }
            Form::Forall(variables, body) | Form::Exists(variables, body) => {
                let mut found = Vec::new();
                self.each(variables, binding, &mut |own, binding| {
                    found.push(own.condition(body, binding)?);
                    Ok(())
                })?;
                self.joined(if matches!(form, Form::Forall(..)) { AND } else { OR }, found)
            }
            Form::When(_) => Err(Left::Panic),
        }
    }

    /// The number of a comparison, or of an update.
    fn number(
        &mut self,
        head: &'static [u8],
        sides: &[Expression; 2],
        binding: &Binding,
        other: Left,
    ) -> Answer<usize> {
        self.count(sides.iter().map(Vec::len).sum())?;
        let numbers = self.numbers.as_mut().ok_or(other)?;
        Ok(numbers.number(head, sides, &|fluent| ground(fluent, binding)))
    }

    /// Adds what the effect does where `asked` is true.
    fn effects(
        &mut self,
        form: &Form,
        binding: &mut Binding,
        asked: &[u32],
        found: &mut Vec<ConditionalEffect>,
    ) -> Answer<()> {
        self.count(1)?;
        let mut does = |own: &mut Self, atom: u32, place: usize| {
            match found.last_mut().filter(|(condition, _)| condition == asked) {
                Some((_, sets)) => sets[place].push(atom),
                None => {
                    let mut sets: [Vec<u32>; 3] = Default::default();
                    sets[place].push(atom);
                    own.count(asked.len())?;
                    found.push((asked.to_vec(), sets));
                }
            }
            Ok(())
        };
        match form {
            Form::Atom(atom) => {
                let atom = self.atoms.number(ground(atom, binding));
                does(self, atom, 0)
            }
            Form::Not(part) => match &**part {
                Form::Atom(atom) => {
                    let atom = self.atoms.number(ground(atom, binding));
                    does(self, atom, 1)
                }
                _ => Err(Left::Panic),
            },
            Form::Numeric(verb, sides) => {
                let update = self.number(verb, sides, binding, Left::Effect)? as u32;
                does(self, update, 2)
            }
            Form::And(parts) => parts.iter().try_for_each(|part| self.effects(part, binding, asked, found)),
            Form::Forall(variables, body) => {
                self.each(variables, binding, &mut |own: &mut Self, binding| own.effects(body, binding, asked, found))
            }
            Form::When(parts) => {
                let own = self.condition(&parts[0], binding)?;
                let asked = self.joined(AND, vec![asked.to_vec(), own])?;
                match asked == FALSE {
                    true => Ok(()),
                    false => self.effects(&parts[1], binding, &asked, found),
                }
            }
            _ => Err(Left::Panic),
        }
    }

    /// Does something with each choice of values for the variables.
    fn each(
        &mut self,
        variables: &[(Word, Word)],
        binding: &mut Binding,
        something: &mut dyn FnMut(&mut Self, &mut Binding) -> Answer<()>,
    ) -> Answer<()> {
        let Some(((name, type_), others)) = variables.split_first() else { return something(self, binding) };
        if binding.len() >= MOST_VARIABLES {
            return Err(Left::Budget);
        }
        let range = match self.ranges.get(type_) {
            Some(range) => range.clone(),
            None => {
                let range = Rc::new(objects_that_fit(self.objects, *type_, self.domain, self.names).names);
                self.ranges.entry(*type_).or_insert(range).clone()
            }
        };
        for value in &*range {
            self.count(1)?;
            binding.push((*name, *value));
            self.each(others, binding, something)?;
            binding.pop();
        }
        Ok(())
    }

    /// The conjunction, or the disjunction, of formulas.
    fn joined(&mut self, kind: u32, mut formulas: Vec<Formula>) -> Answer<Formula> {
        let (decides, other) = if kind == OR { (TRUE, FALSE) } else { (FALSE, TRUE) };
        formulas.retain(|formula| *formula != other);
        if formulas.iter().any(|formula| *formula == decides) {
            return Ok(decides.to_vec());
        }
        self.count(formulas.iter().map(Vec::len).sum())?;
        Ok(match &mut formulas[..] {
            [] => other.to_vec(),
            [alone] => std::mem::take(alone),
            several => [several.concat(), vec![4 * several.len() as u32 + kind]].concat(),
        })
    }

    fn count(&mut self, parts: usize) -> Answer<()> {
        self.parts += parts;
        if self.parts > MOST_PARTS || self.atoms.atoms.len() > MOST_ATOMS {
            return Err(Left::Budget);
        }
        Ok(())
    }
}

/// The atom with the values of its variables.
fn ground(atom: &Lifted, binding: &Binding) -> Lifted {
    atom.iter().map(|term| value(term, binding)).collect()
}

fn value(term: &Word, binding: &Binding) -> Word {
    binding.iter().rev().find(|(name, _)| name == term).map_or(*term, |(_, value)| *value)
}

fn negated(mut formula: Formula) -> Formula {
    if formula == TRUE || formula == FALSE {
        return if formula == TRUE { FALSE } else { TRUE }.to_vec();
    }
    formula.push(NOT);
    formula
}
