//! A planning task: a problem in its domain, and all that follows from the two, each thing computed once
//! (definition/task.py, closure.py). A reference's task serves all answers of a batch that are compared with it.

use crate::canonical::{digest, Digits, LabelledGraph, Labelling, Scene};
use crate::difference::{misfit, Difference};
use crate::domains::{self, BrokenAssumption, CoveredGoal, CoveredState, PlanningDomain};
use crate::fraction::Fraction;
use crate::grounding::Objects;
use crate::hashing::HashSet;
use crate::left::{Answer, Left};
use crate::metrics::domain_pair::is_ill_typed;
use crate::model::{
    arguments, atom_of, has, predicate, subset, words_of, Atom, Conjunct, Domain, Known, Lifted, Problem, Word, Words,
    MOST_ARGUMENTS, UNKNOWN,
};
use crate::numbers::FALSE;
use crate::pddl::problems::Interner;
use crate::planning::bounds::closure_bounds;
use crate::planning::cheapest::cheapest_plan;
use crate::planning::conditions::{Conditions, COMPARED};
use crate::planning::search::{find_plan, Proof};
use crate::planning::task::{ground, ground_beyond, Bits, Goal, GroundTask, Shared, MAX_STATES};
use crate::state_space::{Formula as Condition, Judge, AND, MOST_PARTS_OF_ROW, OR};
use crate::validation::{execute, Action, Plan, State, MOST_STEPS};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

/// The version of certificates that is hashed into all but those of placeholders in a domain that uses negation.
pub const UNCHANGED_SINCE: usize = 2;

/// The version that is hashed into these.
const CERTIFICATE_VERSION: usize = 3;

/// Atoms that may be set aside from an initial state that no rules cover.
const CONFLICTS: usize = 3;

/// Parts of an initial state that are tried for that; the definition tries them all.
const MOST_PARTS: usize = 64;

/// Objects up to which states are listed for a certificate alone, in a domain whose rules do not cover the initial state.
const FEW_OBJECTS: usize = 8;

/// States up to which they are listed for the certificate of an ill-typed problem, whose verdict needs none.
const FEW_STATES: usize = 300;

/// Work to ground a task, about a microsecond each: a third of what the definition takes, so that it has time left.
const MOST_WORK: usize = 300_000;

/// Atoms by which goal states differ, where these have to be listed, and such states.
const MOST_LISTED: usize = 20_000;

/// Reachable states that are enumerated in less time than it takes to prepare a search.
const FEWEST_STATES: usize = 300;

/// A graph with its labelling, made when it is first asked for.
pub struct Graph {
    graph: LabelledGraph,
    labelling: OnceCell<Answer<Labelling>>,
}

impl Graph {
    pub fn new(graph: LabelledGraph) -> Graph {
        Graph { graph, labelling: OnceCell::new() }
    }

    fn labelling(&self) -> Answer<&Labelling> {
        self.labelling.get_or_init(|| self.graph.labelling()).as_ref().map_err(|left| *left)
    }

    /// The objects of both in corresponding order; None where the graphs are not isomorphic.
    pub fn orders<'a>(&'a self, other: &'a Graph) -> Answer<Option<(&'a [u32], &'a [u32])>> {
        if !self.graph.same_invariant(&other.graph) {
            return Ok(None);
        }
        let (ours, theirs) = (self.labelling()?, other.labelling()?);
        Ok((ours.form == theirs.form).then_some((&ours.order[..], &theirs.order[..])))
    }
}

/// A proof that no reachable state contains the goal.
#[derive(Clone)]
pub enum Unsolvable {
    ByRules(domains::Unsolvable),
    NeverAdded(Atom),
    BySearch(Proof),
}

/// The ground task of all tasks that start alike, and the words that its atoms are made of.
struct Grounded {
    names: Rc<Interner>,
    task: GroundTask,
}

/// A problem over the words of an interner, as grounding and the graphs of domains take it.
pub struct LiftedTask {
    pub names: Rc<Interner>,
    pub objects: Vec<(Word, Word)>,
    pub init: Vec<Lifted>,
    pub goal: Vec<Lifted>,
    pub values: Vec<(Lifted, Fraction)>,
    /// The number of each word of the problem, and the word of each number.
    to: Vec<u32>,
    back: Vec<Word>,
}

impl LiftedTask {
    /// The problem, with objects of these types, over these words and further ones.
    fn new(problem: &Problem, types: &[Word], mut names: Interner) -> Answer<LiftedTask> {
        let words = &problem.words;
        let to = numbers(words, &mut names)?;
        let mut back = vec![0; names.count()];
        (1..).zip(&to[1..]).for_each(|(word, number)| back[*number as usize] = word);
        let objects = problem.objects.iter().zip(types);
        let objects = objects.map(|((name, _), type_)| (to[*name as usize], to[*type_ as usize])).collect();
        let names = Rc::new(names);
        let (init, goal, values) = Default::default();
        let mut task = LiftedTask { names, objects, init, goal, values, to, back };
        (task.init, task.goal) = (task.lifted(&problem.init), task.lifted(&problem.goal));
        let values = problem.values().iter();
        task.values = values.map(|(fluent, value)| (task.lifted(&[*fluent]).concat(), *value)).collect();
        Ok(task)
    }

    /// Atoms of the problem, sorted by the numbers of words.
    pub fn lifted(&self, atoms: &[Atom]) -> Vec<Lifted> {
        let number = |word: Word| self.to[word as usize];
        let lifted = |atom: &Atom| words_of(*atom).into_iter().take_while(|word| *word != 0).map(number).collect();
        let mut found: Vec<Lifted> = atoms.iter().map(lifted).collect();
        found.sort_unstable();
        found
    }

    /// An atom in the problem's words.
    fn atom(&self, atom: &Lifted) -> Atom {
        let mut words = [0; 1 + MOST_ARGUMENTS];
        words.iter_mut().zip(atom).for_each(|(word, number)| *word = self.back[*number as usize]);
        atom_of(words)
    }

    /// The way back from `lifted`.
    fn atoms<'a>(&self, atoms: impl IntoIterator<Item = &'a Lifted>) -> Vec<Atom> {
        let mut found: Vec<Atom> = atoms.into_iter().map(|atom| self.atom(atom)).collect();
        found.sort_unstable();
        found
    }
}

