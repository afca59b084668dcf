//! Batches: which rows are there and what they share, how each is scored, and the columns of their scores.

use crate::arrow::{Column, Value};
use crate::blake2b::digest;
use crate::canonical::Digits;
use crate::difference::Difference;
use crate::domains::{self, forget_known_domains, pddl_of, PlanningDomain, ROVER_NAMES};
use crate::formulas::World;
use crate::left::{Answer, Left};
use crate::metrics::actions::Marks;
use crate::metrics::domain_pair::{
    self, read_executable, score_domain_pair, DomainScores, Executable, GeneratedProblem,
};
use crate::metrics::plans::{self, score_plan_pair, Compared, PlanScores};
use crate::metrics::problem::{read_reference, score_lone_problem, score_problem_pair, ProblemVerdict, Settings};
use crate::model::Domain;
use crate::pddl::any_problem::read_any_problem;
use crate::pddl::problems::Interner;
use crate::pddl::sexpr::is_blank;
use crate::plans::found::Steps;
use crate::structure::structure::DomainStructure;
use crate::task::Task;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;
use std::time::Instant;

/// Rows that go out.
pub trait Rows {
    /// No rows, of values like these.
    fn new(like: &[(&'static str, Value)]) -> Self;

    fn push(&mut self, row: &[(&'static str, Value)]);
}

/// The scores of a batch's rows; None where the columns are not what the kernel takes (`pddl_eval_score`).
pub fn score<R: Rows>(what: u32, flags: u32, columns: &[Column]) -> Option<R> {
    let settings = Settings::new(flags);
    let (first, names) = (columns.first()?, Interner::new());
    let rows = first.length;
    match (what, columns.len()) {
        (0, 3..) => {
            let (asking, references) = (Asking::new(columns.get(3)), Sharing::new(first));
            Some(score_rows(Problems { columns, asking, settings, names, references }, rows, settings.proofs))
        }
        (1, 2..) => {
            let (asking, worlds) = (Asking::new(columns.get(3)), columns.get(2).map(Sharing::new));
            let (steps, marks, known) = (Steps::new(), Marks::default(), Vec::new());
            let references = Sharing::new(first);
            Some(score_rows(
                Plans { columns, asking, steps, marks, references, known, worlds, count: 0 },
                rows,
                settings.proofs,
            ))
        }
        (2, 2..) => {
            let (references, problems) = (Sharing::new(first), columns.get(2).map(Sharing::new));
            Some(score_rows(
                Domains { columns, settings, names: Interner::new(), references, problems },
                rows,
                settings.proofs,
            ))
        }
        (3, 1) => digests(first),
        _ => None,
    }
}

/// The digest of each text, as two numbers.
fn digests<R: Rows>(texts: &Column) -> Option<R> {
    let half = |half: u64| Value::Whole(usize::try_from(half).ok());
    let mut table = R::new(&[("first", half(0)), ("second", half(0))]);
    for row in 0..texts.length {
        let [first, second] = digest(texts.text(row).ok()??);
        table.push(&[("first", half(first)), ("second", half(second))]);
    }
    Some(table)
}

/// Scores rows of one kind.
trait Kernel {
    type Row: Row;

    fn score(&mut self, row: usize) -> Answer<Self::Row>;

    /// A row is done, and if `all`, whatever state it left behind is given up.
    fn forget(&mut self, row: usize, all: bool);
}

/// The columns of a row; of one that is left, nulls. With what shows the verdict if `proofs`.
trait Row: Sized {
    fn columns(row: Option<&Self>, proofs: bool) -> Vec<(&'static str, Value<'_>)>;
}

/// The rows, why each was left, and the microseconds that it took. A panic costs a row.
fn score_rows<K: Kernel, R: Rows>(mut kernel: K, rows: usize, proofs: bool) -> R {
    let mut table = R::new(&values::<K::Row>(&Err(Left::Panic), 0, proofs));
    for row in 0..rows {
        let start = Instant::now();
        let scored = catch_unwind(AssertUnwindSafe(|| kernel.score(row)));
        kernel.forget(row, scored.is_err());
        let micros = start.elapsed().as_micros() as usize;
        table.push(&values(&scored.unwrap_or(Err(Left::Panic)), micros, proofs));
    }
    table
}

fn values<R: Row>(scored: &Answer<R>, micros: usize, proofs: bool) -> Vec<(&'static str, Value<'_>)> {
    let mut columns = R::columns(scored.as_ref().ok(), proofs);
    let left = scored.as_ref().err();
    columns.extend([("left", text(left.map(|left| left.name()))), ("score_micros", Value::Whole(Some(micros)))]);
    columns
}

fn text(text: Option<&str>) -> Value<'_> {
    Value::Text(text.map(str::as_bytes))
}

fn digits(digits: Option<&Digits>) -> Value<'_> {
    Value::Text(digits.map(|digits| &digits[..]))
}

/// No notes are a null.
fn notes(notes: Option<&[Difference]>) -> Value<'_> {
    Value::Differences(notes.filter(|notes| !notes.is_empty()))
}

impl Row for ProblemVerdict {
    fn columns(row: Option<&ProblemVerdict>, proofs: bool) -> Vec<(&'static str, Value<'_>)> {
        use Value::{Differences, Lists, Truth};
        let proof = row.and_then(|row| row.proof.as_ref());
        let mut columns = vec![
            ("parseable", Truth(row.map(|row| row.parseable))),
            ("solvable", Truth(row.and_then(|row| row.solvable))),
            ("equivalent", Truth(row.and_then(|row| row.equivalent))),
            ("equivalent_untyped", Truth(row.and_then(|row| row.equivalent_untyped))),
            ("verdict", text(row.and_then(|row| row.verdict))),
            ("detail", Differences(row.map(|row| &row.differences[..]))),
            ("solves_reference", Truth(row.and_then(|row| row.solves_reference))),
            ("certificate", digits(row.and_then(|row| row.certificate.as_ref()))),
            ("reference_certificate", digits(row.and_then(|row| row.reference_certificate.as_ref()))),
        ];
        if proofs {
            columns.extend([
                ("object_map", Lists(proof.and_then(|proof| proof.object_map.as_deref()))),
                ("goal_object_map", Lists(proof.and_then(|proof| proof.goal_map.as_deref()))),
                ("plan", Lists(proof.and_then(|proof| proof.plan.as_deref()))),
                ("closure", Lists(proof.and_then(|proof| proof.closure.as_deref()))),
                ("counterexample", Lists(proof.and_then(|proof| proof.counterexample.as_deref()))),
            ]);
        }
        columns
    }
}

impl Row for PlanScores {
    fn columns(row: Option<&PlanScores>, _: bool) -> Vec<(&'static str, Value<'_>)> {
        use Value::{Real, Truth, Whole};
        let real = |of: fn(&PlanScores) -> Option<f64>| Real(row.and_then(of));
        let rate = |of: fn(&Compared) -> f64| Real(row.and_then(|row| row.compared.as_ref()).map(of));
        vec![
            ("plan_lcs", rate(|compared| compared.lcs)),
            ("plan_jaccard", rate(|compared| compared.jaccard)),
            ("plan_score", rate(|compared| compared.score)),
            ("plan_precision", rate(|compared| compared.precision)),
            ("plan_recall", rate(|compared| compared.recall)),
            ("plan_length", Whole(row.map(|row| row.length))),
            ("reference_plan_length", Whole(row.and_then(|row| Some(row.compared.as_ref()?.reference_length)))),
            ("action_distance", rate(|compared| compared.action_distance)),
            ("plan_valid", Truth(row.and_then(|row| row.valid))),
            ("goal_reached", Truth(row.and_then(|row| row.goal_reached))),
            ("first_failed_step", Whole(row.and_then(|row| row.first_failed_step))),
            ("state_distance", real(|row| row.state_distance)),
            ("causal_distance", real(|row| row.causal_distance)),
            ("plan_detail", notes(row.map(|row| &row.notes[..]))),
            ("plan_verdict", text(row.and_then(|row| row.verdict))),
            ("executable_share", real(|row| row.executable_share)),
            ("goal_share", real(|row| row.goal_share)),
            ("plan_cost", real(|row| row.cost)),
            ("reference_plan_cost", real(|row| row.reference_cost)),
            ("plan_skipped", Whole(row.map(|_| 0))), // what has prose is left
            ("constraint_share", Real(None)),        // and what has constraints
        ]
    }
}

const F1: [&str; 4] = ["domain_f1_predicates", "domain_f1_parameters", "domain_f1_preconditions", "domain_f1_effects"];

const SIMILARITY: [&str; 10] = [
    "domain_precision",
    "domain_recall",
    "domain_precision_preconditions_positive",
    "domain_recall_preconditions_positive",
    "domain_precision_preconditions_negative",
    "domain_recall_preconditions_negative",
    "domain_precision_effects_positive",
    "domain_recall_effects_positive",
    "domain_precision_effects_negative",
    "domain_recall_effects_negative",
];

const PREDICTIVE: [&str; 4] = [
    "domain_applicability_precision",
    "domain_applicability_recall",
    "domain_predicted_effects_precision",
    "domain_predicted_effects_recall",
];

impl Row for DomainScores {
    fn columns(row: Option<&DomainScores>, _: bool) -> Vec<(&'static str, Value<'_>)> {
        use Value::{Real, Truth};
        let named = |names: &[&'static str], values: Option<&[f64]>| {
            let value = |place: usize| Real(values.map(|values| values[place]));
            names.iter().enumerate().map(|(place, name)| (*name, value(place))).collect::<Vec<_>>()
        };
        let mut columns = named(&F1, row.map(|row| &row.f1[..]));
        columns.extend(named(&SIMILARITY, row.map(|row| &row.similarity[..])));
        columns.extend(named(&PREDICTIVE, row.and_then(|row| row.predictive.as_ref()).map(|power| &power[..])));
        columns.extend([
            ("domain_plan_valid", Truth(row.and_then(|row| row.plans_valid[0]))),
            ("domain_reference_plan_valid", Truth(row.and_then(|row| row.plans_valid[1]))),
            ("domain_equivalent", Truth(row.map(|row| row.verdict.right()))),
            ("domain_equivalent_untyped", Truth(row.map(|row| row.verdict.right_untyped()))),
            ("domain_verdict", text(row.map(|row| row.verdict.name()))),
            ("domain_certificate", digits(row.and_then(|row| row.certificate.as_ref()))),
            ("task_equivalent", Truth(row.and_then(|row| row.task_equivalent))),
            ("domain_detail", notes(row.map(|row| &row.notes[..]))),
        ]);
        columns
    }
}

/// What rows share, such as references: how many of the rows are still to come, and what is known of it.
struct Shared<T> {
    rows: usize,
    known: Option<Answer<T>>,
}

/// What the rows of a column share. What repeats is read once, and kept to its last row.
struct Sharing<T> {
    shared: Vec<Shared<T>>,
    /// The place of each row's.
    of: Vec<Answer<usize>>,
}

impl<T> Sharing<T> {
    fn new(column: &Column) -> Sharing<T> {
        let (counts, of) = places_of(column);
        Sharing { shared: counts.into_iter().map(|rows| Shared { rows, known: None }).collect(), of }
    }

    /// What is known of the row's, read where it is not.
    fn known(&mut self, row: usize, read: impl FnOnce() -> Answer<T>) -> Answer<&mut T> {
        let known = &mut self.shared[self.of[row]?].known;
        known.get_or_insert_with(read).as_mut().map_err(|left| *left)
    }

    /// A row is done: forget what is known if that was the last one.
    fn forget(&mut self, row: usize) {
        if let Ok(place) = self.of[row] {
            let shared = &mut self.shared[place];
            shared.rows -= 1;
            if shared.rows == 0 {
                shared.known = None;
            }
        }
    }

    fn forget_all(&mut self) {
        self.shared.iter_mut().for_each(|shared| shared.known = None);
    }
}

impl<P: PartialEq + Copy, T> Sharing<(P, T)> {
    /// What is known of the row's in this place, read where it is not.
    fn known_in(&mut self, row: usize, place: P, mut read: impl FnMut() -> Answer<T>) -> Answer<&mut T> {
        let mut read = || Ok((place, read()?));
        let found = self.known(row, &mut read)?;
        if found.0 != place {
            *found = read()?;
        }
        Ok(&mut found.1)
    }
}

/// How many rows have each text of a column, and the place of each row's text among them.
fn places_of(column: &Column) -> (Vec<usize>, Vec<Answer<usize>>) {
    let texts: Vec<Answer<Option<&[u8]>>> = (0..column.length).map(|row| column.text(row)).collect();
    let mut sorted: Vec<usize> = (0..texts.len()).filter(|row| texts[*row].is_ok()).collect();
    sorted.sort_unstable_by_key(|row| texts[*row].unwrap_or_default());
    let mut of: Vec<Answer<usize>> = texts.iter().map(|text| text.map(|_| 0)).collect();
    let mut counts = Vec::new();
    for rows in sorted.chunk_by(|a, b| texts[*a] == texts[*b]) {
        rows.iter().for_each(|row| of[*row] = Ok(counts.len()));
        counts.push(rows.len());
    }
    (counts, of)
}

/// What the `domain` column says of a row; a name is in lower case, with `-` for `_`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked<'a> {
    Nothing,
    Named(&'a [u8]),
    Written(&'a [u8]),
}

/// The `domain` column, if there is one. Its texts are read once a batch, into words that they share.
struct Asking<'a, T> {
    column: Option<&'a Column<'a>>,
    written: Option<Sharing<T>>,
    names: Interner,
}

impl<'a, T> Asking<'a, T> {
    fn new(column: Option<&'a Column<'a>>) -> Asking<'a, T> {
        Asking { column, written: column.map(Sharing::new), names: Interner::new() }
    }

    fn asked(&self, row: usize) -> Answer<Asked<'a>> {
        Ok(match self.column.map_or(Ok(None), |column| column.text(row))? {
            None => Asked::Nothing,
            Some(text) if text.contains(&b'(') => Asked::Written(text),
            Some(name) => Asked::Named(name),
        })
    }

    /// What is read of the domain of a row that asks for one by its text, and the place that tells texts apart.
    fn written(
        &mut self,
        row: usize,
        read: impl FnOnce(&mut Interner) -> Answer<T>,
    ) -> Answer<(usize, &mut T, &mut Interner)> {
        let (written, names) = (self.written.as_mut().ok_or(Left::Setting)?, &mut self.names);
        let place = written.of[row]?;
        let known = written.known(row, || read(names))?;
        Ok((place, known, names))
    }

    /// As `Kernel::forget`; true where the words of all domains were given up.
    fn forget(&mut self, row: usize, all: bool) -> bool {
        let all = all || self.names.is_full();
        if all {
            self.names = Interner::new();
        }
        if let Some(written) = &mut self.written {
            if all {
                written.forget_all();
            }
            written.forget(row);
        }
        all
    }
}

/// The text, if it is not blank.
fn said(text: Option<&[u8]>) -> Option<&[u8]> {
    text.filter(|text| !std::str::from_utf8(text).is_ok_and(is_blank))
}

impl Asked<'_> {
    /// True where the row asks for no other domain than the one of this name.
    fn is(self, name: &[u8]) -> bool {
        self == Asked::Nothing || self == Asked::Named(name)
    }
}

