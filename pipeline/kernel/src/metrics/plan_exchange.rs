//! Plan exchange: is the plan found in one domain a plan in the other? (definition/metrics/plan_exchange.py)

use crate::difference::Difference;
use crate::domain_difference::words_of;
use crate::formulas::World;
use crate::grounding::Objects;
use crate::hashing::HashSet;
use crate::left::Answer;
use crate::metrics::domain_pair::first_misfit;
use crate::metrics::execution::execute;
use crate::model::{Domain, Lifted, Word};
use crate::pddl::problems::Interner;
use crate::planning::search::find_plan;
use crate::planning::task::{ground, Bits};
use crate::plans::found::{Step, Steps};
use std::rc::Rc;

/// A problem in a domain; `objects` are the problem's and the domain's constants.
pub struct Task<'a> {
    pub domain: &'a Rc<Domain>,
    pub objects: &'a Objects,
    pub init: &'a [Lifted],
    pub goal: &'a [Lifted],
}

/// The names of operators with their arguments.
pub type Plan = Vec<Lifted>;

/// A plan, or why there is none.
pub type Found = Result<Plan, Difference>;

impl Task<'_> {
    /// The first atom of the problem that the declarations of the domain do not admit.
    pub fn ill_typed(&self, names: &Interner) -> Option<Difference> {
        let type_of = |term: Word| self.objects.get(&term).copied();
        let why = first_misfit(self.domain, self.init.iter().chain(self.goal), type_of, names)?;
        Some(Difference::of("ill typed problem").because("why", why))
    }

    pub fn plan(&self, names: &Interner) -> Answer<Found> {
        if let Some(why) = self.ill_typed(names) {
            return Ok(Err(why));
        }
        let init: HashSet<&Lifted> = self.init.iter().collect();
        if self.goal.iter().all(|atom| init.contains(atom)) {
            return Ok(Ok(Vec::new()));
        }
        let task = ground(self.objects, self.init, self.domain, names)?;
        let goal = match task.bits_of_goal(self.goal, names) {
            Ok(goal) => goal,
            Err(atom) => return Ok(Err(Difference::of("never added").words("atom", words_of(atom, names)))),
        };
        Ok(match find_plan(&task, &goal, &Bits::none(task.atoms.len()))? {
            Ok(path) => {
                let action = |place: usize| {
                    let (operator, arguments) = &task.actions[task.operators[place].number];
                    [&[self.domain.operators[*operator].name], &arguments[..]].concat()
                };
                Ok(path.into_iter().map(action).collect())
            }
            Err(proof) => Err(proof.difference()),
        })
    }

    /// Why the plan does not reach the goal; None where it does.
    fn execute(&self, plan: &Plan, names: &Interner) -> Answer<Option<Difference>> {
        let mut steps = Steps::new();
        let step = |action: &Lifted| {
            action.iter().for_each(|word| steps.push(names.text(*word)));
            steps.action()
        };
        let plan = plan.iter().map(step).collect::<Answer<Vec<Step>>>()?;
        let parts = [self.init, self.goal].map(<[Lifted]>::to_vec);
        let mut world = World::of(0, self.domain.clone(), self.objects.clone(), parts, names)?;
        Ok(execute(&mut world, &plan, &steps, names)?.ending(b"", &world, names))
    }
}

/// Whether the generated domain's plan is valid in the reference, and the other way round; notes are added.
///
/// None for the generated task, and the plan in it, where it is the reference itself.
pub fn exchange_plans(
    reference: &Task,
    ours: &Found,
    generated: Option<(&Task, Found)>,
    names: &Interner,
    notes: &mut Vec<Difference>,
) -> Answer<[Option<bool>; 2]> {
    let (generated, theirs) = generated.unwrap_or_else(|| (reference, ours.clone()));
    let mut note = |kind, why: &Difference| notes.push(Difference::of(kind).because("reason", why.clone()));
    // What is wrong with a plan in a task.
    let fault =
        |plan: &Plan, task: &Task| task.ill_typed(names).map_or_else(|| task.execute(plan, names), |why| Ok(Some(why)));
    let mut valid = [None; 2];
    match ours {
        Ok(plan) => {
            let why = fault(plan, generated)?;
            why.iter().for_each(|why| note("reference plan", why));
            valid[1] = Some(why.is_none());
        }
        Err(why) => note("no reference plan", why),
    }
    match &theirs {
        Ok(plan) => {
            let why = fault(plan, reference)?;
            why.iter().for_each(|why| note("generated plan", why));
            valid[0] = Some(why.is_none());
        }
        Err(why) => {
            note("no generated plan", why);
            valid[0] = ours.is_ok().then_some(false);
        }
    }
    Ok(valid)
}