/// The number of each word.
fn numbers(words: &Words, names: &mut Interner) -> Answer<Vec<u32>> {
    let mut to = words.each(0);
    for word in 1..=words.count() as Word {
        let text = words.text(word);
        to[word as usize] = names.number(text, 0, text.len())?;
    }
    Ok(to)
}

/// What the rules of a domain read, where they call it something else.
struct InRules {
    init: Vec<Atom>,
    goal: Vec<Atom>,
    types_of_words: Vec<Word>,
}

pub struct Task {
    pub problem: Rc<Problem>,
    pub domain: Rc<PlanningDomain>,
    typed: bool,
    /// False where what the rules do not cover is left to the definition.
    may_search: bool,
    /// The types of the objects.
    pub types: Vec<Word>,
    /// The same by word, where the domain declares types.
    types_of_words: Vec<Word>,
    found: Rc<Found>,
    graphs: Graphs,
    untyped: OnceCell<Box<Task>>,
}

/// The initial state as the domain's rules read it, or the assumption that it breaks; None where it has no rules.
type Start = Option<Result<CoveredState, BrokenAssumption>>;

/// What follows from a task, each thing made when it is first asked for. Tasks of the same atoms share it.
#[derive(Default)]
struct Found {
    in_rules: OnceCell<InRules>,
    start: OnceCell<Rc<Start>>,
    goal: OnceCell<Result<CoveredGoal, domains::Unsolvable>>,
    lifted: OnceCell<Answer<LiftedTask>>,
    grounded: OnceCell<Rc<OnceCell<Answer<Grounded>>>>,
    asked: OnceCell<Answer<Result<Goal, Unsolvable>>>,
    path: OnceCell<Answer<Result<Vec<usize>, Unsolvable>>>,
    closure: OnceCell<Answer<Result<Vec<Atom>, Unsolvable>>>,
    possible: OnceCell<Answer<Vec<Atom>>>,
    apart: OnceCell<Answer<Apart>>,
    plan: OnceCell<Answer<Option<Plan>>>,
    /// The state that the plan of the rules leads to.
    reached: OnceCell<State>,
}

/// What tells goal states from others that have all of cl(goal): the atoms that none of them has, or else all goal states.
pub type Apart = (Vec<Atom>, Vec<ListedState>);

/// The atoms of a goal state that are not in cl(goal), and fluents with their values, sorted.
pub type ListedState = (Vec<Atom>, Vec<(Atom, String)>);

/// A task's certificates and graphs, in which objects have types.
#[derive(Default)]
struct Graphs {
    certificates: [OnceCell<Answer<Digits>>; 2],
    initial_scene: OnceCell<Graph>,
    graph_as_written: OnceCell<Graph>,
    closed_graph: OnceCell<Graph>,
    closed_goal_scene: OnceCell<Graph>,
}

impl Task {
    pub fn new(problem: Rc<Problem>, domain: Rc<PlanningDomain>, typed: bool, may_search: bool) -> Task {
        let words = &problem.words;
        let object = words.place(Known::Object);
        let types: Vec<Word> = problem.objects.iter().map(|(_, type_)| if typed { *type_ } else { object }).collect();
        let mut types_of_words = Vec::new();
        if typed && !domain.structure.domain.types.is_empty() {
            types_of_words = words.each(0);
            for ((name, _), type_) in problem.objects.iter().zip(&types) {
                types_of_words[*name as usize] = *type_;
            }
            for (name, type_) in &domain.structure.domain.constants {
                types_of_words[words.place_of(*name) as usize] = words.place_of(*type_);
            }
        }
        let (found, graphs, untyped) = Default::default();
        Task { problem, domain, typed, may_search, types, types_of_words, found, graphs, untyped }
    }

    /// Share what follows from a task whose words have the same numbers, where it says the same of objects and atoms. A
    /// search may find another plan where objects come in another order; rules do not.
    pub fn share(&mut self, other: &Task) {
        let (own, theirs) = (&*self.problem, &*other.problem);
        let ignores_types = self.ignores_types();
        let is_theirs = |(name, type_): &(Word, Word)| {
            let known = theirs.objects.get(theirs.number[*name as usize] as usize);
            known.is_some_and(|(_, known)| ignores_types || known == type_)
        };
        let same_objects = own.objects.len() == theirs.objects.len() && own.objects.iter().all(is_theirs);
        if self.domain.roles.is_none()
            || own.numbers.is_some()
            || theirs.numbers.is_some()
            || own.init != theirs.init
            || !same_objects
        {
            return;
        }
        if own.goal == theirs.goal {
            self.found = other.found.clone();
        } else {
            let _ = self.found.start.set(other.shared_start().clone());
        }
    }

    /// The same task with types erased from the problem and from the operators.
    pub fn untyped(&self) -> &Task {
        let new = || Box::new(Task::new(self.problem.clone(), self.domain.clone(), false, self.may_search));
        self.untyped.get_or_init(new)
    }

    /// Ground the two tasks once: objects and initial state are the same.
    pub fn starts_like(&self, other: &Task) {
        if self.problem.numbers.is_some() != other.problem.numbers.is_some() {
            return; // in one of them costs decide what can be done
        }
        let _ = self.found.grounded.set(other.found.grounded.get_or_init(Rc::default).clone());
    }

    /// True where sets of atoms do not say what operators do, or there are numbers.
    fn is_beyond(&self) -> bool {
        self.domain.is_beyond || self.problem.numbers.is_some()
    }

    /// The domain, with types or without, with its costs where they count.
    fn operators(&self) -> &Domain {
        self.domain.operators_of(self.typed, self.problem.numbers.is_some())
    }

    /// True unless every object is a plain `object` and no operator asks for more.
    pub fn types_matter(&self) -> bool {
        let object = self.problem.words.place(Known::Object);
        self.domain.has_types || self.types.iter().any(|type_| *type_ != object)
    }

    /// True where operators ask for types.
    pub fn is_typed(&self) -> bool {
        !self.types_of_words.is_empty()
    }

    /// True where what follows is the same whatever types the objects have.
    fn ignores_types(&self) -> bool {
        !self.is_typed() && !self.domain.has_types
    }

