//! The ground task: one bit for each atom that may change, and the operators that can apply (definition/state_space.py).

use crate::fraction::Fraction;
use crate::grounding::{reachable_operators, Atoms, Ground, Objects, MAX_ATOMS};
use crate::hashing::{HashMap, HashSet};
use crate::left::{Answer, Left};
use crate::model::{Domain, Lifted, Operator, Word};
use crate::numbers::Numbers;
use crate::pddl::problems::Interner;
use crate::planning::conditions::{ConditionalEffect, Conditions, COMPARED};
use crate::planning::heuristics::Literals;
use crate::planning::invariants::{h2, H2};
use crate::planning::mutex_groups::{mutex_groups, MutexGroups};
use crate::state_space::{
    over_bits, Effect, Formula as Condition, Further, Judge, Rules, AND, MOST_PARTS_OF_ROW, MOST_WORDS, NOT, OR,
};
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Reachable states that are enumerated, as in the definition.
pub const MAX_STATES: usize = 20_000;

/// Operators for which that is asked in some state; the definition, which counts more than them, gives up before.
const MAX_EXAMINED: usize = 6_000_000;

/// Parts of a goal that are looked at in the states of a list.
const MOST_PARTS_OF_GOAL: usize = MOST_PARTS_OF_ROW / 4;

/// A set of bits.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct Bits(pub Vec<u64>);

impl Bits {
    pub fn none(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    pub fn of(count: usize, indexes: impl IntoIterator<Item = usize>) -> Bits {
        let mut bits = Bits::none(count);
        indexes.into_iter().for_each(|index| bits.set(index));
        bits
    }

    pub fn set(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    pub fn clear(&mut self, index: usize) {
        self.0[index / 64] &= !(1 << (index % 64));
    }

    pub fn has(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    pub fn add(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    pub fn remove(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= !other);
    }

    pub fn keep(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
    }

    pub fn and(mut self, other: &Bits) -> Bits {
        self.keep(other);
        self
    }

    pub fn or(mut self, other: &Bits) -> Bits {
        self.add(other);
        self
    }

    pub fn but(mut self, other: &Bits) -> Bits {
        self.remove(other);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// True where all of these are among those.
    pub fn within(&self, other: &Bits) -> bool {
        self.within_words(&other.0)
    }

    fn within_words(&self, other: &[u64]) -> bool {
        self.0.iter().zip(other).all(|(own, other)| own & !other == 0)
    }

    pub fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(own, other)| own & other != 0)
    }

    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The positions of the set bits, lowest first.
    pub fn indexes(&self) -> impl Iterator<Item = usize> + '_ {
        let (mut place, mut left) = (0, self.0.first().copied().unwrap_or(0));
        std::iter::from_fn(move || {
            while left == 0 {
                place += 1;
                left = *self.0.get(place)?;
            }
            let lowest = left.trailing_zeros() as usize;
            left &= left - 1;
            Some(64 * place + lowest)
        })
    }
}

/// The bit of each atom that has one.
#[derive(Default)]
pub struct BitsOf {
    bits: Vec<u32>,
    count: usize,
}

impl BitsOf {
    /// `sorted` are the atoms that have one, of so many.
    pub fn new(sorted: &[u32], atoms: usize) -> BitsOf {
        let mut bits = vec![u32::MAX; atoms];
        (0..).zip(sorted).for_each(|(bit, atom)| bits[*atom as usize] = bit);
        BitsOf { bits, count: sorted.len() }
    }

    pub fn bit(&self, atom: u32) -> Option<usize> {
        let bit = *self.bits.get(atom as usize)?;
        (bit != u32::MAX).then_some(bit as usize)
    }