struct Problems<'a> {
    columns: &'a [Column<'a>],
    asking: Asking<'a, Rc<PlanningDomain>>,
    settings: Settings,
    names: Interner,
    /// Each in the domain of this place.
    references: Sharing<(In, Task)>,
}

impl Kernel for Problems<'_> {
    type Row = ProblemVerdict;

    fn score(&mut self, row: usize) -> Answer<ProblemVerdict> {
        let [reference, generated, is_placeholder, ..] = self.columns else { return Err(Left::Text) };
        let (text, asked, settings) = (reference.text(row)?, self.asking.asked(row)?, self.settings);
        let (place, domain) = match asked {
            Asked::Written(text) => {
                let read = |_: &mut Interner| Ok(Rc::new(PlanningDomain::read(text, false)?));
                let (place, domain, _) = self.asking.written(row, read)?;
                (In::Written(place), Some(domain.clone()))
            }
            Asked::Named(name) if ROVER_NAMES.contains(&name) => {
                (pddl_of(name).map_or(In::Own, In::Known), domains::known_domain(name)?)
            }
            _ => (In::Own, None),
        };
        let (generated, is_placeholder) = (generated.text(row)?, is_placeholder.truth(row));
        if let Some(domain) = domain.as_ref().filter(|_| said(text).is_none()) {
            if !settings.has_time {
                return Err(Left::Setting);
            }
            return score_lone_problem(domain, generated, is_placeholder, settings);
        }
        let names = &mut self.names;
        let read = || read_reference(text, domain.as_ref(), settings, names);
        let task = self.references.known_in(row, place, read)?;
        let name = task.problem.words.text(task.problem.domain);
        if !settings.has_time && !task.domain.is_named() || domain.is_none() && !asked.is(name) {
            return Err(Left::Setting);
        }
        score_problem_pair(task, generated, is_placeholder, settings)
    }

    fn forget(&mut self, row: usize, all: bool) {
        self.asking.forget(row, all);
        if all {
            forget_known_domains();
            self.names = Interner::new();
            self.references.forget_all();
        }
        self.references.forget(row);
    }
}

