//! A planning task: a problem in its domain, and what follows from the two, each thing made once (definition/task.py,
//! closure.py).

use crate::canonical::{digest, Digits, LabelledGraph};
use crate::difference::Difference;
use crate::domains::PlanningDomain;
use crate::grounding::Objects;
use crate::left::{Answer, Left};
use crate::metrics::plan_exchange::{self, Plan};
use crate::model::{has, Known, Lifted, Word};
use crate::pddl::problems::{Interner, LiftedProblem};
use crate::planning::bounds::closure_bounds;
use crate::planning::search::{find_plan, Proof};
use crate::planning::task::{ground, Bits, GroundTask, Shared, MAX_STATES};
use crate::task::{Graph, Task as KnownTask, UNCHANGED_SINCE};
use std::cell::{Cell, OnceCell};
use std::collections::HashSet;
use std::rc::Rc;

/// Objects up to which states are listed for a certificate alone, in a domain whose rules do not cover the initial state.
pub const FEW_OBJECTS: usize = 8;

/// The version that is hashed into the certificates of placeholders in a domain that uses negation.
const CERTIFICATE_VERSION: usize = 3;

/// Work to ground a task, about a microsecond each: a third of what the definition takes, so that it has time left.
const MOST_WORK: usize = 300_000;

/// Reachable states that are enumerated in less time than it takes to prepare a search.
const FEWEST_STATES: usize = 300;

/// What all tasks of a domain share.
#[derive(Clone, Copy)]
pub struct Within<'a> {
    pub domain: &'a PlanningDomain,
    pub names: &'a Interner,
}

/// A proof that no reachable state contains the goal.
#[derive(Clone)]
pub enum Unsolvable {
    /// Atoms of the goal that exclude each other, or one that is never true.
    ByRules(Vec<Lifted>, bool),
    NeverAdded(Lifted),
    BySearch(Proof),
}

/// Which atoms over a problem's objects a graph shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scene {
    Init,
    AsWritten,
    Closed,
    ClosedGoal,
}

pub struct Task {
    pub problem: Rc<LiftedProblem>,
    typed: bool,
    /// With the constants of the domain.
    pub objects: Objects,
    known: OnceCell<Answer<Option<KnownTask>>>,
    ground: Rc<OnceCell<Answer<GroundTask>>>,
    path: OnceCell<Answer<Result<Vec<usize>, Unsolvable>>>,
    closure: OnceCell<Answer<Result<Vec<Lifted>, Unsolvable>>>,
    /// Set where the states are too many to list: the definition, too, finds the closure by a search at most.
    has_many_states: Cell<bool>,
    plan: OnceCell<Answer<Option<Plan>>>,
    possible: OnceCell<Answer<Vec<Lifted>>>,
    certificates: [OnceCell<Answer<Digits>>; 2],
    graphs: [OnceCell<Answer<Graph>>; 4],
    untyped: OnceCell<Box<Task>>,
}

impl Task {
    /// `like` is a task with which the ground task is shared, if both start alike.
    pub fn new(problem: Rc<LiftedProblem>, typed: bool, like: Option<&Task>, domain: &PlanningDomain) -> Task {
        let mut objects: Objects = problem.objects.iter().copied().collect();
        objects.extend(&domain.operators_of(typed).constants);
        let like = like.filter(|like| like.objects == objects && like.problem.init == problem.init);
        Task {
            problem,
            typed,
            objects,
            known: OnceCell::new(),
            ground: like.map_or_else(Rc::default, |like| like.ground.clone()),
            path: OnceCell::new(),
            closure: OnceCell::new(),
            has_many_states: Cell::new(false),
            plan: OnceCell::new(),
            possible: OnceCell::new(),
            certificates: Default::default(),
            graphs: Default::default(),
            untyped: OnceCell::new(),
        }
    }

    /// The same task with types erased from the problem and from the operators.
    pub fn untyped(&self, like: Option<&Task>, domain: &PlanningDomain) -> &Task {
        self.untyped.get_or_init(|| {
            let LiftedProblem { domain: name, objects, init, goal } = &*self.problem;
            let objects = objects.iter().map(|(name, _)| (*name, Known::Object as Word)).collect();
            let plain = LiftedProblem { domain: *name, objects, init: init.clone(), goal: goal.clone() };
            Box::new(Task::new(Rc::new(plain), false, like, domain))
        })
    }

