//! States that random walks visit, and in which of them which actions apply (definition/states.py).

use crate::grounding::{objects_that_fit, reachable_operators, Objects};
use crate::hashing::{HashMap, HashSet};
use crate::left::{Answer, Left};
use crate::model::{Domain, Lifted, Operator, Word};
use crate::pddl::problems::Interner;
use crate::planning::task::{bit_operator, sort_by_action, BitOperator, Bits, BitsOf, Successors};

const WALKS: usize = 20;
const STEPS: usize = 25;
const SEED: u32 = 0;

/// A set of visited states: the initial one and one for each step at most.
pub type States = [u64; 8];

pub fn count(states: &States) -> usize {
    states.iter().map(|word| word.count_ones() as usize).sum()
}

pub fn both(one: &States, other: &States) -> States {
    std::array::from_fn(|place| one[place] & other[place])
}

pub fn but(one: &States, other: &States) -> States {
    std::array::from_fn(|place| one[place] & !other[place])
}

/// Which atoms hold in which states, and where each instance of an operator applies: its operator's number, its
/// arguments, and the states.
pub struct VisitedStates {
    pub all: States,
    pub holds: HashMap<Lifted, States>,
    pub applicable: Vec<(usize, Vec<Word>, States)>,
}

impl VisitedStates {
    /// The states in which a ground operator with these preconditions applies.
    pub fn conditions(&self, needed: &[Lifted], avoided: &[Lifted]) -> States {
        let holds = |atom: &Lifted| self.holds.get(atom).copied().unwrap_or_default();
        let states = needed.iter().fold(self.all, |states, atom| both(&states, &holds(atom)));
        avoided.iter().fold(states, |states, atom| but(&states, &holds(atom)))
    }
}

/// The states on random walks from the initial state.
pub fn visited_states(objects: &Objects, init: &[Lifted], domain: &Domain, names: &Interner) -> Answer<VisitedStates> {
    let own: Vec<&Operator> = domain.operators.iter().collect();
    let mut grounding = reachable_operators(objects, init, &own, domain, names)?;
    sort_by_action(&mut grounding.operators, domain, names);
    let atoms = &grounding.atoms.atoms;
    let changing: HashSet<u32> =
        grounding.operators.iter().flat_map(|each| each.parts[2].iter().chain(&each.parts[3])).copied().collect();
    let mut sorted: Vec<u32> = changing.into_iter().collect();
    names.sort_numbers(&mut sorted, atoms);
    let bits = BitsOf::new(&sorted, atoms.len());
    let is_always = |atom: &Lifted| grounding.atoms.find(atom).map_or(true, |number| bits.bit(number).is_none());
    let always: HashSet<&Lifted> = init.iter().filter(|atom| is_always(atom)).collect();
    let possible = grounding
        .operators
        .iter()
        .enumerate()
        .filter(|(_, each)| !each.parts[1].iter().any(|atom| always.contains(&atoms[*atom as usize])));
    let possible: Vec<BitOperator> = possible.map(|(number, each)| bit_operator(number, each, &bits)).collect();
    let initial = init.iter().filter_map(|atom| bits.bit(grounding.atoms.find(atom)?));
    let initial = Bits::of(sorted.len(), initial);
    let group = |number: usize| grounding.operators[number].operator;
    let states = random_walks(&possible, initial, sorted.len(), group)?;
    let mut all = States::default();
    (0..states.len()).for_each(|number| all[number / 64] |= 1 << (number % 64));
    let mut holds: HashMap<Lifted, States> = always.into_iter().map(|atom| (atom.clone(), all)).collect();
    let mut table = vec![States::default(); sorted.len()];
    for (number, state) in states.iter().enumerate() {
        state.indexes().for_each(|bit| table[bit][number / 64] |= 1 << (number % 64));
    }
    holds.extend(sorted.iter().zip(table).map(|(atom, states)| (atoms[*atom as usize].clone(), states)));
    let mut visited = VisitedStates { all, holds, applicable: Vec::new() };
    for each in &grounding.operators {
        let [needed, avoided] = [0, 1]
            .map(|part| each.parts[part].iter().map(|atom| atoms[*atom as usize].clone()).collect::<Vec<Lifted>>());
        let states = visited.conditions(&needed, &avoided);
        if states != States::default() {
            visited.applicable.push((each.operator, each.arguments.clone(), states));
        }
    }
    Ok(visited)
}

