//! The border: record batches in and out through the Arrow C data interface, and the memory of a batch. All that is
//! unsafe is in this file.
//!
//! What comes in is promised by the interface (pointers, lengths of buffers that follow from the length and offset of an
//! array); offsets of texts are checked all the same, because files can hold anything. What goes out owns its memory, and
//! its consumer releases it.
#![allow(unsafe_code)]

use crate::canonical::Digits;
use crate::domains::{pddl_of, planning_domain, rover, PlanningDomain, ROVER_NAMES};
use crate::formulas::World;
use crate::left::{Answer, Left, REASONS};
use crate::metrics::actions::Marks;
use crate::metrics::domain_pair::{
    self, read_executable, score_domain_pair, Batch, DomainScores, Executable, GeneratedProblem,
};
use crate::metrics::plans::{self, score_plan_pair, PlanScores};
use crate::metrics::problem::{read_reference, score_problem_pair, ProblemVerdict, Search, Settings};
use crate::model::Domain;
use crate::pddl::any_problem::read_any_problem;
use crate::pddl::problems::Interner;
use crate::pddl::sexpr::is_blank;
use crate::plans::found::Steps;
use crate::strips::comparison;
use crate::strips::task::Task as StripsTask;
use crate::structure::structure::DomainStructure;
use crate::task::Task;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::{c_char, c_void, CStr, CString};
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::Once;
use std::time::Instant;

/// What C and Python are told: the version of the border, and the words for the reasons.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// The digest of the sources, which build.rs computes.
const CRATE: &str = concat!(env!("CRATE"), "\0");

static QUIET: Once = Once::new();

#[repr(C)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

const NULLABLE: i64 = 2;

/// A column of a batch that came in.
struct Column<'a> {
    array: &'a ArrowArray,
    kind: Kind,
    offset: usize,
    length: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Text,
    LargeText,
}

impl<'a> Column<'a> {
    /// The column with this number; None where it is not what the kernel takes.
    ///
    /// # Safety
    /// Schema and array are those of a struct array, valid as the C data interface promises.
    unsafe fn new(schema: &ArrowSchema, array: &'a ArrowArray, number: usize) -> Option<Column<'a>> {
        if number >= usize::try_from(array.n_children).ok()? || array.n_children != schema.n_children {
            return None;
        }
        let (schema, child) = (&**schema.children.add(number), &**array.children.add(number));
        let (kind, buffers) = match CStr::from_ptr(schema.format).to_bytes() {
            b"b" => (Kind::Bool, 2),
            b"u" => (Kind::Text, 3),
            b"U" => (Kind::LargeText, 3),
            _ => return None,
        };
        let offset = usize::try_from(child.offset.checked_add(array.offset)?).ok()?;
        let length = usize::try_from(array.length).ok()?;
        let enough = usize::try_from(child.length).ok()? >= usize::try_from(array.offset).ok()?.checked_add(length)?;
        offset.checked_add(length)?.checked_add(1)?.checked_mul(8)?;
        (child.n_buffers == buffers && enough).then_some(Column { array: child, kind, offset, length })
    }

    fn buffer<T>(&self, number: usize) -> *const T {
        // SAFETY: `new` has checked how many buffers there are.
        unsafe { *self.array.buffers.add(number) }.cast()
    }

    fn bit(&self, number: usize, row: usize) -> Option<bool> {
        let bits: *const u8 = self.buffer(number);
        let at = self.offset + row;
        // SAFETY: a bitmap has a bit for each row.
        (!bits.is_null() && row < self.length).then(|| unsafe { *bits.add(at / 8) } >> (at % 8) & 1 == 1)
    }

    fn is_null(&self, row: usize) -> bool {
        self.bit(0, row) == Some(false)
    }

    fn truth(&self, row: usize) -> bool {
        self.kind == Kind::Bool && !self.is_null(row) && self.bit(1, row) == Some(true)
    }

    /// The text of a row; None for a null.
    fn text(&self, row: usize) -> Answer<Option<&'a [u8]>> {
        if self.is_null(row) {
            return Ok(None);
        }
        if self.kind == Kind::Bool || row >= self.length || self.buffer::<u8>(1).is_null() {
            return Err(Left::Text);
        }
        let offset = |row: usize| match self.kind {
            // SAFETY: there is an offset for each row and one more.
            Kind::Text => i64::from(unsafe { *self.buffer::<i32>(1).add(row) }),
            _ => unsafe { *self.buffer::<i64>(1).add(row) },
        };
        let (first, last) = (offset(self.offset), offset(self.offset + self.length));
        let (start, end) = (offset(self.offset + row), offset(self.offset + row + 1));
        if !(0 <= first && first <= start && start <= end && end <= last) {
            return Err(Left::Text);
        }
        let bytes: *const u8 = self.buffer(2);
        if start == end || bytes.is_null() {
            return Ok(Some(&[]));
        }
        let (start, length) = (start as usize, (end - start) as usize);
        // SAFETY: the last offset is the length of the bytes, and the text ends before it.
        Ok(Some(unsafe { std::slice::from_raw_parts(bytes.add(start), length) }))
    }
}

