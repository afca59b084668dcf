//! The reachable states of a ground task, listed for the definition (definition/state_space.py):
//! conditions, conditional effects and derived atoms, which are formulas over numbered atoms.
//!
//! A formula is a list of parts in postfix order: `4 * atom`, `1` for a negation, and `4 * count + 2` and `+ 3` for a
//! conjunction and a disjunction of so many before it. No parts are true.

use crate::numbers::{Numbers, FALSE, TRUE};
use crate::planning::task::{BitOperator, Bits, States, Successors};
use std::cell::RefCell;
use std::rc::Rc;

const ATOM: u32 = 0;
pub const NOT: u32 = 1;
pub const AND: u32 = 2;
pub const OR: u32 = 3;

/// Parts of formulas that are looked at for a list, some two seconds; the definition gives up long before.
const MOST_PARTS: usize = 400_000_000;

/// The same for a row, which may take four lists.
pub const MOST_PARTS_OF_ROW: usize = 100_000_000;

/// Words of the operators' sets of atoms.
pub const MOST_WORDS: usize = 30_000_000;

pub type Formula = Vec<u32>;

/// The formula over bits; atoms that are never true are empty disjunctions.
pub fn over_bits(formula: &[u32], bit: impl Fn(u32) -> Option<usize>) -> Formula {
    let over_bits = |part: &u32| match part & 3 {
        ATOM => bit(part >> 2).map_or(OR, |bit| 4 * bit as u32),
        _ => *part,
    };
    formula.iter().map(over_bits).collect()
}

/// Numbers, and lists of them behind their lengths.
struct Reader<'a> {
    numbers: &'a [u32],
    /// The bit of each atom that may be true in some state.
    bits: Vec<Option<usize>>,
}

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<usize> {
        let (first, rest) = self.numbers.split_first()?;
        self.numbers = rest;
        Some(*first as usize)
    }

    fn list(&mut self) -> Option<&'a [u32]> {
        let count = self.number()?;
        let list = self.numbers.get(..count)?;
        self.numbers = &self.numbers[count..];
        Some(list)
    }

    /// The bits of atoms that may be true.
    fn atoms(&mut self) -> Option<Vec<usize>> {
        let atoms = self.list()?;
        let bits: Option<Vec<Option<usize>>> =
            atoms.iter().map(|atom| self.bits.get(*atom as usize).copied()).collect();
        Some(bits?.into_iter().flatten().collect())
    }

    fn formula(&mut self) -> Option<Formula> {
        let mut depth = 0usize;
        let formula = self.list()?;
        for part in formula {
            let number = (part >> 2) as usize;
            depth = match part & 3 {
                NOT => (depth > 0).then_some(depth)?,
                ATOM => (number < self.bits.len()).then_some(depth + 1)?,
                _ => depth.checked_sub(number)? + 1,
            };
        }
        (depth < 2).then(|| over_bits(formula, |number| self.bits[number as usize]))
    }

    fn several<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| read(self)).collect()
    }
}

/// What happens where a condition is true.
pub struct Effect {
    pub condition: Formula,
    pub added: Vec<usize>,
    pub deleted: Vec<usize>,
    /// Of numbers.
    pub updates: Vec<usize>,
}

/// What an operator asks for and does beyond sets of atoms.
pub struct Further {
    pub condition: Formula,
    pub effects: Vec<Effect>,
}

impl Further {
    /// Writes the state after its operator; false where this does not apply. `full` has what is derived, too.
    pub fn apply_to(
        &self,
        operator: &BitOperator,
        [state, full]: [&Bits; 2],
        judge: &mut Judge,
        after: &mut Bits,
    ) -> bool {
        if judge.truth(&self.condition, &full.0) != TRUE {
            return false;
        }
        let mut happening: Vec<&Effect> = Vec::new();
        for effect in &self.effects {
            match judge.truth(&effect.condition, &full.0) {
                TRUE => happening.push(effect),
                FALSE => {}
                _ => return false, // it depends on a number that is not defined
            }
        }
        after.0.copy_from_slice(&state.0);
        after.remove(&operator.deleted);
        happening.iter().flat_map(|effect| &effect.deleted).for_each(|bit| after.clear(*bit));
        after.add(&operator.added);
        happening.iter().flat_map(|effect| &effect.added).for_each(|bit| after.set(*bit));
        let updates: Vec<usize> = happening.iter().flat_map(|effect| &effect.updates).copied().collect();
        updates.is_empty() || judge.update(&updates, &state.0, &mut after.0)
    }
}

/// By stratum atoms, each with a formula from which it follows.
pub type Rules = Vec<Vec<(usize, Formula)>>;