    fn of(&self, atoms: &[u32]) -> Bits {
        Bits::of(self.count, atoms.iter().filter_map(|atom| self.bit(*atom)))
    }
}

/// A ground operator whose sets of atoms are bits; its number says which one it is.
pub struct BitOperator {
    pub number: usize,
    pub needed: Bits,
    pub avoided: Bits,
    pub added: Bits,
    pub deleted: Bits,
}

impl BitOperator {
    pub fn applicable(&self, state: &Bits) -> bool {
        self.needed.within(state) && !self.avoided.meets(state)
    }

    pub fn apply(&self, state: &Bits) -> Bits {
        state.clone().but(&self.deleted).or(&self.added)
    }

    /// Writes the state after it.
    pub fn apply_to(&self, state: &Bits, after: &mut Bits) {
        for (place, word) in after.0.iter_mut().enumerate() {
            *word = state.0[place] & !self.deleted.0[place] | self.added.0[place];
        }
    }
}

pub fn bit_operator(number: usize, ground: &Ground, bits: &BitsOf) -> BitOperator {
    let [needed, avoided, added, deleted] = ground.parts.each_ref().map(|part| bits.of(part));
    BitOperator { number, needed, avoided, added, deleted }
}

/// Lists of numbers, one after the other.
pub struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// So many lists of these numbers, each with the list that it belongs to; the order in a list is theirs.
    pub fn new(count: usize, pairs: &[(usize, usize)]) -> Lists {
        let mut starts = vec![0u32; count + 2];
        pairs.iter().for_each(|(list, _)| starts[list + 2] += 1);
        (2..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        let mut items = vec![0; starts[count + 1] as usize];
        for (list, item) in pairs {
            items[starts[list + 1] as usize] = *item as u32;
            starts[list + 1] += 1;
        }
        Lists { starts, items }
    }

    pub fn of(&self, list: usize) -> &[u32] {
        &self.items[self.starts[list] as usize..self.starts[list + 1] as usize]
    }
}

/// Lists, for a state, the places of the applicable operators, and how many were examined.
///
/// Each operator is filed under one of its preconditions, the one that the fewest operators have.
pub struct Successors {
    drawers: Lists,
    keys: Bits,
    /// The drawer of operators without preconditions.
    without: usize,
}

impl Successors {
    pub fn new(operators: &[BitOperator], atoms: usize) -> Successors {
        let mut frequency = vec![0usize; atoms];
        operators.iter().flat_map(|operator| operator.needed.indexes()).for_each(|index| frequency[index] += 1);
        let rarest = |operator: &BitOperator| {
            operator.needed.indexes().min_by_key(|index| (frequency[*index], *index)).unwrap_or(atoms)
        };
        let filed: Vec<(usize, usize)> = operators.iter().map(rarest).zip(0..).collect();
        let keys = Bits::of(atoms, filed.iter().map(|(drawer, _)| *drawer).filter(|drawer| *drawer < atoms));
        Successors { drawers: Lists::new(atoms + 1, &filed), keys, without: atoms }
    }

    /// Writes the places, and returns how many operators were examined.
    pub fn of(&self, operators: &[BitOperator], state: &Bits, found: &mut Vec<usize>) -> usize {
        found.clear();
        let mut examined = 0;
        let mut open = |drawer: &[u32]| {
            examined += 1 + drawer.len();
            found
                .extend(drawer.iter().map(|place| *place as usize).filter(|place| operators[*place].applicable(state)));
        };
        open(self.drawers.of(self.without));
        for (place, (word, keys)) in state.0.iter().zip(&self.keys.0).enumerate() {
            let mut left = word & keys;
            while left != 0 {
                open(self.drawers.of(64 * place + left.trailing_zeros() as usize));
                left &= left - 1;
            }
        }
        examined - 1
    }
}

/// States by number, each once.
pub struct States {
    width: usize,
    words: Vec<u64>,
    /// For each state half of its hash and its number, from 1; half of them stay free. The hash says where to look.
    slots: Vec<u64>,
    pub count: usize,
}

impl States {
    pub fn of(first: &Bits) -> States {
        let mut states = States { width: first.0.len(), words: Vec::new(), slots: vec![0; 64], count: 0 };
        states.insert(first);
        states
    }