/// The columns that go out, row by row.
#[derive(Default)]
struct Scores {
    left: Vec<u8>,
    parseable: Bits,
    solvable: Bits,
    equivalent: Bits,
    equivalent_untyped: Bits,
    verdict: Texts,
    difference: Texts,
    solves_reference: Bits,
    certificate: Texts,
    reference_certificate: Texts,
    micros: Vec<i64>,
    /// The object map, that of the goals, and the plan, where they are asked for.
    proofs: Option<[Texts; 3]>,
}

/// A column of truth values.
#[derive(Default)]
struct Bits {
    rows: usize,
    values: Vec<u8>,
    valid: Vec<u8>,
}

impl Bits {
    fn push(&mut self, value: Option<bool>) {
        push_bit(&mut self.values, self.rows, value == Some(true));
        push_bit(&mut self.valid, self.rows, value.is_some());
        self.rows += 1;
    }

    fn exported(self, name: &'static str) -> Buffers {
        (name, "b", vec![self.valid, self.values])
    }
}

fn push_bit(bits: &mut Vec<u8>, row: usize, value: bool) {
    if row % 8 == 0 {
        bits.push(0);
    }
    bits[row / 8] |= u8::from(value) << (row % 8);
}

/// A column of texts.
struct Texts {
    offsets: Vec<i64>,
    bytes: Vec<u8>,
    valid: Vec<u8>,
}

impl Default for Texts {
    fn default() -> Texts {
        Texts { offsets: vec![0], bytes: Vec::new(), valid: Vec::new() }
    }
}

impl Texts {
    fn push(&mut self, text: Option<&[u8]>) {
        push_bit(&mut self.valid, self.offsets.len() - 1, text.is_some());
        self.bytes.extend_from_slice(text.unwrap_or_default());
        self.offsets.push(self.bytes.len() as i64);
    }

    fn exported(self, name: &'static str) -> Buffers {
        if self.bytes.len() > i32::MAX as usize {
            let offsets = self.offsets.iter().flat_map(|each| each.to_ne_bytes()).collect();
            return (name, "U", vec![self.valid, offsets, self.bytes]);
        }
        let offsets = self.offsets.iter().flat_map(|each| (*each as i32).to_ne_bytes()).collect();
        (name, "u", vec![self.valid, offsets, self.bytes])
    }
}

/// A column of numbers of eight bytes.
#[derive(Default)]
struct Numbers {
    rows: usize,
    values: Vec<u8>,
    valid: Vec<u8>,
}

impl Numbers {
    fn push(&mut self, value: Option<[u8; 8]>) {
        push_bit(&mut self.valid, self.rows, value.is_some());
        self.values.extend_from_slice(&value.unwrap_or_default());
        self.rows += 1;
    }

    fn whole(&mut self, value: Option<usize>) {
        self.push(value.map(|value| (value as i64).to_ne_bytes()));
    }

    fn real(&mut self, value: Option<f64>) {
        self.push(value.map(f64::to_ne_bytes));
    }

    fn exported(self, name: &'static str, format: &'static str) -> Buffers {
        (name, format, vec![self.valid, self.values])
    }
}

/// The columns of plans that go out, row by row.
#[derive(Default)]
struct ScoresOfPlans {
    left: Vec<u8>,
    /// LCS, Jaccard, score, precision, recall, action distance; state distance, causal distance; the shares, the costs.
    reals: [Numbers; 12],
    /// Length, the reference's length, the first failed step, lines of prose that quote actions, microseconds.
    wholes: [Numbers; 5],
    valid: Bits,
    goal_reached: Bits,
    notes: Texts,
    verdict: Texts,
}

