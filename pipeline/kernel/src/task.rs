//! A planning task: a problem in its domain, and all that follows from the two, each thing computed once
//! (definition/task.py). A reference's task serves all answers of a batch that are compared with it.

use crate::canonical::{digest, Digits, LabelledGraph, Labelling, Scene};
use crate::domains::{BrokenAssumption, CoveredGoal, CoveredState, Domain, Unsolvable};
use crate::left::{Answer, Left};
use crate::model::{has, predicate, subset, Atom, Known, Problem, Word};
use crate::validation::{execute, Action};
use std::cell::OnceCell;
use std::rc::Rc;

/// The version of certificates that is hashed into all but those of placeholders in a domain that uses negation.
pub const UNCHANGED_SINCE: usize = 2;

/// Atoms that may be set aside from an initial state that no rules cover.
const CONFLICTS: usize = 3;

/// Parts of an initial state that are tried for that; the definition tries them all.
const MOST_PARTS: usize = 64;

/// A graph with its labelling, made when it is first asked for.
pub struct Graph {
    graph: LabelledGraph,
    labelling: OnceCell<Answer<Labelling>>,
}

impl Graph {
    pub fn new(graph: LabelledGraph) -> Graph {
        Graph { graph, labelling: OnceCell::new() }
    }

    pub fn labelled(&self) -> &LabelledGraph {
        &self.graph
    }

    pub fn labelling(&self) -> Answer<&Labelling> {
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

    pub fn same_invariant(&self, other: &Graph) -> bool {
        self.graph.same_invariant(&other.graph)
    }
}

/// Why a typed domain does not admit an atom.
pub enum Misfit {
    Predicate(Atom),
    /// How many arguments the predicate takes.
    Arguments(Atom, usize),
    /// The number of the argument, the type that it should have, and the one that it has.
    Type(Atom, usize, Known, Word),
}

pub struct Task {
    pub problem: Rc<Problem>,
    pub domain: Domain,
    typed: bool,
    /// The types of the objects.
    pub types: Vec<Word>,
    /// The same by word, where operators ask for types.
    pub types_of_words: Vec<Word>,
    start: OnceCell<Result<CoveredState, BrokenAssumption>>,
    goal: OnceCell<Answer<Result<CoveredGoal, Unsolvable>>>,
    closure: OnceCell<Answer<Result<Vec<Atom>, Unsolvable>>>,
    plan: OnceCell<Answer<Option<Vec<Action>>>>,
    certificate: OnceCell<Answer<Digits>>,
    placeholder_certificate: OnceCell<Answer<Digits>>,
    initial_scene: OnceCell<Graph>,
    graph_as_written: OnceCell<Graph>,
    closed_graph: OnceCell<Graph>,
    closed_goal_scene: OnceCell<Graph>,
    untyped: OnceCell<Box<Task>>,
}

impl Task {
    pub fn new(problem: Rc<Problem>, domain: Domain, typed: bool) -> Task {
        let object = problem.words.place(Known::Object);
        let types: Vec<Word> = problem.objects.iter().map(|(_, type_)| if typed { *type_ } else { object }).collect();
        let mut types_of_words = Vec::new();
        if domain.has_types() {
            types_of_words = problem.words.each(0);
            for ((name, _), type_) in problem.objects.iter().zip(&types) {
                types_of_words[*name as usize] = *type_;
            }
        }
        Task {
            problem,
            domain,
            typed,
            types,
            types_of_words,
            start: OnceCell::new(),
            goal: OnceCell::new(),
            closure: OnceCell::new(),
            plan: OnceCell::new(),
            certificate: OnceCell::new(),
            placeholder_certificate: OnceCell::new(),
            initial_scene: OnceCell::new(),
            graph_as_written: OnceCell::new(),
            closed_graph: OnceCell::new(),
            closed_goal_scene: OnceCell::new(),
            untyped: OnceCell::new(),
        }
    }

    /// The same task with types erased from the problem and from the operators.
    pub fn untyped(&self) -> &Task {
        self.untyped.get_or_init(|| Box::new(Task::new(self.problem.clone(), self.domain, false)))
    }

    /// True unless every object is a plain `object` and no operator asks for more.
    pub fn types_matter(&self) -> bool {
        let object = self.problem.words.place(Known::Object);
        self.domain.has_types() || self.types.iter().any(|type_| *type_ != object)
    }

