//! Objects that can change places: what the goal costs is the same in a state and in its image (Pochter, Zohar and
//! Rosenschein, "Exploiting problem symmetries in state-based planners", 2011; Domshlak, Katz and Shleyfman 2012).
//!
//! Two objects can change places when that maps the operators onto the operators and the goal onto the goal; so can any
//! two of several that can change places with one of them. Each state stands for those that come from it by exchanges.

use crate::hashing::{HashMap, HashSet};
use crate::model::{Lifted, Word};
use crate::planning::task::{BitOperator, Bits, GroundTask};

/// Words of bits in the sets of all operators, above which nobody looks for exchanges.
const MOST_WORDS: usize = 2_000_000;

/// Words of bits that are compared, some 20 milliseconds.
const MOST_COMPARED: usize = 20_000_000;

/// For each of the objects that can change places the bits of its atoms, in the order of those of the others.
type Class = Vec<Vec<usize>>;

/// Predicates, each with a place in its atoms.
type Places = Vec<(Word, usize)>;

/// The objects that can change places, of those of which no atom names two.
pub struct Symmetries(Vec<Class>);

impl Symmetries {
    pub fn new(task: &GroundTask, goal: &Bits) -> Symmetries {
        let mut naming: HashMap<Word, Vec<usize>> = HashMap::default();
        for (bit, atom) in task.atoms.iter().enumerate() {
            atom[1..].iter().for_each(|name| naming.entry(*name).or_default().push(bit));
        }
        let mut objects: Vec<Word> = naming.keys().copied().collect();
        objects.sort_unstable();
        let words = 4 * goal.0.len() * task.operators.len();
        let mut found: Vec<(Places, Vec<Word>)> = Vec::new();
        if words > MOST_WORDS {
            return Symmetries(Vec::new());
        }
        let operators: HashSet<Vec<u64>> = task.operators.iter().map(|each| key(each, |bits| bits.clone())).collect();
        let mut compared = 0;
        for object in objects {
            let own = places(object, &naming[&object], &task.atoms);
            let class = found.iter_mut().find(|(places, class)| {
                let alike = *places == own && compared < MOST_COMPARED;
                compared += usize::from(alike) * words;
                alike && {
                    let exchange = Exchange::new(task, &naming, class[0], object);
                    exchange.is_some_and(|exchange| exchange.keeps(task, goal, &operators))
                }
            });
            match class {
                Some((_, class)) => class.push(object),
                None => found.push((own, vec![object])),
            }
        }
        Symmetries(found.into_iter().filter_map(|(_, class)| bits_of(&class, &naming, task)).collect())
    }

    /// Bits that are looked at for the representative of a state.
    pub fn size(&self) -> usize {
        self.0.iter().map(|class| class.len() * class[0].len()).sum()
    }

    /// The state that stands for this one.
    pub fn representative(&self, state: &Bits) -> Bits {
        let mut found = state.clone();
        for class in &self.0 {
            let mut rows: Vec<Vec<bool>> =
                class.iter().map(|bits| bits.iter().map(|bit| found.has(*bit)).collect()).collect();
            rows.sort_unstable();
            for (bits, row) in class.iter().zip(&rows) {
                for (bit, holds) in bits.iter().zip(row) {
                    found.0[bit / 64] = found.0[bit / 64] & !(1 << (bit % 64)) | u64::from(*holds) << (bit % 64);
                }
            }
        }
        found
    }
}

/// Where the atoms of a predicate name the object.
fn places(object: Word, naming: &[usize], atoms: &[Lifted]) -> Places {
    let place = |bit: &usize| (1..).zip(&atoms[*bit][1..]).find(|(_, name)| **name == object).map_or(0, |(at, _)| at);
    let mut found: Places = naming.iter().map(|bit| (atoms[*bit][0], place(bit))).collect();
    found.sort_unstable();
    found
}

/// The bits of the objects of a class; None where it has one object, or an atom names two of them.
fn bits_of(class: &[Word], naming: &HashMap<Word, Vec<usize>>, task: &GroundTask) -> Option<Class> {
    let first = class[0];
    let is_alone = |bit: &usize| task.atoms[*bit][1..].iter().filter(|name| class.contains(name)).count() == 1;
    if class.len() == 1 || !naming[&first].iter().all(is_alone) {
        return None;
    }
    let bit = |bit: &usize, object| task.bit(&exchanged(&task.atoms[*bit], first, object));
    class.iter().map(|object| naming[&first].iter().map(|each| bit(each, *object)).collect()).collect()
}

fn exchanged(atom: &Lifted, one: Word, other: Word) -> Lifted {
    let exchanged = |name: &Word| match *name {
        name if name == one => other,
        name if name == other => one,
        name => name,
    };
    // The word of an object may be that of a predicate, too.
    atom[..1].iter().copied().chain(atom[1..].iter().map(exchanged)).collect()
}

fn key(operator: &BitOperator, image: impl Fn(&Bits) -> Bits) -> Vec<u64> {
    let parts = [&operator.needed, &operator.avoided, &operator.added, &operator.deleted];
    parts.into_iter().flat_map(|part| image(part).0).collect()
}

/// Two objects change places: the bits that move, each with the one in whose place it comes.
struct Exchange {
    moved: Bits,
    to: Vec<(usize, usize)>,
}

impl Exchange {
    /// None where an atom becomes one that is never true or always.
    fn new(task: &GroundTask, naming: &HashMap<Word, Vec<usize>>, one: Word, other: Word) -> Option<Exchange> {
        let mut own = [&naming[&one][..], &naming[&other]].concat();
        own.sort_unstable();
        own.dedup();
        let to = |bit: &usize| Some((*bit, task.bit(&exchanged(&task.atoms[*bit], one, other))?));
        let to = own.iter().map(to).collect::<Option<_>>()?;
        Some(Exchange { moved: Bits::of(task.atoms.len(), own), to })
    }

    fn image(&self, bits: &Bits) -> Bits {
        let mut image = bits.clone().but(&self.moved);
        self.to.iter().filter(|(from, _)| bits.has(*from)).for_each(|(_, to)| image.set(*to));
        image
    }

    /// True where operators become operators, and the goal itself.
    fn keeps(&self, task: &GroundTask, goal: &Bits, operators: &HashSet<Vec<u64>>) -> bool {
        let stays = |operator: &BitOperator| {
            let parts = [&operator.needed, &operator.avoided, &operator.added, &operator.deleted];
            parts.into_iter().all(|part| !part.meets(&self.moved))
        };
        self.image(goal) == *goal
            && task.operators.iter().all(|each| stays(each) || operators.contains(&key(each, |bits| self.image(bits))))
    }
}