    pub fn get(&self, number: usize) -> &[u64] {
        &self.words[number * self.width..(number + 1) * self.width]
    }

    /// False where the state is there already.
    pub fn insert(&mut self, state: &Bits) -> bool {
        if 2 * self.count >= self.slots.len() {
            let wider = vec![0; 2 * self.slots.len()];
            for known in std::mem::replace(&mut self.slots, wider).into_iter().filter(|known| *known != 0) {
                let slot = self.slot(known, |_| false);
                self.slots[slot] = known;
            }
        }
        let (hash, slot) = self.place(state);
        if self.slots[slot] != 0 {
            return false;
        }
        self.words.extend(&state.0);
        self.count += 1;
        self.slots[slot] = hash | self.count as u64;
        true
    }

    /// The number of the state, if it is there.
    pub fn number(&self, state: &Bits) -> Option<usize> {
        let (_, slot) = self.place(state);
        ((self.slots[slot] & !HASH) as usize).checked_sub(1)
    }

    /// The state's hash, and its slot or the free one where it would be.
    fn place(&self, state: &Bits) -> (u64, usize) {
        let mix = |hash: u64, word: &u64| (hash.rotate_left(29) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = state.0.iter().fold(0, mix) & HASH;
        let is_it = |known: u64| known & HASH == hash && state.0.iter().eq(self.get((known & !HASH) as usize - 1));
        (hash, self.slot(hash, is_it))
    }

    /// The first slot that is free or has what is looked for.
    fn slot(&self, hash: u64, is_it: impl Fn(u64) -> bool) -> usize {
        let last = self.slots.len() - 1;
        let mut slot = (hash >> 32) as usize & last;
        while self.slots[slot] != 0 && !is_it(self.slots[slot]) {
            slot = (slot + 1) & last;
        }
        slot
    }
}

/// The bits of a slot that are a hash.
const HASH: u64 = !0 << 32;

/// The reachable states, enumerated breadth first as far as somebody asked for, by operators in alphabetical order.
///
/// So the way on which a state was found is the alphabetically first of the shortest.
struct StateSpace {
    states: States,
    /// The states with what is derived, one after the other; none where nothing is.
    with_derived: Vec<u64>,
    judge: Judge,
    /// The number of the state before each, and the place of the operator between them; of the first state, anything.
    ways: Vec<(u32, u32)>,
    expanded: usize,
    examined: usize,
    state: Bits,
    full: Bits,
    after: Bits,
    following: Vec<usize>,
}

impl StateSpace {
    fn new(task: &GroundTask) -> StateSpace {
        let (initial, mut judge) = (&task.initial, task.judge(MOST_PARTS_OF_ROW));
        StateSpace {
            with_derived: if task.rules.is_empty() { Vec::new() } else { task.full(initial, &mut judge).0 },
            states: States::of(initial),
            judge,
            ways: vec![(0, 0)],
            expanded: 0,
            examined: 0,
            state: initial.clone(),
            full: initial.clone(),
            after: initial.clone(),
            following: Vec::new(),
        }
    }

    /// Expands the next state; None where so many states, or operators, are too many, Some(false) where none is left.
    fn expand(&mut self, task: &GroundTask, most: usize) -> Option<bool> {
        if self.judge.left == 0 {
            return None; // perhaps in the last state
        }
        if self.expanded == self.states.count {
            return Some(false);
        }
        if self.states.count > most || self.examined > MAX_EXAMINED {
            return None;
        }
        self.state.0.copy_from_slice(self.states.get(self.expanded));
        let mut full = std::mem::take(&mut self.full.0);
        full.copy_from_slice(self.view(self.expanded));
        self.full.0 = full;
        self.examined += task.operators.len();
        task.successors().of(&task.operators, &self.full, &mut self.following);
        self.following.sort_unstable();
        for place in &self.following {
            let (operator, state, full) = (&task.operators[*place], &self.state, &self.full);
            match task.further.get(*place) {
                None => operator.apply_to(state, &mut self.after),
                Some(further) if further.apply_to(operator, [state, full], &mut self.judge, &mut self.after) => {}
                _ => continue,
            }
            if self.states.insert(&self.after) {
                self.ways.push((self.expanded as u32, *place as u32));
                if !task.rules.is_empty() {
                    self.with_derived.extend(task.full(&self.after, &mut self.judge).0);
                }
            }
        }
        self.expanded += 1;
        Some(true)
    }