    /// The first atom of the problem that the declarations of a typed domain do not admit.
    pub fn ill_typed(&self) -> Option<Misfit> {
        if !self.typed || !self.domain.has_types() {
            return None;
        }
        let of = |atoms: &[Atom]| atoms.iter().find_map(|atom| Some((*atom, self.misfit(*atom)?)));
        let found = of(&self.problem.init).into_iter().chain(of(&self.problem.goal));
        found.min_by_key(|(atom, _)| *atom).map(|(_, misfit)| misfit)
    }

    /// Why the declarations of Floor Tile do not admit the atom.
    fn misfit(&self, atom: Atom) -> Option<Misfit> {
        use Known::{AvailableColor, Color, Painted, Right, Robot, RobotAt, RobotHas, Tile, Up};
        let (predicate, first, second) = self.problem.words.read(atom);
        let declared: &[Known] = match predicate {
            Up | Right => &[Tile, Tile],
            RobotAt => &[Robot, Tile],
            RobotHas => &[Robot, Color],
            AvailableColor => &[Color],
            Painted => &[Tile, Color],
            _ => return Some(Misfit::Predicate(atom)),
        };
        let given = usize::from(first != 0) + usize::from(second != 0);
        if given != declared.len() {
            return Some(Misfit::Arguments(atom, declared.len()));
        }
        let mut places = declared.iter().zip([first, second]).enumerate();
        places.find_map(|(place, (wanted, name))| {
            let type_ = self.types_of_words[name as usize];
            (type_ != self.problem.words.place(*wanted)).then_some(Misfit::Type(atom, place + 1, *wanted, type_))
        })
    }

    /// The initial state as the domain's rules read it, or the assumption that it breaks.
    pub fn start(&self) -> Result<&CoveredState, &BrokenAssumption> {
        self.start.get_or_init(|| self.read(&self.problem.init)).as_ref()
    }

    fn read(&self, init: &[Atom]) -> Result<CoveredState, BrokenAssumption> {
        self.domain.read(&self.problem.words, init, self.typed.then_some(&self.types_of_words))
    }

    /// The goal as the domain's rules read it.
    fn goal(&self) -> Answer<&Result<CoveredGoal, Unsolvable>> {
        let compute = || Ok(self.start().map_err(|_| Left::Rules)?.goal(&self.problem.words, &self.problem.goal));
        self.goal.get_or_init(compute).as_ref().map_err(|left| *left)
    }

    /// cl(goal), sorted, or the proof that no reachable state contains the goal.
    pub fn closure(&self) -> Answer<&Result<Vec<Atom>, Unsolvable>> {
        let compute = || {
            let start = self.start().map_err(|_| Left::Rules)?;
            let closure = |aims| start.closure(&self.problem.words, &self.problem.goal, aims);
            Ok(self.goal()?.as_ref().map(closure).map_err(Unsolvable::clone))
        };
        self.closure.get_or_init(compute).as_ref().map_err(|left| *left)
    }

    /// A plan that was executed; None where there is none.
    pub fn plan(&self) -> Answer<Option<&Vec<Action>>> {
        self.plan.get_or_init(|| self.solve()).as_ref().map(Option::as_ref).map_err(|left| *left)
    }

    fn solve(&self) -> Answer<Option<Vec<Action>>> {
        if self.ill_typed().is_some() || (self.start().is_ok() && self.goal()?.is_err()) {
            return Ok(None);
        }
        let problem = &self.problem;
        if subset(&problem.goal, &problem.init) {
            return Ok(Some(Vec::new()));
        }
        let plan = match self.start() {
            Ok(start) => self.goal()?.as_ref().ok().map(|aims| start.plan(&problem.words, aims)),
            Err(broken) => self.plan_from_part(&problem.init, &broken.0, CONFLICTS, &mut MOST_PARTS.clone()),
        };
        let plan = plan.ok_or(Left::Rules)?; // a search may know more
        if self.is_solved_by(&plan) {
            return Ok(Some(plan));
        }
        Err(Left::Rules) // a plan that is not valid is a bug
    }