    /// The type of all objects.
    pub fn only_type(&self) -> Option<&[u8]> {
        let first = self.types.first().filter(|first| self.types.iter().all(|each| each == *first));
        first.map(|type_| self.problem.words.text(*type_))
    }

    /// True where a task with the same atoms has the same plans whatever types its objects have.
    pub fn plans_ignore_types(&self) -> bool {
        self.ignores_types() && self.domain.roles.is_some()
    }

    /// True where the object or constant may stand for a parameter of a type, which is given by its number.
    pub fn fits(&self, name: Word, wanted: u32) -> bool {
        let (type_, words) = (self.types_of_words[name as usize], &self.problem.words);
        type_ != 0
            && (type_ == words.place_of(wanted) || self.domain.structure.domain.fits(words.number(type_), wanted))
    }

    /// Why the declarations of a typed domain do not admit the first atom of the problem that they do not.
    pub fn ill_typed(&self) -> Option<Difference> {
        if !self.is_typed() || self.domain.structure.domain.predicates.is_empty() {
            return None;
        }
        let of = |atoms: &[Atom]| atoms.iter().find_map(|atom| Some((*atom, self.misfit(*atom)?)));
        let found = of(&self.problem.init).into_iter().chain(of(&self.problem.goal));
        let (_, why) = found.min_by_key(|(atom, _)| *atom)?;
        Some(Difference::of("ill typed problem").because("why", why))
    }

    /// True where a typed domain does not admit an atom of another conjunct of the goal.
    pub fn has_ill_typed_conjuncts(&self) -> Answer<bool> {
        let (words, mut names) = (&self.problem.words, self.domain.names.clone());
        let (to, domain) = (numbers(words, &mut names)?, &self.domain.structure.domain);
        let number = |number| to[words.place_of(number) as usize];
        let own = self.problem.objects.iter().map(|(name, type_)| (to[*name as usize], to[*type_ as usize]));
        let objects: Objects = own.chain(domain.constants.iter().map(|(name, own)| (*name, *own))).collect();
        let type_of = |term: Word| objects.get(&term).copied();
        let mut forms = self.problem.others.iter().map(|each| each.form.renamed(&number, &number));
        Ok(self.is_typed() && forms.any(|form| is_ill_typed(domain, &form, &[], type_of, &names)))
    }

    fn misfit(&self, atom: Atom) -> Option<Difference> {
        let (words, [predicate, arguments @ ..]) = (&self.problem.words, words_of(atom));
        let declared = self.domain.structure.domain.predicates.get(&words.number(predicate));
        let count = arguments.iter().filter(|name| **name != 0).count();
        let wrong = |place: usize, wanted: Word| {
            let name = arguments[place];
            let texts = || [words.text(words.place_of(wanted)), words.text(self.types_of_words[name as usize])];
            (!self.fits(name, wanted)).then(texts)
        };
        misfit(declared, count, || words.texts(atom), wrong)
    }

    /// Conjuncts of a problem of these words, in which objects are those of this one, over the bits of states.
    fn conditions(&self, conjuncts: &[Conjunct], words: &Words, map: &[Word]) -> Answer<Vec<Condition>> {
        let (task, lifted, objects) = (self.ground()?, self.lifted()?, self.objects()?);
        let mut names = Interner::clone(&lifted.names);
        let to = numbers(words, &mut names)?;
        let predicate = |number| to[words.place_of(number) as usize];
        let term = |number| match map.get(words.place_of(number) as usize) {
            Some(own) if *own != UNKNOWN => lifted.to[*own as usize],
            _ => predicate(number),
        };
        let is_fluent = |predicate| self.domain.fluents.get(predicate as usize) == Some(&true);
        let domain = self.operators();
        let mut conditions = Conditions::new(&objects, &lifted.init, domain, &names, &is_fluent);
        let fluents = task.fluents.as_ref();
        conditions.numbers = fluents.map(|fluents| fluents.take());
        let mut condition = |each: &Conjunct| -> Answer<Condition> {
            let (form, mut words) = (each.form.renamed(&predicate, &term), Vec::new());
            form.words(&mut words);
            if conditions.numbers.as_ref().is_some_and(|numbers| words.iter().any(|word| numbers.is_unread(*word))) {
                return Err(Left::Numbers); // states are told apart by what the goal reads, too
            }
            let mut found = conditions.condition(&form, &mut Vec::new())?;
            for part in found.iter_mut().filter(|part| **part & 3 == 0) {
                *part = match &conditions.atoms.atoms[*part as usize >> 2] {
                    compared if compared[0] == COMPARED => 4 * (task.atoms.len() as Word + compared[1]),
                    atom => match task.truth(atom) {
                        Ok(bit) => 4 * bit as u32,
                        Err(true) => AND,
                        Err(false) => OR,
                    },
                };
            }
            Ok(found)
        };
        let found = conjuncts.iter().map(&mut condition).collect();
        if let (Some(fluents), Some(numbers)) = (fluents, conditions.numbers) {
            fluents.replace(numbers);
        }
        found
    }

    /// Initial state and goal in the words of the domain's rules.
    fn in_rules(&self) -> (&[Atom], &[Atom]) {
        match self.renamed() {
            Some(InRules { init, goal, .. }) => (init, goal),
            None => (&self.problem.init, &self.problem.goal),
        }
    }

    /// What the rules read; None where they read the problem as it is written.
    fn renamed(&self) -> Option<&InRules> {
        let roles = self.domain.roles.as_ref().filter(|roles| !roles.is_plain())?;
        let compute = || {
            let (problem, domain) = (&self.problem, &self.domain.structure.domain);
            let sorted = |atoms: &[Atom]| {
                let mut found: Vec<Atom> = atoms.iter().map(|atom| roles.in_rules(*atom, &problem.words)).collect();
                found.sort_unstable();
                found
            };
            let type_of = |type_: &Word| if *type_ == 0 { 0 } else { roles.type_of(*type_, domain, &problem.words) };
            let types_of_words = self.types_of_words.iter().map(type_of).collect();
            InRules { init: sorted(&problem.init), goal: sorted(&problem.goal), types_of_words }
        };
        Some(self.found.in_rules.get_or_init(compute))
    }