struct Task {
    /// The atom of each bit.
    atoms: Vec<u32>,
    initial: Bits,
    operators: Vec<BitOperator>,
    further: Vec<Further>,
    rules: Rules,
}

impl Task {
    fn read(numbers: &[u32]) -> Option<Task> {
        let mut reader = Reader { numbers, bits: Vec::new() };
        let atoms = reader.list()?; // those that may be true
        let count = reader.number()?;
        reader.bits = vec![None; count];
        for (bit, atom) in atoms.iter().enumerate() {
            *reader.bits.get_mut(*atom as usize)? = Some(bit);
        }
        let set = |bits: Vec<usize>| Bits::of(atoms.len(), bits);
        let initial = set(reader.atoms()?);
        let mut further = Vec::new();
        let operators = reader.several(|reader| {
            if 4 * further.len() * initial.0.len() > MOST_WORDS {
                return None;
            }
            let asked = *reader.numbers.first()? as usize;
            let mut atoms = || reader.atoms().map(set);
            let (number, [needed, avoided, added, deleted]) = (further.len(), [atoms()?, atoms()?, atoms()?, atoms()?]);
            let condition = reader.formula()?;
            let condition = if needed.count() == asked { condition } else { vec![OR] }; // one is never true
            let effects = reader.several(|reader| {
                let (condition, added) = (reader.formula()?, reader.atoms()?);
                Some(Effect { condition, added, deleted: reader.atoms()?, updates: Vec::new() })
            })?;
            further.push(Further { condition, effects });
            Some(BitOperator { number, needed, avoided, added, deleted })
        })?;
        let rule = |reader: &mut Reader| Some((reader.number()?, reader.formula()?));
        let rules = reader.several(|reader| reader.several(rule))?;
        let with_bits = |(atom, body): (usize, Formula)| Some((reader.bits.get(atom).copied()??, body));
        let rules = rules.into_iter().map(|stratum| stratum.into_iter().map(with_bits).collect());
        let rules = rules.collect::<Option<Rules>>()?;
        Some(Task { atoms: atoms.to_vec(), initial, operators, further, rules })
    }

    /// Writes the atoms of states: where those of each begin, behind the last one where they end, and then the atoms.
    fn write(&self, states: impl Iterator<Item = Bits>, found: &mut Vec<u32>) {
        let (mut starts, mut atoms) = (Vec::new(), Vec::new());
        for state in states {
            starts.push(atoms.len() as u32);
            atoms.extend(state.indexes().map(|bit| self.atoms[bit]));
        }
        starts.push(atoms.len() as u32);
        found.extend(starts);
        found.extend(atoms);
    }
}

/// Looks at formulas in a state.
pub struct Judge {
    values: Vec<u8>,
    /// Parts that may still be looked at.
    pub left: usize,
    /// Where states have numbers.
    pub numbers: Option<Rc<RefCell<Numbers>>>,
}

impl Judge {
    pub fn new(left: usize) -> Judge {
        Judge { values: Vec::new(), left, numbers: None }
    }

    /// The formula's truth value in a state.
    pub fn truth(&mut self, formula: &[u32], state: &[u64]) -> u8 {
        self.of_state(|judge, truth| judge.truth_of(formula, |bit| truth(state, bit)))
    }

    pub fn holds(&mut self, formula: &[u32], state: &[u64]) -> bool {
        self.truth(formula, state) == TRUE
    }

    /// Whether the formula is true where these atoms are.
    pub fn is_true(&mut self, formula: &[u32], atom_is_true: impl Fn(usize) -> bool) -> bool {
        self.truth_of(formula, |atom| if atom_is_true(atom) { TRUE } else { FALSE }) == TRUE
    }

    fn truth_of(&mut self, formula: &[u32], of_atom: impl Fn(usize) -> u8) -> u8 {
        self.left = self.left.saturating_sub(1 + formula.len());
        self.values.clear();
        for part in formula {
            let (number, count) = ((part >> 2) as usize, self.values.len());
            let value = match part & 3 {
                NOT => TRUE - self.values.pop().unwrap_or(FALSE),
                AND => self.values.drain(count - number..).fold(TRUE, u8::min),
                OR => self.values.drain(count - number..).fold(FALSE, u8::max),
                _ => of_atom(number),
            };
            self.values.push(value);
        }
        self.values.pop().unwrap_or(TRUE)
    }

