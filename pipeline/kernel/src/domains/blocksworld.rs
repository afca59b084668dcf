//! Blocks World: closures and plans (definition/domains/blocksworld.py, which has the argument).

use crate::domains::{exclude_each_other, never_true, BrokenAssumption, Unsolvable};
use crate::model::{has, Atom, Known, Word, Words};
use crate::validation::{Action, Operator};

pub const PDDL: &str = include_str!(concat!(env!("OUT_DIR"), "/blocksworld.pddl"));

/// Places beside the blocks: a block is on the table, in the arm or on a block; `clear` says that nothing is there.
#[derive(Clone, Copy)]
struct Places {
    /// The number after those of all blocks.
    table: Word,
    arm: Word,
    nothing: Word,
    count: usize,
}

impl Places {
    fn new(words: &Words) -> Places {
        let blocks = words.count() as Word;
        Places { table: blocks + 1, arm: blocks + 2, nothing: blocks + 3, count: blocks as usize + 4 }
    }

    /// An atom as what is where; None for an atom that no operator knows.
    fn place(self, words: &Words, atom: Atom) -> Option<(Word, Word)> {
        match words.read(atom) {
            (Known::On, block, base) if base != 0 => Some((block, base)),
            (Known::Clear, base, 0) if base != 0 => Some((self.nothing, base)),
            (Known::OnTable, block, 0) if block != 0 => Some((block, self.table)),
            (Known::Holding, block, 0) if block != 0 => Some((block, self.arm)),
            (Known::ArmEmpty, 0, 0) => Some((self.nothing, self.arm)),
            _ => None,
        }
    }

    /// The atom that says what is where; the way back from `place`.
    fn atom(self, words: &Words, upper: Word, base: Word) -> Atom {
        match (upper, base) {
            _ if upper == self.nothing && base == self.arm => words.atom(Known::ArmEmpty, 0, 0),
            _ if upper == self.nothing => words.atom(Known::Clear, base, 0),
            _ if base == self.table => words.atom(Known::OnTable, upper, 0),
            _ if base == self.arm => words.atom(Known::Holding, upper, 0),
            _ => words.atom(Known::On, upper, base),
        }
    }
}

/// What each block is on, and what is on each base; 0 where nothing is said.
struct Arrangement {
    below: Vec<Word>,
    above: Vec<Word>,
}

/// The arrangement that the atoms describe, else two atoms that exclude each other.
fn arrange(words: &Words, atoms: impl Iterator<Item = Atom>) -> Result<Arrangement, Vec<Atom>> {
    let places = Places::new(words);
    let mut below = vec![0; places.count];
    let mut above = vec![0; places.count];
    for atom in atoms {
        let Some((block, base)) = places.place(words, atom) else {
            continue;
        };
        if block != places.nothing {
            let own = &mut below[block as usize];
            *own = if *own == 0 { base } else { *own };
            if *own != base {
                return Err(vec![places.atom(words, block, *own), atom]);
            }
        }
        if base != places.table {
            let own = &mut above[base as usize];
            *own = if *own == 0 { block } else { *own };
            if *own != block {
                return Err(vec![places.atom(words, *own, base), atom]);
            }
        }
    }
    let held = above[places.arm as usize];
    if held != 0 && held != places.nothing && above[held as usize] != 0 {
        return Err(vec![places.atom(words, held, places.arm), places.atom(words, above[held as usize], held)]);
    }
    Ok(Arrangement { below, above })
}

/// Some stacks of blocks, each from its base upwards.
struct Stacks {
    blocks: Vec<Word>,
    ends: Vec<usize>,
}

impl Stacks {
    /// Room for some blocks, each of which comes once.
    fn with_room(blocks: usize) -> Stacks {
        Stacks { blocks: Vec::with_capacity(blocks), ends: Vec::with_capacity(blocks) }
    }

    /// Add the stack on a base. A block has one place at most, so the way up from a bottom never comes back.
    fn push(&mut self, base: Word, above: &[Word], nothing: Word) {
        self.blocks.push(base);
        let mut top = base;
        while above[top as usize] != 0 && above[top as usize] != nothing {
            top = above[top as usize];
            self.blocks.push(top);
        }
        self.ends.push(self.blocks.len());
    }