    /// True unless every object is a plain `object` and no operator asks for more.
    pub fn types_matter(&self, domain: &PlanningDomain) -> bool {
        domain.has_types || self.problem.objects.iter().any(|(_, type_)| *type_ != Known::Object as Word)
    }

    fn executable<'a>(&'a self, within: Within<'a>) -> plan_exchange::Task<'a> {
        let domain = within.domain.operators_of(self.typed);
        plan_exchange::Task { domain, objects: &self.objects, init: &self.problem.init, goal: &self.problem.goal }
    }

    /// In the words of a note, the first atom of the problem that the declarations of the domain do not admit.
    pub fn ill_typed(&self, within: Within) -> Option<Difference> {
        self.executable(within).ill_typed(within.names)
    }

    /// The task in the known domain that this one is in other words, if its rules cover the initial state.
    fn known(&self, within: Within) -> Answer<Option<&KnownTask>> {
        let known = self.known.get_or_init(|| {
            let Some(rules) = within.domain.rules.as_ref().map_err(|left| *left)? else { return Ok(None) };
            let domain = within.domain.operators_of(self.typed);
            rules.task(domain, &self.problem, self.typed, within.names).map(Some)
        });
        known.as_ref().map(Option::as_ref).map_err(|left| *left)
    }

    fn start(&self, within: Within) -> Answer<Option<&KnownTask>> {
        Ok(self.known(within)?.filter(|known| known.start().is_ok()))
    }

    /// cl(goal), sorted by the numbers of words: by the rules of a known domain, by enumeration, or between bounds.
    pub fn closure(&self, within: Within) -> Answer<&Result<Vec<Lifted>, Unsolvable>> {
        let compute = || match (self.start(within)?, &within.domain.rules) {
            (Some(known), Ok(Some(rules))) => {
                let back = |atom| rules.atom_back(known, atom, within.names);
                let closure = match known.closure()? {
                    Ok(closure) => closure,
                    Err(proof) => {
                        let atoms = proof.atoms.iter().map(|atom| back(*atom)).collect::<Answer<_>>()?;
                        return Ok(Err(Unsolvable::ByRules(atoms, proof.never_true)));
                    }
                };
                let mut found = self.problem.goal.clone();
                for atom in closure.iter().filter(|atom| !has(&known.problem.goal, **atom)) {
                    found.push(back(*atom)?);
                }
                found.sort_unstable();
                Ok(Ok(found))
            }
            _ => self.closed(within),
        };
        self.closure.get_or_init(compute).as_ref().map_err(|left| *left)
    }

    fn ground(&self, within: Within) -> Answer<&GroundTask> {
        let compute = || {
            let domain = within.domain.operators_of(self.typed);
            let found = ground(&self.objects, &self.problem.init, domain, within.names)?;
            if found.work > MOST_WORK {
                Err(Left::Budget)
            } else {
                Ok(found)
            }
        };
        self.ground.get_or_init(compute).as_ref().map_err(|left| *left)
    }

    /// The atoms that all reachable states with the goal have.
    fn closed(&self, within: Within) -> Answer<Result<Vec<Lifted>, Unsolvable>> {
        let task = self.ground(within)?;
        let goal = match task.bits_of_goal(&self.problem.goal, within.names) {
            Ok(goal) => goal,
            Err(atom) => return Ok(Err(Unsolvable::NeverAdded(atom.clone()))),
        };
        let closed = |(shared, states): Shared| {
            Ok(shared.map(|(shared, _)| task.state(&shared)).ok_or(Unsolvable::BySearch(Proof::NoState(states))))
        };
        if let Some(found) = task.shared(&goal, FEWEST_STATES) {
            return closed(found);
        }
        // A closure is the same by any way; a proof is what the definition finds, which enumerates first.
        if let Ok(Ok(path)) = self.path(within) {
            if let Ok(Some(shared)) = closure_bounds(task, &task.after(&task.initial, path), &goal) {
                return Ok(Ok(task.state(&shared)));
            }
        }
        if let Some(found) = task.shared(&goal, MAX_STATES) {
            return closed(found);
        }
        self.has_many_states.set(true);
        match self.path(within)? {
            Ok(_) => Err(Left::Budget),
            Err(proof) => Ok(Err(proof.clone())),
        }
    }