    fn start(&self) -> Option<&Result<CoveredState, BrokenAssumption>> {
        (**self.shared_start()).as_ref()
    }

    fn shared_start(&self) -> &Rc<Start> {
        self.found.start.get_or_init(|| Rc::new(self.read(self.in_rules().0)))
    }

    fn read(&self, init: &[Atom]) -> Start {
        let types = self.renamed().map_or(&self.types_of_words, |renamed| &renamed.types_of_words);
        let roles = self.domain.roles.as_ref()?;
        Some(roles.rules.read(&self.problem.words, init, self.typed.then_some(types)))
    }

    /// The initial state that the domain's rules cover.
    fn covered(&self) -> Option<&CoveredState> {
        self.start()?.as_ref().ok()
    }

    /// True where the domain has rules and they cover the initial state.
    pub fn is_covered(&self) -> bool {
        self.covered().is_some()
    }

    /// cl(goal), sorted, or the proof that no reachable state contains the goal: by the rules of the domain, by
    /// enumeration, or between bounds.
    pub fn closure(&self) -> Answer<&Result<Vec<Atom>, Unsolvable>> {
        let compute = || match (self.covered(), &self.domain.roles) {
            (Some(start), Some(roles)) => {
                let (words, (_, goal)) = (&self.problem.words, self.in_rules());
                let aims = self.found.goal.get_or_init(|| start.goal(words, goal));
                let back = |atom: &mut Atom| *atom = roles.in_domain(*atom, words);
                Ok(match aims {
                    Ok(aims) => {
                        let mut closure = start.closure(words, goal, aims);
                        if !roles.is_plain() {
                            closure.iter_mut().for_each(back);
                            closure.sort_unstable();
                        }
                        Ok(closure)
                    }
                    Err(proof) => {
                        let mut proof = proof.clone();
                        if !roles.is_plain() {
                            proof.atoms.iter_mut().for_each(back);
                        }
                        Err(Unsolvable::ByRules(proof))
                    }
                })
            }
            _ if self.may_search => self.closure_by_search(),
            _ => Err(Left::Rules),
        };
        self.found.closure.get_or_init(compute).as_ref().map_err(|left| *left)
    }

    /// True where the states are too many to list, and no search finds cl(goal): the definition finds none, either.
    pub fn has_many_states(&self) -> bool {
        matches!(self.closure(), Err(Left::States))
    }

    /// The problem over the words of its domain's text, or those of a task that starts like it.
    pub fn lifted(&self) -> Answer<&LiftedTask> {
        let names = || match self.found.grounded.get().and_then(|grounded| grounded.get()) {
            Some(Ok(grounded)) => Interner::clone(&grounded.names),
            _ => self.domain.names.clone(),
        };
        let compute = || LiftedTask::new(&self.problem, &self.types, names());
        self.found.lifted.get_or_init(compute).as_ref().map_err(|left| *left)
    }

    /// The objects and the constants.
    fn objects(&self) -> Answer<Objects> {
        let own = self.lifted()?.objects.iter().copied();
        Ok(own.chain(self.operators().constants.iter().map(|(name, type_)| (*name, *type_))).collect())
    }

    fn ground(&self) -> Answer<&GroundTask> {
        let compute = || {
            let (LiftedTask { names, init, values, .. }, objects) = (self.lifted()?, self.objects()?);
            let domain = self.operators();
            let is_fluent = |predicate| self.domain.fluents.get(predicate as usize) == Some(&true);
            let task = match self.is_beyond() {
                true => ground_beyond(&objects, (init, values), self.domain.is_beyond, domain, names, &is_fluent)?,
                false => ground(&objects, init, domain, names)?,
            };
            if task.work > MOST_WORK {
                return Err(Left::Budget);
            }
            Ok(Grounded { names: names.clone(), task })
        };
        let grounded = self.found.grounded.get_or_init(Rc::default).get_or_init(compute);
        grounded.as_ref().map(|grounded| &grounded.task).map_err(|left| *left)
    }

    /// The goal over the bits of states, or the first of its atoms that is false in every reachable state; where only the
    /// list of states tells, this is the proof.
    fn asked(&self) -> Answer<&Result<Goal, Unsolvable>> {
        let compute = || {
            let (task, lifted) = (self.ground()?, self.lifted()?);
            if let Some(possible) = &task.possible {
                let mut never: Vec<&Lifted> = lifted.goal.iter().filter(|atom| !possible.contains(*atom)).collect();
                lifted.names.sort(&mut never);
                if let Some(atom) = never.first() {
                    return Ok(Err(Unsolvable::NeverAdded(lifted.atom(atom))));
                }
            }
            Ok(match task.bits_of_goal(&lifted.goal, &lifted.names) {
                Ok(yes) => {
                    let problem = &self.problem;
                    let mut formula = self.conditions(&problem.others, &problem.words, &[])?.concat();
                    if problem.others.len() > 1 {
                        formula.push(4 * problem.others.len() as u32 + AND);
                    }
                    Ok(Goal { yes, formula })
                }
                Err(_) if task.is_beyond() => {
                    let states = task.count_states(MAX_STATES).ok_or_else(|| task.too_many(Left::Budget))?;
                    Err(Unsolvable::BySearch(Proof::NoState(states)))
                }
                Err(atom) => Err(Unsolvable::NeverAdded(lifted.atom(atom))),
            })
        };
        self.found.asked.get_or_init(compute).as_ref().map_err(|left| *left)
    }

    /// The goal, which can be reached.
    fn reachable(&self) -> Answer<&Goal> {
        self.asked()?.as_ref().map_err(|_| Left::Panic)
    }

