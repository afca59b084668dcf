//! One pair of problems: read both, decide, look for a plan (definition/metrics/problem.py).

use crate::canonical::Digits;
use crate::difference::{self, Difference};
use crate::domains::{is_known, known_domain, PlanningDomain};
use crate::equivalence::{decide, has_same_names, translation, Decision, Pair, Verdict};
use crate::left::{Answer, Left};
use crate::model::{renamed, Atom, Problem, NO_OBJECT, UNKNOWN};
use crate::pddl::problems::{read_problem, Declared, Interner, Reading, Refused, Unreadable};
use crate::task::Task;
use crate::validation::Plan;
use std::rc::Rc;

/// The scores of one generated problem against its reference; None where not decided.
pub struct ProblemVerdict {
    pub parseable: bool,
    pub solvable: Option<bool>,
    pub equivalent: Option<bool>,
    pub equivalent_untyped: Option<bool>,
    /// None where there is no reference, and nothing is wrong.
    pub verdict: Option<&'static str>,
    pub differences: Vec<Difference>,
    pub solves_reference: Option<bool>,
    pub certificate: Option<Digits>,
    pub reference_certificate: Option<Digits>,
    /// Of two problems of one domain, where it is asked for.
    pub proof: Option<Proof>,
}

/// What shows a verdict, in words.
#[derive(Default)]
pub struct Proof {
    /// Pairs of objects, generated → reference.
    pub object_map: Option<Vec<Vec<Vec<u8>>>>,
    pub goal_map: Option<Vec<Vec<Vec<u8>>>>,
    /// A plan of the generated problem.
    pub plan: Option<Vec<Vec<Vec<u8>>>>,
    /// Where only a search finds them: the reference's cl(goal), and a plan, in the reference's words, to a state with one
    /// goal that lacks the separating atom.
    pub closure: Option<Vec<Vec<Vec<u8>>>>,
    pub counterexample: Option<Vec<Vec<Vec<u8>>>>,
}

/// The settings that the kernel knows.
#[derive(Clone, Copy)]
pub struct Settings {
    pub check_solvable: bool,
    /// The last of several drafts counts, not the first.
    pub last_answer: bool,
    /// The definition has the time to enumerate states and to search, as it has by default.
    pub has_time: bool,
    /// False where nobody reads them, as for rewards.
    pub certificates: bool,
    /// What shows each verdict is wanted, too.
    pub proofs: bool,
    /// The plan of a problem without a reference is to be a cheapest one, each operator at a cost of 1.
    pub cheapest: bool,
}

impl Settings {
    pub const fn new(flags: u32) -> Settings {
        Settings {
            check_solvable: flags & 1 != 0,
            last_answer: flags & 2 != 0,
            has_time: flags & 4 != 0,
            certificates: flags & 8 == 0,
            proofs: flags & 16 != 0,
            cheapest: flags & 32 != 0,
        }
    }
}

/// The problem of a text in a domain, whose goal is a set of atoms.
pub fn read_in(domain: &PlanningDomain, text: Option<&[u8]>) -> Answer<Reading> {
    let reading = read_any(domain, text)?;
    match &reading.outcome {
        Ok(problem) if !problem.others.is_empty() => Err(Left::Formula),
        Ok(problem) if problem.numbers.is_some() || domain.has_numbers => Err(Left::Numbers),
        _ => Ok(reading),
    }
}

/// The problem of a text in a domain; in one that is not STRIPS a problem in any layout, with formulas, may be read.
fn read_any(domain: &PlanningDomain, text: Option<&[u8]>) -> Answer<Reading> {
    let reading = domain.read_problem(text);
    let is_read = domain.is_strips
        || match &reading {
            Ok(Reading { outcome: Err(Unreadable { verdict: Refused::Empty, .. }), .. }) => true,
            Ok(Reading { outcome: Ok(_) | Err(Unreadable { verdict: Refused::InvalidAtom, .. }), several }) => !several,
            Ok(Reading { outcome: Err(other), .. }) => ["no block", "never closed"].contains(&other.difference.kind),
            Err(_) => false,
        };
    if is_read {
        return reading;
    }
    let outcome = domain.read_any_problem(text.unwrap_or_default());
    let reason = reading.err().unwrap_or(Left::Notation);
    let outcome = Ok(outcome.map_err(|left| if left == Left::Reference { reason } else { left })?);
    Ok(Reading { outcome, several: false })
}