    /// The atoms that are true in some reachable goal states and not in all, where these states can be listed.
    fn possible(&self, within: Within) -> Answer<&Vec<Lifted>> {
        let compute = || {
            let task = self.ground(within)?;
            let goal = task.bits_of_goal(&self.problem.goal, within.names).map_err(|_| Left::Panic)?;
            let (shared, _) = task.shared(&goal, MAX_STATES).ok_or(Left::Budget)?;
            let (all, some) = shared.ok_or(Left::Panic)?;
            let mut found: Vec<Lifted> = some.but(&all).indexes().map(|index| task.atoms[index].clone()).collect();
            found.sort_unstable();
            Ok(found)
        };
        self.possible.get_or_init(compute).as_ref().map_err(|left| *left)
    }

    /// The operators of a plan that the search finds.
    fn path(&self, within: Within) -> Answer<&Result<Vec<usize>, Unsolvable>> {
        let compute = || {
            let task = self.ground(within)?;
            match task.bits_of_goal(&self.problem.goal, within.names) {
                Ok(goal) => Ok(find_plan(task, &goal, &Bits::none(task.atoms.len()))?.map_err(Unsolvable::BySearch)),
                Err(atom) => Ok(Err(Unsolvable::NeverAdded(atom.clone()))),
            }
        };
        self.path.get_or_init(compute).as_ref().map_err(|left| *left)
    }

    /// A plan for the problem; None where there is none.
    pub fn plan(&self, within: Within) -> Answer<Option<&Plan>> {
        self.plan.get_or_init(|| self.solve(within)).as_ref().map(Option::as_ref).map_err(|left| *left)
    }

    fn solve(&self, within: Within) -> Answer<Option<Plan>> {
        if self.ill_typed(within).is_some() || (self.start(within)?.is_some() && self.closure(within)?.is_err()) {
            return Ok(None);
        }
        let problem = &self.problem;
        if problem.goal.iter().all(|atom| problem.init.binary_search(atom).is_ok()) {
            return Ok(Some(Vec::new()));
        }
        if let (Some(known), Ok(Some(rules))) = (self.known(within)?, &within.domain.rules) {
            return rules.plan(known, within.domain.operators_of(self.typed), within.names).map(Some);
        }
        let Ok(path) = self.path(within)? else { return Ok(None) };
        self.actions(path, within).map(Some)
    }

    /// The actions of operators at these places.
    fn actions(&self, path: &[usize], within: Within) -> Answer<Plan> {
        let task = self.ground(within)?;
        let action = |place: &usize| {
            let (operator, arguments) = &task.actions[task.operators[*place].number];
            [&[within.domain.structure.domain.operators[*operator].name], &arguments[..]].concat()
        };
        Ok(path.iter().map(action).collect())
    }

    /// A plan to a state with the goal that lacks this atom, which the closure does not have.
    pub fn plan_without(&self, atom: &Lifted, within: Within) -> Answer<Plan> {
        let task = self.ground(within)?;
        let goal = task.bits_of_goal(&self.problem.goal, within.names).map_err(|_| Left::Panic)?;
        let lacking = task.bits_of_goal(std::slice::from_ref(atom), within.names);
        let lacking = lacking.unwrap_or_else(|_| Bits::none(task.atoms.len()));
        let path = find_plan(task, &goal, &lacking)?.map_err(|_| Left::Panic)?;
        self.actions(&path, within)
    }

    /// Why there is no plan, where that is not for its types.
    pub fn proof(&self, within: Within) -> Answer<Option<&Unsolvable>> {
        if self.start(within)?.is_some() {
            return Ok(self.closure(within)?.as_ref().err());
        }
        Ok(self.path(within)?.as_ref().err())
    }

    /// True where the plan, in this problem's words, leads to the goal.
    pub fn is_solved_by(&self, plan: &Plan, within: Within) -> bool {
        self.executable(within).execute(plan, within.names).is_none()
    }