struct Plans<'a> {
    columns: &'a [Column<'a>],
    asking: Asking<'a, Rc<Domain>>,
    steps: Steps,
    marks: Marks,
    references: Sharing<plans::Reference>,
    /// The known domains that were asked for, by their texts.
    known: Vec<(&'static str, Rc<Domain>)>,
    worlds: Option<Sharing<(In, World)>>,
    count: usize,
}

/// In which domain a problem is: the one that it names, a known one, that of this text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum In {
    Own,
    Known(&'static str),
    Written(usize),
}

impl Plans<'_> {
    /// Read what plans of a row are executed in, where there is something and it was not read before.
    fn find_world(&mut self, row: usize) -> Answer<bool> {
        let ([_, _, problem, ..], Some(worlds)) = (self.columns, &mut self.worlds) else { return Ok(false) };
        let Some(text) = said(problem.text(row)?) else { return Ok(false) };
        let mut domain = None;
        let place = match self.asking.asked(row)? {
            Asked::Nothing => In::Own,
            Asked::Named(name) => In::Known(pddl_of(name).ok_or(Left::Setting)?),
            Asked::Written(text) => {
                let (place, known, _) = self.asking.written(row, |names| plans::read_domain(text, names))?;
                domain = Some(known.clone());
                In::Written(place)
            }
        };
        let (names, known, count) = (&mut self.asking.names, &mut self.known, &mut self.count);
        let read = || {
            let problem = read_any_problem(text, names)?;
            let domain = match (place, domain.clone()) {
                (_, Some(domain)) => domain,
                (In::Known(text), _) => known_domain(text, known, names)?,
                _ => known_domain(pddl_of(names.text(problem.domain)).ok_or(Left::Domain)?, known, names)?,
            };
            *count += 1;
            World::new(*count, problem, domain, names)
        };
        worlds.known_in(row, place, read).map(|_| true)
    }
}