/// A reference that answers can be compared with: read, well typed, and in a known domain if none is given.
///
/// One without a solution is left in a domain that problems name.
pub fn read_reference(
    text: Option<&[u8]>,
    domain: Option<&Rc<PlanningDomain>>,
    settings: Settings,
    names: &mut Interner,
) -> Answer<Task> {
    let (reading, domain) = match domain {
        Some(domain) => (read_any(domain, text)?, domain.clone()),
        None => {
            let reading = read_problem(text, &Declared::default(), names)?;
            let problem = reading.outcome.as_ref().map_err(|_| Left::Reference)?;
            let domain = known_domain(problem.words.text(problem.domain))?.ok_or(Left::Domain)?;
            (if domain.is_named() { reading } else { read_in(&domain, text)? }, domain)
        }
    };
    let problem = reading.outcome.map_err(|_| Left::Reference)?;
    let task = Task::new(Rc::new(problem), domain, true, settings.has_time);
    require_plain(&task, settings)?;
    let is_wrong = task.domain.is_ill_typed || task.ill_typed().is_some();
    let is_unsolvable = !task.has_many_states() && task.closure()?.is_err();
    if is_wrong || (is_unsolvable && task.domain.is_named()) {
        return Err(Left::Reference);
    }
    Ok(task)
}

/// Err where the goal is no set of atoms and ill-typed, or that is to be shown.
fn require_plain(task: &Task, settings: Settings) -> Answer<()> {
    if task.problem.numbers.is_some() && task.domain.roles.is_some() {
        return Err(Left::Numbers); // whose rules decide where all costs have values
    }
    let is_plain = task.problem.is_strips() || !(settings.proofs || task.has_ill_typed_conjuncts()?);
    is_plain.then_some(()).ok_or(Left::Formula)
}

/// The scores of an answer.
pub fn score_problem_pair(
    reference: &Task,
    generated: Option<&[u8]>,
    is_placeholder: bool,
    settings: Settings,
) -> Answer<ProblemVerdict> {
    let reading = read_any(&reference.domain, generated)?;
    if reading.several && settings.last_answer {
        return Err(Left::Setting);
    }
    let certificate = |task: &Task| certificate(task, is_placeholder, settings, None);
    let new =
        |problem, domain: &Rc<PlanningDomain>| Task::new(Rc::new(problem), domain.clone(), true, settings.has_time);
    let unlike = |verdict, difference| -> Answer<ProblemVerdict> {
        let (verdict, difference, equivalent) = match difference::reference_unsolvable(reference)? {
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
            proof: settings.proofs.then(|| Proof { closure: searched_closure(reference), ..Proof::default() }),
        })
    };
    let theirs = &reference.problem;
    let mut verdict = match reading.outcome {
        Err(unreadable) => unlike(unreadable.verdict.name(), unreadable.difference)?,
        Ok(problem) => {
            let name = problem.words.text(problem.domain);
            let their_name = theirs.words.text(theirs.domain);
            if name == their_name || reference.domain.is_called(name) {
                let mut generated = new(problem, &reference.domain);
                require_plain(&generated, settings)?;
                let same_words = generated.problem.words.are(&theirs.words);
                let to_reference = translation(&generated.problem.words, &theirs.words, same_words);
                if same_words {
                    generated.share(reference);
                }
                let pair = Pair { reference, generated: &generated, to_reference: &to_reference, same_words };
                scored(&pair, is_placeholder, settings)?
            } else {
                if !problem.is_strips() {
                    return Err(Left::Formula); // in the domain that it names it is perhaps none
                }
                let difference = Difference::of("domain").words("names", [name, their_name]);
                // In a known domain it has a certificate.
                let certificate = match known_domain(name)? {
                    Some(domain) if domain.is_named() && reference.domain.is_named() => {
                        certificate(&new(problem, &domain))?
                    }
                    None if !is_known(name) => None,
                    _ => return Err(Left::Domain),
                };
                let solvable = settings.check_solvable.then_some(false);
                let verdict = unlike("domain_mismatch", difference)?;
                ProblemVerdict { parseable: true, solvable, certificate, ..verdict }
            }
        }
    };
    if reading.several {
        verdict.differences.insert(0, Difference::of("drafts").word("answer", b"first"));
    }
    Ok(verdict)
}