/// The states that the walks visit, each once.
fn random_walks(
    operators: &[BitOperator],
    initial: Bits,
    atoms: usize,
    group: impl Fn(usize) -> usize,
) -> Answer<Vec<Bits>> {
    let successors = Successors::new(operators, atoms);
    let mut chance = FROM_SEED.clone();
    let mut states = vec![initial.clone()];
    let mut number: HashMap<Bits, usize> = HashMap::from_iter([(initial, 0)]);
    // Of each state its successors, operator by operator, and where those of each operator end.
    let mut known: Vec<Option<(Vec<usize>, Vec<usize>)>> = vec![None];
    for _ in 0..WALKS {
        let mut state = 0;
        for _ in 0..STEPS {
            if known[state].is_none() {
                let mut found = Vec::new();
                successors.of(operators, &states[state], &mut found);
                found.sort_unstable();
                let own = |place: &usize| group(operators[*place].number);
                let ends = found.chunk_by(|a, b| own(a) == own(b)).scan(0, |end, each| {
                    *end += each.len();
                    Some(*end)
                });
                let ends = ends.collect();
                known[state] = Some((found, ends));
            }
            let Some((choices, ends)) = known[state].as_ref().filter(|(choices, _)| !choices.is_empty()) else { break };
            let chosen = chance.below(ends.len());
            let start = if chosen == 0 { 0 } else { ends[chosen - 1] };
            let place = choices[start + chance.below(ends[chosen] - start)];
            let after = operators[place].apply(&states[state]);
            state = *number.entry(after).or_insert_with_key(|after| {
                states.push(after.clone());
                known.push(None);
                states.len() - 1
            });
        }
    }
    if states.len() > 512 {
        return Err(Left::Budget);
    }
    Ok(states)
}

/// Chance as each table of walks meets it first.
static FROM_SEED: Chance = Chance::new(SEED);

/// Python's `random.Random(seed).random`: the Mersenne Twister of Matsumoto and Nishimura, 1998.
#[derive(Clone)]
pub struct Chance {
    state: [u32; 624],
    next: usize,
}

impl Chance {
    pub const fn new(seed: u32) -> Chance {
        let mut state = [0u32; 624];
        state[0] = 19_650_218;
        let mut i = 1;
        while i < 624 {
            let before = state[i - 1] ^ (state[i - 1] >> 30);
            state[i] = before.wrapping_mul(1_812_433_253).wrapping_add(i as u32);
            i += 1;
        }
        i = 1;
        let mut round = 0;
        while round < 624 + 623 {
            let before = state[i - 1] ^ (state[i - 1] >> 30);
            state[i] = if round < 624 {
                (state[i] ^ before.wrapping_mul(1_664_525)).wrapping_add(seed) // the key has one number
            } else {
                (state[i] ^ before.wrapping_mul(1_566_083_941)).wrapping_sub(i as u32)
            };
            i += 1;
            if i == 624 {
                state[0] = state[623];
                i = 1;
            }
            round += 1;
        }
        state[0] = 0x8000_0000;
        Chance { state, next: 624 }
    }

    fn word(&mut self) -> u32 {
        if self.next == 624 {
            for i in 0..624 {
                let mixed = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % 624] & 0x7FFF_FFFF);
                let odd = if mixed & 1 == 1 { 0x9908_B0DF } else { 0 };
                self.state[i] = self.state[(i + 397) % 624] ^ (mixed >> 1) ^ odd;
            }
            self.next = 0;
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= word << 7 & 0x9D2C_5680;
        word ^= word << 15 & 0xEFC6_0000;
        word ^ word >> 18
    }

    /// `int(count * random())`.
    pub fn below(&mut self, count: usize) -> usize {
        let (high, low) = (self.word() >> 5, self.word() >> 6);
        let chance = (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0;
        (count as f64 * chance) as usize
    }
}

/// For each operator, the number of pairs of a visited state and an instance that applies in it.
pub fn count_applicable(
    operators: &[&Operator],
    objects: &Objects,
    visited: &VisitedStates,
    domain: &Domain,
    names: &Interner,
) -> Answer<Vec<usize>> {
    let mut conditions: Vec<Operator> = Vec::new();
    let mut places = Vec::new();
    let mut factors = vec![0usize; operators.len()];
    for (place, operator) in operators.iter().enumerate() {
        let asked: HashSet<Word> = operator.parts[..2].iter().flatten().flat_map(|atom| &atom[1..]).copied().collect();
        let (parameters, free): (Vec<_>, Vec<_>) =
            operator.parameters.iter().copied().partition(|(name, _)| asked.contains(name));
        let mut fitting = free.iter().map(|(_, type_)| objects_that_fit(objects, *type_, domain, names).names.len());
        factors[place] = fitting.try_fold(1usize, |product, count| product.checked_mul(count)).ok_or(Left::Budget)?;
        if factors[place] > 0 {
            let parts = [operator.parts[0].clone(), operator.parts[1].clone(), Vec::new(), Vec::new()];
            conditions.push(Operator::new(operator.name, operator.key, parameters, parts, names));
            places.push(place);
        }
    }
    let once_true: Vec<Lifted> = visited.holds.keys().cloned().collect();
    let borrowed: Vec<&Operator> = conditions.iter().collect();
    let grounding = reachable_operators(objects, &once_true, &borrowed, domain, names)?;
    let mut found = vec![0usize; operators.len()];
    for each in &grounding.operators {
        let [needed, avoided] = [0, 1].map(|part| {
            each.parts[part].iter().map(|atom| grounding.atoms.atoms[*atom as usize].clone()).collect::<Vec<Lifted>>()
        });
        let place = places[each.operator];
        let more = count(&visited.conditions(&needed, &avoided));
        found[place] =
            more.checked_mul(factors[place]).and_then(|more| found[place].checked_add(more)).ok_or(Left::Budget)?;
    }
    Ok(found)
}
