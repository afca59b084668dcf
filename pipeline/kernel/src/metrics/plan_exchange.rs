//! Plan exchange: is the plan found in one domain a plan in the other? (definition/metrics/plan_exchange.py)

use crate::difference::Difference;
use crate::domain_difference::words_of;
use crate::grounding::{broken_equation, Objects};
use crate::hashing::HashSet;
use crate::left::Answer;
use crate::metrics::domain_pair::first_misfit;
use crate::metrics::predictive::instance;
use crate::model::{Domain, Lifted, Word};
use crate::pddl::problems::Interner;
use crate::planning::search::find_plan;
use crate::planning::task::{ground, Bits};

/// A problem in a domain; `objects` are the problem's and the domain's constants.
pub struct Task<'a> {
    pub domain: &'a Domain,
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
    pub fn execute(&self, plan: &Plan, names: &Interner) -> Option<Difference> {
        let mut state: HashSet<Lifted> = self.init.iter().cloned().collect();
        for (number, action) in (1usize..).zip(plan) {
            if let Err(why) = self.apply(action, &mut state, names) {
                return Some(Difference::of("failure").number("step", number).because("reason", why));
            }
        }
        let mut unmet: Vec<&Lifted> = self.goal.iter().filter(|atom| !state.contains(*atom)).collect();
        names.sort(&mut unmet);
        let first = unmet.first()?;
        let first = words_of(first, names);
        Some(Difference::of("goal not reached").words("first", first).number("lacking", unmet.len()))
    }

    fn apply(&self, action: &Lifted, state: &mut HashSet<Lifted>, names: &Interner) -> Result<(), Difference> {
        let fault = |kind| Difference::of(kind).words("action", words_of(action, names));
        let text = |word: Word| names.text(word);
        let arguments = &action[1..];
        let Some(operator) = self.domain.operators.iter().find(|each| each.name == action[0]) else {
            let known = self.domain.operators.iter().map(|each| names.text(each.name));
            return Err(fault("unknown action").words("operators", known));
        };
        if operator.parameters.len() != arguments.len() {
            let takes = operator.parameters.len();
            return Err(fault("wrong arguments").number("takes", takes).number("given", arguments.len()));
        }
        for (argument, (_, wanted)) in arguments.iter().zip(&operator.parameters) {
            match self.objects.get(argument) {
                None => return Err(fault("no object").word("argument", text(*argument))),
                Some(type_) if !self.domain.fits(*type_, *wanted) => {
                    let fault = fault("not of type").word("argument", text(*argument));
                    return Err(fault.words("own", [text(*type_)]).words("types", [text(*wanted)]));
                }
                _ => {}
            }
        }
        if let Some((one, other)) = broken_equation(operator, arguments, names) {
            return Err(fault("different").word("one", text(one)).word("other", text(other)));
        }
        let [needed, avoided, added, deleted] = instance(operator, arguments, names);
        for (kind, field, mut wrong) in [
            ("needs", "lacking", needed.iter().filter(|atom| !state.contains(*atom)).collect::<Vec<_>>()),
            ("needs false", "true", avoided.iter().filter(|atom| state.contains(*atom)).collect()),
        ] {
            if !wrong.is_empty() {
                names.sort(&mut wrong);
                return Err(fault(kind).lists(field, wrong.into_iter().map(|atom| words_of(atom, names))));
            }
        }
        state.retain(|atom| deleted.binary_search(atom).is_err());
        state.extend(added);
        Ok(())
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
) -> [Option<bool>; 2] {
    let (generated, theirs) = generated.unwrap_or_else(|| (reference, ours.clone()));
    let mut note = |kind, why: &Difference| notes.push(Difference::of(kind).because("reason", why.clone()));
    // What is wrong with a plan in a task.
    let fault = |plan: &Plan, task: &Task| task.ill_typed(names).or_else(|| task.execute(plan, names));
    let mut valid = [None; 2];
    match ours {
        Ok(plan) => {
            let why = fault(plan, generated);
            why.iter().for_each(|why| note("reference plan", why));
            valid[1] = Some(why.is_none());
        }
        Err(why) => note("no reference plan", why),
    }
    match &theirs {
        Ok(plan) => {
            let why = fault(plan, reference);
            why.iter().for_each(|why| note("generated plan", why));
            valid[0] = Some(why.is_none());
        }
        Err(why) => {
            note("no generated plan", why);
            valid[0] = ours.is_ok().then_some(false);
        }
    }
    valid
}