    /// A plan from a part of the initial state that breaks no assumption; it is one from the whole, too.
    fn plan_from_part(
        &self,
        init: &[Atom],
        broken: &[Atom],
        conflicts: usize,
        left: &mut usize,
    ) -> Option<Vec<Action>> {
        let mut broken = if conflicts == 0 { Vec::new() } else { broken.to_vec() };
        broken.sort_by_key(|atom| has(&self.problem.goal, *atom));
        for atom in broken {
            *left = left.checked_sub(1)?;
            let part: Vec<Atom> = init.iter().copied().filter(|other| *other != atom).collect();
            let found = match self.read(&part) {
                Ok(start) => {
                    let aims = start.goal(&self.problem.words, &self.problem.goal).ok();
                    aims.map(|aims| start.plan(&self.problem.words, &aims))
                }
                Err(further) => self.plan_from_part(&part, &further.0, conflicts - 1, left),
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// True where the plan, in this problem's words, leads to the goal.
    pub fn is_solved_by(&self, plan: &[Action]) -> bool {
        let problem = &self.problem;
        let end = execute(&problem.words, self.domain, &self.types_of_words, &problem.init, plan);
        end.is_some_and(|state| problem.goal.iter().all(|atom| state.contains(atom)))
    }

    /// 32 hexadecimal digits, equal exactly for equivalent problems.
    pub fn certificate(&self) -> Answer<Digits> {
        let compute = || {
            let closed = self.closed_graph()?;
            Ok(digest(UNCHANGED_SINCE, self.domain.fingerprint(), &[(&closed.graph, closed.labelling()?)]))
        };
        *self.certificate.get_or_init(compute)
    }

    /// The same where initial state and goal are compared separately.
    pub fn placeholder_certificate(&self) -> Answer<Digits> {
        let compute = || {
            let scenes = [self.initial_scene(), self.closed_goal_scene()?];
            let [init, goal] = scenes.map(|scene| Ok((&scene.graph, scene.labelling()?)));
            Ok(digest(UNCHANGED_SINCE, self.domain.fingerprint(), &[init?, goal?]))
        };
        *self.placeholder_certificate.get_or_init(compute)
    }

    fn graph(&self, scenes: &[(Scene, &[Atom])]) -> Graph {
        Graph::new(LabelledGraph::new(&self.problem.words, &self.types, &self.problem.number, scenes))
    }

    /// The graph of the initial state.
    pub fn initial_scene(&self) -> &Graph {
        self.initial_scene.get_or_init(|| self.graph(&[(Scene::Init, &self.problem.init)]))
    }

    /// The initial state joined with the goal's own atoms.
    pub fn graph_as_written(&self) -> &Graph {
        let scenes: [(Scene, &[Atom]); 2] = [(Scene::Goal, &self.problem.goal), (Scene::Init, &self.problem.init)];
        self.graph_as_written.get_or_init(|| self.graph(&scenes))
    }

    /// The graph of cl(goal).
    pub fn closed_goal_scene(&self) -> Answer<&Graph> {
        let (scene, goal) = self.closed_goal(false)?;
        Ok(self.closed_goal_scene.get_or_init(|| self.graph(&[(scene, &goal)])))
    }

    /// The initial state joined with cl(goal), without what no operator changes: it stands in the initial state.
    pub fn closed_graph(&self) -> Answer<&Graph> {
        if let Some(graph) = self.closed_graph.get() {
            return Ok(graph);
        }
        let (scene, goal) = self.closed_goal(true)?;
        if scene == Scene::Goal && goal == self.problem.goal {
            return Ok(self.graph_as_written());
        }
        let mut scenes: [(Scene, &[Atom]); 2] = [(Scene::Init, &self.problem.init), (scene, &goal)];
        if scene == Scene::Goal {
            scenes.swap(0, 1); // the order of their names
        }
        Ok(self.closed_graph.get_or_init(|| self.graph(&scenes)))
    }

    /// The scene of cl(goal), or one that no goal's atoms can make.
    fn closed_goal(&self, only_fluents: bool) -> Answer<(Scene, Vec<Atom>)> {
        let words = &self.problem.words;
        Ok(match self.closure()? {
            Err(_) => (Scene::NoGoal, vec![words.atom(Known::TheGoal, 0, 0)]),
            Ok(closure) => {
                let counts = |atom: &&Atom| !only_fluents || self.domain.is_fluent(words.known(predicate(**atom)));
                let mut goal = Vec::with_capacity(closure.len());
                goal.extend(closure.iter().filter(counts));
                (Scene::Goal, goal)
            }
        })
    }
}