    /// All that is true in a state.
    fn view(&self, number: usize) -> &[u64] {
        let width = self.states.width;
        self.with_derived.get(number * width..(number + 1) * width).unwrap_or_else(|| self.states.get(number))
    }

    /// The places of the operators on the way to a state.
    fn path_to(&self, mut number: usize) -> Vec<usize> {
        let mut path = Vec::new();
        while number != 0 {
            let (before, place) = self.ways[number];
            path.push(place as usize);
            number = before as usize;
        }
        path.reverse();
        path
    }
}

/// What is asked of a state: all of these bits, and a formula.
#[derive(Clone, Default)]
pub struct Goal {
    pub yes: Bits,
    pub formula: Condition,
}

impl Goal {
    /// A state with all bits of `yes` and none of `no`.
    pub fn of(yes: &Bits, no: &Bits) -> Goal {
        let mut formula: Condition = no.indexes().flat_map(|bit| [4 * bit as u32, NOT]).collect();
        if no.count() > 1 {
            formula.push(4 * no.count() as u32 + AND);
        }
        Goal { yes: yes.clone(), formula }
    }

    /// True where nothing is asked for but bits.
    pub fn is_plain(&self) -> bool {
        self.formula.is_empty()
    }

    pub fn is_met(&self, state: &[u64], judge: &mut Judge) -> bool {
        self.yes.within_words(state) && (self.is_plain() || judge.holds(&self.formula, state))
    }
}

/// What all goal states have and what some have, and the number of reachable states.
pub type Shared = (Option<(Bits, Bits)>, usize);

/// An initial state and its reachable operators, over the atoms whose truth may change.
#[derive(Default)]
pub struct GroundTask {
    pub atoms: Vec<Lifted>,
    numbers: Atoms,
    bits: BitsOf,
    /// The atoms that are true in every reachable state.
    always: HashSet<Lifted>,
    pub initial: Bits,
    pub operators: Vec<BitOperator>,
    /// What each asks for and does that sets of atoms cannot say; empty where these say all.
    pub further: Vec<Further>,
    pub rules: Rules,
    /// The actions of the operators, by their numbers.
    pub actions: Vec<(usize, Vec<Word>)>,
    /// What it took to find the operators.
    pub work: usize,
    /// What formulas say of numbers; where there is something, only the lists of states know what operators do.
    pub fluents: Option<Rc<RefCell<Numbers>>>,
    /// The atoms that may be true in some state, where that needs no list of states.
    pub possible: Option<HashSet<Lifted>>,
    space: OnceCell<RefCell<StateSpace>>,
    successors: OnceCell<Successors>,
    groups: OnceCell<Answer<MutexGroups>>,
    h2: OnceCell<Answer<Option<H2>>>,
    literals: OnceCell<Rc<Literals>>,
}

impl GroundTask {
    /// True where only the lists of states know what operators do.
    pub fn is_beyond(&self) -> bool {
        self.fluents.is_some()
    }

    /// Looks at formulas in its states.
    pub fn judge(&self, left: usize) -> Judge {
        let mut judge = Judge::new(left);
        judge.numbers = self.fluents.clone();
        judge
    }