fn scored(pair: &Pair, is_placeholder: bool, settings: Settings) -> Answer<ProblemVerdict> {
    let Pair { reference, generated, .. } = *pair;
    let decision = match difference::reference_unsolvable(reference)? {
        Some(why) => Decision::invalid(why),
        None => decide(pair, is_placeholder)?,
    };
    let counterexample = if settings.proofs { counterexample(pair, &decision)? } else { None };
    let Decision { verdict, equivalent_untyped, has_same_plans, difference, object_map, goal_map, .. } = decision;
    let equivalent = verdict.right();
    let mut differences = vec![difference];
    let object_map = object_map.filter(|_| equivalent);
    let (mut solvable, mut solves_reference, mut own_plan) = (None, None, None);
    let (theirs, ours) = (&reference.problem, &generated.problem);
    let operators = &reference.domain.operators;
    if settings.check_solvable {
        // An equivalent problem inherits the reference's plan through the object map.
        let map = match &object_map {
            Some(map) => goal_map.is_none().then_some(&map[..]),
            None => has_same_plans.then_some(pair.to_reference),
        };
        let inherited = if map.is_some() { reference.plan()? } else { None };
        if let (Some(plan), Some(map)) = (inherited, map) {
            (solvable, solves_reference) = (Some(true), Some(true));
            if settings.proofs {
                let mut back = theirs.words.each(UNKNOWN);
                (0..)
                    .zip(map)
                    .filter(|(_, known)| **known != UNKNOWN)
                    .for_each(|(name, known)| back[*known as usize] = name);
                own_plan = Some(plan.renamed(&back, operators));
            }
        } else if let Some(plan) = generated.plan()? {
            solvable = Some(true);
            own_plan = settings.proofs.then(|| plan.clone());
            solves_reference = solves(pair, plan, object_map.as_deref())?;
        } else {
            solvable = Some(false);
            differences.extend(generated.ill_typed());
        }
    }
    let reference_certificate = certificate(reference, is_placeholder, settings, None)?;
    let alike = (pair.same_words && has_same_names(pair)).then_some(reference);
    let only_types = reference.only_type().zip(generated.only_type()).filter(|_| has_same_plans);
    Ok(ProblemVerdict {
        parseable: true,
        solvable,
        equivalent: verdict.equivalent(),
        equivalent_untyped: verdict.equivalent().and(equivalent_untyped),
        verdict: Some(verdict.name()),
        differences,
        solves_reference,
        certificate: match (reference_certificate, only_types) {
            _ if equivalent => reference_certificate,
            (Some(_), Some((own, other))) => Some(reference.certificate_with_type(is_placeholder, own, other)?),
            _ => certificate(generated, is_placeholder, settings, alike)?,
        },
        reference_certificate,
        proof: settings.proofs.then(|| {
            let of_map = |map: &Vec<u32>| {
                let pair =
                    |name: u32| [ours.words.text(name), theirs.words.text(map[name as usize])].map(<[u8]>::to_vec);
                ours.objects.iter().map(|(name, _)| pair(*name).into()).collect()
            };
            Proof {
                object_map: object_map.as_ref().map(of_map),
                goal_map: goal_map.as_ref().map(of_map),
                closure: searched_closure(reference),
                counterexample,
                ..shown(generated, own_plan.as_ref())
            }
        }),
    })
}

/// The certificate in the row's mode.
fn certificate(task: &Task, is_placeholder: bool, settings: Settings, alike: Option<&Task>) -> Answer<Option<Digits>> {
    match settings.certificates {
        true => task.certificate_within_limits(is_placeholder, settings.proofs && !task.domain.is_named(), alike),
        false => Ok(None),
    }
}

/// cl(goal) in a domain that is given.
fn searched_closure(task: &Task) -> Option<Vec<Vec<Vec<u8>>>> {
    let closure = task.closure().ok()?.as_ref().ok().filter(|_| !task.domain.is_named())?;
    Some(closure.iter().map(|atom| task.problem.words.texts(*atom)).collect())
}