    /// What is found with the truth values of atoms and comparisons in states.
    fn of_state<T>(&mut self, find: impl FnOnce(&mut Self, &dyn Fn(&[u64], usize) -> u8) -> T) -> T {
        let truth = |state: &[u64], bit: usize| if state[bit / 64] >> (bit % 64) & 1 == 1 { TRUE } else { FALSE };
        let Some(shared) = self.numbers.take() else { return find(self, &truth) };
        let numbers = shared.borrow();
        let found = find(self, &|state, bit| match bit.checked_sub(numbers.bits) {
            Some(comparison) => numbers.truth(comparison, state),
            None => truth(state, bit),
        });
        self.left = self.left.saturating_sub(numbers.spent());
        drop(numbers);
        self.numbers = Some(shared);
        found
    }

    /// Writes the numbers after these updates; false where they cannot happen.
    fn update(&mut self, updates: &[usize], state: &[u64], after: &mut [u64]) -> bool {
        let Some(shared) = self.numbers.clone() else { return false };
        let mut numbers = shared.borrow_mut();
        let found = numbers.update(updates, state, after);
        self.left = self.left.saturating_sub(if found.is_ok() { numbers.spent() } else { usize::MAX });
        found.unwrap_or(false)
    }

    /// Adds to a state what is derived in it; not all, where no parts are left.
    pub fn derive(&mut self, rules: &Rules, state: &mut Bits) {
        if !rules.is_empty() {
            self.of_state(|judge, truth| {
                judge.derive_in(rules, state, &|state: &Bits, atom| truth(&state.0, atom), &Bits::set)
            });
        }
    }

    /// The same in a set of any kind.
    pub fn derive_in<S>(
        &mut self,
        rules: &Rules,
        state: &mut S,
        truth: &dyn Fn(&S, usize) -> u8,
        set: &dyn Fn(&mut S, usize),
    ) {
        for stratum in rules {
            let mut grows = true;
            while grows && self.left > 0 {
                grows = false;
                for (atom, body) in stratum {
                    if truth(state, *atom) != TRUE && self.truth_of(body, |other| truth(state, other)) == TRUE {
                        set(state, *atom);
                        grows = true;
                    }
                }
            }
        }
    }
}

/// The states that can be reached, breadth first, by operators in the order in which they are given.
///
/// `numbers` are a task: the atoms that may be true in some state, how many atoms there are, those of the initial state;
/// the operators, each with the atoms that it needs, avoids, adds and deletes, its condition, and its effects, each a
/// condition with the atoms that it adds and deletes; and the rules of each stratum, each an atom and a formula. Returns how
/// many states there are; 1 if they are all of them; how many were expanded, and of each of these, in their order, the
/// steps, each an operator and the number of the state after it; then the atoms of the states, and where there are rules
/// those with what is derived. None where that is no task, or one that is too large or takes too long.
pub fn list_states(numbers: &[u32], most: usize) -> Option<Vec<u32>> {
    let task = Task::read(numbers)?;
    let mut judge = Judge::new(MOST_PARTS);
    let successors = Successors::new(&task.operators, task.atoms.len());
    let mut states = States::of(&task.initial);
    let (mut found, mut with_derived, mut following) = (vec![0; 3], Vec::new(), Vec::new());
    let (mut state, mut full, mut after) = (task.initial.clone(), task.initial.clone(), task.initial.clone());
    'states: while (found[2] as usize) < states.count && judge.left > 0 {
        state.0.copy_from_slice(states.get(found[2] as usize));
        full.0.copy_from_slice(&state.0);
        judge.derive(&task.rules, &mut full);
        if !task.rules.is_empty() {
            with_derived.push(full.clone());
        }
        judge.left = judge.left.saturating_sub(successors.of(&task.operators, &full, &mut following));
        following.sort_unstable();
        let steps = found.len();
        found[2] += 1;
        found.push(0);
        for place in &following {
            let (operator, further) = (&task.operators[*place], &task.further[*place]);
            if !further.apply_to(operator, [&state, &full], &mut judge, &mut after) {
                continue;
            }
            let number = match states.number(&after) {
                Some(number) => number,
                None if states.count == most => break 'states,
                None => {
                    states.insert(&after);
                    states.count - 1
                }
            };
            found.extend([*place as u32, number as u32]);
            found[steps] += 1;
        }
        found[1] = u32::from(found[2] as usize == states.count);
    }
    found[0] = states.count as u32;
    let states_from = |first| (first..states.count).map(|number| Bits(states.get(number).to_vec()));
    task.write(states_from(0), &mut found);
    if !task.rules.is_empty() {
        for mut state in states_from(with_derived.len()) {
            judge.derive(&task.rules, &mut state);
            if judge.left == 0 {
                break;
            }
            with_derived.push(state);
        }
        task.write(with_derived.into_iter(), &mut found);
    }
    (judge.left > 0).then_some(found)
}
