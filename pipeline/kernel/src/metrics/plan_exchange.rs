//! Plan exchange: is the plan found in one domain a plan in the other? (definition/metrics/plan_exchange.py)

use crate::difference::Difference;
use crate::domain_wording::show_words;
use crate::grounding::{broken_equation, Objects};
use crate::hashing::HashSet;
use crate::left::Answer;
use crate::metrics::domain_pair::first_misfit;
use crate::metrics::predictive::instance;
use crate::model::{Domain, Lifted, Word};
use crate::pddl::problems::Interner;
use crate::planning::search::{find_plan, Proof};
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

/// A plan, or in the words of a note why there is none.
pub type Found = Result<Plan, Vec<Vec<u8>>>;

impl Task<'_> {
    /// In the words of a note, the first atom of the problem that the declarations of the domain do not admit.
    pub fn ill_typed(&self, names: &Interner) -> Option<Vec<Vec<u8>>> {
        let type_of = |term: Word| self.objects.get(&term).copied();
        let why = first_misfit(self.domain, self.init.iter().chain(self.goal), type_of, names)?;
        Some([vec![b"ill-typed".to_vec()], why].concat())
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
            Err(atom) => return Ok(Err(vec![b"not added".to_vec(), show_words(atom, names)])),
        };
        Ok(match find_plan(&task, &goal, &Bits::none(task.atoms.len()))? {
            Ok(path) => {
                let action = |place: usize| {
                    let (operator, arguments) = &task.actions[task.operators[place].number];
                    [&[self.domain.operators[*operator].name], &arguments[..]].concat()
                };
                Ok(path.into_iter().map(action).collect())
            }
            Err(Proof::NoState(states)) => Err(vec![b"no state".to_vec(), states.to_string().into_bytes()]),
            Err(Proof::Excluded) => Err(vec![b"excluded".to_vec()]),
            Err(Proof::EachWay) => Err(vec![b"each way".to_vec()]),
            Err(Proof::OutOfReach) => Err(vec![b"out of reach".to_vec()]),
            Err(Proof::RanOut(states)) => Err(vec![b"ran out".to_vec(), states.to_string().into_bytes()]),
        })
    }

    /// In the words of a note, why the plan does not reach the goal; None where it does.
    pub fn execute(&self, plan: &Plan, names: &Interner) -> Option<Vec<Vec<u8>>> {
        let mut state: HashSet<Lifted> = self.init.iter().cloned().collect();
        for (number, action) in (1usize..).zip(plan) {
            if let Err(why) = self.apply(action, &mut state, names) {
                let start = vec![b"step".to_vec(), number.to_string().into_bytes(), show_words(action, names)];
                return Some([start, why].concat());
            }
        }
        let mut unmet: Vec<&Lifted> = self.goal.iter().filter(|atom| !state.contains(*atom)).collect();
        names.sort(&mut unmet);
        let first = unmet.first()?;
        Some(vec![b"goal".to_vec(), show_words(first, names), unmet.len().to_string().into_bytes()])
    }

    fn apply(&self, action: &Lifted, state: &mut HashSet<Lifted>, names: &Interner) -> Result<(), Vec<Vec<u8>>> {
        let text = |word: Word| names.text(word).to_vec();
        let arguments = &action[1..];
        let Some(operator) = self.domain.operators.iter().find(|each| each.name == action[0]) else {
            let known: Vec<&[u8]> = self.domain.operators.iter().map(|each| names.text(each.name)).collect();
            return Err(vec![b"unknown".to_vec(), known.join(&b' ')]);
        };
        if operator.parameters.len() != arguments.len() {
            return Err(vec![b"arguments".to_vec(), operator.parameters.len().to_string().into_bytes()]);
        }
        for (argument, (_, wanted)) in arguments.iter().zip(&operator.parameters) {
            match self.objects.get(argument) {
                None => return Err(vec![b"no object".to_vec(), text(*argument)]),
                Some(type_) if !self.domain.fits(*type_, *wanted) => {
                    return Err(vec![b"type".to_vec(), text(*argument), text(*type_), text(*wanted)]);
                }
                _ => {}
            }
        }
        if let Some((one, other)) = broken_equation(operator, arguments, names) {
            return Err(vec![b"equation".to_vec(), text(one), text(other)]);
        }
        let [needed, avoided, added, deleted] = instance(operator, arguments, names);
        for (kind, wrong) in [
            (&b"needs"[..], needed.iter().filter(|atom| !state.contains(*atom)).collect::<Vec<_>>()),
            (b"needs false", avoided.iter().filter(|atom| state.contains(*atom)).collect()),
        ] {
            if !wrong.is_empty() {
                let shown: Vec<Vec<u8>> = wrong.into_iter().map(|atom| show_words(atom, names)).collect();
                return Err(vec![kind.to_vec(), shown.join(&b',')]);
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
    let mut note = |what: &[u8], words: &[Vec<u8>]| {
        let words: Vec<&[u8]> = [what].into_iter().chain(words.iter().map(Vec::as_slice)).collect();
        notes.push(Difference::of(&words));
    };
    // What is wrong with a plan in a task.
    let fault = |plan: &Plan, task: &Task| task.ill_typed(names).or_else(|| task.execute(plan, names));
    let mut valid = [None; 2];
    match ours {
        Ok(plan) => {
            let why = fault(plan, generated);
            why.iter().for_each(|why| note(b"reference's plan", why));
            valid[1] = Some(why.is_none());
        }
        Err(why) => note(b"no reference plan", why),
    }
    match &theirs {
        Ok(plan) => {
            let why = fault(plan, reference);
            why.iter().for_each(|why| note(b"generated plan", why));
            valid[0] = Some(why.is_none());
        }
        Err(why) => {
            note(b"no generated plan", why);
            valid[0] = ours.is_ok().then_some(false);
        }
    }
    valid
}
