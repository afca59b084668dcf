//! All that is said of a generated problem (definition/comparison.py).

use crate::canonical::Digits;
use crate::difference::Difference;
use crate::domain_difference::words_of;
use crate::domains::{is_known, PlanningDomain};
use crate::equivalence::Verdict;
use crate::left::{Answer, Left};
use crate::metrics::plan_exchange::Plan;
use crate::metrics::problem::{ProblemVerdict, Proof, Settings};
use crate::model::Lifted;
use crate::pddl::problems::{read_problem_in, Interner, LiftedProblem, Reading, Refused};
use crate::strips::difference::{difference, reference_unsolvable, separating, unsolvable};
use crate::strips::equivalence::{decide, in_words, inverse, Decision, ObjectMap};
use crate::strips::task::{Task, Within};
use std::rc::Rc;

/// The problem of a text in a domain.
pub fn read_in(
    text: Option<&[u8]>,
    domain: &PlanningDomain,
    names: &mut Interner,
    own_names: &mut Interner,
) -> Answer<Reading<LiftedProblem>> {
    let reading = read_problem_in(text, &domain.structure.domain, names, own_names)?;
    if domain.is_strips {
        return Ok(reading);
    }
    // In another domain a problem in any layout, with numbers and formulas, may be read.
    let is_read = match &reading.outcome {
        Ok(_) => !reading.several,
        Err(unreadable) => match unreadable.verdict {
            Refused::Empty => true,
            Refused::InvalidAtom => !reading.several,
            _ => ["no block", "never closed"].contains(&unreadable.difference.kind),
        },
    };
    if is_read {
        Ok(reading)
    } else {
        Err(Left::Notation)
    }
}

/// A reference that answers can be compared with: read, well typed; and if `by_name`, in the domain that it names.
pub fn read_reference(
    text: Option<&[u8]>,
    by_name: bool,
    domain: &PlanningDomain,
    names: &mut Interner,
    own_names: &mut Interner,
) -> Answer<Task> {
    let problem = read_in(text, domain, names, own_names)?.outcome.map_err(|_| Left::Reference)?;
    if by_name && !domain.names.contains(&problem.domain) {
        return Err(Left::Domain);
    }
    let task = Task::new(Rc::new(problem), true, None, domain);
    let within = Within { domain, names };
    if domain.is_ill_typed || task.ill_typed(within).is_some() {
        return Err(Left::Reference);
    }
    task.closure(within)?;
    Ok(task)
}

/// The scores of an answer.
pub fn score_problem_pair(
    reference: &Task,
    generated: Option<&[u8]>,
    is_placeholder: bool,
    settings: Settings,
    domain: &PlanningDomain,
    names: &mut Interner,
    own_names: &mut Interner,
) -> Answer<ProblemVerdict> {
    let Reading { outcome, several } = read_in(generated, domain, names, own_names)?;
    if several && settings.last_answer {
        return Err(Left::Setting);
    }
    let within = Within { domain, names };
    let certificate = |task: &Task| certificate(task, is_placeholder, settings, within);
    let unlike = |verdict, difference| -> Answer<ProblemVerdict> {
        let (verdict, difference, equivalent) = match reference_unsolvable(reference, within)? {
            Some(why) => (Verdict::ReferenceInvalid.name(), why, None),
            None => (verdict, difference, Some(false)),
        };
        Ok(ProblemVerdict {
            parseable: false,
            solvable: Some(false),
            equivalent,
            equivalent_untyped: equivalent,
            verdict: Some(verdict),
            differences: vec![difference],
            solves_reference: None,
            certificate: None,
            reference_certificate: certificate(reference)?,
            proof: settings.proofs.then(|| Proof { closure: reference_closure(reference, within), ..Proof::default() }),
        })
    };
    let mut verdict = match outcome {
        Err(unreadable) => unlike(unreadable.verdict.name(), unreadable.difference)?,
        Ok(problem) if problem.domain != reference.problem.domain && !domain.names.contains(&problem.domain) => {
            if is_known(names.text(problem.domain)) {
                return Err(Left::Domain); // in that domain it may have a certificate
            }
            let both = [names.text(problem.domain), names.text(reference.problem.domain)];
            let solvable = settings.check_solvable.then_some(false);
            let verdict = unlike("domain_mismatch", Difference::of("domain").words("names", both))?;
            ProblemVerdict { parseable: true, solvable, ..verdict }
        }
        Ok(problem) => compare(
            reference,
            &Task::new(Rc::new(problem), true, Some(reference), domain),
            is_placeholder,
            settings,
            within,
        )?,
    };
    if several {
        verdict.differences.insert(0, Difference::of("drafts").word("answer", b"first"));
    }
    Ok(verdict)
}