fn known_domain(
    text: &'static str,
    known: &mut Vec<(&'static str, Rc<Domain>)>,
    names: &mut Interner,
) -> Answer<Rc<Domain>> {
    if let Some((_, domain)) = known.iter().find(|(other, _)| std::ptr::eq(*other, text)) {
        return Ok(domain.clone());
    }
    let domain = plans::read_domain(text.as_bytes(), names)?;
    known.push((text, domain.clone()));
    Ok(domain)
}

impl Kernel for Plans<'_> {
    type Row = PlanScores;

    fn score(&mut self, row: usize) -> Answer<PlanScores> {
        let [reference, generated, ..] = self.columns else { return Err(Left::Text) };
        let has_world = self.find_world(row)?;
        let (text, steps) = (reference.text(row)?, &mut self.steps);
        let plan = self.references.known(row, || plans::read_reference(text, steps))?;
        let mut world = None;
        if let (true, Some(worlds)) = (has_world, &mut self.worlds) {
            world = Some(&mut worlds.known(row, || Err(Left::Panic))?.1);
        }
        score_plan_pair(plan, generated.text(row)?, world, steps, &mut self.marks, &self.asking.names)
    }

    fn forget(&mut self, row: usize, all: bool) {
        let forgets_steps = all || self.steps.is_full();
        if forgets_steps {
            (self.steps, self.marks) = (Steps::new(), Marks::default());
            self.references.forget_all();
        }
        self.references.forget(row);
        let forgets_words = self.asking.forget(row, all);
        if forgets_words {
            self.known.clear();
        }
        if let Some(worlds) = &mut self.worlds {
            if forgets_steps || forgets_words {
                worlds.forget_all(); // they have actions by their numbers
            }
            worlds.forget(row);
        }
    }
}