    /// A state with all that is derived in it.
    pub fn full(&self, state: &Bits, judge: &mut Judge) -> Bits {
        let mut full = state.clone();
        judge.derive(&self.rules, &mut full);
        full
    }

    /// How many states there are; None for more than that.
    pub fn count_states(&self, most: usize) -> Option<usize> {
        let mut space = self.space().borrow_mut();
        while space.expand(self, most)? {}
        Some(space.states.count)
    }

    /// Why their list is not complete: in tasks in which only it tells, for there are too many, or else for this reason.
    pub fn too_many(&self, other: Left) -> Left {
        let space = self.space().borrow();
        match self.is_beyond() {
            true if space.judge.left == 0 => Left::Budget,
            true if space.states.count > MAX_STATES || space.examined > MAX_EXAMINED => Left::States,
            true => Left::Budget,
            false => other,
        }
    }

    /// The state after an action in a state; None where it cannot be taken.
    pub fn after_action(&self, state: &Bits, action: &(usize, Vec<Word>), judge: &mut Judge) -> Option<Bits> {
        let (mut after, full) = (state.clone(), self.full(state, judge));
        let place = self.actions.iter().position(|own| own == action)?;
        let is_taken = self.operators[place].applicable(&full)
            && self.further[place].apply_to(&self.operators[place], [state, &full], judge, &mut after);
        is_taken.then_some(after)
    }

    /// Does something with each state that is listed, and whether it has the goal, up to where it finds what it looks for;
    /// None also where that takes too long. It is given the atoms and all that the state has.
    pub fn find<T>(&self, goal: &Goal, mut found: impl FnMut(&Bits, &[u64], bool) -> Option<T>) -> Option<Option<T>> {
        let (space, mut judge) = (self.space().borrow(), self.judge(MOST_PARTS_OF_GOAL));
        let mut state = Bits::none(self.atoms.len());
        let width = state.0.len();
        let something = (0..space.states.count).find_map(|number| {
            let all = space.view(number);
            state.0.copy_from_slice(&all[..width]);
            let has_goal = goal.is_met(all, &mut judge);
            found(&state, all, has_goal)
        });
        (judge.left > 0).then_some(something)
    }

    /// What all reachable states with the goal have in common, and what some of them have; None where there are no such
    /// states. With how many states there are at all.
    ///
    /// None where there are more states than that.
    pub fn shared(&self, goal: &Goal, most: usize) -> Option<Shared> {
        let (count, mut shared) = (self.count_states(most)?, None::<(Bits, Bits)>);
        self.find(goal, |state, _, has_goal| {
            if has_goal {
                let (all, some) = shared.get_or_insert_with(|| (state.clone(), state.clone()));
                all.keep(state);
                some.add(state);
            }
            None::<()>
        })?;
        Some((shared, count))
    }

    /// The bit of an atom, or whether it is true in all states or in none.
    pub fn truth(&self, atom: &Lifted) -> Result<usize, bool> {
        self.bit(atom).ok_or_else(|| self.always.contains(atom))
    }

    /// The places of the operators of the alphabetically first of the shortest plans to a state with the goal, or the
    /// number of all states, none of which has it; None where it is not among those enumerated.
    pub fn shortest_plan(&self, goal: &Goal) -> Option<Result<Vec<usize>, usize>> {
        let (mut space, mut judge) = (self.space().borrow_mut(), self.judge(MOST_PARTS_OF_GOAL));
        let mut number = 0;
        loop {
            if space.judge.left == 0 {
                return None;
            }
            let found = (number..space.states.count).find(|number| goal.is_met(space.view(*number), &mut judge));
            if judge.left == 0 {
                return None;
            }
            if let Some(found) = found {
                return Some(Ok(space.path_to(found)));
            }
            number = space.states.count;
            if !space.expand(self, MAX_STATES)? {
                return Some(Err(space.states.count));
            }
        }
    }

