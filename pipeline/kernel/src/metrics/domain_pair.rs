//! A generated domain and its reference, and their scores (definition/metrics/domain_pair.py, domains.py).

use crate::canonical::Digits;
use crate::difference::{self, Difference};
use crate::domain_difference::words_of;
use crate::domain_equivalence::{decide_domains, shared_operators, DomainVerdict};
use crate::domains::{is_certified, PlanningDomain};
use crate::formulas::is_ill_typed as is_ill_typed_number;
use crate::grounding::Objects;
use crate::left::{Answer, Left};
use crate::metrics::components::component_f1;
use crate::metrics::plan_exchange::{exchange_plans, Found, Plan, Task};
use crate::metrics::predictive::predictive_power;
use crate::metrics::problem::{read_in, Settings};
use crate::metrics::syntactic::syntactic_similarity;
use crate::model::{alternatives_in, Domain, Form, Lifted, Rule, Word, EQUALITY};
use crate::pddl::any_problem::{read_any_problem, AnyProblem};
use crate::pddl::domains::{parse_domain, Refused};
use crate::pddl::problems::Interner;
use crate::states::{visited_states, VisitedStates};
use crate::structure::structure::DomainStructure;
use crate::task as planning;
use crate::task_equivalence::{decide_tasks, whole_domain, WholeTask};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Alternative types that are asked for each.
const MOST_ALTERNATIVES: usize = 20;

/// The scores of one generated domain against its reference.
pub struct DomainScores {
    pub f1: [f64; 4],
    pub similarity: [f64; 10],
    pub verdict: DomainVerdict,
    pub certificate: Option<Digits>,
    /// Predictive power; None where domains are not executed.
    pub predictive: Option<[f64; 4]>,
    /// Whether the generated domain's plan is valid in the reference, and the other way round.
    pub plans_valid: [Option<bool>; 2],
    /// None where there is no generated problem.
    pub task_equivalent: Option<bool>,
    /// The nearest difference and all notes.
    pub notes: Vec<Difference>,
}

/// A reference that generated domains can be compared with.
pub fn read_reference(text: Option<&[u8]>, names: &mut Interner) -> Answer<DomainStructure> {
    let known = read_domain(text.unwrap_or_default(), names)?;
    if known.domain.operators.is_empty() {
        return Err(Left::Reference);
    }
    Ok(known)
}

/// The domain of a text, without what it may say of numbers.
pub fn read_domain(text: &[u8], names: &mut Interner) -> Answer<DomainStructure> {
    let domain = parse_domain(text, false, names)?.outcome.map_err(|_| Left::Reference)?;
    Ok(DomainStructure::new(domain))
}

/// What both domains of a row are executed in: the problem in the reference domain, and what follows from it.
pub struct Executable {
    text: Vec<u8>,
    problem: AnyProblem,
    objects: Objects,
    visited: OnceCell<Answer<VisitedStates>>,
    plan: OnceCell<Answer<Found>>,
    /// What tasks are compared with, where there are any.
    whole: Option<Answer<WholeTask>>,
}

/// What makes a task of a generated domain.
#[derive(Clone, Copy)]
pub struct GeneratedProblem<'a> {
    pub text: Option<&'a [u8]>,
    pub is_placeholder: bool,
}

/// The reference problem in the reference domain, which is that of a text, and in which it is well typed.
pub fn read_executable(
    known: &DomainStructure,
    domain_text: &[u8],
    text: &[u8],
    has_tasks: bool,
    names: &mut Interner,
) -> Answer<Executable> {
    let domain = &known.domain;
    if known.ill_typed(b"reference", names).is_some() {
        return Err(Left::Reference);
    }
    let mut problem = read_any_problem(text, names)?;
    problem.require_strips(domain)?;
    let objects = problem.objects_in(domain);
    let plan = OnceCell::new();
    if let Some(found) = plan_by_rules(known, domain_text, false, text, names).transpose() {
        let _ = plan.set(found.map(Ok));
    }
    let whole = has_tasks.then(|| {
        let domain = whole_domain(domain_text, false)?;
        let problem = read_in(&domain, Some(text))?.outcome.map_err(|_| Left::Reference)?;
        Ok(WholeTask::new(domain, problem))
    });
    let found = Executable { text: text.to_vec(), problem, objects, visited: OnceCell::new(), plan, whole };
    if found.task(domain).ill_typed(names).is_some() {
        return Err(Left::Reference);
    }
    Ok(found)
}