impl ScoresOfPlans {
    fn push(&mut self, scored: Answer<PlanScores>, micros: i64) {
        self.left.push(scored.as_ref().map_or_else(|left| *left as u8, |_| 0));
        let known = scored.ok();
        let row = known.as_ref();
        let compared = row.and_then(|row| row.compared.as_ref());
        let rates =
            compared.map(|one| [one.lcs, one.jaccard, one.score, one.precision, one.recall, one.action_distance]);
        for (place, column) in self.reals[..6].iter_mut().enumerate() {
            column.real(rates.map(|rates| rates[place]));
        }
        let others = row.map(|row| {
            let distances = [row.state_distance, row.causal_distance];
            [distances, [row.executable_share, row.goal_share], [row.cost, row.reference_cost]].concat()
        });
        for (place, column) in self.reals[6..].iter_mut().enumerate() {
            column.real(others.as_ref().and_then(|others| others[place]));
        }
        self.wholes[0].whole(row.map(|row| row.length));
        self.wholes[1].whole(compared.map(|one| one.reference_length));
        self.wholes[2].whole(row.and_then(|row| row.first_failed_step));
        self.wholes[3].whole(row.map(|_| 0)); // what has prose is left
        self.wholes[4].push(Some(micros.to_ne_bytes()));
        self.valid.push(row.and_then(|row| row.valid));
        self.goal_reached.push(row.and_then(|row| row.goal_reached));
        self.notes.push(row.and_then(|row| row.notes.as_ref()).map(|notes| &notes.0[..]));
        self.verdict.push(row.and_then(|row| row.verdict).map(str::as_bytes));
    }

    fn exported(self) -> Exported {
        let rows = self.left.len();
        let [lcs, jaccard, score, precision, recall, action_distance, further @ ..] = self.reals;
        let [state_distance, causal_distance, executable_share, goal_share, cost, reference_cost] = further;
        let [length, reference_length, first_failed_step, skipped, micros] = self.wholes;
        let columns = vec![
            ("left", "C", vec![Vec::new(), self.left]),
            lcs.exported("plan_lcs", "g"),
            jaccard.exported("plan_jaccard", "g"),
            score.exported("plan_score", "g"),
            precision.exported("plan_precision", "g"),
            recall.exported("plan_recall", "g"),
            length.exported("plan_length", "l"),
            reference_length.exported("reference_plan_length", "l"),
            action_distance.exported("action_distance", "g"),
            self.valid.exported("plan_valid"),
            self.goal_reached.exported("goal_reached"),
            first_failed_step.exported("first_failed_step", "l"),
            state_distance.exported("state_distance", "g"),
            causal_distance.exported("causal_distance", "g"),
            self.notes.exported("plan_detail"),
            self.verdict.exported("plan_verdict"),
            executable_share.exported("executable_share", "g"),
            goal_share.exported("goal_share", "g"),
            cost.exported("plan_cost", "g"),
            reference_cost.exported("reference_plan_cost", "g"),
            skipped.exported("plan_skipped", "l"),
            micros.exported("score_micros", "l"),
        ];
        (rows, columns)
    }
}

/// The columns of domains that go out, row by row.
#[derive(Default)]
struct ScoresOfDomains {
    left: Vec<u8>,
    f1: [Numbers; 4],
    similarity: [Numbers; 10],
    equivalent: Bits,
    verdict: Texts,
    certificate: Texts,
    predictive: [Numbers; 4],
    plans_valid: [Bits; 2],
    task_equivalent: Bits,
    notes: Texts,
    micros: Numbers,
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

const PLANS_VALID: [&str; 2] = ["domain_plan_valid", "domain_reference_plan_valid"];

impl ScoresOfDomains {
    fn push(&mut self, scored: Answer<DomainScores>, micros: i64) {
        self.left.push(scored.as_ref().map_or_else(|left| *left as u8, |_| 0));
        let known = scored.ok();
        let row = known.as_ref();
        for (place, column) in self.f1.iter_mut().enumerate() {
            column.real(row.map(|row| row.f1[place]));
        }
        for (place, column) in self.similarity.iter_mut().enumerate() {
            column.real(row.map(|row| row.similarity[place]));
        }
        self.equivalent.push(row.map(|row| row.equivalent));
        self.verdict.push(row.map(|row| row.verdict.name().as_bytes()));
        self.certificate.push(row.and_then(|row| row.certificate.as_ref()).map(|digits| &digits[..]));
        for (place, column) in self.predictive.iter_mut().enumerate() {
            column.real(row.and_then(|row| row.predictive).map(|values| values[place]));
        }
        for (place, column) in self.plans_valid.iter_mut().enumerate() {
            column.push(row.and_then(|row| row.plans_valid[place]));
        }
        self.task_equivalent.push(row.and_then(|row| row.task_equivalent));
        self.notes.push(row.and_then(|row| row.notes.as_ref()).map(|notes| &notes.0[..]));
        self.micros.push(Some(micros.to_ne_bytes()));
    }

