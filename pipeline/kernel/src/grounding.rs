//! Grounding: which operators can ever apply when nothing is deleted (definition/grounding.py).

use crate::hashing::{HashMap, HashSet};
use crate::left::{Answer, Left};
use crate::model::{Domain, Lifted, Operator, Word, EQUALITY};
use crate::pddl::problems::Interner;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

const MAX_OPERATORS: usize = 40_000;
pub const MAX_ATOMS: usize = 12_000;
const MAX_WORK: usize = 1_000_000;
const OBJECTS_PER_WORK: usize = 8;

/// Preconditions of an operator, which are ordered for each that grows: of more, the definition's order is cheaper.
const MOST_PRECONDITIONS: usize = 60;

/// Stands where a variable has no value.
const NONE: Word = Word::MAX;

/// A ground operator over numbered atoms: the number of its operator, its arguments, and its parts, each sorted.
pub struct Ground {
    pub operator: usize,
    pub arguments: Vec<Word>,
    pub parts: [Vec<u32>; 4],
}

/// Atoms by number.
#[derive(Default)]
pub struct Atoms {
    numbers: HashMap<Lifted, u32>,
    pub atoms: Vec<Lifted>,
}

impl Atoms {
    pub fn number(&mut self, atom: Lifted) -> u32 {
        let next = self.atoms.len() as u32;
        *self.numbers.entry(atom).or_insert_with_key(|atom| {
            self.atoms.push(atom.clone());
            next
        })
    }

    pub fn find(&self, atom: &[Word]) -> Option<u32> {
        self.numbers.get(atom).copied()
    }
}

/// The objects that may stand for a parameter.
pub struct Fitting {
    /// In alphabetical order.
    pub names: Vec<Word>,
    /// By word.
    is_own: Vec<bool>,
}

impl Fitting {
    pub fn contains(&self, name: Word) -> bool {
        self.is_own.get(name as usize) == Some(&true)
    }
}

/// The objects of a problem in a domain with their types, its constants among them.
pub type Objects = BTreeMap<Word, Word>;

pub fn objects_that_fit(objects: &Objects, type_: Word, domain: &Domain, names: &Interner) -> Fitting {
    let mut known: HashMap<Word, bool> = HashMap::default();
    let mut fits = |own: Word| *known.entry(own).or_insert_with(|| domain.fits(own, type_));
    let mut found: Vec<Word> = objects.iter().filter(|(_, own)| fits(**own)).map(|(name, _)| *name).collect();
    names.sort_words(&mut found);
    let mut is_own = vec![false; objects.keys().next_back().map_or(0, |last| *last as usize + 1)];
    found.iter().for_each(|name| is_own[*name as usize] = true);
    Fitting { names: found, is_own }
}

/// A term of a lifted atom: the place of a parameter, or a name.
#[derive(Clone, Copy)]
pub enum Term {
    Place(usize),
    Name(Word),
}

/// An atom, with places in the place of parameters.
pub fn terms_of(atom: &[Word], operator: &Operator) -> Vec<Term> {
    let place = |term: &Word| operator.parameters.iter().position(|(name, _)| name == term);
    atom.iter().map(|term| place(term).map_or(Term::Name(*term), Term::Place)).collect()
}

pub fn bound(atom: &[Term], binding: &[Word]) -> Lifted {
    let value = |term: &Term| match term {
        Term::Place(place) => binding[*place],
        Term::Name(name) => *name,
    };
    atom.iter().map(value).collect()
}

/// The first equation of the operator that does not hold with these arguments, in the order of the definition.
pub fn broken_equation(operator: &Operator, arguments: &[Word], names: &Interner) -> Option<(Word, Word)> {
    let is_equation = |atom: &&Lifted| names.text(atom[0]) == EQUALITY;
    let part =
        |part: usize, holds: bool| operator.parts[part].iter().filter(is_equation).map(move |atom| (atom, holds));
    let said = |atom: &Lifted| bound(&terms_of(atom, operator), arguments);
    let is_broken = |(atom, holds): &(&Lifted, bool)| (said(atom)[1] == said(atom)[2]) != *holds;
    let broken = part(0, true).chain(part(1, false)).filter(is_broken);
    let first = broken.min_by(|one, other| names.order_of(one.0, other.0).then(one.1.cmp(&other.1)));
    first.map(|(atom, _)| (said(atom)[1], said(atom)[2]))
}