/// The plan of a problem of three domains, whatever their words; None where it is another, or not by the rules.
fn plan_by_rules(
    known: &DomainStructure,
    domain: &[u8],
    last: bool,
    problem: &[u8],
    names: &Interner,
) -> Answer<Option<Plan>> {
    if !is_certified(known, names)? {
        return Ok(None);
    }
    let domain = Rc::new(PlanningDomain::read(domain, last)?);
    let problem = read_in(&domain, Some(problem))?.outcome.map_err(|_| Left::Reference)?;
    let task = planning::Task::new(Rc::new(problem), domain, true, false);
    let plan = match task.plan() {
        Err(Left::Rules) if !task.is_covered() => return Ok(None),
        plan => plan?.ok_or(Left::Rules)?,
    };
    let step = |step: &[Word]| -> Answer<Lifted> {
        let operator = task.domain.names.text(task.domain.structure.domain.operators[step[0] as usize].name);
        let arguments = step[1..].iter().map(|word| task.problem.words.text(*word));
        [operator].into_iter().chain(arguments).map(|text| names.find(text).ok_or(Left::Rules)).collect()
    };
    plan.steps(&task.domain.operators).map(step).collect::<Answer<_>>().map(Some)
}

impl Executable {
    fn task<'a>(&'a self, domain: &'a Rc<Domain>) -> Task<'a> {
        Task { domain, objects: &self.objects, init: &self.problem.init, goal: &self.problem.goal }
    }

    fn visited(&self, domain: &Domain, names: &Interner) -> Answer<&VisitedStates> {
        let compute = || visited_states(&self.objects, &self.problem.init, domain, names);
        self.visited.get_or_init(compute).as_ref().map_err(|left| *left)
    }

    fn plan(&self, domain: &Rc<Domain>, names: &Interner) -> Answer<&Found> {
        self.plan.get_or_init(|| self.task(domain).plan(names)).as_ref().map_err(|left| *left)
    }
}

/// How the generated domain behaves where the reference problem is, and notes.
fn score_behaviour(
    known: &DomainStructure,
    own: Option<&DomainStructure>,
    verdict: DomainVerdict,
    (executable, generated_text): (&Executable, &[u8]),
    settings: Settings,
    names: &Interner,
    notes: &mut Vec<Difference>,
) -> Answer<([f64; 4], [Option<bool>; 2])> {
    let reference = &known.domain;
    let no_plans = if settings.check_solvable { [Some(false); 2] } else { [None; 2] };
    let Some(own) = own.filter(|own| own.ill_typed(b"generated", names).is_none()) else {
        return Ok(([0.0; 4], no_plans));
    };
    let generated = &own.domain;
    let shared = shared_operators(reference, generated);
    let problem = &executable.problem;
    if problem.objects.iter().any(|(name, _)| generated.constants.contains_key(name)) {
        return Err(Left::Notation);
    }
    let objects = problem.objects_in(generated);
    let power = if reference.operators.iter().all(|operator| shared.contains(&operator.key)) {
        [1.0; 4]
    } else {
        predictive_power(reference, generated, &objects, executable.visited(reference, names)?, names)?
    };
    if !settings.check_solvable {
        return Ok((power, [None; 2]));
    }
    let names_of = |domain: &Domain| domain.operators.iter().map(|each| each.name).collect::<BTreeSet<Word>>();
    let same_names = names_of(reference) == names_of(generated);
    let same = same_names && shared.len() == reference.operators.len() && reference.predicates == generated.predicates;
    let task = Task { domain: generated, objects: &objects, init: &problem.init, goal: &problem.goal };
    let behaves_the_same = verdict == DomainVerdict::Renamed || same;
    if !behaves_the_same {
        let terms = problem.init.iter().chain(&problem.goal).flat_map(|atom| &atom[1..]);
        if !terms.into_iter().all(|term| objects.contains_key(term)) {
            return Err(Left::Notation);
        }
    }
    let theirs = match behaves_the_same {
        true => None,
        false if task.ill_typed(names).is_some() => Some(task.plan(names)?),
        false => Some(match plan_by_rules(own, generated_text, settings.last_answer, &executable.text, names)? {
            Some(plan) => Ok(plan),
            None => task.plan(names)?,
        }),
    };
    let (ours, whole) = (executable.plan(reference, names)?, executable.task(reference));
    let plans = exchange_plans(&whole, ours, theirs.map(|plan| (&task, plan)), names, notes)?;
    Ok((power, plans))
}

