//! The validator: executes a plan step by step (definition/validation.py). It works on atoms, straight from the operators.

use crate::domains::Domain;
use crate::model::{Atom, Known, Word, Words};

/// The operators of the three domains.
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

/// An operator with its arguments; 0 for those that it does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    operator: Operator,
    arguments: [Word; 4],
}

impl Action {
    pub fn new(operator: Operator, arguments: &[Word]) -> Action {
        let mut all = [0; 4];
        all[..arguments.len()].copy_from_slice(arguments);
        Action { operator, arguments: all }
    }

    pub fn operator(&self) -> Operator {
        self.operator
    }

    pub fn argument(&self, place: usize) -> Word {
        self.arguments[place]
    }

    /// The action in words, its arguments by their names.
    pub fn words<'a>(&self, name: impl Fn(Word) -> &'a [u8]) -> Vec<&'a [u8]> {
        let of = OPERATORS.iter().find(|(_, _, operator, _)| *operator == self.operator);
        let (own, count) = of.map_or(("", 0), |(_, own, _, count)| (own, *count));
        let arguments = self.arguments[..count].iter().map(|word| name(*word));
        [own.as_bytes()].into_iter().chain(arguments).collect()
    }

    /// The action with other names for its arguments.
    pub fn renamed(&self, names: &[Word]) -> Action {
        let name = |word: Word| if word == 0 { 0 } else { names[word as usize] };
        Action { operator: self.operator, arguments: self.arguments.map(name) }
    }
}

/// A set of atoms: a table in which an atom is looked for from the slot that its number is mixed to.
pub struct State {
    /// Atoms, each with a last bit that says whether it is in the set; what was taken out keeps its slot. 0 is free.
    slots: Vec<u64>,
    used: usize,
    count: usize,
}

impl State {
    pub fn new(atoms: &[Atom]) -> State {
        let mut state = State { slots: vec![0; (8 * atoms.len()).next_power_of_two().max(16)], used: 0, count: 0 };
        state.extend(atoms.iter());
        state
    }

    /// The slot that has the atom, or the free one where the search for it ends.
    #[inline]
    fn slot(&self, atom: Atom) -> usize {
        let last = self.slots.len() - 1;
        let mut slot = (atom.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & last;
        while self.slots[slot] >> 1 != atom && self.slots[slot] != 0 {
            slot = (slot + 1) & last;
        }
        slot
    }

    pub fn len(&self) -> usize {
        self.count
    }

    #[inline]
    pub fn contains(&self, atom: &Atom) -> bool {
        self.slots[self.slot(*atom)] & 1 == 1
    }

    /// True where the atom was not there.
    #[inline]
    pub fn insert(&mut self, atom: Atom) -> bool {
        let slot = self.slot(atom);
        let before = std::mem::replace(&mut self.slots[slot], atom << 1 | 1);
        self.count += usize::from(before & 1 == 0);
        if before == 0 {
            self.used += 1;
            if 2 * self.used > self.slots.len() {
                self.widen();
            }
        }
        before & 1 == 0
    }

    #[cold]
    fn widen(&mut self) {
        let atoms: Vec<Atom> = self.slots.iter().filter(|each| **each & 1 == 1).map(|each| each >> 1).collect();
        *self = State::new(&atoms);
    }

    pub fn extend<'a>(&mut self, atoms: impl Iterator<Item = &'a Atom>) {
        for atom in atoms {
            self.insert(*atom);
        }
    }

    /// True where the atom was there.
    pub fn remove(&mut self, atom: &Atom) -> bool {
        let slot = self.slot(*atom);
        let was_there = self.slots[slot] & 1 == 1;
        if was_there {
            self.slots[slot] ^= 1;
            self.count -= 1;
        }
        was_there
    }
}

/// The state after a plan, None where a step cannot be carried out. `types` are those of the words.
pub fn execute(words: &Words, domain: Domain, types: &[Word], init: &[Atom], plan: &[Action]) -> Option<State> {
    let mut state = State::new(init);
    for action in plan {
        if domain.has_types() && !is_well_typed(words, types, action) {
            return None;
        }
        let (needs, adds, deletes) = instance(words, action);
        if !present(&needs).all(|atom| state.contains(atom)) {
            return None;
        }
        for atom in present(&deletes) {
            state.remove(atom);
        }
        state.extend(present(&adds)); // what a step deletes and adds holds after it
    }
    Some(state)
}

/// Up to six atoms; 0 stands for none.
pub type Atoms = [Atom; 6];

pub fn present(atoms: &Atoms) -> impl Iterator<Item = &Atom> {
    atoms.iter().take_while(|atom| **atom != 0)
}

