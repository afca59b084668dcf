//! The ground task: one bit for each atom that may change, and the operators that can apply (definition/planning/task.py).

use crate::grounding::{reachable_operators, Atoms, Ground, Objects, MAX_ATOMS};
use crate::left::{Answer, Left};
use crate::model::{Domain, Lifted, Operator, Word};
use crate::pddl::problems::Interner;
use crate::planning::mutex_groups::{mutex_groups, MutexGroups};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

const MAX_PASSES: usize = 100;

/// Reachable states up to which enumeration comes first.
const FEW_STATES: usize = 5_000;

/// Operators that are examined to enumerate states; the definition takes four times as many.
const MAX_EXAMINED: usize = 1_000_000;

/// A set of bits.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
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
        self.0.iter().zip(&other.0).all(|(own, other)| own & !other == 0)
    }

    pub fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(own, other)| own & other != 0)
    }

    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The positions of the set bits, lowest first.
    pub fn indexes(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(place, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let lowest = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(64 * place + lowest)
            })
        })
    }
}

/// The bit of each atom that has one.
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
}

pub fn bit_operator(number: usize, ground: &Ground, bits: &BitsOf) -> BitOperator {
    let [needed, avoided, added, deleted] = ground.parts.each_ref().map(|part| bits.of(part));
    BitOperator { number, needed, avoided, added, deleted }
}

/// Lists, for a state, the places of the applicable operators, and how many were examined.
///
/// Each operator is filed under one of its preconditions, the one that the fewest operators have.
pub struct Successors<'a> {
    operators: &'a [BitOperator],
    without: Vec<usize>,
    drawers: Vec<Vec<usize>>,
    keys: Bits,
}

impl<'a> Successors<'a> {
    pub fn new(operators: &'a [BitOperator], atoms: usize) -> Successors<'a> {
        let mut frequency = vec![0usize; atoms];
        operators.iter().flat_map(|operator| operator.needed.indexes()).for_each(|index| frequency[index] += 1);
        let mut found =
            Successors { operators, without: Vec::new(), drawers: vec![Vec::new(); atoms], keys: Bits::none(atoms) };
        for (place, operator) in operators.iter().enumerate() {
            match operator.needed.indexes().min_by_key(|index| (frequency[*index], *index)) {
                None => found.without.push(place),
                Some(rarest) => {
                    found.drawers[rarest].push(place);
                    found.keys.set(rarest);
                }
            }
        }
        found
    }

    pub fn of(&self, state: &Bits) -> (Vec<usize>, usize) {
        let mut found = Vec::new();
        let mut examined = 0;
        let mut open = |drawer: &[usize]| {
            examined += 1 + drawer.len();
            found.extend(drawer.iter().filter(|place| self.operators[**place].applicable(state)));
        };
        open(&self.without);
        for (place, (word, keys)) in state.0.iter().zip(&self.keys.0).enumerate() {
            let mut left = word & keys;
            while left != 0 {
                open(&self.drawers[64 * place + left.trailing_zeros() as usize]);
                left &= left - 1;
            }
        }
        (found, examined - 1)
    }
}

/// An initial state and its reachable operators, over the atoms whose truth may change.
pub struct GroundTask {
    pub atoms: Vec<Lifted>,
    numbers: Atoms,
    bits: BitsOf,
    /// The atoms that are true in every reachable state.
    always: HashSet<Lifted>,
    pub initial: Bits,
    pub operators: Vec<BitOperator>,
    /// The actions of the operators, by their numbers.
    pub actions: Vec<(usize, Vec<Word>)>,
    /// What it took to find the operators.
    pub work: usize,
    space: OnceCell<Answer<Option<Vec<Bits>>>>,
    groups: OnceCell<MutexGroups>,
}

impl GroundTask {
    /// All reachable states; None where there are more than a few.
    pub fn space(&self) -> Answer<Option<&Vec<Bits>>> {
        self.space.get_or_init(|| self.states()).as_ref().map(Option::as_ref).map_err(|left| *left)
    }

    fn states(&self) -> Answer<Option<Vec<Bits>>> {
        let successors = Successors::new(&self.operators, self.atoms.len());
        let mut seen = HashSet::from([self.initial.clone()]);
        let mut queue = vec![self.initial.clone()];
        let (mut expanded, mut examined) = (0, 0);
        while expanded < queue.len() {
            if queue.len() > FEW_STATES {
                return Ok(None);
            }
            if examined > MAX_EXAMINED {
                return Err(Left::Budget);
            }
            let (following, looked_at) = successors.of(&queue[expanded]);
            examined += looked_at;
            for place in following {
                let after = self.operators[place].apply(&queue[expanded]);
                if !seen.contains(&after) {
                    seen.insert(after.clone());
                    queue.push(after);
                }
            }
            expanded += 1;
        }
        Ok((queue.len() <= FEW_STATES).then_some(queue))
    }

    pub fn groups(&self) -> &MutexGroups {
        self.groups.get_or_init(|| mutex_groups(self))
    }

    /// The atoms of a state, including those that are always true; sorted by the numbers of words.
    pub fn state(&self, bits: &Bits) -> Vec<Lifted> {
        let changing = bits.indexes().map(|index| &self.atoms[index]);
        let mut state: Vec<Lifted> = self.always.iter().chain(changing).cloned().collect();
        state.sort_unstable();
        state
    }