/// The scores of an answer that has no reference.
pub fn score_lone_problem(
    generated: Option<&[u8]>,
    is_placeholder: bool,
    settings: Settings,
    domain: &PlanningDomain,
    names: &mut Interner,
    own_names: &mut Interner,
) -> Answer<ProblemVerdict> {
    let Reading { outcome, several } = read_in(generated, domain, names, own_names)?;
    if several && settings.last_answer {
        return Err(Left::Setting);
    }
    let within = Within { domain, names };
    let mut verdict = ProblemVerdict {
        parseable: outcome.is_ok(),
        solvable: Some(false),
        equivalent: None,
        equivalent_untyped: None,
        verdict: None,
        differences: vec![Difference::of("no reference")],
        solves_reference: None,
        certificate: None,
        reference_certificate: None,
        proof: None,
    };
    match outcome {
        Err(unreadable) => {
            (verdict.verdict, verdict.differences) = (Some(unreadable.verdict.name()), vec![unreadable.difference]);
        }
        Ok(problem) if !domain.names.contains(&problem.domain) => {
            if is_known(names.text(problem.domain)) {
                return Err(Left::Domain); // in that domain it may have a certificate
            }
            let both = [names.text(problem.domain), names.text(domain.structure.domain.name)];
            verdict.solvable = settings.check_solvable.then_some(false);
            verdict.verdict = Some("domain_mismatch");
            verdict.differences = vec![Difference::of("domain").words("names", both)];
        }
        Ok(problem) => {
            let task = Task::new(Rc::new(problem), true, None, domain);
            if domain.is_ill_typed {
                return Err(Left::Domain);
            }
            verdict.solvable = None;
            if settings.check_solvable {
                verdict.solvable = Some(task.plan(within)?.is_some());
                if let Some(why) = task.ill_typed(within) {
                    (verdict.verdict, verdict.differences) = (Some("unsolvable"), vec![why]);
                } else if let (Some(false), Some(proof)) = (verdict.solvable, task.proof(within)?) {
                    verdict.verdict = Some("unsolvable");
                    verdict.differences = vec![unsolvable("unsolvable", proof, names)];
                }
            }
            verdict.certificate = certificate(&task, is_placeholder, settings, within)?;
        }
    }
    if several {
        verdict.differences.insert(0, Difference::of("drafts").word("answer", b"first"));
    }
    Ok(verdict)
}