/// A plan, in the reference's words, to a state with one goal that lacks the separating atom; rules are asked elsewhere.
fn counterexample(pair: &Pair, decision: &Decision) -> Answer<Option<Vec<Vec<Vec<u8>>>>> {
    let Pair { reference, generated, to_reference, .. } = *pair;
    let (Some((is_theirs, atom)), Some(map)) = (decision.separating, &decision.object_map) else { return Ok(None) };
    if reference.domain.roles.is_some() {
        return Ok(None);
    }
    let in_reference = |atom: Atom| renamed(atom, to_reference, map);
    let mut asked = Problem::clone(&reference.problem);
    // The state has the goal of the side that does not ask for the atom.
    if is_theirs {
        asked.goal = generated.problem.goal.iter().map(|atom| in_reference(*atom)).collect();
        asked.goal.sort_unstable();
    }
    let task = Task::new(Rc::new(asked), reference.domain.clone(), true, true);
    task.starts_like(reference);
    let Ok(plan) = task.plan_without(if is_theirs { atom } else { in_reference(atom) }) else { return Ok(None) };
    let words = &reference.problem.words;
    Ok(Some(plan.steps(&task.domain.operators).map(|step| task.domain.texts(step, words)).collect()))
}

/// The scores of an answer that has no reference.
pub fn score_lone_problem(
    domain: &Rc<PlanningDomain>,
    generated: Option<&[u8]>,
    is_placeholder: bool,
    settings: Settings,
) -> Answer<ProblemVerdict> {
    let Reading { outcome, several } = read_in(domain, generated)?;
    if several && settings.last_answer {
        return Err(Left::Setting);
    }
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
        Ok(problem) if !domain.is_called(problem.words.text(problem.domain)) => {
            let name = problem.words.text(problem.domain);
            if is_known(name) {
                return Err(Left::Domain); // in that domain it may have a certificate
            }
            let both = [name, domain.names.text(domain.structure.domain.name)];
            verdict.solvable = settings.check_solvable.then_some(false);
            verdict.verdict = Some("domain_mismatch");
            verdict.differences = vec![Difference::of("domain").words("names", both)];
        }
        Ok(problem) => {
            let task = Task::new(Rc::new(problem), domain.clone(), true, true);
            if domain.is_ill_typed {
                return Err(Left::Domain);
            }
            verdict.solvable = None;
            if let Some(why) = task.ill_typed().filter(|_| settings.check_solvable) {
                (verdict.solvable, verdict.verdict) = (Some(false), Some("unsolvable"));
                verdict.differences = vec![why];
                verdict.proof = settings.proofs.then(|| shown(&task, None));
            } else if settings.check_solvable || settings.cheapest {
                let found = match settings.cheapest {
                    true => task.cheapest_plan()?,
                    false => match task.plan()? {
                        Some(plan) => Ok(plan.clone()),
                        None => Err(task.proof()?.ok_or(Left::Panic)?.clone()),
                    },
                };
                verdict.solvable = settings.check_solvable.then_some(found.is_ok());
                verdict.proof = settings.proofs.then(|| shown(&task, found.as_ref().ok()));
                if let Err(proof) = &found {
                    verdict.verdict = Some("unsolvable");
                    verdict.differences = vec![difference::unsolvable("unsolvable", &task.problem.words, proof)];
                }
            }
            verdict.certificate = certificate(&task, is_placeholder, settings, None)?;
        }
    }
    if several {
        verdict.differences.insert(0, Difference::of("drafts").word("answer", b"first"));
    }
    Ok(verdict)
}

/// A plan of a problem without a reference, in words.
fn shown(task: &Task, plan: Option<&Plan>) -> Proof {
    let step = |step: &[u32]| task.domain.texts(step, &task.problem.words);
    let plan = plan.map(|plan| plan.steps(&task.domain.operators).map(step).collect());
    Proof { plan, ..Proof::default() }
}

/// Whether a plan of the generated problem solves the reference, under the object map of an equivalent answer, else
/// under equal names; None where the names differ and there is no map.
fn solves(pair: &Pair, plan: &Plan, object_map: Option<&[u32]>) -> Answer<Option<bool>> {
    let (theirs, ours) = (&pair.reference.problem, &pair.generated.problem);
    let known = |name: u32| pair.to_reference[name as usize];
    let is_theirs = |name: u32| known(name) != UNKNOWN && theirs.number[known(name) as usize] != NO_OBJECT;
    let same_names =
        ours.objects.len() == theirs.objects.len() && ours.objects.iter().all(|(name, _)| is_theirs(*name));
    let names = match object_map {
        Some(map) => map,
        None if same_names => pair.to_reference,
        None => return Ok(None),
    };
    if pair.same_words && object_map.is_none() {
        if let Some(solves) = pair.generated.solves(pair.reference)? {
            return Ok(Some(solves));
        }
    }
    pair.reference.is_solved_by(&plan.renamed(names, &pair.reference.domain.operators)).map(Some)
}