/// Atoms of one predicate and length form a relation; the empty atom has its own and triggers what needs nothing.
type Relation = (Word, usize);

const EMPTY: Relation = (NONE, 0);

fn relation(atom: &[Word]) -> Relation {
    atom.first().map_or(EMPTY, |name| (*name, atom.len()))
}

/// A precondition that is joined with the atoms reached so far.
struct Join {
    lifted: Vec<Term>,
    /// The terms that have a value by then.
    bound: Vec<Term>,
    /// The relation's table of atoms by the values of these.
    table: (Relation, usize),
}

/// How instances of an operator follow from a new atom: unify `start` with it, join the others, bind the rest.
struct Rule {
    operator: usize,
    start: Vec<Term>,
    joins: Vec<Join>,
    unbound: Vec<usize>,
}

/// The atoms of a relation by their terms at some positions.
struct Table {
    positions: Vec<usize>,
    atoms: HashMap<Vec<Word>, Vec<Rc<Lifted>>>,
}

/// An operator as instances of it are made.
struct Prepared {
    fitting: Rc<Vec<Rc<Fitting>>>,
    equations: Vec<([Term; 2], bool)>,
    parts: [Vec<Vec<Term>>; 4],
    found: HashSet<Vec<Word>>,
}

pub struct Grounding<'a> {
    pub operators: Vec<Ground>,
    pub atoms: Atoms,
    pub work: usize,
    names: &'a Interner,
    prepared: Vec<Prepared>,
    tables: HashMap<Relation, Vec<Table>>,
    rules: HashMap<Relation, Vec<Rule>>,
    reached: HashSet<u32>,
    queue: VecDeque<Rc<Lifted>>,
}

/// Every ground operator that can apply when deletes and negative preconditions do not count.
///
/// `without` are operators that are left out, and parameters that are not bound.
pub fn reachable_operators<'a>(
    objects: &Objects,
    init: &[Lifted],
    operators: &[&Operator],
    domain: &Domain,
    names: &'a Interner,
) -> Answer<Grounding<'a>> {
    let mut grounding = Grounding {
        operators: Vec::new(),
        atoms: Atoms::default(),
        work: 0,
        names,
        prepared: Vec::new(),
        tables: HashMap::default(),
        rules: HashMap::default(),
        reached: HashSet::default(),
        queue: VecDeque::new(),
    };
    grounding.run(objects, init, operators, domain)?;
    Ok(grounding)
}