    /// The atoms that all reachable states with the goal have.
    fn closure_by_search(&self) -> Answer<Result<Vec<Atom>, Unsolvable>> {
        let task = self.ground()?;
        let goal = match self.asked()? {
            Ok(goal) => goal,
            Err(proof) => return Ok(Err(proof.clone())),
        };
        let lifted = self.lifted()?;
        let closed = |(shared, states): Shared| {
            Ok(shared
                .map(|(shared, _)| lifted.atoms(&task.state(&shared)))
                .ok_or(Unsolvable::BySearch(Proof::NoState(states))))
        };
        if !goal.is_plain() || task.is_beyond() {
            return closed(task.shared(goal, MAX_STATES).ok_or_else(|| task.too_many(Left::Formula))?);
        }
        if let Some(found) = task.shared(goal, FEWEST_STATES) {
            return closed(found);
        }
        // A closure is the same by any way; a proof is what the definition finds, which enumerates first.
        if let Ok(Ok(path)) = self.path() {
            if let Ok(Some(shared)) = closure_bounds(task, &task.after(&task.initial, path), &goal.yes) {
                return Ok(Ok(lifted.atoms(&task.state(&shared))));
            }
        }
        if let Some(found) = task.shared(goal, MAX_STATES) {
            return closed(found);
        }
        match self.path() {
            Ok(Err(proof)) => Ok(Err(proof.clone())),
            _ => Err(Left::States),
        }
    }

    /// The atoms that are true in some reachable goal states and not in all, where these states can be listed.
    pub fn possible(&self) -> Answer<&Vec<Atom>> {
        let compute = || {
            let task = self.ground()?;
            let (shared, _) = task.shared(self.reachable()?, MAX_STATES).ok_or(Left::Budget)?;
            let (all, some) = shared.ok_or(Left::Panic)?;
            Ok(self.lifted()?.atoms(some.but(&all).indexes().map(|index| &task.atoms[index])))
        };
        self.found.possible.get_or_init(compute).as_ref().map_err(|left| *left)
    }

    /// What tells goal states from others with all of cl(goal), where the goal asks for more than atoms.
    pub fn apart(&self) -> Answer<&Apart> {
        let compute = || {
            if self.problem.others.is_empty() {
                return Ok(Apart::default());
            }
            let (task, goal, lifted) = (self.ground()?, self.reachable()?, self.lifted()?);
            let (shared, _) = task.shared(goal, MAX_STATES).ok_or(Left::Budget)?;
            let (all, some) = shared.ok_or(Left::Panic)?;
            let mut never = Bits::none(task.atoms.len());
            let collect = |state: &Bits, _: &[u64], has_goal: bool| {
                if !has_goal && all.within(state) {
                    never.add(state);
                }
                None::<()>
            };
            task.find(goal, collect).ok_or(Left::Budget)?;
            let never = never.but(&some);
            let is_like = |state: &Bits, _: &[u64], has_goal: bool| {
                (!has_goal && all.within(state) && !never.meets(state)).then_some(())
            };
            let atoms = |bits: Bits| lifted.atoms(bits.indexes().map(|index| &task.atoms[index]));
            if task.find(goal, is_like).ok_or(Left::Budget)?.is_none() {
                return Ok((atoms(never), Vec::new()));
            }
            let (mut states, mut count) = (Vec::new(), 0);
            let list = |state: &Bits, words: &[u64], has_goal| {
                if has_goal {
                    let mut values = Vec::new();
                    if let Some(fluents) = &task.fluents {
                        let fluents = fluents.borrow();
                        values.extend(fluents.told(words).map(|(fluent, value)| (lifted.atom(fluent), value.text())));
                        values.sort_unstable();
                    }
                    count += 1 + values.len();
                    states.push((atoms(state.clone().but(&all)), values));
                    count += states.last().map_or(0, |(atoms, _)| atoms.len());
                }
                (count > MOST_LISTED).then_some(())
            };
            if task.find(goal, list).ok_or(Left::Budget)?.is_some() {
                return Err(Left::Budget);
            }
            states.sort_unstable();
            states.dedup();
            Ok((Vec::new(), states))
        };
        self.found.apart.get_or_init(compute).as_ref().map_err(|left| *left)
    }

    /// The place of the first conjunct of a problem, atoms first, that this goal does not imply, where objects are those of
    /// this one. Where states are asked for all conjuncts at once, the first one that the first state lacks.
    pub fn first_lacking(&self, problem: &Problem, map: &[Word]) -> Answer<Option<usize>> {
        let (task, goal) = (self.ground()?, self.reachable()?);
        let as_conjunct = |atom: &Atom| Conjunct::of(*atom, &problem.words);
        let all: Vec<Conjunct> = problem.goal.iter().map(as_conjunct).chain(problem.others.iter().cloned()).collect();
        let asked = self.conditions(&all, &problem.words, map)?;
        // One conjunct that is false, and the first that is not true there: it may have no truth value.
        let (mut judge, mut least) = (task.judge(MOST_PARTS_OF_ROW), None::<(usize, usize)>);
        let has_costs = self.domain.costed.is_some() && self.problem.numbers.is_some();
        let at_once = self.domain.is_beyond || (has_costs && !self.domain.has_plain_costs);
        task.find(goal, |_, state, has_goal| {
            if has_goal {
                let before = &asked[..least.map_or(asked.len(), |(place, _)| place)];
                if let Some(place) = before.iter().position(|each| judge.truth(each, state) == FALSE) {
                    let first = before.iter().position(|each| !judge.holds(each, state));
                    least = Some((place, first.unwrap_or(place)));
                }
            }
            (at_once && least.is_some()).then_some(())
        })
        .filter(|_| judge.left > 0)
        .ok_or(Left::Budget)?;
        Ok(least.map(|(_, first)| first))
    }

    /// The operators of a plan that the search finds.
    fn path(&self) -> Answer<&Result<Vec<usize>, Unsolvable>> {
        let compute = || {
            let task = self.ground()?;
            Ok(match self.asked()? {
                Ok(goal) if goal.is_plain() => {
                    find_plan(task, &goal.yes, &Bits::none(task.atoms.len()))?.map_err(Unsolvable::BySearch)
                }
                Ok(goal) => {
                    let found = task.shortest_plan(goal).ok_or_else(|| task.too_many(Left::Formula))?;
                    found.map_err(|states| Unsolvable::BySearch(Proof::NoState(states)))
                }
                Err(proof) => Err(proof.clone()),
            })
        };
        self.found.path.get_or_init(compute).as_ref().map_err(|left| *left)
    }

    /// A plan; None where there is none.
    pub fn plan(&self) -> Answer<Option<&Plan>> {
        self.found.plan.get_or_init(|| self.solve()).as_ref().map(Option::as_ref).map_err(|left| *left)
    }