    fn exported(self) -> Exported {
        let rows = self.left.len();
        let mut columns = vec![("left", "C", vec![Vec::new(), self.left])];
        columns.extend(F1.into_iter().zip(self.f1).map(|(name, column)| column.exported(name, "g")));
        columns.extend(SIMILARITY.into_iter().zip(self.similarity).map(|(name, column)| column.exported(name, "g")));
        columns.extend(PREDICTIVE.into_iter().zip(self.predictive).map(|(name, column)| column.exported(name, "g")));
        columns.extend(PLANS_VALID.into_iter().zip(self.plans_valid).map(|(name, column)| column.exported(name)));
        columns.extend([
            self.equivalent.exported("domain_equivalent"),
            self.verdict.exported("domain_verdict"),
            self.certificate.exported("domain_certificate"),
            self.task_equivalent.exported("task_equivalent"),
            self.notes.exported("domain_detail"),
            self.micros.exported("score_micros", "l"),
        ]);
        (rows, columns)
    }
}

impl Scores {
    fn exported(self) -> Exported {
        let rows = self.left.len();
        let micros = self.micros.iter().flat_map(|each| each.to_ne_bytes()).collect();
        let mut columns = vec![
            ("left", "C", vec![Vec::new(), self.left]),
            self.parseable.exported("parseable"),
            self.solvable.exported("solvable"),
            self.equivalent.exported("equivalent"),
            self.equivalent_untyped.exported("equivalent_untyped"),
            self.verdict.exported("verdict"),
            self.difference.exported("detail"),
            self.solves_reference.exported("solves_reference"),
            self.certificate.exported("certificate"),
            self.reference_certificate.exported("reference_certificate"),
            ("score_micros", "l", vec![Vec::new(), micros]),
        ];
        let proofs = ["object_map", "goal_object_map", "plan"].into_iter().zip(self.proofs.into_iter().flatten());
        columns.extend(proofs.map(|(name, column)| column.exported(name)));
        (rows, columns)
    }

    fn push(&mut self, scored: Answer<ProblemVerdict>, micros: i64) {
        self.left.push(scored.as_ref().map_or_else(|left| *left as u8, |_| 0));
        let known = scored.ok();
        let each = |of: fn(&ProblemVerdict) -> Option<bool>| known.as_ref().and_then(of);
        self.parseable.push(each(|row| Some(row.parseable)));
        self.solvable.push(each(|row| row.solvable));
        self.equivalent.push(each(|row| Some(row.equivalent)));
        self.equivalent_untyped.push(each(|row| Some(row.equivalent_untyped)));
        self.solves_reference.push(each(|row| row.solves_reference));
        let known = known.as_ref();
        self.verdict.push(known.map(|row| row.verdict.as_bytes()));
        self.difference.push(known.map(|row| &row.difference.0[..]));
        let digits =
            |of: fn(&ProblemVerdict) -> &Option<Digits>| known.and_then(|row| of(row).as_ref()).map(|d| &d[..]);
        self.certificate.push(digits(|row| &row.certificate));
        self.reference_certificate.push(digits(|row| &row.reference_certificate));
        self.micros.push(micros);
        if let Some([object_map, goal_map, plan]) = &mut self.proofs {
            let proof = known.and_then(|row| row.proof.as_ref());
            object_map.push(proof.and_then(|proof| proof.object_map.as_deref()));
            goal_map.push(proof.and_then(|proof| proof.goal_map.as_deref()));
            plan.push(proof.and_then(|proof| proof.plan.as_deref()));
        }
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

    /// The same rows, of which something else is to be known.
    fn of_others<U>(&self) -> Sharing<U> {
        let shared = self.shared.iter().map(|shared| Shared { rows: shared.rows, known: None }).collect();
        Sharing { shared, of: self.of.clone() }
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
    /// The known domain without rules, where a row is in it.
    rover: Option<Answer<T>>,
    names: Interner,
}

/// The place of the known domain without rules among those that are given by their texts.
const ROVER: usize = usize::MAX;

impl<'a, T> Asking<'a, T> {
    fn new(column: Option<&'a Column<'a>>) -> Asking<'a, T> {
        Asking { column, written: column.map(Sharing::new), rover: None, names: Interner::new() }
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
            (self.names, self.rover) = (Interner::new(), None);
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

/// Err where the row asks for another domain than its reference's own.
fn same_domain(task: &Task, asked: Asked) -> Answer<()> {
    match asked {
        Asked::Nothing => Ok(()),
        Asked::Named(name) if name == task.problem.words.text(task.problem.domain) => Ok(()),
        _ => Err(Left::Setting),
    }
}

/// Scores rows of one kind.
trait Kernel {
    type Row;

    fn score(&mut self, row: usize) -> Answer<Self::Row>;

    /// A row is done, and if `all`, whatever state it left behind is given up.
    fn forget(&mut self, row: usize, all: bool);
}

struct Problems<'a> {
    columns: &'a [Column<'a>],
    asking: Asking<'a, PlanningDomain>,
    settings: Settings,
    names: Interner,
    references: Sharing<Task>,
    search: Search,
    /// The references in domains without rules of their own, each in the domain of this place.
    strips: Option<Sharing<(usize, StripsTask)>>,
}

impl Problems<'_> {
    /// The scores of a row in a domain that is given by its text, otherwise in the known domain without rules.
    fn score_in(&mut self, row: usize, asked: Asked) -> Answer<ProblemVerdict> {
        let [reference, generated, is_placeholder, ..] = self.columns else { return Err(Left::Text) };
        if !self.settings.has_time {
            return Err(Left::Setting);
        }
        let (text, own_names) = (reference.text(row)?, &mut self.names);
        let (place, domain, names) = match asked {
            Asked::Written(text) => self.asking.written(row, |names| planning_domain(text, names))?,
            _ => {
                let Asking { rover: known, names, .. } = &mut self.asking;
                let known = known.get_or_insert_with(|| rover(names));
                (ROVER, known.as_mut().map_err(|left| *left)?, names)
            }
        };
        let domain = &*domain;
        let by_name = asked == Asked::Nothing;
        let mut read = || Ok((place, comparison::read_reference(text, by_name, domain, names, own_names)?));
        let references = &self.references;
        let found = self.strips.get_or_insert_with(|| references.of_others()).known(row, &mut read)?;
        if found.0 != place {
            *found = read()?;
        }
        let (generated, is_placeholder) = (generated.text(row)?, is_placeholder.truth(row));
        comparison::score_problem_pair(&found.1, generated, is_placeholder, self.settings, domain, names, own_names)
    }
}

impl Kernel for Problems<'_> {
    type Row = ProblemVerdict;

