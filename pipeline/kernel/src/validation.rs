//! The validator: executes a plan step by step (definition/validation.py). It works on atoms, straight from the operators.

use crate::domains::Rules;
use crate::grounding::{terms_of, Term};
use crate::hashing::factor;
use crate::left::{Answer, Left};
use crate::model::{self, atom_from, Atom, Word, EQUALITY, MOST_ARGUMENTS};
use crate::pddl::problems::Interner;
use crate::task::Task;

/// The operators of the three domains with rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Pickup,
    Putdown,
    Stack,
    Unstack,
    Move,
    Pick,
    Drop,
    ChangeColor,
    PaintUp,
    PaintDown,
    PaintRight,
    PaintLeft,
    Up,
    Down,
    Right,
    Left,
}

/// An operator of a domain with rules, and its arguments; 0 for those that it does not have.
#[derive(Clone, Copy)]
pub struct Action {
    pub operator: Operator,
    pub arguments: [Word; 4],
}

impl Action {
    pub fn new(operator: Operator, arguments: &[Word]) -> Action {
        let mut all = [0; 4];
        all[..arguments.len()].copy_from_slice(arguments);
        Action { operator, arguments: all }
    }
}

/// Steps of a plan that are executed; rules may make longer ones.
pub const MOST_STEPS: usize = 1_000_000;

/// Steps one after the other, each the number of an operator of the domain and its arguments.
#[derive(Clone, Default)]
pub struct Plan(pub Vec<Word>);

impl Plan {
    pub fn steps<'a>(&'a self, operators: &'a [Template]) -> impl Iterator<Item = &'a [Word]> {
        let mut rest = &self.0[..];
        std::iter::from_fn(move || {
            let (step, others) = rest.split_at(1 + operators[*rest.first()? as usize].types.len());
            rest = others;
            Some(step)
        })
    }

    /// The plan with other names for its arguments.
    pub fn renamed(&self, names: &[Word], operators: &[Template]) -> Plan {
        let mut renamed = Vec::with_capacity(self.0.len());
        for step in self.steps(operators) {
            renamed.push(step[0]);
            renamed.extend(step[1..].iter().map(|word| names[*word as usize]));
        }
        Plan(renamed)
    }
}

/// An operator as it is executed.
pub struct Template {
    /// The types of its parameters.
    types: Vec<Word>,
    /// The constants that it names.
    constants: Vec<Word>,
    /// Preconditions, negative preconditions, add effects and delete effects; equations apart.
    parts: [Vec<Pattern>; 4],
    /// Preconditions that are deleted, the only ones with their predicates, in place of both.
    consumed: Vec<Pattern>,
    /// Each with whether it has to hold.
    equations: Vec<([u8; 2], bool)>,
}

/// A predicate and places among terms: nothing, which stands for an absent argument, the step's arguments, constants.
type Pattern = (u32, [u8; MOST_ARGUMENTS]);

/// Terms by their places.
type Terms = [Word; u8::MAX as usize + 1];

impl Template {
    pub fn new(operator: &model::Operator, names: &Interner) -> Answer<Template> {
        let types: Vec<Word> = operator.parameters.iter().map(|(_, type_)| *type_).collect();
        let (constants, consumed, equations) = (Vec::new(), Vec::new(), Vec::new());
        let mut template = Template { types, constants, parts: Default::default(), consumed, equations };
        for (place, part) in operator.parts.iter().enumerate() {
            for atom in part {
                let mut terms = [0; MOST_ARGUMENTS];
                for (at, term) in terms_of(&atom[1..], operator).into_iter().enumerate() {
                    let term = match term {
                        Term::Place(place) => place,
                        Term::Name(name) => template.types.len() + template.constant(name),
                    };
                    *terms.get_mut(at).ok_or(Left::Arity)? = u8::try_from(1 + term).map_err(|_| Left::Budget)?;
                }
                if names.text(atom[0]) == EQUALITY {
                    template.equations.push(([terms[0], terms[1]], place == 0));
                } else {
                    template.parts[place].push((atom[0], terms));
                }
            }
        }
        let [needed, avoided, _, deleted] = &mut template.parts;
        let asked: Vec<Word> = needed.iter().chain(&*avoided).map(|(predicate, _)| *predicate).collect();
        let is_alone = |own: &Word| asked.iter().filter(|predicate| *predicate == own).count() == 1;
        let is_consumed = |each: &&Pattern| deleted.contains(*each) && is_alone(&each.0);
        template.consumed = needed.iter().filter(is_consumed).copied().collect();
        needed.retain(|each| !template.consumed.contains(each));
        deleted.retain(|each| !template.consumed.contains(each));
        Ok(template)
    }

    fn constant(&mut self, name: Word) -> usize {
        let known = self.constants.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            self.constants.push(name);
            self.constants.len() - 1
        })
    }
}

/// A set of atoms: a table in which an atom is looked for from the slot that its number is mixed to.
#[derive(Clone)]
pub struct State {
    /// Atoms, with `IS_IN` where they are in the set; what was taken out keeps its slot. 0 is free.
    slots: Vec<Atom>,
    used: usize,
    count: usize,
    /// What atoms are multiplied with, so that nobody can write atoms that collide, and the bits that are no slot.
    factor: u64,
    shift: u32,
}

/// A bit that no atom has: predicates are small numbers.
const IS_IN: Atom = 1 << 127;

