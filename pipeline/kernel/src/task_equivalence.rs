//! Is this whole task right? A domain and a problem in it against those of the reference
//! (definition/task_equivalence.py), where operators name the constants that their domain declares.

use crate::domains::PlanningDomain;
use crate::left::{Answer, Left};
use crate::metrics::problem::read_in;
use crate::model::{Atom, Problem, Word};
use crate::pddl::domains::require_atoms;
use crate::structure::graph::{DomainGraph, Vertex};
use crate::task::Task;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A problem in its domain, with the graphs of both together.
pub struct WholeTask {
    pub task: Task,
    as_written: OnceCell<Answer<DomainGraph>>,
    /// With cl(goal), and with cl(goal) over objects of its own.
    closed: [OnceCell<Answer<DomainGraph>>; 2],
}

impl WholeTask {
    pub fn new(domain: Rc<PlanningDomain>, problem: Problem) -> WholeTask {
        let task = Task::new(Rc::new(problem), domain, true, true);
        WholeTask { task, as_written: OnceCell::new(), closed: Default::default() }
    }

    /// The graph of the operators and of scenes, each an initial state with a goal.
    fn graph(&self, scenes: &[[&[Atom]; 2]]) -> Answer<DomainGraph> {
        let lifted = self.task.lifted()?;
        let scenes: Vec<_> = scenes.iter().map(|scene| scene.map(|atoms| lifted.lifted(atoms))).collect();
        let scenes: Vec<_> = scenes.iter().map(|scene| scene.each_ref().map(Vec::as_slice)).collect();
        DomainGraph::with_scenes(&self.task.domain.structure.domain, true, &lifted.objects, &scenes, &lifted.names)
    }

    fn as_written(&self) -> Answer<&DomainGraph> {
        let Problem { init, goal, .. } = &*self.task.problem;
        self.as_written.get_or_init(|| self.graph(&[[init, goal]])).as_ref().map_err(|left| *left)
    }

    /// None where no reachable state has the goal.
    fn closed(&self, apart: bool) -> Answer<Option<&DomainGraph>> {
        let Ok(closure) = self.task.closure()? else { return Ok(None) };
        let init = &self.task.problem.init;
        let compute = || match apart {
            true => self.graph(&[[init, &[]], [&[], closure]]),
            false => self.graph(&[[init, closure]]),
        };
        self.closed[usize::from(apart)].get_or_init(compute).as_ref().map(Some).map_err(|left| *left)
    }
}

/// The domain of a text with what its tasks share; of several the last one if that counts.
///
/// Constants that no operator names may be objects or none, and what only a problem declares is an object that operators
/// name: both are left to the definition.
pub fn whole_domain(text: &[u8], last: bool) -> Answer<Rc<PlanningDomain>> {
    let domain = PlanningDomain::read(text, last)?;
    require_atoms(&domain.structure.domain)?;
    let constant = |vertex: &Vertex| if let Vertex::Constant(name) = vertex { Some(*name) } else { None };
    let vertices = &domain.structure.graph(&domain.names)?.vertices;
    let named: BTreeSet<Word> = vertices.iter().filter_map(constant).collect();
    if !named.iter().eq(domain.structure.domain.constants.keys()) {
        return Err(Left::Task);
    }
    Ok(Rc::new(domain))
}

/// Whether the problem of a text is the reference's under a renaming that makes the domains equivalent, which they are.
pub fn decide_tasks(
    reference: &WholeTask,
    domain: Rc<PlanningDomain>,
    generated: Option<&[u8]>,
    is_placeholder: bool,
    last_answer: bool,
) -> Answer<bool> {
    let Some(wanted) = reference.closed(is_placeholder)? else { return Err(Left::Reference) };
    let reading = read_in(&domain, generated)?;
    if reading.several && last_answer {
        return Err(Left::Setting);
    }
    let Ok(problem) = reading.outcome else { return Ok(false) };
    let theirs = &reference.task.problem;
    let name = problem.words.text(problem.domain);
    let sizes = |problem: &Problem| (problem.objects.len(), problem.init.len());
    let is_named = domain.is_called(name) || name == theirs.words.text(theirs.domain);
    if !is_named || sizes(&problem) != sizes(theirs) {
        return Ok(false);
    }
    let generated = WholeTask::new(domain, problem);
    if generated.as_written()?.isomorphic(reference.as_written()?)? {
        return Ok(true);
    }
    match generated.closed(is_placeholder)? {
        Some(closed) => closed.isomorphic(wanted),
        None => Ok(false),
    }
}