    fn solve(&self) -> Answer<Option<Plan>> {
        if self.ill_typed().is_some() || (self.is_covered() && self.closure()?.is_err()) {
            return Ok(None);
        }
        let Problem { init, goal, others, .. } = &*self.problem;
        if others.is_empty() && subset(goal, init) {
            return Ok(Some(Plan::default()));
        }
        if let Some(roles) = &self.domain.roles {
            let (words, (init, goal)) = (&self.problem.words, self.in_rules());
            let actions = match self.start() {
                Some(Ok(start)) => self.found.goal.get().and_then(|aims| Some(start.plan(words, aims.as_ref().ok()?))),
                Some(Err(broken)) => self.plan_from_part(init, goal, &broken.0, CONFLICTS, &mut MOST_PARTS.clone()),
                None => None,
            };
            let actions = actions.ok_or(Left::Rules)?; // a search may know more
            if actions.len() > MOST_STEPS {
                return Err(Left::Budget);
            }
            let plan = roles.plan(&actions);
            // A plan that is not valid is a bug.
            let reached = execute(self, &plan).ok_or(Left::Rules)?;
            if !self.has_goal(&reached)? {
                return Err(Left::Rules);
            }
            let _ = self.found.reached.set(reached);
            return Ok(Some(plan));
        }
        let Ok(path) = self.path()? else { return Ok(None) };
        self.actions(path).map(Some)
    }

    /// The actions of operators at these places.
    fn actions(&self, path: &[usize]) -> Answer<Plan> {
        let (task, back) = (self.ground()?, &self.lifted()?.back);
        let mut plan = Vec::with_capacity(4 * path.len());
        for place in path {
            let (operator, arguments) = &task.actions[task.operators[*place].number];
            plan.push(*operator as Word);
            plan.extend(arguments.iter().map(|name| back[*name as usize]));
        }
        Ok(Plan(plan))
    }

    /// A plan to a state with the goal that lacks this atom, which the closure does not have.
    pub fn plan_without(&self, atom: Atom) -> Answer<Plan> {
        let (task, goal, lifted) = (self.ground()?, self.reachable()?, self.lifted()?);
        if !goal.is_plain() {
            return Err(Left::Formula);
        }
        let lacking = task.bits_of_goal(&lifted.lifted(&[atom]), &lifted.names).ok();
        let lacking = lacking.unwrap_or_else(|| Bits::none(task.atoms.len()));
        self.actions(&find_plan(task, &goal.yes, &lacking)?.map_err(|_| Left::Panic)?)
    }

    /// A plan with the fewest operators, or why there is none.
    pub fn cheapest_plan(&self) -> Answer<Result<Plan, Unsolvable>> {
        Ok(match self.asked()? {
            Ok(goal) => match cheapest_plan(self.ground()?, &goal.yes)? {
                Ok(path) => Ok(self.actions(&path)?),
                Err(proof) => Err(Unsolvable::BySearch(proof)),
            },
            Err(proof) => Err(proof.clone()),
        })
    }

    /// Why there is no plan, where that is not for its types.
    pub fn proof(&self) -> Answer<Option<&Unsolvable>> {
        if self.is_covered() {
            return Ok(self.closure()?.as_ref().err());
        }
        Ok(self.path()?.as_ref().err())
    }