/// The scores of a generated domain; `executable` is what the domains are executed in, where there is something.
pub fn score_domain_pair(
    known: &DomainStructure,
    generated: Option<&[u8]>,
    executable: Option<&Executable>,
    problem: Option<GeneratedProblem>,
    settings: Settings,
    names: &mut Interner,
) -> Answer<DomainScores> {
    let last = settings.last_answer;
    let mut notes: Vec<Difference> = Vec::new();
    let mut verdict = DomainVerdict::Empty;
    let mut own = None;
    let generated_text = generated.unwrap_or_default();
    match generated {
        None => notes.push(Difference::of("no domain")),
        Some(text) => {
            let reading = parse_domain(text, last, names)?;
            match reading.outcome {
                Ok(domain) => {
                    if reading.several {
                        notes.push(Difference::of("drafts").word("answer", if last { b"last" } else { b"first" }));
                    }
                    own = Some(DomainStructure::new(domain));
                }
                Err(reason) => {
                    verdict = match reason {
                        Refused::Empty => DomainVerdict::Empty,
                        _ => DomainVerdict::Unparseable,
                    };
                    notes.push(Difference::of(match reason {
                        Refused::NeverClosed => "domain never closed",
                        _ => "domain not found",
                    }));
                }
            }
        }
    }
    let mut certificate = None;
    if let Some(own) = &own {
        let (decided, difference) = decide_domains(known, own, names)?;
        verdict = decided;
        notes.extend(difference);
        certificate = Some(if verdict.right() { known } else { own }.certificate(names)?);
    }
    notes.extend(known.ill_typed(b"reference", names).cloned());
    notes.extend(own.as_ref().and_then(|own| own.ill_typed(b"generated", names)).cloned());
    let generated = own.as_ref().map(|own| &*own.domain);
    let (mut predictive, mut plans_valid) = (None, [None; 2]);
    if let Some(executable) = executable {
        let found =
            score_behaviour(known, own.as_ref(), verdict, (executable, generated_text), settings, names, &mut notes)?;
        (predictive, plans_valid) = (Some(found.0), found.1);
    }
    let (f1, similarity) = (component_f1(&known.domain, generated), syntactic_similarity(&known.domain, generated));
    let task_equivalent = match (problem, executable.and_then(|each| each.whole.as_ref())) {
        (Some(GeneratedProblem { text, is_placeholder }), Some(whole)) if verdict.right() => {
            if !settings.has_time {
                return Err(Left::Setting);
            }
            let whole = whole.as_ref().map_err(|left| *left)?;
            let domain = whole_domain(generated_text, last)?;
            Some(decide_tasks(whole, domain, text, is_placeholder, last)?)
        }
        (problem, ..) => problem.map(|_| false),
    };
    Ok(DomainScores { f1, similarity, verdict, certificate, predictive, plans_valid, task_equivalent, notes })
}

/// The first atom of an operator that the declarations of a typed domain do not admit.
pub fn ill_typed_operator(domain: &Domain, side: &[u8], names: &Interner) -> Option<Difference> {
    for operator in &domain.operators {
        let type_of = |term: Word| domain.type_in(operator, term);
        if let Some(why) = first_misfit(domain, operator.parts.iter().flatten(), type_of, names) {
            let why = Difference::of("in operator").word("name", names.text(operator.name)).because("why", why);
            return Some(Difference::of("ill typed domain").word("side", side).because("why", why));
        }
    }
    None
}

