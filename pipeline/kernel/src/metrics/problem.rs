//! One pair of problems: read both, decide, look for a plan (definition/metrics/problem.py).

use crate::canonical::Digits;
use crate::difference::{self, Difference};
use crate::domains::{is_known, planning_domain, Domain, PlanningDomain};
use crate::equivalence::{decide, translation, Decision, Pair, UNKNOWN};
use crate::left::{Answer, Left};
use crate::model::NO_OBJECT;
use crate::pddl::problems::{read_problem, Interner, LiftedProblem};
use crate::strips::task::{Task as StripsTask, Within, FEW_OBJECTS};
use crate::task::Task;
use crate::validation::Action;
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
}

impl Settings {
    pub const fn new(flags: u32) -> Settings {
        Settings {
            check_solvable: flags & 1 != 0,
            last_answer: flags & 2 != 0,
            has_time: flags & 4 != 0,
            certificates: flags & 8 == 0,
            proofs: flags & 16 != 0,
        }
    }
}

/// A reference that answers can be compared with: read, in a known domain, solvable, well typed.
pub fn read_reference(text: Option<&[u8]>, names: &mut Interner) -> Answer<Task> {
    let problem = read_problem(text, names)?.outcome.map_err(|_| Left::Reference)?;
    let domain = Domain::named(problem.words.known(problem.domain)).ok_or(Left::Domain)?;
    let task = Task::new(Rc::new(problem), domain, true);
    if task.ill_typed().is_some() || task.closure()?.is_err() {
        return Err(Left::Reference);
    }
    Ok(task)
}

/// The scores of an answer.
pub fn score_problem_pair(
    reference: &Task,
    generated: Option<&[u8]>,
    is_placeholder: bool,
    settings: Settings,
    names: &mut Interner,
    search: &mut Search,
) -> Answer<ProblemVerdict> {
    let reading = read_problem(generated, names)?;
    if reading.several && settings.last_answer {
        return Err(Left::Setting);
    }
    let mut certificate = |task: &Task| search.certificate(task, is_placeholder, settings);
    let mut verdict = match reading.outcome {
        Err(unreadable) => ProblemVerdict {
            parseable: false,
            solvable: Some(false),
            equivalent: Some(false),
            equivalent_untyped: Some(false),
            verdict: Some(unreadable.verdict.name()),
            differences: vec![unreadable.difference],
            solves_reference: None,
            certificate: None,
            reference_certificate: certificate(reference)?,
            proof: None,
        },
        Ok(problem) => match Domain::named(problem.words.known(problem.domain)) {
            Some(domain) if domain == reference.domain => {
                let generated = Task::new(Rc::new(problem), domain, true);
                let to_reference = translation(&generated.problem.words, &reference.problem.words);
                let pair = Pair { reference, generated: &generated, to_reference: &to_reference };
                scored(&pair, is_placeholder, settings, &mut certificate)?
            }
            domain => {
                let name = problem.words.text(problem.domain);
                if domain.is_none() && is_known(name) {
                    return Err(Left::Domain);
                }
                let names = [name, reference.problem.words.text(reference.problem.domain)];
                let differences = vec![Difference::of("domain").words("names", names)];
                ProblemVerdict {
                    parseable: true,
                    solvable: settings.check_solvable.then_some(false),
                    equivalent: Some(false),
                    equivalent_untyped: Some(false),
                    verdict: Some("domain_mismatch"),
                    differences,
                    solves_reference: None,
                    certificate: match domain {
                        Some(domain) => certificate(&Task::new(Rc::new(problem), domain, true))?,
                        None => None,
                    },
                    reference_certificate: certificate(reference)?,
                    proof: None,
                }
            }
        },
    };
    if reading.several {
        verdict.differences.insert(0, Difference::of("drafts").word("answer", b"first"));
    }
    Ok(verdict)
}