    /// A plan from a part of the initial state that breaks no assumption; it is one from the whole, too.
    fn plan_from_part(
        &self,
        init: &[Atom],
        goal: &[Atom],
        broken: &[Atom],
        conflicts: usize,
        left: &mut usize,
    ) -> Option<Vec<Action>> {
        let words = &self.problem.words;
        let mut broken = if conflicts == 0 { Vec::new() } else { broken.to_vec() };
        broken.sort_by_key(|atom| has(goal, *atom));
        for atom in broken {
            *left = left.checked_sub(1)?;
            let part: Vec<Atom> = init.iter().copied().filter(|other| *other != atom).collect();
            let found = match self.read(&part)? {
                Ok(start) => start.goal(words, goal).ok().map(|aims| start.plan(words, &aims)),
                Err(further) => self.plan_from_part(&part, goal, &further.0, conflicts - 1, left),
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// True where the plan, in this problem's words, leads to the goal.
    pub fn is_solved_by(&self, plan: &Plan) -> Answer<bool> {
        if self.is_beyond() {
            return self.is_solved_beyond(plan);
        }
        execute(self, plan).map_or(Ok(false), |state| self.has_goal(&state))
    }

    fn has_goal(&self, state: &State) -> Answer<bool> {
        let Problem { goal, others, .. } = &*self.problem;
        if others.is_empty() || !goal.iter().all(|atom| state.contains(atom)) {
            return Ok(goal.iter().all(|atom| state.contains(atom)));
        }
        let (task, lifted, Ok(asked)) = (self.ground()?, self.lifted()?, self.asked()?) else { return Ok(false) };
        let is_true = |bit: usize| state.contains(&lifted.atom(&task.atoms[bit]));
        Ok(Judge::new(asked.formula.len()).is_true(&asked.formula, is_true))
    }

    /// True where its plan, which the rules found, solves another task of the same words, too; None where that is not known
    /// without executing it.
    pub fn solves(&self, other: &Task) -> Answer<Option<bool>> {
        let starts_alike = self.problem.init == other.problem.init && self.types_of_words == other.types_of_words;
        self.found.reached.get().filter(|_| starts_alike).map(|state| other.has_goal(state)).transpose()
    }

    /// The same where sets of atoms do not say what operators do.
    fn is_solved_beyond(&self, plan: &Plan) -> Answer<bool> {
        let (task, lifted) = (self.ground()?, self.lifted()?);
        let (mut state, mut judge) = (task.initial.clone(), task.judge(MOST_PARTS_OF_ROW));
        for step in plan.steps(&self.domain.operators) {
            let arguments = step[1..].iter().map(|word| lifted.to.get(*word as usize).copied());
            let Some(arguments) = arguments.collect() else { return Ok(false) };
            match task.after_action(&state, &(step[0] as usize, arguments), &mut judge) {
                Some(after) => state = after,
                None => return Ok(false),
            }
        }
        let Ok(goal) = self.asked()? else { return Ok(false) };
        let has_goal = goal.is_met(&task.full(&state, &mut judge).0, &mut judge);
        if judge.left == 0 {
            return Err(Left::Budget);
        }
        Ok(has_goal)
    }

    /// As `certificate`; None where rules do not cover the problem and its states are too many to be listed. If `asked`,
    /// it is what is asked for.
    pub fn certificate_within_limits(
        &self,
        is_placeholder: bool,
        asked: bool,
        alike: Option<&Task>,
    ) -> Answer<Option<Digits>> {
        let many = self.problem.objects.len() > FEW_OBJECTS && !asked;
        if self.domain.roles.is_some() && self.may_search && many && !self.is_covered() {
            return Ok(None);
        }
        if self.has_many_states() || (self.ill_typed().is_some() && self.has_more_than_few_states()?) {
            return Ok(None);
        }
        self.certificate(is_placeholder, alike).map(Some)
    }

    /// True where only states decide, and more than few.
    fn has_more_than_few_states(&self) -> Answer<bool> {
        if self.is_covered() || matches!(self.asked()?, Err(Unsolvable::NeverAdded(_))) {
            return Ok(false);
        }
        Ok(self.ground()?.count_states(FEW_STATES).map_or(true, |count| count > FEW_STATES))
    }

    /// 32 hexadecimal digits, equal exactly for equivalent problems; for placeholders, initial state and goal apart.
    ///
    /// Scenes that are the same in a task `alike`, with the same numbers of words and typed objects, have one graph.
    pub fn certificate(&self, is_placeholder: bool, alike: Option<&Task>) -> Answer<Digits> {
        let compute = || {
            let graphs = self.certified(is_placeholder, alike)?;
            let graphs: Answer<Vec<_>> = graphs.into_iter().map(|each| Ok((&each.graph, each.labelling()?))).collect();
            self.digest(is_placeholder, &graphs?)
        };
        *self.graphs.certificates[usize::from(is_placeholder)].get_or_init(compute)
    }

    /// The certificate of a task that says the same of objects of one other type, where those of this one have one type and
    /// nothing asks for types.
    pub fn certificate_with_type(&self, is_placeholder: bool, own: &[u8], other: &[u8]) -> Answer<Digits> {
        let graphs = self.certified(is_placeholder, None)?;
        let typed: Vec<LabelledGraph> = graphs.iter().map(|each| each.graph.with_kind(own, other)).collect();
        let graphs: Answer<Vec<_>> = typed.iter().zip(graphs).map(|(own, each)| Ok((own, each.labelling()?))).collect();
        self.digest(is_placeholder, &graphs?)
    }

    /// The graphs that a certificate is made of.
    fn certified<'a>(&'a self, is_placeholder: bool, alike: Option<&'a Task>) -> Answer<Vec<&'a Graph>> {
        if !is_placeholder {
            return Ok(vec![self.closed_graph()?]);
        }
        let alike = |is_same: &dyn Fn(&Task) -> bool| alike.filter(|other| is_same(other)).unwrap_or(self);
        let initial = alike(&|other| other.starts_as(&self.problem)).initial_scene()?;
        Ok(vec![initial, alike(&|other| self.has_closed_goal_of(other)).closed_goal_scene()?])
    }

    fn digest(&self, is_placeholder: bool, graphs: &[(&LabelledGraph, &Labelling)]) -> Answer<Digits> {
        let (problem, domain) = (&self.problem, &self.domain);
        let types = problem.objects.iter().map(|(_, type_)| problem.words.number(*type_));
        let costed = domain.costed.as_ref().filter(|_| !problem.numbers_of(&|word| word).is_empty());
        let structure = costed.map_or(&domain.structure, |(_, structure)| structure);
        let fingerprint = structure.fingerprint(types, &domain.names)?;
        let is_new = is_placeholder && domain.uses_negation;
        let version = if is_new { CERTIFICATE_VERSION } else { UNCHANGED_SINCE };
        Ok(digest(version, &fingerprint, graphs))
    }

    /// True where the initial scenes are the same; of the same words.
    fn starts_as(&self, problem: &Problem) -> bool {
        let own = |problem: &Problem| problem.numbers_of(&|word| word);
        self.problem.init == problem.init && own(&self.problem) == own(problem)
    }

    /// True where both closures are the same atoms, which are all that their scenes have.
    fn has_closed_goal_of(&self, other: &Task) -> bool {
        let are_atoms = !self.domain.uses_negation && [self, other].iter().all(|task| task.problem.others.is_empty());
        are_atoms && matches!((self.closure(), other.closure()), (Ok(Ok(own)), Ok(Ok(theirs))) if own == theirs)
    }

    /// The graph of the objects with their types and of some scenes; a constant that no atom names is left out.
    fn graph(&self, scenes: &[(Scene, &[Atom])]) -> Graph {
        let (problem, words) = (&self.problem, &self.problem.words);
        let constants: Vec<Word> = self.domain.constants(words).collect();
        Graph::new(LabelledGraph::new(words, &self.types, &constants, &problem.number, scenes))
    }

    /// The graph of the initial state.
    pub fn initial_scene(&self) -> Answer<&Graph> {
        if let Some(graph) = self.graphs.initial_scene.get() {
            return Ok(graph);
        }
        let graph = self.graph_with(&[(Scene::Init, &self.problem.init)], &[], &[])?;
        Ok(self.graphs.initial_scene.get_or_init(|| graph))
    }

    /// The initial state joined with the goal's own atoms.
    pub fn graph_as_written(&self) -> Answer<&Graph> {
        if let Some(graph) = self.graphs.graph_as_written.get() {
            return Ok(graph);
        }
        let Problem { goal, init, others, .. } = &*self.problem;
        let scenes = [(Scene::Goal, &goal[..]), (Scene::Init, init)];
        let graph = self.graph_with(&scenes, others, &[])?;
        Ok(self.graphs.graph_as_written.get_or_init(|| graph))
    }

    /// The graph of scenes, of conjuncts and of states, each an object of its own that is linked to what it names, and of
    /// numbers in a scene that has the initial state.
    fn graph_with(&self, scenes: &[(Scene, &[Atom])], conjuncts: &[Conjunct], states: &[ListedState]) -> Answer<Graph> {
        let starts = self.problem.numbers.is_some() && scenes.iter().any(|(scene, _)| *scene == Scene::Init);
        if conjuncts.is_empty() && states.is_empty() && !starts {
            return Ok(self.graph(scenes));
        }
        // Numbers of its own: those of `lifted` depend on which of two tasks is ground first.
        let (words, mut names) = (&self.problem.words, self.domain.names.clone());
        let to = numbers(words, &mut names)?;
        let number = |word: &Word| to[*word as usize];
        let none = names.number(b"", 0, 0)?;
        let lifted = |atom: &Atom| -> Lifted {
            match *atom {
                0 => vec![none], // of a metric
                atom => words_of(atom).iter().take_while(|word| **word != 0).map(number).collect(),
            }
        };
        let objects = self.problem.objects.iter().zip(&self.types);
        let mut terms: Vec<(Word, Vec<u8>)> =
            objects.map(|((name, _), type_)| (number(name), words.text(*type_).to_vec())).collect();
        let mut atoms: Vec<(Cow<[u8]>, Lifted)> = Vec::new();
        for (scene, own) in scenes {
            atoms.extend(own.iter().map(|atom| (scene.name().into(), lifted(atom))));
        }
        if starts {
            let said = self.problem.numbers_of(&|word| word).into_iter();
            atoms.extend(said.map(|(label, fluent)| (label.into(), lifted(&fluent))));
        }
        let mut known = HashSet::default();
        for Conjunct { encoded, written, .. } in conjuncts {
            let mut own: Vec<Word> = Vec::new();
            for name in written.named.iter().map(number) {
                own.extend((!own.contains(&name)).then_some(name));
            }
            if !known.insert((encoded, own.clone())) {
                continue; // other variables
            }
            let name = format!(" conjunct {}", known.len());
            let conjunct = names.number(name.as_bytes(), 0, name.len())?;
            terms.push((conjunct, encoded.clone()));
            for (place, name) in own.into_iter().enumerate() {
                let place = place.to_string();
                let place = names.number(place.as_bytes(), 0, place.len())?;
                atoms.push((b"goal as written"[..].into(), vec![place, conjunct, name]));
            }
        }
        let mut said: HashSet<Word> = atoms.iter().flat_map(|(_, atom)| &atom[1..]).copied().collect();
        for (state, values) in states {
            let fluents = values.iter().map(|(fluent, _)| fluent);
            said.extend(state.iter().chain(fluents).flat_map(|atom| arguments(*atom)).map(|name| number(&name)));
        }
        for name in self.domain.constants(words).map(|name| number(&name)).filter(|name| said.contains(name)) {
            terms.push((name, [b"= ", names.text(name)].concat()));
        }
        for (number, (state, values)) in states.iter().enumerate() {
            let name = format!(" {number}");
            let name = names.number(name.as_bytes(), 0, name.len())?;
            terms.push((name, b"goal state".to_vec()));
            let with_state = |mut atom: Lifted| {
                atom.insert(1, name);
                atom
            };
            let label = || b"goal state"[..].into();
            atoms.push((label(), with_state(vec![none])));
            atoms.extend(state.iter().map(|atom| (label(), with_state(lifted(atom)))));
            let valued = |(fluent, value): &(Atom, String)| {
                (format!("goal state = {value}").into_bytes().into(), with_state(lifted(fluent)))
            };
            atoms.extend(values.iter().map(valued));
        }
        let atoms: Vec<(&[u8], &Lifted)> = atoms.iter().map(|(scene, atom)| (&**scene, atom)).collect();
        Ok(Graph::new(LabelledGraph::of_scenes(&terms, &atoms, &names)?))
    }

    /// The graph of cl(goal); where operators ask for atoms to be false, with the atoms that are possible beside it.
    pub fn closed_goal_scene(&self) -> Answer<&Graph> {
        if let Some(graph) = self.graphs.closed_goal_scene.get() {
            return Ok(graph);
        }
        let (scene, goal) = self.closed_goal(false)?;
        let mut scenes: Vec<(Scene, &[Atom])> = vec![(scene, &goal)];
        let (never, states) = self.apart_of(scene)?;
        if scene == Scene::Goal && self.domain.uses_negation && states.is_empty() {
            scenes.push((Scene::Possible, self.possible()?));
        } else {
            scenes.push((Scene::NotGoal, &never));
        }
        let graph = self.graph_with(&scenes, &[], &states)?;
        Ok(self.graphs.closed_goal_scene.get_or_init(|| graph))
    }

    /// The initial state joined with cl(goal), without what no operator changes: it stands in the initial state.
    pub fn closed_graph(&self) -> Answer<&Graph> {
        if let Some(graph) = self.graphs.closed_graph.get() {
            return Ok(graph);
        }
        let (scene, goal) = self.closed_goal(true)?;
        if scene == Scene::Goal && goal == self.problem.goal && self.problem.others.is_empty() {
            return self.graph_as_written();
        }
        let (never, states) = self.apart_of(scene)?;
        let init = (Scene::Init, &self.problem.init[..]);
        let mut scenes = [(scene, &goal[..]), (Scene::NotGoal, &never), init];
        if scene != Scene::Goal {
            scenes.swap(0, 2); // the order of their names
        }
        let graph = self.graph_with(&scenes, &[], &states)?;
        Ok(self.graphs.closed_graph.get_or_init(|| graph))
    }

    /// What the closed goal's scene has beside cl(goal).
    fn apart_of(&self, scene: Scene) -> Answer<Apart> {
        if scene == Scene::Goal {
            self.apart().cloned()
        } else {
            Ok(Apart::default())
        }
    }

    /// The scene of cl(goal), or one that no goal's atoms can make.
    fn closed_goal(&self, only_fluents: bool) -> Answer<(Scene, Vec<Atom>)> {
        let words = &self.problem.words;
        Ok(match self.closure()? {
            Err(_) => (Scene::NoGoal, vec![words.atom(Known::TheGoal, 0, 0)]),
            Ok(closure) => {
                let counts = |atom: &&Atom| !only_fluents || self.domain.is_fluent(predicate(**atom), words);
                let mut goal = Vec::with_capacity(closure.len());
                goal.extend(closure.iter().filter(counts));
                (Scene::Goal, goal)
            }
        })
    }
}