/// Preconditions, add effects and delete effects of an operator with its arguments.
pub fn instance(words: &Words, action: &Action) -> (Atoms, Atoms, Atoms) {
    use Known::{ArmEmpty, At, AtRobby, AvailableColor, Ball, Carry, Clear, Free, Gripper, Holding, On, OnTable};
    use Known::{Painted, RobotAt, RobotHas, Room};
    let [a, b, c, d] = action.arguments;
    let list = |atoms: &[(Known, Word, Word)]| {
        let mut list = [0; 6];
        for (place, (predicate, first, second)) in list.iter_mut().zip(atoms) {
            *place = words.atom(*predicate, *first, *second);
        }
        list
    };
    let step = |relation: Known, first: Word, second: Word| {
        (list(&[(RobotAt, a, b), (relation, first, second)]), list(&[(RobotAt, a, c)]), list(&[(RobotAt, a, b)]))
    };
    // The robot is on c, and paints b with d.
    let paint = |relation: Known, first: Word, second: Word| {
        (list(&[(RobotAt, a, c), (RobotHas, a, d), (relation, first, second)]), list(&[(Painted, b, d)]), list(&[]))
    };
    match action.operator {
        Operator::Pickup => {
            let on_table = list(&[(ArmEmpty, 0, 0), (Clear, a, 0), (OnTable, a, 0)]);
            (on_table, list(&[(Holding, a, 0)]), on_table)
        }
        Operator::Putdown => {
            let held = list(&[(Holding, a, 0)]);
            (held, list(&[(ArmEmpty, 0, 0), (Clear, a, 0), (OnTable, a, 0)]), held)
        }
        Operator::Stack => {
            let held = list(&[(Holding, a, 0), (Clear, b, 0)]);
            (held, list(&[(ArmEmpty, 0, 0), (Clear, a, 0), (On, a, b)]), held)
        }
        Operator::Unstack => {
            let stacked = list(&[(ArmEmpty, 0, 0), (Clear, a, 0), (On, a, b)]);
            (stacked, list(&[(Holding, a, 0), (Clear, b, 0)]), stacked)
        }
        Operator::Move => {
            let there = list(&[(Room, a, 0), (Room, b, 0), (AtRobby, a, 0)]);
            (there, list(&[(AtRobby, b, 0)]), list(&[(AtRobby, a, 0)]))
        }
        Operator::Pick => (
            list(&[(Ball, a, 0), (Room, b, 0), (Gripper, c, 0), (At, a, b), (AtRobby, b, 0), (Free, c, 0)]),
            list(&[(Carry, a, c)]),
            list(&[(At, a, b), (Free, c, 0)]),
        ),
        Operator::Drop => (
            list(&[(Ball, a, 0), (Room, b, 0), (Gripper, c, 0), (Carry, a, c), (AtRobby, b, 0)]),
            list(&[(At, a, b), (Free, c, 0)]),
            list(&[(Carry, a, c)]),
        ),
        Operator::ChangeColor => {
            (list(&[(RobotHas, a, b), (AvailableColor, c, 0)]), list(&[(RobotHas, a, c)]), list(&[(RobotHas, a, b)]))
        }
        Operator::PaintUp => paint(Known::Up, b, c),
        Operator::PaintDown => paint(Known::Up, c, b),
        Operator::PaintRight => paint(Known::Right, b, c),
        Operator::PaintLeft => paint(Known::Right, c, b),
        Operator::Up => step(Known::Up, c, b),
        Operator::Down => step(Known::Up, b, c),
        Operator::Right => step(Known::Right, c, b),
        Operator::Left => step(Known::Right, b, c),
    }
}

/// True where the arguments of an action of Floor Tile have the types of its parameters.
fn is_well_typed(words: &Words, types: &[Word], action: &Action) -> bool {
    let mut arguments = wanted_types(Domain::FloorTile, action.operator).iter().zip(action.arguments);
    arguments.all(|(type_, argument)| types[argument as usize] == words.place(*type_))
}

/// The types of an operator's parameters; none where every object will do.
pub fn wanted_types(domain: Domain, operator: Operator) -> &'static [Known] {
    use Known::{Color, Robot, Tile};
    match operator {
        _ if !domain.has_types() => &[],
        Operator::ChangeColor => &[Robot, Color, Color],
        Operator::PaintUp | Operator::PaintDown | Operator::PaintRight | Operator::PaintLeft => {
            &[Robot, Tile, Tile, Color]
        }
        _ => &[Robot, Tile, Tile],
    }
}

/// The operators of the domains with rules, and how many arguments each takes.
const OPERATORS: [(Domain, &str, Operator, usize); 16] = [
    (Domain::Blocksworld, "pickup", Operator::Pickup, 1),
    (Domain::Blocksworld, "putdown", Operator::Putdown, 1),
    (Domain::Blocksworld, "stack", Operator::Stack, 2),
    (Domain::Blocksworld, "unstack", Operator::Unstack, 2),
    (Domain::Gripper, "move", Operator::Move, 2),
    (Domain::Gripper, "pick", Operator::Pick, 3),
    (Domain::Gripper, "drop", Operator::Drop, 3),
    (Domain::FloorTile, "change-color", Operator::ChangeColor, 3),
    (Domain::FloorTile, "paint-up", Operator::PaintUp, 4),
    (Domain::FloorTile, "paint-down", Operator::PaintDown, 4),
    (Domain::FloorTile, "paint-right", Operator::PaintRight, 4),
    (Domain::FloorTile, "paint-left", Operator::PaintLeft, 4),
    (Domain::FloorTile, "up", Operator::Up, 3),
    (Domain::FloorTile, "down", Operator::Down, 3),
    (Domain::FloorTile, "right", Operator::Right, 3),
    (Domain::FloorTile, "left", Operator::Left, 3),
];

/// The operator of that name, and how many arguments it takes.
pub fn operator_named(domain: Domain, name: &[u8]) -> Option<(Operator, usize)> {
    let found = OPERATORS.iter().find(|(known, own, ..)| *known == domain && own.as_bytes() == name);
    found.map(|(_, _, operator, count)| (*operator, *count))
}