    /// The goal's bits, or the first of its atoms that is false in every reachable state.
    pub fn bits_of_goal<'a>(&self, goal: &'a [Lifted], names: &Interner) -> Result<Bits, &'a Lifted> {
        let mut sorted: Vec<&Lifted> = goal.iter().collect();
        sorted.sort_unstable_by(|one, other| names.order_of(one, other));
        let mut bits = Bits::none(self.atoms.len());
        for atom in sorted.into_iter().filter(|atom| !self.always.contains(*atom)) {
            bits.set(self.numbers.find(atom).and_then(|number| self.bits.bit(number)).ok_or(atom)?);
        }
        Ok(bits)
    }
}

/// Ground the domain over the objects, from the initial state.
pub fn ground(objects: &Objects, init: &[Lifted], domain: &Domain, names: &Interner) -> Answer<GroundTask> {
    let own: Vec<&Operator> = domain.operators.iter().collect();
    let mut grounding = reachable_operators(objects, init, &own, domain, names)?;
    let work = grounding.work;
    let numbered: HashSet<u32> = init.iter().filter_map(|atom| grounding.atoms.find(atom)).collect();
    let operators = without_impossible(std::mem::take(&mut grounding.operators), &numbered);
    let numbers = grounding.atoms;
    let gone = |each: &Ground| each.parts[3].iter().filter(|atom| !each.parts[2].contains(atom)).copied().collect();
    let deletable: HashSet<u32> = operators.iter().flat_map(|each| -> Vec<u32> { gone(each) }).collect();
    let added = operators.iter().flat_map(|each| each.parts[2].iter()).copied();
    let mut changing: HashSet<u32> = added.collect();
    changing.extend(numbered.intersection(&deletable));
    let is_always = |number: &u32| numbered.contains(number) && !deletable.contains(number);
    let mut sorted: Vec<u32> = changing.into_iter().filter(|number| !is_always(number)).collect();
    let atom = |number: u32| &numbers.atoms[number as usize];
    sorted.sort_unstable_by(|a, b| names.order_of(atom(*a), atom(*b)));
    if sorted.len() > MAX_ATOMS {
        return Err(Left::Budget);
    }
    let bits = BitsOf::new(&sorted, numbers.atoms.len());
    let mut kept: Vec<BitOperator> = Vec::new();
    let mut known: HashSet<[Bits; 4]> = HashSet::new();
    let mut actions = Vec::with_capacity(operators.len());
    for (number, operator) in operators.into_iter().enumerate() {
        if !operator.parts[1].iter().any(is_always) {
            let mut own = bit_operator(number, &operator, &bits);
            own.deleted.remove(&own.added);
            own.deleted.remove(&own.avoided);
            own.added.remove(&own.needed);
            let changes = !own.added.is_empty() || !own.deleted.is_empty();
            let key = [own.needed.clone(), own.avoided.clone(), own.added.clone(), own.deleted.clone()];
            if changes && !own.needed.meets(&own.avoided) && known.insert(key) {
                kept.push(own);
            }
        }
        actions.push((operator.operator, operator.arguments));
    }
    let atoms = sorted.iter().map(|number| atom(*number).clone()).collect();
    let initial = Bits::of(sorted.len(), numbered.iter().filter_map(|number| bits.bit(*number)));
    let is_fixed = |atom: &&Lifted| numbers.find(atom).map_or(true, |number| is_always(&number));
    let always = init.iter().filter(is_fixed).cloned().collect();
    let (space, groups) = (OnceCell::new(), OnceCell::new());
    Ok(GroundTask { atoms, bits, always, initial, operators: kept, actions, numbers, work, space, groups })
}

/// Leave out what needs a false atom that stays true, or a true one that is added only by what is left out.
fn without_impossible(operators: Vec<Ground>, init: &HashSet<u32>) -> Vec<Ground> {
    if !operators.iter().any(|each| each.parts[1].iter().any(|atom| init.contains(atom))) {
        return operators;
    }
    let mut once_true = init.clone();
    let mut once_false: HashSet<u32> = HashSet::new();
    let is_possible = |each: &Ground, once_true: &HashSet<u32>, once_false: &HashSet<u32>| {
        each.parts[0].iter().all(|atom| once_true.contains(atom))
            && each.parts[1].iter().all(|atom| !init.contains(atom) || once_false.contains(atom))
    };
    for _ in 0..MAX_PASSES {
        let size = once_true.len() + once_false.len();
        for each in &operators {
            if is_possible(each, &once_true, &once_false) {
                once_true.extend(&each.parts[2]);
                once_false.extend(each.parts[3].iter().filter(|atom| !each.parts[2].contains(atom)));
            }
        }
        if size == once_true.len() + once_false.len() {
            return operators.into_iter().filter(|each| is_possible(each, &once_true, &once_false)).collect();
        }
    }
    operators
}

/// A relation and the number of words in its atoms, by number.
pub fn relations(atoms: &[Lifted]) -> (Vec<(Word, usize)>, Vec<usize>) {
    let mut known: HashMap<(Word, usize), usize> = HashMap::new();
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