    fn score(&mut self, row: usize) -> Answer<ProblemVerdict> {
        let [reference, generated, is_placeholder, ..] = self.columns else { return Err(Left::Text) };
        let (text, asked) = (reference.text(row)?, self.asking.asked(row)?);
        match asked {
            Asked::Written(_) => return self.score_in(row, asked),
            Asked::Named(name) if ROVER_NAMES.contains(&name) => return self.score_in(row, asked),
            _ => {}
        }
        let task = match self.references.known(row, || read_reference(text, &mut self.names)) {
            Err(Left::Domain) if asked == Asked::Nothing => return self.score_in(row, asked),
            task => task?,
        };
        same_domain(task, asked)?;
        let (generated, is_placeholder, names) = (generated.text(row)?, is_placeholder.truth(row), &mut self.names);
        score_problem_pair(task, generated, is_placeholder, self.settings, names, &mut self.search)
    }

    fn forget(&mut self, row: usize, all: bool) {
        if self.asking.forget(row, all) {
            self.names = Interner::new();
            self.references.forget_all();
            self.strips.iter_mut().for_each(Sharing::forget_all);
        }
        self.references.forget(row);
        self.strips.iter_mut().for_each(|strips| strips.forget(row));
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
        // A blank problem is none.
        let text = problem.text(row)?.filter(|text| !std::str::from_utf8(text).is_ok_and(is_blank));
        let Some(text) = text else { return Ok(false) };
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
        let mut read = || {
            let problem = read_any_problem(text, names)?;
            let domain = match (place, domain.clone()) {
                (_, Some(domain)) => domain,
                (In::Known(text), _) => known_domain(text, known, names)?,
                _ => known_domain(pddl_of(names.text(problem.domain)).ok_or(Left::Domain)?, known, names)?,
            };
            *count += 1;
            Ok((place, World::new(*count, problem, domain, names)?))
        };
        let found = worlds.known(row, &mut read)?;
        if found.0 != place {
            *found = read()?;
        }
        Ok(true)
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
    batch: Batch,
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
        let batch = &mut self.batch;
        let known = self.references.known(row, || domain_pair::read_reference(text, &mut batch.names))?;
        let (mut executable, mut task) = (None, None);
        if let ([problem, tasks @ ..], Some(problems)) = (further, &mut self.problems) {
            // A blank problem is none.
            let text = problem.text(row)?.filter(|text| !std::str::from_utf8(text).is_ok_and(is_blank));
            if let Some(text) = text {
                if let [generated, is_placeholder, ..] = tasks {
                    let is_placeholder = is_placeholder.truth(row);
                    task = Some(GeneratedProblem { text: generated.text(row)?, is_placeholder });
                }
                let is_task = task.is_some();
                let mut read = || Ok((place, read_executable(known, text, is_task, batch)?));
                let found = problems.known(row, &mut read)?;
                if found.0 != place {
                    *found = read()?;
                }
                executable = Some(&found.1);
            }
        }
        score_domain_pair(known, generated.text(row)?, executable, task, self.settings, batch)
    }