struct Domains<'a> {
    columns: &'a [Column<'a>],
    settings: Settings,
    names: Interner,
    references: Sharing<DomainStructure>,
    /// Each in the reference domain of this place.
    problems: Option<Sharing<(usize, Executable)>>,
}

impl Kernel for Domains<'_> {
    type Row = DomainScores;

    fn score(&mut self, row: usize) -> Answer<DomainScores> {
        let [reference, generated, further @ ..] = self.columns else { return Err(Left::Text) };
        let text = reference.text(row)?;
        let place = self.references.of[row]?;
        let names = &mut self.names;
        let known = self.references.known(row, || domain_pair::read_reference(text, names))?;
        let (mut executable, mut task) = (None, None);
        if let ([problem, tasks @ ..], Some(problems)) = (further, &mut self.problems) {
            if let Some(text) = said(problem.text(row)?) {
                if let [generated, is_placeholder, ..] = tasks {
                    let is_placeholder = is_placeholder.truth(row);
                    task = Some(GeneratedProblem { text: generated.text(row)?, is_placeholder });
                }
                let is_task = task.is_some();
                let domain_text = reference.text(row)?.unwrap_or_default();
                let read = || read_executable(known, domain_text, text, is_task, names);
                executable = Some(&*problems.known_in(row, place, read)?);
            }
        }
        score_domain_pair(known, generated.text(row)?, executable, task, self.settings, names)
    }

    fn forget(&mut self, row: usize, all: bool) {
        let all = all || self.names.is_full();
        if all {
            self.names = Interner::new();
            self.references.forget_all();
        }
        self.references.forget(row);
        if let Some(problems) = &mut self.problems {
            if all {
                problems.forget_all();
            }
            problems.forget(row);
        }
    }
}