    fn space(&self) -> &RefCell<StateSpace> {
        self.space.get_or_init(|| RefCell::new(StateSpace::new(self)))
    }

    pub fn successors(&self) -> &Successors {
        self.successors.get_or_init(|| Successors::new(&self.operators, self.atoms.len()))
    }

    pub fn literals(&self) -> Rc<Literals> {
        self.literals.get_or_init(|| Rc::new(Literals::new(self, &Bits::none(self.atoms.len())))).clone()
    }

    pub fn groups(&self) -> Answer<&MutexGroups> {
        self.groups.get_or_init(|| mutex_groups(self)).as_ref().map_err(|left| *left)
    }

    pub fn h2(&self) -> Answer<Option<&H2>> {
        self.h2.get_or_init(|| h2(self)).as_ref().map(Option::as_ref).map_err(|left| *left)
    }

    /// The state to which operators at these places lead.
    pub fn after(&self, start: &Bits, path: &[usize]) -> Bits {
        path.iter().fold(start.clone(), |state, place| self.operators[*place].apply(&state))
    }

    /// The atoms of a state, including those that are always true; sorted by the numbers of words.
    pub fn state(&self, bits: &Bits) -> Vec<Lifted> {
        let changing = bits.indexes().map(|index| &self.atoms[index]);
        let mut state: Vec<Lifted> = self.always.iter().chain(changing).cloned().collect();
        state.sort_unstable();
        state
    }

    /// The bit of an atom that is true in some reachable state and not in all.
    pub fn bit(&self, atom: &Lifted) -> Option<usize> {
        self.numbers.find(atom).and_then(|number| self.bits.bit(number))
    }

    /// The goal's bits, or the first of its atoms that is false in every reachable state.
    pub fn bits_of_goal<'a>(&self, goal: &'a [Lifted], names: &Interner) -> Result<Bits, &'a Lifted> {
        let mut sorted: Vec<&Lifted> = goal.iter().collect();
        names.sort(&mut sorted);
        let mut bits = Bits::none(self.atoms.len());
        for atom in sorted.into_iter().filter(|atom| !self.always.contains(*atom)) {
            bits.set(self.bit(atom).ok_or(atom)?);
        }
        Ok(bits)
    }
}

pub fn sort_by_action(operators: &mut [Ground], domain: &Domain, names: &Interner) {
    operators.sort_unstable_by(|one, other| {
        let order = names.order(domain.operators[one.operator].name, domain.operators[other.operator].name);
        order.then_with(|| names.order_of(&one.arguments, &other.arguments))
    });
}