fn scored(
    pair: &Pair,
    is_placeholder: bool,
    settings: Settings,
    certificate: &mut dyn FnMut(&Task) -> Answer<Option<Digits>>,
) -> Answer<ProblemVerdict> {
    let Pair { reference, generated, .. } = *pair;
    let Decision { verdict, equivalent_untyped, difference, object_map, goal_map } = decide(pair, is_placeholder)?;
    let equivalent = verdict.right();
    let mut differences = vec![difference];
    let (mut solvable, mut solves_reference, mut own_plan) = (None, None, None);
    let (theirs, ours) = (&reference.problem, &generated.problem);
    if settings.check_solvable {
        // An equivalent problem inherits the reference's plan through the object map.
        let inherited = if object_map.is_some() && goal_map.is_none() { reference.plan()? } else { None };
        if let (Some(plan), Some(map)) = (inherited, &object_map) {
            (solvable, solves_reference) = (Some(true), Some(true));
            if settings.proofs {
                let mut back = theirs.words.each(UNKNOWN);
                ours.objects.iter().for_each(|(name, _)| back[map[*name as usize] as usize] = *name);
                own_plan = Some(plan.iter().map(|action| action.renamed(&back)).collect());
            }
        } else if let Some(plan) = generated.plan()? {
            solvable = Some(true);
            own_plan = settings.proofs.then(|| plan.clone());
            solves_reference = solves(pair, plan, object_map.as_deref());
        } else {
            solvable = Some(false);
            if let Some(misfit) = generated.ill_typed() {
                differences.push(difference::ill_typed(&generated.problem.words, &misfit));
            }
        }
    }
    let reference_certificate = certificate(reference)?;
    Ok(ProblemVerdict {
        parseable: true,
        solvable,
        equivalent: Some(equivalent),
        equivalent_untyped: Some(equivalent_untyped),
        verdict: Some(verdict.name()),
        differences,
        solves_reference,
        certificate: match equivalent {
            true => reference_certificate,
            false => certificate(generated)?,
        },
        reference_certificate,
        proof: settings.proofs.then(|| {
            let of_map = |map: &Vec<u32>| {
                let pair =
                    |name: u32| [ours.words.text(name), theirs.words.text(map[name as usize])].map(<[u8]>::to_vec);
                ours.objects.iter().map(|(name, _)| pair(*name).into()).collect()
            };
            let step = |action: &Action| {
                action.words(|word| ours.words.text(word)).iter().map(|word| word.to_vec()).collect::<Vec<_>>()
            };
            Proof {
                object_map: object_map.as_ref().map(of_map),
                goal_map: goal_map.as_ref().map(of_map),
                plan: own_plan.map(|plan: Vec<Action>| plan.iter().map(step).collect()),
                closure: None,
                counterexample: None,
            }
        }),
    })
}

/// The known domains as texts say them, for problems that their rules do not cover.
pub struct Search {
    names: Interner,
    domains: [Option<PlanningDomain>; 3],
}

impl Search {
    pub fn new() -> Search {
        Search { names: Interner::new(), domains: Default::default() }
    }

    /// The certificate in the row's mode.
    fn certificate(&mut self, task: &Task, is_placeholder: bool, settings: Settings) -> Answer<Option<Digits>> {
        if !settings.certificates {
            return Ok(None);
        }
        let found = if is_placeholder { task.placeholder_certificate() } else { task.certificate() };
        match found {
            Err(Left::Rules) if settings.has_time => self.found(task, is_placeholder),
            other => other.map(Some),
        }
    }

    fn found(&mut self, task: &Task, is_placeholder: bool) -> Answer<Option<Digits>> {
        if task.problem.objects.len() > FEW_OBJECTS {
            return Ok(None);
        }
        if self.names.is_full() {
            *self = Search::new();
        }
        let place = &mut self.domains[task.domain as usize];
        let domain = match place {
            Some(domain) => &*domain,
            None => place.insert(planning_domain(task.domain.pddl().as_bytes(), &mut self.names)?),
        };
        let problem = LiftedProblem::of(&task.problem, &mut self.names)?;
        let within = Within { domain, names: &self.names };
        StripsTask::new(Rc::new(problem), true, None, domain).certificate_within_limits(is_placeholder, false, within)
    }
}

/// Whether a plan of the generated problem solves the reference, under the object map of an equivalent answer, else
/// under equal names; None where the names differ and there is no map.
fn solves(pair: &Pair, plan: &[Action], object_map: Option<&[u32]>) -> Option<bool> {
    let (theirs, ours) = (&pair.reference.problem, &pair.generated.problem);
    let known = |name: u32| pair.to_reference[name as usize];
    let is_theirs = |name: u32| known(name) != UNKNOWN && theirs.number[known(name) as usize] != NO_OBJECT;
    let same_names =
        ours.objects.len() == theirs.objects.len() && ours.objects.iter().all(|(name, _)| is_theirs(*name));
    let names = match object_map {
        Some(map) => map,
        None if same_names => pair.to_reference,
        None => return None,
    };
    let steps: Vec<Action> = plan.iter().map(|action| action.renamed(names)).collect();
    Some(pair.reference.is_solved_by(&steps))
}
