//! Is this whole task right? A domain and a problem in it against those of the reference
//! (definition/task_equivalence.py), where operators name the constants that their domain declares.

use crate::domains::renaming::KnownDomains;
use crate::domains::PlanningDomain;
use crate::left::{Answer, Left};
use crate::model::Word;
use crate::pddl::problems::{Interner, LiftedProblem};
use crate::strips::comparison::read_in;
use crate::strips::task::{Task, Within};
use crate::structure::graph::{DomainGraph, Vertex};
use crate::structure::structure::DomainStructure;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A problem in its domain, with the graphs of both together.
pub struct WholeTask {
    domain: PlanningDomain,
    task: Task,
    as_written: OnceCell<Answer<DomainGraph>>,
    /// With cl(goal), and with cl(goal) over objects of its own.
    closed: [OnceCell<Answer<DomainGraph>>; 2],
}

impl WholeTask {
    pub fn new(domain: PlanningDomain, problem: Rc<LiftedProblem>) -> WholeTask {
        let task = Task::new(problem, true, None, &domain);
        WholeTask { domain, task, as_written: OnceCell::new(), closed: Default::default() }
    }

    fn as_written(&self, names: &Interner) -> Answer<&DomainGraph> {
        let LiftedProblem { objects, init, goal, .. } = &*self.task.problem;
        let (domain, scenes) = (&self.domain.structure.domain, [[&init[..], &goal[..]]]);
        let compute = || DomainGraph::with_scenes(domain, true, objects, &scenes, names);
        self.as_written.get_or_init(compute).as_ref().map_err(|left| *left)
    }

    /// None where no reachable state has the goal.
    fn closed(&self, apart: bool, names: &Interner) -> Answer<Option<&DomainGraph>> {
        let Ok(closure) = self.task.closure(Within { domain: &self.domain, names })? else { return Ok(None) };
        let LiftedProblem { objects, init, .. } = &*self.task.problem;
        let domain = &self.domain.structure.domain;
        let compute = || match apart {
            true => DomainGraph::with_scenes(domain, true, objects, &[[init, &[]], [&[], closure]], names),
            false => DomainGraph::with_scenes(domain, true, objects, &[[init, closure]], names),
        };
        self.closed[usize::from(apart)].get_or_init(compute).as_ref().map(Some).map_err(|left| *left)
    }
}

/// The domain with what its tasks share.
///
/// Constants that no operator names may be objects or none, and what only a problem declares is an object that operators
/// name: both are left to the definition.
pub fn whole_domain(
    structure: DomainStructure,
    known_domains: &mut KnownDomains,
    names: &mut Interner,
) -> Answer<PlanningDomain> {
    let constant = |vertex: &Vertex| if let Vertex::Constant(name) = vertex { Some(*name) } else { None };
    let named: BTreeSet<Word> = structure.graph(names)?.vertices.iter().filter_map(constant).collect();
    if !named.iter().eq(structure.domain.constants.keys()) {
        return Err(Left::Task);
    }
    PlanningDomain::new(structure, known_domains, names)
}

/// Whether the problem of a text is the reference's under a renaming that makes the domains equivalent, which they are.
pub fn decide_tasks(
    reference: &WholeTask,
    domain: PlanningDomain,
    generated: Option<&[u8]>,
    is_placeholder: bool,
    last_answer: bool,
    names: &mut Interner,
    own_names: &mut Interner,
) -> Answer<bool> {
    let Some(wanted) = reference.closed(is_placeholder, names)? else { return Err(Left::Reference) };
    let reading = read_in(generated, &domain, names, own_names)?;
    if reading.several && last_answer {
        return Err(Left::Setting);
    }
    let Ok(problem) = reading.outcome else { return Ok(false) };
    let theirs = &reference.task.problem;
    let sizes = |problem: &LiftedProblem| (problem.objects.len(), problem.init.len());
    if ![domain.structure.domain.name, theirs.domain].contains(&problem.domain) || sizes(&problem) != sizes(theirs) {
        return Ok(false);
    }
    let generated = WholeTask::new(domain, Rc::new(problem));
    if generated.as_written(names)?.isomorphic(reference.as_written(names)?)? {
        return Ok(true);
    }
    match generated.closed(is_placeholder, names)? {
        Some(closed) => closed.isomorphic(wanted),
        None => Ok(false),
    }
}