/// True where the declarations of a typed domain do not admit an atom of a condition or an effect that is no set of atoms.
pub fn has_ill_typed_forms(domain: &Domain, names: &Interner) -> bool {
    let constant = |term: Word| domain.constants.get(&term).copied();
    let is_wrong = |form: &Form, around: &[(Word, Word)]| is_ill_typed(domain, form, around, constant, names);
    let is_wrong_rule =
        |rule: &Rule| is_wrong(&Form::Atom(rule.head()), &rule.variables) || is_wrong(&rule.body, &rule.variables);
    domain.rules.iter().any(is_wrong_rule)
        || domain.operators.iter().any(|each| each.beyond.iter().any(|own| is_wrong(&own.form, &each.parameters)))
}

/// The same of one of them, with the variables around it.
pub fn is_ill_typed(
    domain: &Domain,
    form: &Form,
    around: &[(Word, Word)],
    type_of: impl Fn(Word) -> Option<Word>,
    names: &Interner,
) -> bool {
    let is_wrong = |leaf: &Form, variables: &[(Word, Word)]| {
        let own = |term: Word| variables.iter().rev().find(|(name, _)| *name == term).map(|(_, type_)| *type_);
        let type_of = |term| own(term).or_else(|| type_of(term));
        match leaf {
            Form::Atom(atom) => misfit(domain, atom, type_of, names).is_some(),
            _ => leaf.fluents().any(|fluent| is_ill_typed_number(domain, fluent, type_of, names)),
        }
    };
    form.has_leaf(&mut around.to_vec(), &is_wrong)
}

/// Why the declarations of a typed domain do not admit the first of the atoms that they do not.
pub fn first_misfit<'a>(
    domain: &Domain,
    atoms: impl Iterator<Item = &'a Lifted>,
    type_of: impl Fn(Word) -> Option<Word>,
    names: &Interner,
) -> Option<Difference> {
    let misfits = atoms.filter_map(|atom| Some((atom, misfit(domain, atom, &type_of, names)?)));
    misfits.min_by(|one, other| names.order_of(one.0, other.0)).map(|(_, why)| why)
}

/// Why the declarations of a typed domain do not admit the atom.
pub fn misfit(
    domain: &Domain,
    atom: &Lifted,
    type_of: impl Fn(Word) -> Option<Word>,
    names: &Interner,
) -> Option<Difference> {
    if names.text(atom[0]) == EQUALITY {
        return None;
    }
    misfit_of(&domain.predicates, domain, atom, type_of, names)
}

/// The same of an atom or a number, of which these are the declarations.
pub fn misfit_of(
    declarations: &BTreeMap<Word, Vec<Word>>,
    domain: &Domain,
    atom: &Lifted,
    type_of: impl Fn(Word) -> Option<Word>,
    names: &Interner,
) -> Option<Difference> {
    if domain.types.is_empty() || domain.predicates.is_empty() {
        return None;
    }
    // Of alternatives all have to fit: the first ones of all arguments, then the second ones.
    let count =
        |type_: &Word| domain.alternatives.get(type_).map_or(1, |_| alternatives_in(names.text(*type_)).count());
    let most = atom[1..].iter().filter_map(|term| type_of(*term)).map(|type_| count(&type_)).max().unwrap_or(1);
    (0..most.min(MOST_ALTERNATIVES)).find_map(|number| {
        let wrong = |place: usize, wanted: Word| {
            let mut type_ = type_of(atom[1 + place])?;
            let count = count(&type_);
            if count > 1 {
                type_ = names.find(alternatives_in(names.text(type_)).nth(number % count)?)?;
            }
            (!domain.fits(type_, wanted)).then(|| [names.text(wanted), names.text(type_)])
        };
        difference::misfit(declarations.get(&atom[0]), atom.len() - 1, || words_of(atom, names), wrong)
    })
}