impl Grounding<'_> {
    fn run(&mut self, objects: &Objects, init: &[Lifted], operators: &[&Operator], domain: &Domain) -> Answer<()> {
        let names = self.names;
        let added = operators.iter().flat_map(|operator| &operator.parts[2]);
        let grows: HashSet<Relation> = added.map(|atom| relation(atom)).collect();
        let mut fitting: HashMap<Word, Rc<Fitting>> = HashMap::default();
        for (_, type_) in operators.iter().flat_map(|operator| &operator.parameters) {
            if !fitting.contains_key(type_) {
                fitting.insert(*type_, Rc::new(objects_that_fit(objects, *type_, domain, names)));
                self.spend(objects.len() / OBJECTS_PER_WORK)?;
            }
        }
        for (number, operator) in operators.iter().enumerate() {
            self.prepare(number, operator, &fitting, &grows)?;
        }
        let mut init: Vec<&Lifted> = init.iter().collect();
        names.sort(&mut init);
        init.dedup();
        let (growing, fixed): (Vec<&Lifted>, Vec<&Lifted>) =
            init.into_iter().partition(|atom| grows.contains(&relation(atom)));
        // Atoms of relations that do not grow start no rule: they come first, so that they are there for the joins.
        self.queue.extend(fixed.into_iter().map(|atom| Rc::new(atom.clone())));
        self.queue.push_back(Rc::new(Vec::new()));
        for atom in growing {
            let number = self.atoms.number(atom.clone());
            self.reached.insert(number);
            self.queue.push_back(Rc::new(atom.clone()));
        }
        let rules = std::mem::take(&mut self.rules);
        while let Some(atom) = self.queue.pop_front() {
            for table in self.tables.get_mut(&relation(&atom)).into_iter().flatten() {
                let key: Vec<Word> = table.positions.iter().map(|position| atom[*position]).collect();
                table.atoms.entry(key).or_default().push(atom.clone());
            }
            for rule in rules.get(&relation(&atom)).into_iter().flatten() {
                self.apply(rule, &atom)?;
            }
        }
        Ok(())
    }

    /// Plan the joins of an operator: from each precondition that may become true later, or from nothing.
    fn prepare(
        &mut self,
        number: usize,
        operator: &Operator,
        fitting: &HashMap<Word, Rc<Fitting>>,
        grows: &HashSet<Relation>,
    ) -> Answer<()> {
        let names = self.names;
        let is_equation = |atom: &Lifted| names.text(atom[0]) == EQUALITY;
        let terms = |atom: &Lifted| terms_of(atom, operator);
        let mut atoms: Vec<&Lifted> = operator.parts[0].iter().filter(|atom| !is_equation(atom)).collect();
        let key = |atom: &Lifted| (grows.contains(&relation(atom)), std::cmp::Reverse(atom.len()));
        if atoms.len() > MOST_PRECONDITIONS {
            return Err(Left::Budget);
        }
        atoms.sort_by(|one, other| key(one).cmp(&key(other)).then_with(|| names.order_of(one, other)));
        let nothing = Vec::new();
        let mut starts: Vec<&Lifted> = atoms.iter().filter(|atom| grows.contains(&relation(atom))).copied().collect();
        if starts.is_empty() {
            starts.push(&nothing);
        }
        for start in starts {
            let mut free: Vec<Word> = operator.parameters.iter().map(|(name, _)| *name).collect();
            free.retain(|variable| !start.contains(variable));
            let mut joins = Vec::new();
            let others: Vec<&Lifted> = atoms.iter().filter(|atom| **atom != start).copied().collect();
            for atom in least_free_first(&others, &free) {
                let positions: Vec<usize> = (1..atom.len()).filter(|at| !free.contains(&atom[*at])).collect();
                let lifted = terms(atom);
                let bound = positions.iter().map(|at| lifted[*at]).collect();
                let tables = self.tables.entry(relation(atom)).or_default();
                let known = tables.iter().position(|table| table.positions == positions);
                let place = known.unwrap_or_else(|| {
                    tables.push(Table { positions, atoms: HashMap::default() });
                    tables.len() - 1
                });
                joins.push(Join { lifted, bound, table: (relation(atom), place) });
                free.retain(|variable| !atom.contains(variable));
                self.spend(1)?;
            }
            self.spend(1 + free.len())?;
            let unbound = (0..operator.parameters.len()).filter(|at| free.contains(&operator.parameters[*at].0));
            let rule = Rule { operator: number, start: terms(start), joins, unbound: unbound.collect() };
            self.rules.entry(relation(start)).or_default().push(rule);
        }
        let equations = [(0, true), (1, false)].into_iter().flat_map(|(part, holds)| {
            let own = operator.parts[part].iter().filter(|atom| is_equation(atom));
            own.map(move |atom| (terms_of(atom, operator), holds))
        });
        let equations = equations.map(|(atom, holds)| ([atom[1], atom[2]], holds)).collect();
        let parts = operator
            .parts
            .each_ref()
            .map(|part| part.iter().filter(|atom| !is_equation(atom)).map(terms).collect::<Vec<Vec<Term>>>());
        let fitting = Rc::new(operator.parameters.iter().map(|(_, type_)| fitting[type_].clone()).collect());
        self.prepared.push(Prepared { fitting, equations, parts, found: HashSet::default() });
        Ok(())
    }

    /// Add each instance of the rule's operator that has the atom as its first precondition.
    fn apply(&mut self, rule: &Rule, atom: &Lifted) -> Answer<()> {
        let fitting = self.prepared[rule.operator].fitting.clone();
        let mut extended = vec![NONE; fitting.len()];
        if !unify(&rule.start, atom, &mut extended, &fitting) {
            return Ok(());
        }
        let mut bindings: Vec<Vec<Word>> = vec![extended.clone()];
        // How many variables are bound, which is the same in all bindings.
        let bound_in = |bindings: &[Vec<Word>]| {
            bindings.first().map_or(0, |binding| binding.iter().filter(|value| **value != NONE).count())
        };
        for join in &rule.joins {
            let mut more = Vec::new();
            let share = 1 + bound_in(&bindings) / 8;
            for binding in &bindings {
                let key = bound(&join.bound, binding);
                let table = &self.tables[&join.table.0][join.table.1];
                let atoms = table.atoms.get(&key).map_or(&[][..], Vec::as_slice);
                let work = atoms.len() * share;
                for atom in atoms {
                    extended.copy_from_slice(binding);
                    if unify(&join.lifted, atom, &mut extended, &fitting) {
                        more.push(extended.clone());
                    }
                }
                self.spend(work)?;
            }
            bindings = more;
        }
        for variable in &rule.unbound {
            let mut extended = Vec::new();
            let share = 1 + bound_in(&bindings) / 8;
            for binding in &bindings {
                self.spend(fitting[*variable].names.len() * share)?;
                extended.extend(fitting[*variable].names.iter().map(|name| {
                    let mut more = binding.clone();
                    more[*variable] = *name;
                    more
                }));
            }
            bindings = extended;
        }
        for binding in bindings {
            let prepared = &mut self.prepared[rule.operator];
            if !prepared.found.insert(binding.clone()) {
                continue;
            }
            let holds = |([one, other], holds): &([Term; 2], bool)| {
                let values = bound(&[*one, *other], &binding);
                (values[0] == values[1]) == *holds
            };
            if prepared.equations.iter().all(holds) {
                self.add(rule.operator, binding)?;
            }
        }
        if self.operators.len() > MAX_OPERATORS || self.reached.len() > MAX_ATOMS {
            return Err(Left::Budget);
        }
        Ok(())
    }

    /// Add an instance, and reach what it adds.
    fn add(&mut self, operator: usize, arguments: Vec<Word>) -> Answer<()> {
        let prepared = &self.prepared[operator];
        let atoms = &mut self.atoms;
        let parts = prepared.parts.each_ref().map(|part| {
            let mut numbers: Vec<u32> = part.iter().map(|atom| atoms.number(bound(atom, &arguments))).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        });
        let mut new: Vec<u32> = parts[2].iter().filter(|atom| !self.reached.contains(atom)).copied().collect();
        self.names.sort_numbers(&mut new, &self.atoms.atoms);
        for atom in new {
            self.reached.insert(atom);
            self.queue.push_back(Rc::new(self.atoms.atoms[atom as usize].clone()));
        }
        let work = parts.iter().map(Vec::len).sum();
        self.operators.push(Ground { operator, arguments, parts });
        self.spend(work)
    }

    fn spend(&mut self, work: usize) -> Answer<()> {
        self.work = self.work.saturating_add(work);
        if self.work > MAX_WORK {
            return Err(Left::Budget);
        }
        Ok(())
    }
}

/// Binds the variables of the lifted atom so that it is the atom; false where nothing does.
fn unify(lifted: &[Term], atom: &[Word], binding: &mut [Word], fitting: &[Rc<Fitting>]) -> bool {
    lifted.iter().zip(atom).all(|(term, value)| match term {
        Term::Name(name) => name == value,
        Term::Place(place) => {
            if binding[*place] == NONE {
                binding[*place] = *value;
            }
            binding[*place] == *value && fitting[*place].contains(*value)
        }
    })
}

/// The atoms, each time the first of those that have the fewest free variables; an atom binds its variables.
fn least_free_first<'a>(atoms: &[&'a Lifted], free: &[Word]) -> Vec<&'a Lifted> {
    let mut free = free.to_vec();
    let mut left: Vec<&'a Lifted> = atoms.to_vec();
    let mut sorted = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let variables = |atom: &Lifted| free.iter().filter(|variable| atom.contains(variable)).count();
        let least = (0..left.len()).min_by_key(|place| variables(left[*place])).unwrap_or(0);
        let atom = left.remove(least);
        free.retain(|variable| !atom.contains(variable));
        sorted.push(atom);
    }
    sorted
}