    /// As `certificate`; None where rules do not cover the problem and its states are too many to be listed. If `asked`,
    /// it is what is asked for.
    pub fn certificate_within_limits(
        &self,
        is_placeholder: bool,
        asked: bool,
        within: Within,
    ) -> Answer<Option<Digits>> {
        let has_rules = matches!(within.domain.rules, Ok(Some(_)));
        if has_rules && !asked && self.problem.objects.len() > FEW_OBJECTS && self.start(within)?.is_none() {
            return Ok(None);
        }
        if self.closure(within).is_err() && self.has_many_states.get() {
            return Ok(None);
        }
        self.certificate(is_placeholder, within).map(Some)
    }

    /// 32 hexadecimal digits, equal exactly for equivalent problems; for placeholders, initial state and goal apart.
    pub fn certificate(&self, is_placeholder: bool, within: Within) -> Answer<Digits> {
        let compute = || {
            let types = self.problem.objects.iter().map(|(_, type_)| *type_);
            let fingerprint = within.domain.structure.fingerprint(types, within.names)?;
            let scenes: &[Scene] = if is_placeholder { &[Scene::Init, Scene::ClosedGoal] } else { &[Scene::Closed] };
            let mut graphs = Vec::new();
            for scene in scenes {
                let graph = self.graph(*scene, within)?;
                graphs.push((graph.labelled(), graph.labelling()?));
            }
            let text = std::str::from_utf8(&fingerprint).map_err(|_| Left::Panic)?;
            let is_new = is_placeholder && within.domain.uses_negation;
            Ok(digest(if is_new { CERTIFICATE_VERSION } else { UNCHANGED_SINCE }, text, &graphs))
        };
        *self.certificates[usize::from(is_placeholder)].get_or_init(compute)
    }

    /// The atoms of a scene, each with the name of the set that it is in; None for the goal of an unsolvable problem.
    pub fn atoms(&self, scene: Scene, within: Within) -> Answer<Vec<(&'static [u8], Option<&Lifted>)>> {
        let LiftedProblem { init, goal, .. } = &*self.problem;
        let mut found: Vec<(&'static [u8], Option<&Lifted>)> = Vec::new();
        if scene != Scene::ClosedGoal {
            found.extend(init.iter().map(|atom| (&b"init"[..], Some(atom))));
        }
        match scene {
            Scene::Init => {}
            Scene::AsWritten => found.extend(goal.iter().map(|atom| (&b"goal"[..], Some(atom)))),
            Scene::Closed | Scene::ClosedGoal => match self.closure(within)? {
                Err(_) => found.push((b"no reachable state has", None)),
                // What no operator changes stands in the initial state already.
                Ok(closure) => {
                    found.extend(
                        closure
                            .iter()
                            .filter(|atom| scene == Scene::ClosedGoal || within.domain.is_fluent(atom[0]))
                            .map(|atom| (&b"goal"[..], Some(atom))),
                    );
                    if scene == Scene::ClosedGoal && within.domain.uses_negation {
                        found.extend(self.possible(within)?.iter().map(|atom| (&b"goal possible"[..], Some(atom))));
                    }
                }
            },
        }
        Ok(found)
    }

    /// The objects with their types and the atoms of a scene; a constant that no atom names is left out.
    pub fn graph(&self, scene: Scene, within: Within) -> Answer<&Graph> {
        let compute = || {
            let names = within.names;
            let never = vec![Known::TheGoal as Word];
            let atoms = self.atoms(scene, within)?;
            let atoms: Vec<(&'static [u8], &Lifted)> =
                atoms.into_iter().map(|(name, atom)| (name, atom.unwrap_or(&never))).collect();
            let mut terms: Vec<(Word, Vec<u8>)> =
                self.problem.objects.iter().map(|(name, type_)| (*name, names.text(*type_).to_vec())).collect();
            let constants = &within.domain.structure.domain.constants;
            if !constants.is_empty() {
                let used: HashSet<Word> = atoms.iter().flat_map(|(_, atom)| &atom[1..]).copied().collect();
                let named = constants.keys().filter(|name| used.contains(name));
                terms.extend(named.map(|name| (*name, [b"= ", names.text(*name)].concat())));
            }
            Ok(Graph::new(LabelledGraph::of_scenes(&terms, &atoms, names)?))
        };
        self.graphs[scene as usize].get_or_init(compute).as_ref().map_err(|left| *left)
    }
}