impl State {
    pub fn new(atoms: &[Atom]) -> State {
        let slots = vec![0; (4 * atoms.len()).next_power_of_two().max(16)];
        let shift = 64 - slots.len().trailing_zeros();
        let mut state = State { slots, used: 0, count: 0, factor: factor(), shift };
        state.extend(atoms.iter());
        state
    }

    /// The slot that has the atom, or the free one where the search for it ends, and what is there.
    #[inline(always)]
    fn slot(&self, atom: Atom) -> (usize, Atom) {
        let last = self.slots.len() - 1;
        // The halves hold other words at other bits, so that few atoms share a key.
        let key = (atom >> 64) as u64 ^ atom as u64;
        let mut slot = (key.wrapping_mul(self.factor) >> self.shift) as usize;
        loop {
            let own = self.slots[slot];
            if (own ^ atom) & !IS_IN == 0 || own == 0 {
                return (slot, own);
            }
            slot = (slot + 1) & last;
        }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    #[inline]
    pub fn contains(&self, atom: &Atom) -> bool {
        self.slot(*atom).1 & IS_IN != 0
    }

    /// True where the atom was not there.
    #[inline]
    pub fn insert(&mut self, atom: Atom) -> bool {
        let (slot, before) = self.slot(atom);
        if before & IS_IN != 0 {
            return false;
        }
        self.slots[slot] = atom | IS_IN;
        self.count += 1;
        if before == 0 {
            self.used += 1;
            if self.used > self.slots.len() / 4 * 3 {
                self.widen();
            }
        }
        true
    }

    #[cold]
    fn widen(&mut self) {
        let atoms: Vec<Atom> = self.slots.iter().filter(|each| **each & IS_IN != 0).map(|each| each & !IS_IN).collect();
        *self = State::new(&atoms);
    }

    pub fn extend<'a>(&mut self, atoms: impl Iterator<Item = &'a Atom>) {
        for atom in atoms {
            self.insert(*atom);
        }
    }

    /// True where the atom was there.
    pub fn remove(&mut self, atom: &Atom) -> bool {
        let (slot, before) = self.slot(*atom);
        if before & IS_IN == 0 {
            return false;
        }
        self.slots[slot] = *atom;
        self.count -= 1;
        true
    }
}

/// The state after a plan, None where a step cannot be carried out.
pub fn execute(task: &Task, plan: &Plan) -> Option<State> {
    let (words, domain) = (&task.problem.words, &task.domain);
    let mut state = State::new(&task.problem.init);
    let mut terms: Terms = [0; u8::MAX as usize + 1];
    let is_typed = task.is_typed();
    for step in plan.steps(&domain.operators) {
        let Template { types, constants, parts, consumed, equations } = &domain.operators[step[0] as usize];
        if is_typed && !step[1..].iter().zip(types).all(|(argument, wanted)| task.fits(*argument, *wanted)) {
            return None;
        }
        let (own, named) = terms[1..].split_at_mut(types.len());
        own.copy_from_slice(&step[1..]);
        named.iter_mut().zip(constants).for_each(|(term, name)| *term = words.place_of(*name));
        let term = |place: u8| terms[usize::from(place)];
        let ground = |(predicate, places): &Pattern| atom_from(places, 0, words.place_of(*predicate), term);
        let [needed, avoided, added, deleted] = parts;
        if !needed.iter().all(|atom| state.contains(&ground(atom)))
            || avoided.iter().any(|atom| state.contains(&ground(atom)))
            || !equations.iter().all(|([one, other], holds)| (term(*one) == term(*other)) == *holds)
            || !consumed.iter().all(|atom| state.remove(&ground(atom)))
        {
            return None;
        }
        for atom in deleted {
            state.remove(&ground(atom));
        }
        for atom in added {
            state.insert(ground(atom)); // what a step deletes and adds holds after it
        }
    }
    Some(state)
}

/// What the operators of the domains with rules are called.
pub const OPERATORS: [(Rules, &str, Operator); 16] = [
    (Rules::Blocksworld, "pickup", Operator::Pickup),
    (Rules::Blocksworld, "putdown", Operator::Putdown),
    (Rules::Blocksworld, "stack", Operator::Stack),
    (Rules::Blocksworld, "unstack", Operator::Unstack),
    (Rules::Gripper, "move", Operator::Move),
    (Rules::Gripper, "pick", Operator::Pick),
    (Rules::Gripper, "drop", Operator::Drop),
    (Rules::FloorTile, "change-color", Operator::ChangeColor),
    (Rules::FloorTile, "paint-up", Operator::PaintUp),
    (Rules::FloorTile, "paint-down", Operator::PaintDown),
    (Rules::FloorTile, "paint-right", Operator::PaintRight),
    (Rules::FloorTile, "paint-left", Operator::PaintLeft),
    (Rules::FloorTile, "up", Operator::Up),
    (Rules::FloorTile, "down", Operator::Down),
    (Rules::FloorTile, "right", Operator::Right),
    (Rules::FloorTile, "left", Operator::Left),
];

/// The operator of that name.
pub fn operator_named(rules: Rules, name: &[u8]) -> Option<Operator> {
    let found = OPERATORS.iter().find(|(known, own, _)| *known == rules && own.as_bytes() == name);
    found.map(|(.., operator)| *operator)
}