/// Ground the domain over the objects, from the initial state.
pub fn ground(objects: &Objects, init: &[Lifted], domain: &Domain, names: &Interner) -> Answer<GroundTask> {
    let own: Vec<&Operator> = domain.operators.iter().collect();
    let mut grounding = reachable_operators(objects, init, &own, domain, names)?;
    let work = grounding.work;
    let numbered: HashSet<u32> = init.iter().filter_map(|atom| grounding.atoms.find(atom)).collect();
    let mut operators = std::mem::take(&mut grounding.operators);
    sort_by_action(&mut operators, domain, names);
    let numbers = grounding.atoms;
    let gone = |each: &Ground| each.parts[3].iter().filter(|atom| !each.parts[2].contains(atom)).copied().collect();
    let deletable: HashSet<u32> = operators.iter().flat_map(|each| -> Vec<u32> { gone(each) }).collect();
    let added = operators.iter().flat_map(|each| each.parts[2].iter()).copied();
    let mut changing: HashSet<u32> = added.collect();
    changing.extend(numbered.intersection(&deletable));
    let is_always = |number: &u32| numbered.contains(number) && !deletable.contains(number);
    let mut sorted: Vec<u32> = changing.into_iter().filter(|number| !is_always(number)).collect();
    names.sort_numbers(&mut sorted, &numbers.atoms);
    if sorted.len() > MAX_ATOMS {
        return Err(Left::Budget);
    }
    let bits = BitsOf::new(&sorted, numbers.atoms.len());
    let mut kept: Vec<BitOperator> = Vec::new();
    let mut known: HashSet<Vec<u64>> = HashSet::default();
    let mut actions = Vec::with_capacity(operators.len());
    for (number, operator) in operators.into_iter().enumerate() {
        if !operator.parts[1].iter().any(is_always) {
            let mut own = bit_operator(number, &operator, &bits);
            own.deleted.remove(&own.added);
            own.deleted.remove(&own.avoided);
            own.added.remove(&own.needed);
            let changes = !own.added.is_empty() || !own.deleted.is_empty();
            let key = [&own.needed.0[..], &own.avoided.0, &own.added.0, &own.deleted.0].concat();
            if changes && !own.needed.meets(&own.avoided) && known.insert(key) {
                kept.push(own);
            }
        }
        actions.push((operator.operator, operator.arguments));
    }
    let atoms = sorted.iter().map(|number| numbers.atoms[*number as usize].clone()).collect();
    let initial = Bits::of(sorted.len(), numbered.iter().filter_map(|number| bits.bit(*number)));
    let is_fixed = |atom: &&Lifted| numbers.find(atom).map_or(true, |number| is_always(&number));
    let always = init.iter().filter(is_fixed).cloned().collect();
    Ok(GroundTask { atoms, bits, always, initial, operators: kept, actions, numbers, work, ..GroundTask::default() })
}