    fn iter(&self) -> impl Iterator<Item = &[Word]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.blocks[start..*end])
    }
}

/// An initial state: what each movable block is on, and the towers that can be changed.
pub struct Towers {
    below: Vec<Word>,
    towers: Stacks,
    rooted: Vec<bool>,
    /// Movable and rooted blocks.
    live: Vec<bool>,
    /// False where nothing is ever in the arm.
    arm: bool,
    fixed: Vec<Atom>,
}

/// A consistent goal: chains of blocks, bottom first, what the goal wants each block on and on each base.
pub struct Chains {
    chains: Stacks,
    below: Vec<Word>,
    above: Vec<Word>,
}

/// The towers that the atoms describe, or the assumption they break.
pub fn read(words: &Words, init: &[Atom]) -> Result<Towers, BrokenAssumption> {
    let places = Places::new(words);
    let Arrangement { mut below, above } = arrange(words, init.iter().copied()).map_err(BrokenAssumption)?;
    let held = match above[places.arm as usize] {
        held if held == places.nothing => 0,
        held => held,
    };
    let blocks = 1..places.table;
    let mut rooted: Vec<bool> = vec![false; places.count];
    for block in blocks.clone() {
        rooted[block as usize] = above[block as usize] != 0 && below[block as usize] == 0;
    }
    let bottoms = blocks.clone().filter(|block| rooted[*block as usize] || below[*block as usize] == places.table);
    let mut all = Stacks::with_room(words.count());
    bottoms.for_each(|bottom| all.push(bottom, &above, places.nothing));
    let mut stands = vec![false; places.count];
    for block in all.blocks.iter().chain(&[held]) {
        stands[*block as usize] = true;
    }
    let circling = |block: &Word| below[*block as usize] != 0 && !stands[*block as usize];
    if let Some(first) = blocks.clone().find(circling) {
        let mut circle = vec![first];
        while below[circle[circle.len() - 1] as usize] != first {
            circle.push(below[circle[circle.len() - 1] as usize]);
        }
        let atoms = circle.iter().map(|block| places.atom(words, *block, below[*block as usize]));
        return Err(BrokenAssumption(atoms.collect()));
    }
    let mut towers = Stacks::with_room(all.blocks.len());
    for tower in
        all.iter().filter(|tower| above[places.arm as usize] != 0 && above[tower[tower.len() - 1] as usize] != 0)
    {
        towers.blocks.extend_from_slice(tower);
        towers.ends.push(towers.blocks.len());
    }
    let mut live = vec![false; places.count];
    for block in towers.blocks.iter().chain(&[held]).filter(|block| **block != 0) {
        live[*block as usize] = true;
    }
    for block in blocks {
        let block = block as usize;
        below[block] = if live[block] { below[block] } else { 0 };
        rooted[block] &= live[block];
    }
    let arm = above[places.arm as usize] != 0;
    let mut state = Towers { below, towers, rooted, live, arm, fixed: Vec::with_capacity(8) };
    state.fixed = init.iter().filter(|atom| !state.moves(places, places.place(words, **atom))).copied().collect();
    Ok(state)
}

impl Towers {
    /// True where operators can put this on that.
    fn moves(&self, places: Places, place: Option<(Word, Word)>) -> bool {
        let Some((upper, base)) = place else { return false };
        let is_upper = upper == places.nothing || self.below[upper as usize] != 0; // nothing, or a movable block
        let is_base = match base {
            _ if base == places.arm => self.arm,
            _ => base == places.table || self.live[base as usize],
        };
        is_upper && is_base
    }