fn compare(
    reference: &Task,
    generated: &Task,
    is_placeholder: bool,
    settings: Settings,
    within: Within,
) -> Answer<ProblemVerdict> {
    let decision = match reference.closure(within)? {
        Ok(_) => decide(reference, generated, is_placeholder, within)?,
        Err(_) => Decision { verdict: Verdict::ReferenceInvalid, object_map: None, goal_map: None },
    };
    let mut differences = vec![difference(&decision, reference, generated, within)?];
    let equivalent = decision.verdict.right();
    let counterexample = match &decision {
        Decision { verdict: Verdict::GoalDiffers, object_map: Some(map), .. } if settings.proofs => {
            counterexample(reference, generated, map, within)?
        }
        _ => None,
    };
    let Decision { verdict, object_map, goal_map } = decision;
    let object_map = object_map.filter(|_| equivalent);
    let inherits = object_map.is_some() && goal_map.is_none();
    let mut own_plan = None;
    let (mut solvable, mut solves_reference) = (None, None);
    if settings.check_solvable {
        // An equivalent problem inherits the reference's plan through the object map.
        let inherited = if inherits { reference.plan(within)? } else { None };
        if let Some(plan) = inherited {
            (solvable, solves_reference) = (Some(true), Some(true));
            if settings.proofs {
                let back = object_map.as_ref().map(inverse).unwrap_or_default();
                own_plan = Some(plan.iter().map(|action| in_words(action, &back)).collect());
            }
        } else if let Some(plan) = generated.plan(within)? {
            solvable = Some(true);
            own_plan = settings.proofs.then(|| plan.clone());
            let map = object_map.clone().unwrap_or_default();
            let same_names = || reference.objects.keys().eq(generated.objects.keys());
            if !map.is_empty() || same_names() {
                let plan = plan.iter().map(|action| in_words(action, &map)).collect();
                solves_reference = Some(reference.is_solved_by(&plan, within));
            }
        } else {
            solvable = Some(false);
            differences.extend(generated.ill_typed(within));
        }
    }
    let reference_certificate = certificate(reference, is_placeholder, settings, within)?;
    let certificate = match equivalent {
        true => reference_certificate,
        false => certificate(generated, is_placeholder, settings, within)?,
    };
    let as_written = verdict.is_as_written();
    let types_matter = reference.types_matter(within.domain) || generated.types_matter(within.domain);
    let equivalent_untyped = if as_written || !types_matter || verdict == Verdict::ReferenceInvalid {
        verdict.equivalent()
    } else {
        let theirs = reference.untyped(None, within.domain);
        let ours = generated.untyped(Some(theirs), within.domain);
        decide(theirs, ours, is_placeholder, within)?.verdict.equivalent()
    };
    let text = |words: &Lifted| words_of(words, within.names);
    let of_map = |map: &ObjectMap| map.iter().map(|(ours, theirs)| text(&vec![*ours, *theirs])).collect();
    Ok(ProblemVerdict {
        parseable: true,
        solvable,
        equivalent: verdict.equivalent(),
        equivalent_untyped,
        verdict: Some(verdict.name()),
        differences,
        solves_reference,
        certificate,
        reference_certificate,
        proof: settings.proofs.then(|| Proof {
            object_map: object_map.as_ref().map(of_map),
            goal_map: goal_map.as_ref().map(of_map),
            plan: own_plan.map(|plan: Plan| plan.iter().map(text).collect()),
            closure: reference_closure(reference, within),
            counterexample: counterexample.map(|plan: Plan| plan.iter().map(text).collect()),
        }),
    })
}

fn reference_closure(reference: &Task, within: Within) -> Option<Vec<Vec<Vec<u8>>>> {
    let closure = reference.closure(within).ok()?.as_ref().ok()?;
    Some(closure.iter().map(|atom| words_of(atom, within.names)).collect())
}

/// A plan, in the reference's words, to a state with one goal that lacks the separating atom; rules are asked elsewhere.
fn counterexample(reference: &Task, generated: &Task, map: &ObjectMap, within: Within) -> Answer<Option<Plan>> {
    let (theirs, ours) = (reference.closure(within)?, generated.closure(within)?);
    let (Ok(wanted), Ok(closed), Ok(None)) = (theirs, ours, &within.domain.rules) else { return Ok(None) };
    let goals = [&generated.problem, &reference.problem].map(|problem| &problem.goal);
    let Some((is_theirs, atom)) = separating(goals, [closed, wanted], map, within.names) else { return Ok(None) };
    // The state has the goal of the side that does not ask for the atom.
    let goal = if is_theirs { goals[0].iter().map(|atom| in_words(atom, map)).collect() } else { goals[1].clone() };
    let LiftedProblem { domain, objects, init, .. } = &*reference.problem;
    let asked = LiftedProblem { domain: *domain, objects: objects.clone(), init: init.clone(), goal };
    let task = Task::new(Rc::new(asked), true, Some(reference), within.domain);
    let atom = if is_theirs { atom.clone() } else { in_words(atom, map) };
    Ok(task.plan_without(&atom, within).ok())
}

/// The certificate in the row's mode.
fn certificate(task: &Task, is_placeholder: bool, settings: Settings, within: Within) -> Answer<Option<Digits>> {
    if settings.certificates {
        task.certificate_within_limits(is_placeholder, settings.proofs, within)
    } else {
        Ok(None)
    }
}