/// Ground a domain with conditions and effects that sets of atoms cannot say; `is_fluent` are the predicates that these and
/// all others change. If `is_outside`, these are more than costs.
pub fn ground_beyond(
    objects: &Objects,
    (init, values): (&[Lifted], &[(Lifted, Fraction)]),
    is_outside: bool,
    domain: &Domain,
    names: &Interner,
    is_fluent: &dyn Fn(Word) -> bool,
) -> Answer<GroundTask> {
    let mut added_by_forms = Vec::new();
    let forms = domain.operators.iter().flat_map(|each| &each.beyond).filter(|each| each.is_effect);
    forms.for_each(|each| each.form.changed(&mut added_by_forms));
    added_by_forms.extend(domain.rules.iter().map(|rule| rule.name));
    let numbers = Numbers::new(domain, values, names);
    if !is_outside {
        added_by_forms.extend(numbers.words());
    }
    if init.iter().any(|atom| domain.rules.iter().any(|rule| rule.name == atom[0])) {
        return Err(Left::Derived);
    }
    let without = |operator: &Operator| {
        let mut relaxed = operator.clone();
        relaxed.parts[0].retain(|atom| !added_by_forms.contains(&atom[0]));
        relaxed
    };
    let relaxed: Vec<Operator> = domain.operators.iter().map(without).collect();
    let mut grounding = reachable_operators(objects, init, &relaxed.iter().collect::<Vec<_>>(), domain, names)?;
    let work = grounding.work;
    let mut found = std::mem::take(&mut grounding.operators);
    sort_by_action(&mut found, domain, names);
    let possible = (!is_outside).then(|| {
        let added = found.iter().flat_map(|each| &each.parts[2]);
        let added = added.map(|atom| &grounding.atoms.atoms[*atom as usize]);
        init.iter().chain(added).cloned().collect()
    });
    let mut conditions = Conditions::new(objects, init, domain, names, is_fluent);
    conditions.numbers = Some(numbers);
    let (mut parts, mut made, mut actions) = (Vec::new(), Vec::new(), Vec::new());
    for Ground { operator, arguments, .. } in found {
        if let Some((sets, condition, effects)) = conditions.operator(&domain.operators[operator], &arguments)? {
            parts.push(Ground { operator, arguments: Vec::new(), parts: sets });
            made.push((condition, effects));
            actions.push((operator, arguments));
        }
    }
    let mut strata: Vec<Vec<(u32, Condition)>> = Vec::new();
    for rule in &domain.rules {
        strata.resize_with(rule.stratum + 1, Vec::new);
        strata[rule.stratum].extend(conditions.instances(rule)?);
    }
    let Conditions { atoms: mut numbers, numbers: own, .. } = conditions;
    let mut own = own.unwrap_or_default();
    let (start, always): (Vec<&Lifted>, Vec<&Lifted>) = init.iter().partition(|atom| is_fluent(atom[0]));
    let start: Vec<u32> = start.into_iter().map(|atom| numbers.number(atom.clone())).collect();
    let by_effects = made.iter().flat_map(|(_, effects)| effects).flat_map(|(_, [added, ..])| added);
    let by_sets = parts.iter().flat_map(|each| &each.parts[2]);
    let by_rules = strata.iter().flatten().map(|(head, _)| head);
    let changing: HashSet<u32> = by_effects.chain(by_sets).chain(by_rules).chain(&start).copied().collect();
    let mut sorted: Vec<u32> = changing.into_iter().collect();
    names.sort_numbers(&mut sorted, &numbers.atoms);
    if sorted.len() > MAX_ATOMS || 4 * parts.len() * sorted.len() / 64 > MOST_WORDS {
        return Err(Left::Budget);
    }
    let bits = BitsOf::new(&sorted, numbers.atoms.len());
    let some = |atoms: &[u32]| -> Vec<usize> { atoms.iter().filter_map(|atom| bits.bit(*atom)).collect() };
    let bit_of = |number: u32| match numbers.atoms[number as usize][..] {
        [COMPARED, comparison] => Some(sorted.len() + comparison as usize),
        _ => bits.bit(number),
    };
    let with_bits = |(condition, [added, deleted, updates]): &ConditionalEffect| {
        let updates = updates.iter().map(|update| *update as usize).collect();
        Effect { condition: over_bits(condition, bit_of), added: some(added), deleted: some(deleted), updates }
    };
    let mut further = Vec::with_capacity(made.len());
    for ((condition, effects), ground) in made.iter().zip(&parts) {
        let is_possible = ground.parts[0].iter().all(|atom| bits.bit(*atom).is_some());
        let condition = if is_possible { over_bits(condition, bit_of) } else { vec![OR] };
        further.push(Further { condition, effects: effects.iter().map(with_bits).collect() });
    }
    let instance = |(head, body): &(u32, Condition)| {
        Some((bits.bit(*head)?, over_bits(body, bit_of))) // all heads have bits
    };
    let rules = strata.iter().map(|stratum| stratum.iter().filter_map(instance).collect()).collect();
    let operators = parts.iter().zip(0..).map(|(ground, number)| bit_operator(number, ground, &bits)).collect();
    let atoms = sorted.iter().map(|number| numbers.atoms[*number as usize].clone()).collect();
    let mut initial = Bits::of(sorted.len(), start.iter().filter_map(|number| bits.bit(*number)));
    initial.0.extend(own.start(sorted.len(), values)?);
    let always = always.into_iter().cloned().collect();
    Ok(GroundTask {
        fluents: Some(Rc::new(RefCell::new(own))),
        possible,
        atoms,
        bits,
        always,
        initial,
        operators,
        further,
        rules,
        actions,
        numbers,
        work,
        ..GroundTask::default()
    })
}

/// A relation and the number of words in its atoms, by number.
pub fn relations(atoms: &[Lifted]) -> (Vec<(Word, usize)>, Vec<usize>) {
    let mut known: HashMap<(Word, usize), usize> = HashMap::default();
    let mut found = Vec::new();
    let mut own = Vec::with_capacity(atoms.len());
    for atom in atoms {
        let relation = (atom[0], atom.len());
        own.push(*known.entry(relation).or_insert_with(|| {
            found.push(relation);
            found.len() - 1
        }));
    }
    (found, own)
}