    /// What cl(goal) has beside the goal.
    pub fn closure(&self, words: &Words, aims: &Chains) -> Vec<Atom> {
        let places = Places::new(words);
        let arm_open = self.arm && aims.above[places.arm as usize] == 0;
        let bottom = |chain: &[Word]| {
            let block = chain[0] as usize;
            aims.below[block] == 0 && !self.rooted[block]
        };
        let top = |chain: &[Word]| aims.above[chain[chain.len() - 1] as usize] == 0;
        let holdable = |chain: &[Word]| arm_open && chain.len() == 1 && bottom(chain) && top(chain);
        let open_bottoms = aims.chains.iter().filter(|chain| bottom(chain)).count();
        let open_tops = aims.chains.iter().filter(|chain| top(chain)).count();
        let mut closure = self.fixed.clone();
        for chain in aims.chains.iter() {
            if bottom(chain) && open_tops == usize::from(top(chain)) && !holdable(chain) {
                closure.push(words.atom(Known::OnTable, chain[0], 0));
            }
            if top(chain) && open_bottoms == usize::from(bottom(chain)) && !holdable(chain) {
                closure.push(words.atom(Known::Clear, chain[chain.len() - 1], 0));
            }
        }
        if arm_open && !aims.chains.iter().any(holdable) {
            closure.push(words.atom(Known::ArmEmpty, 0, 0));
        }
        closure
    }

    /// At most four actions a block: take down what is not yet in its final place, then build bottom up.
    pub fn plan(&self, words: &Words, aims: &Chains) -> Vec<Action> {
        let places = Places::new(words);
        let mut actions: Vec<Action> = Vec::with_capacity(4 * self.towers.blocks.len());
        let blocks = 1..places.table;
        for block in blocks.clone().filter(|block| self.below[*block as usize] == places.arm) {
            actions.push(Action::new(Operator::Putdown, &[block]));
        }
        let mut settled = self.rooted.clone();
        for tower in self.towers.iter() {
            for (height, block) in tower.iter().enumerate() {
                let block = *block as usize;
                if settled[block] {
                    continue;
                }
                let aim = if aims.below[block] == 0 { places.table } else { aims.below[block] };
                if self.below[block] == aim && (aim == places.table || settled[aim as usize]) {
                    settled[block] = true;
                    continue;
                }
                for upper in tower[height..].iter().rev() {
                    let base = self.below[*upper as usize];
                    if base != places.table {
                        actions.push(Action::new(Operator::Unstack, &[*upper, base]));
                        actions.push(Action::new(Operator::Putdown, &[*upper]));
                    }
                }
                break;
            }
        }
        for pair in aims.chains.iter().flat_map(|chain| chain.windows(2)) {
            if !settled[pair[1] as usize] {
                actions.push(Action::new(Operator::Pickup, &[pair[1]]));
                actions.push(Action::new(Operator::Stack, &[pair[1], pair[0]]));
            }
        }
        for block in blocks.filter(|block| aims.below[*block as usize] == places.arm) {
            actions.push(Action::new(Operator::Pickup, &[block]));
        }
        actions
    }

    /// The goal as the rules read it.
    pub fn goal(&self, words: &Words, goal: &[Atom]) -> Result<Chains, Unsolvable> {
        let places = Places::new(words);
        let wanted = || goal.iter().copied().filter(|atom| !has(&self.fixed, *atom));
        for atom in wanted() {
            if !self.moves(places, places.place(words, atom)) {
                return Err(never_true(atom));
            }
        }
        let Arrangement { below, above } = arrange(words, wanted()).map_err(exclude_each_other)?;
        let live = || (1..places.table).filter(|block| self.live[*block as usize]);
        let is_bottom = |block: &Word| matches!(below[*block as usize], 0) || below[*block as usize] == places.table;
        let mut chains = Stacks::with_room(words.count());
        live().filter(is_bottom).for_each(|block| chains.push(block, &above, places.nothing));
        let mut placed = vec![false; places.count];
        for block in chains.blocks.iter().chain(&[above[places.arm as usize]]) {
            placed[*block as usize] = true;
        }
        if let Some(first) = live().find(|block| !placed[*block as usize]) {
            let mut circle = vec![places.atom(words, first, below[first as usize])];
            let mut block = below[first as usize];
            while block != first {
                circle.push(places.atom(words, block, below[block as usize]));
                block = below[block as usize];
            }
            return Err(exclude_each_other(circle));
        }
        Ok(Chains { chains, below, above })
    }
}