    fn forget(&mut self, row: usize, all: bool) {
        let all = all || self.batch.names.is_full();
        if all {
            self.batch = Batch::new();
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

/// The rows, and the microseconds that each took. A panic costs a row.
fn score_rows<K: Kernel>(kernel: &mut K, rows: usize, mut push: impl FnMut(Answer<K::Row>, i64)) {
    for row in 0..rows {
        let start = Instant::now();
        let scored = catch_unwind(AssertUnwindSafe(|| kernel.score(row)));
        kernel.forget(row, scored.is_err());
        push(scored.unwrap_or(Err(Left::Panic)), i64::try_from(start.elapsed().as_micros()).unwrap_or(i64::MAX));
    }
}

/// Score a batch of problems: reference, answer, placeholder, and perhaps the domain of each row.
///
/// Returns 0, or 1 where the columns are not what the kernel takes; then nothing is written.
///
/// # Safety
/// The inputs are a struct array and its schema as the Arrow C data interface has them; they are released here. The
/// outputs are room for such a pair, which the caller releases.
#[no_mangle]
pub unsafe extern "C" fn pddl_eval_score(
    schema: *mut ArrowSchema,
    array: *mut ArrowArray,
    flags: u32,
    schema_out: *mut ArrowSchema,
    array_out: *mut ArrowArray,
) -> i32 {
    score(schema, array, schema_out, array_out, 3, |columns| score_problems(columns, flags))
}

/// Score a batch of plans: reference, answer, and perhaps problem and domain of each row; else as `pddl_eval_score`.
///
/// # Safety
/// As there.
#[no_mangle]
pub unsafe extern "C" fn pddl_eval_score_plans(
    schema: *mut ArrowSchema,
    array: *mut ArrowArray,
    _flags: u32,
    schema_out: *mut ArrowSchema,
    array_out: *mut ArrowArray,
) -> i32 {
    score(schema, array, schema_out, array_out, 2, score_plans)
}

/// Score a batch of domains: reference, answer, and perhaps the reference problem of each row, and with it the answer to
/// that and placeholder; else as `pddl_eval_score`.
///
/// # Safety
/// As there.
#[no_mangle]
pub unsafe extern "C" fn pddl_eval_score_domains(
    schema: *mut ArrowSchema,
    array: *mut ArrowArray,
    flags: u32,
    schema_out: *mut ArrowSchema,
    array_out: *mut ArrowArray,
) -> i32 {
    score(schema, array, schema_out, array_out, 2, |columns| score_domains(columns, flags))
}

/// Score the columns of a batch, at least so many, by this function.
///
/// # Safety
/// As for `pddl_eval_score`.
unsafe fn score(
    schema: *mut ArrowSchema,
    array: *mut ArrowArray,
    schema_out: *mut ArrowSchema,
    array_out: *mut ArrowArray,
    least: usize,
    by: impl FnOnce(&[Column]) -> Exported,
) -> i32 {
    let _kept = Kept::open();
    let scored = catch_unwind(AssertUnwindSafe(|| {
        QUIET.call_once(|| set_hook(Box::new(|_| {}))); // a panic costs a row, and says nothing
        let (schema, array) = (&*schema, &*array);
        let count = usize::try_from(array.n_children).ok()?;
        let columns: Option<Vec<Column>> = (0..count).map(|number| Column::new(schema, array, number)).collect();
        columns.filter(|columns| columns.len() >= least).map(|columns| by(&columns))
    }));
    if let Some(release) = (*array).release {
        release(array);
    }
    if let Some(release) = (*schema).release {
        release(schema);
    }
    match scored {
        Ok(Some(scores)) => {
            let (schema, array) = export(scores);
            schema_out.write(schema);
            array_out.write(array);
            0
        }
        _ => 1,
    }
}

fn score_problems(columns: &[Column], flags: u32) -> Exported {
    let settings = Settings::new(flags);
    let references = Sharing::new(&columns[0]);
    let mut scores = Scores { proofs: settings.proofs.then(Default::default), ..Scores::default() };
    let asking = Asking::new(columns.get(3));
    let names = Interner::new();
    let mut kernel = Problems { columns, asking, settings, names, references, search: Search::new(), strips: None };
    score_rows(&mut kernel, columns[0].length, |scored, micros| scores.push(scored, micros));
    scores.exported()
}

fn score_plans(columns: &[Column]) -> Exported {
    let worlds = columns.get(2).map(Sharing::new);
    let references = Sharing::new(&columns[0]);
    let mut scores = ScoresOfPlans::default();
    let asking = Asking::new(columns.get(3));
    let (steps, marks, known) = (Steps::new(), Marks::default(), Vec::new());
    let mut kernel = Plans { columns, asking, steps, marks, references, known, worlds, count: 0 };
    score_rows(&mut kernel, columns[0].length, |scored, micros| scores.push(scored, micros));
    scores.exported()
}

fn score_domains(columns: &[Column], flags: u32) -> Exported {
    let references = Sharing::new(&columns[0]);
    let mut scores = ScoresOfDomains::default();
    let settings = Settings::new(flags);
    let problems = columns.get(2).map(Sharing::new);
    let mut kernel = Domains { columns, settings, batch: Batch::new(), references, problems };
    score_rows(&mut kernel, columns[0].length, |scored, micros| scores.push(scored, micros));
    scores.exported()
}

/// The version of the kernel, as a C string.
#[no_mangle]
pub extern "C" fn pddl_eval_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

/// The digest of the sources that the kernel was built from, as a C string.
#[no_mangle]
pub extern "C" fn pddl_eval_crate() -> *const c_char {
    CRATE.as_ptr().cast()
}

/// The reasons for which rows are left, as a C string of names between commas, in the order of their numbers from 1.
#[no_mangle]
pub extern "C" fn pddl_eval_reasons() -> *const c_char {
    const TEXT: &[u8] = &{
        let mut text = [0; REASONS.len() + 1];
        let mut at = 0;
        while at < REASONS.len() {
            text[at] = REASONS.as_bytes()[at];
            at += 1;
        }
        text
    };
    TEXT.as_ptr().cast()
}

/// What an exported array owns.
struct Owned {
    _memory: Vec<Vec<u8>>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

/// What an exported schema owns.
struct OwnedSchema {
    _name: CString,
    _format: CString,
    children: Vec<*mut ArrowSchema>,
}

/// The name, the format and the buffers of a column.
type Buffers = (&'static str, &'static str, Vec<Vec<u8>>);

/// How many rows, and their columns.
type Exported = (usize, Vec<Buffers>);

fn export((rows, columns): Exported) -> (ArrowSchema, ArrowArray) {
    let mut schemas = Vec::new();
    let mut arrays = Vec::new();
    for (name, format, memory) in columns {
        schemas.push(Box::into_raw(Box::new(schema(name, format, Vec::new()))));
        arrays.push(Box::into_raw(Box::new(array(rows, memory, Vec::new()))));
    }
    (schema("", "+s", schemas), array(rows, vec![Vec::new()], arrays))
}

fn schema(name: &str, format: &str, children: Vec<*mut ArrowSchema>) -> ArrowSchema {
    let owned = OwnedSchema {
        _name: CString::new(name).unwrap_or_default(),
        _format: CString::new(format).unwrap_or_default(),
        children,
    };
    let mut owned = Box::new(owned);
    ArrowSchema {
        format: owned._format.as_ptr(),
        name: owned._name.as_ptr(),
        metadata: std::ptr::null(),
        flags: NULLABLE,
        n_children: owned.children.len() as i64,
        children: owned.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(owned).cast(),
    }
}

fn array(rows: usize, memory: Vec<Vec<u8>>, children: Vec<*mut ArrowArray>) -> ArrowArray {
    let pointer = |(number, buffer): (usize, &Vec<u8>)| {
        // The first buffer says which rows are null; none does where it is left out.
        if number == 0 && buffer.is_empty() {
            return std::ptr::null();
        }
        buffer.as_ptr().cast()
    };
    let buffers = memory.iter().enumerate().map(pointer).collect();
    let null_count = if memory[0].is_empty() { 0 } else { -1 };
    let mut owned = Box::new(Owned { _memory: memory, buffers, children });
    ArrowArray {
        length: rows as i64,
        null_count,
        offset: 0,
        n_buffers: owned.buffers.len() as i64,
        n_children: owned.children.len() as i64,
        buffers: owned.buffers.as_mut_ptr(),
        children: owned.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(owned).cast(),
    }
}

/// # Safety
/// The array is one that `array` made and that was not released yet.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    let owned: Box<Owned> = Box::from_raw((*array).private_data.cast());
    for child in owned.children.iter().map(|child| Box::from_raw(*child)) {
        let mut child = child;
        if let Some(release) = child.release {
            release(&mut *child); // None where the consumer has taken the child for itself
        }
    }
    (*array).release = None;
}

/// # Safety
/// The schema is one that `schema` made and that was not released yet.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    let owned: Box<OwnedSchema> = Box::from_raw((*schema).private_data.cast());
    for child in owned.children.iter().map(|child| Box::from_raw(*child)) {
        let mut child = child;
        if let Some(release) = child.release {
            release(&mut *child);
        }
    }
    (*schema).release = None;
}

/// The allocator: what is freed while a batch is scored is kept for the batch's next rows, which ask for the same again.
///
/// Blocks of the sizes 16, 32, …, 4,096 are kept, in one list for each size and thread; each has the address of the next.
struct Kept;

#[global_allocator]
static MEMORY: Kept = Kept;

const SMALLEST: usize = 16;
const SIZES: usize = 9;

/// Blocks of one size that are kept at once.
const MOST_KEPT: usize = 128;

struct Shelf {
    first: Cell<*mut u8>,
    /// How many more may be kept: none where no batch is being scored.
    room: Cell<usize>,
}

thread_local! {
    // Without a destructor, so that it is there for whatever a thread frees last.
    static SHELVES: [Shelf; SIZES] = const { [const { Shelf { first: Cell::new(null_mut()), room: Cell::new(0) } }; SIZES] };
}

/// The number of the size that a block of this layout is given; None where it is too large or too strictly aligned.
fn size_number(layout: Layout) -> Option<usize> {
    let is_small = layout.size() <= SMALLEST << (SIZES - 1) && layout.align() <= SMALLEST;
    is_small.then(|| (layout.size().max(SMALLEST) - 1).ilog2() as usize + 1 - SMALLEST.ilog2() as usize)
}

fn sized(number: usize) -> Layout {
    Layout::from_size_align(SMALLEST << number, SMALLEST).unwrap_or(Layout::new::<u128>())
}

impl Kept {
    /// Keeps what is freed from now on, until what is returned is dropped.
    fn open() -> KeptWhile {
        SHELVES.with(|shelves| shelves.iter().for_each(|shelf| shelf.room.set(MOST_KEPT)));
        KeptWhile
    }
}

struct KeptWhile;

impl Drop for KeptWhile {
    fn drop(&mut self) {
        SHELVES.with(|shelves| {
            for (number, shelf) in shelves.iter().enumerate() {
                shelf.room.set(0);
                while !shelf.first.get().is_null() {
                    let block = shelf.first.get();
                    // SAFETY: the block is kept: nobody uses it, its first word is the next one, and `alloc` made it.
                    unsafe {
                        shelf.first.set(block.cast::<*mut u8>().read());
                        System.dealloc(block, sized(number));
                    }
                }
            }
        });
    }
}

// SAFETY: a block that is kept is in one list only, and is as large and as aligned as all that its size serves.
unsafe impl GlobalAlloc for Kept {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(number) = size_number(layout) else {
            return System.alloc(layout);
        };
        SHELVES.with(|shelves| {
            let Shelf { first, room } = &shelves[number];
            let block = first.get();
            if block.is_null() {
                return System.alloc(sized(number));
            }
            first.set(block.cast::<*mut u8>().read());
            room.set(room.get() + 1);
            block
        })
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(number) = size_number(layout) else {
            return System.dealloc(block, layout);
        };
        SHELVES.with(|shelves| {
            let Shelf { first, room } = &shelves[number];
            if room.get() == 0 {
                return System.dealloc(block, sized(number));
            }
            block.cast::<*mut u8>().write(first.get());
            first.set(block);
            room.set(room.get() - 1);
        })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if size_number(layout).is_none() {
            return System.alloc_zeroed(layout);
        }
        let block = self.alloc(layout);
        if !block.is_null() {
            block.write_bytes(0, layout.size());
        }
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let wider = Layout::from_size_align_unchecked(size, layout.align());
        let (before, after) = (size_number(layout), size_number(wider));
        if before.is_none() && after.is_none() {
            return System.realloc(block, layout, size);
        }
        if before == after {
            return block;
        }
        let moved = self.alloc(wider);
        if !moved.is_null() {
            block.copy_to_nonoverlapping(moved, layout.size().min(size));
            self.dealloc(block, layout);
        }
        moved
    }
}
