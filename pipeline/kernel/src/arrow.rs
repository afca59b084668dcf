//! Record batches in and out through the Arrow C data interface; and the rows of a call, texts in and JSON out, for a caller
//! without Arrow: a batch of one takes Arrow longer than its row.
//!
//! What comes in is promised by the interface (pointers, lengths of buffers that follow from the length and offset of an
//! array); offsets of texts are checked all the same, because files can hold anything. What goes out owns its memory, and
//! its consumer releases it.
#![allow(unsafe_code)]

use crate::allocator::keep_blocks;
use crate::batches::{self, Rows};
use crate::difference::{Difference, Field};
use crate::hashing::HashMap;
use crate::json::Json;
use crate::left::{Answer, Left};
use crate::state_space::list_states;
use std::ffi::{c_char, c_void, CStr, CString};
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::ptr::{null, null_mut};
use std::sync::Once;

/// The version of the crate and the digest of its sources, which build.rs computes.
const CRATE: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("CRATE"), "\0");

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

/// The format of the places in a dictionary.
const DICTIONARY: &str = "i";

/// The format of the values of fields: numbers, words, lists, lists of lists, nulls.
const UNION: &str = "+ud:0,1,2,3,4";

/// A column that came in.
pub struct Column<'a> {
    values: Values<'a>,
    pub length: usize,
}

enum Values<'a> {
    /// Of a batch.
    Array(Array<'a>),
    /// Of a call; any text is true.
    Texts(Vec<Option<&'a [u8]>>),
}

struct Array<'a> {
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
    pub fn truth(&self, row: usize) -> bool {
        match &self.values {
            Values::Array(array) => array.truth(row),
            Values::Texts(texts) => texts[row].is_some(),
        }
    }

    /// The text of a row; None for a null.
    pub fn text(&self, row: usize) -> Answer<Option<&'a [u8]>> {
        match &self.values {
            Values::Array(array) => array.text(row),
            Values::Texts(texts) => Ok(texts[row]),
        }
    }

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
        let values = Values::Array(Array { array: child, kind, offset, length });
        (child.n_buffers == buffers && enough).then_some(Column { values, length })
    }
}

impl<'a> Array<'a> {
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

/// A value of a column that goes out; None is a null.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    Truth(Option<bool>),
    Real(Option<f64>),
    Whole(Option<usize>),
    Text(Option<&'a [u8]>),
    Words(&'a [Vec<u8>]),
    Lists(Option<&'a [Vec<Vec<u8>>]>),
    Differences(Option<&'a [Difference]>),
}

/// A column that goes out: the buffers that its format has, and the columns below it.
#[derive(Default)]
struct Built {
    name: &'static str,
    format: &'static str,
    rows: usize,
    valid: Vec<u8>,
    /// Where each text or list ends; in a union, the place of each row in the column of its kind.
    ends: Vec<u8>,
    /// In a union, the kind of each row; with a dictionary, the place of each.
    values: Vec<u8>,
    below: Vec<Built>,
    /// The places of the lists in the dictionary, which is the column below.
    places: HashMap<Vec<Difference>, i32>,
}

impl Built {
    /// A column without rows, of values like this one.
    fn new(name: &'static str, like: Value) -> Built {
        let (format, below) = match like {
            Value::Truth(_) => ("b", Vec::new()),
            Value::Real(_) => ("g", Vec::new()),
            Value::Whole(_) => ("l", Vec::new()),
            Value::Text(_) => ("u", Vec::new()),
            Value::Words(_) => ("+l", vec![Built::new("", Value::Text(None))]),
            Value::Lists(_) => ("+l", vec![Built::new("", Value::Words(&[]))]),
            Value::Differences(_) => (DICTIONARY, vec![Built::differences()]),
        };
        Built::of(name, format, below)
    }

    fn of(name: &'static str, format: &'static str, below: Vec<Built>) -> Built {
        let ends = if ["u", "+l"].contains(&format) { vec![0; 4] } else { Vec::new() };
        Built { name, format, ends, below, ..Built::default() }
    }

    /// Lists of differences. A field that is one is a null, and that difference comes before.
    fn differences() -> Built {
        let kinds = [Value::Whole(None), Value::Text(None), Value::Words(&[]), Value::Lists(None)];
        let mut kinds: Vec<Built> = kinds.iter().map(|kind| Built::new("", *kind)).collect();
        kinds.push(Built::of("", "n", Vec::new()));
        let field = Built::of("", "+s", vec![Built::new("name", Value::Text(None)), Built::of("value", UNION, kinds)]);
        let fields = Built::of("fields", "+l", vec![field]);
        Built::of("", "+l", vec![Built::of("", "+s", vec![Built::new("what", Value::Text(None)), fields])])
    }

    fn push(&mut self, value: Value) {
        let is_valid = match value {
            Value::Truth(truth) => {
                push_bit(&mut self.values, self.rows, truth == Some(true));
                truth.is_some()
            }
            Value::Real(number) => {
                self.values.extend(number.unwrap_or_default().to_ne_bytes());
                number.is_some()
            }
            Value::Whole(number) => {
                self.values.extend((number.unwrap_or_default() as u64).to_ne_bytes());
                number.is_some()
            }
            Value::Text(text) => {
                self.values.extend_from_slice(text.unwrap_or_default());
                self.end(self.values.len());
                text.is_some()
            }
            Value::Words(words) => {
                words.iter().for_each(|word| self.below[0].push(Value::Text(Some(word))));
                self.end(self.below[0].rows);
                true
            }
            Value::Lists(lists) => {
                lists.unwrap_or_default().iter().for_each(|words| self.below[0].push(Value::Words(words)));
                self.end(self.below[0].rows);
                lists.is_some()
            }
            Value::Differences(found) => {
                let place = found.map_or(0, |found| self.place(found));
                self.values.extend(place.to_ne_bytes());
                found.is_some()
            }
        };
        self.is_row(is_valid);
    }

    fn is_row(&mut self, is_valid: bool) {
        push_bit(&mut self.valid, self.rows, is_valid);
        self.rows += 1;
    }

    /// A text or list ends here. More than fits costs the batch.
    fn end(&mut self, end: usize) {
        self.ends.extend(place(end).to_ne_bytes());
    }

    /// The place of a list of differences in the dictionary: each is sent once.
    fn place(&mut self, found: &[Difference]) -> i32 {
        if let Some(known) = self.places.get(found) {
            return *known;
        }
        let (lists, new) = (&mut self.below[0], place(self.places.len()));
        found.iter().for_each(|difference| lists.below[0].push_difference(difference));
        lists.end(lists.below[0].rows);
        lists.is_row(true);
        self.places.insert(found.to_vec(), new);
        new
    }

    fn push_difference(&mut self, Difference { kind, fields }: &Difference) {
        for (_, field) in fields {
            if let Field::Reason(reason) = field {
                self.push_difference(reason);
            }
        }
        self.below[0].push(Value::Text(Some(kind.as_bytes())));
        let lists = &mut self.below[1];
        for (name, field) in fields {
            let row = &mut lists.below[0];
            row.below[0].push(Value::Text(Some(name.as_bytes())));
            row.below[1].push_field(field);
            row.is_row(true);
        }
        lists.end(lists.below[0].rows);
        lists.is_row(true);
        self.is_row(true);
    }

    /// Push a row of a union.
    fn push_field(&mut self, field: &Field) {
        let (kind, value) = match field {
            Field::Number(number) => (0, Some(Value::Whole(Some(*number)))),
            Field::Word(word) => (1, Some(Value::Text(Some(word)))),
            Field::Words(words) => (2, Some(Value::Words(words))),
            Field::Lists(lists) => (3, Some(Value::Lists(Some(lists)))),
            Field::Reason(_) => (4, None),
        };
        let column = &mut self.below[usize::from(kind)];
        self.values.push(kind);
        self.ends.extend(place(column.rows).to_ne_bytes());
        match value {
            Some(value) => column.push(value),
            None => column.rows += 1,
        }
        self.rows += 1;
    }

    fn exported(self) -> (ArrowSchema, ArrowArray) {
        let memory = match self.format {
            "n" => Vec::new(),
            "+s" => vec![self.valid],
            "+l" => vec![self.valid, self.ends],
            "u" => vec![self.valid, self.ends, self.values],
            UNION => vec![self.values, self.ends],
            _ => vec![self.valid, self.values],
        };
        let (schemas, arrays) = self.below.into_iter().map(Built::exported).unzip();
        (schema(self.name, self.format, schemas), array(self.format, self.rows, memory, arrays))
    }
}

fn place(number: usize) -> i32 {
    i32::try_from(number).expect("a batch of less than 2 GB")
}

fn push_bit(bits: &mut Vec<u8>, row: usize, value: bool) {
    if row % 8 == 0 {
        bits.push(0);
    }
    bits[row / 8] |= u8::from(value) << (row % 8);
}

/// The columns that go out, row by row.
pub struct Table(Vec<Built>);

impl Rows for Table {
    fn new(like: &[(&'static str, Value)]) -> Table {
        Table(like.iter().map(|(name, value)| Built::new(name, *value)).collect())
    }

    fn push(&mut self, row: &[(&'static str, Value)]) {
        self.0.iter_mut().zip(row).for_each(|(column, (_, value))| column.push(*value));
    }
}

impl Table {
    fn exported(self) -> (ArrowSchema, ArrowArray) {
        let rows = self.0.first().map_or(0, |column| column.rows);
        Built { rows, ..Built::of("", "+s", self.0) }.exported()
    }
}

/// Score a batch: of problems (`what` 0: reference, answer, placeholder, and perhaps the domain of each row), of plans (1:
/// reference, answer, and perhaps problem and domain of each row) or of domains (2: reference, answer, and perhaps the
/// reference problem of each row, and with it the answer to that and placeholder). Of texts (3), their digests.
///
/// Returns 0, or 1 where the columns are not what the kernel takes; then nothing is written.
///
/// # Safety
/// The inputs are a struct array and its schema as the Arrow C data interface has them; they are released here. The
/// outputs are room for such a pair, which the caller releases.
#[no_mangle]
pub unsafe extern "C" fn pddl_eval_score(
    what: u32,
    flags: u32,
    schema: *mut ArrowSchema,
    array: *mut ArrowArray,
    schema_out: *mut ArrowSchema,
    array_out: *mut ArrowArray,
) -> i32 {
    let _kept = keep_blocks();
    let scored = catch_unwind(AssertUnwindSafe(|| {
        QUIET.call_once(|| set_hook(Box::new(|_| {}))); // a panic costs a row, and says nothing
        let (schema, array) = (&*schema, &*array);
        let count = usize::try_from(array.n_children).ok()?;
        let columns: Option<Vec<Column>> = (0..count).map(|number| Column::new(schema, array, number)).collect();
        batches::score::<Table>(what, flags, &columns?)
    }));
    if let Some(release) = (*array).release {
        release(array);
    }
    if let Some(release) = (*schema).release {
        release(schema);
    }
    let Ok(Some(table)) = scored else { return 1 };
    let (schema, array) = table.exported();
    schema_out.write(schema);
    array_out.write(array);
    0
}

/// As `pddl_eval_score`, for the rows of a call: `texts` are those of each column, one after the other, null for a null, each
/// as long as `lengths` says. Of a column of truths, a text is true and a null false.
///
/// Returns the rows as JSON, an array of objects, which the caller gives to `pddl_eval_release`; null where the columns are
/// not what the kernel takes.
///
/// # Safety
/// There are `columns` times `rows` texts and lengths.
#[no_mangle]
pub unsafe extern "C" fn pddl_eval_score_texts(
    what: u32,
    flags: u32,
    columns: usize,
    rows: usize,
    texts: *const *const u8,
    lengths: *const usize,
) -> *mut c_char {
    let _kept = keep_blocks();
    let scored = catch_unwind(AssertUnwindSafe(|| {
        QUIET.call_once(|| set_hook(Box::new(|_| {})));
        let text = |place: usize| {
            let (text, length) = (*texts.add(place), *lengths.add(place));
            (!text.is_null()).then(|| std::slice::from_raw_parts(text, length))
        };
        let column = |number: usize| (number * rows..(number + 1) * rows).map(text).collect();
        let columns = (0..columns).map(|number| Column { values: Values::Texts(column(number)), length: rows });
        let columns: Vec<Column> = columns.collect();
        CString::new(batches::score::<Json>(what, flags, &columns)?.whole()).ok()
    }));
    scored.ok().flatten().map_or(null_mut(), CString::into_raw)
}

/// Frees what `pddl_eval_score_texts` has returned.
///
/// # Safety
/// It was not freed before.
#[no_mangle]
pub unsafe extern "C" fn pddl_eval_release(json: *mut c_char) {
    drop(CString::from_raw(json));
}

/// The reachable states of a task, as `state_space::list_states` has them, which the caller gives to
/// `pddl_eval_release_states`; null where the numbers are no task. Writes how many numbers there are.
///
/// # Safety
/// There are `count` numbers, and room for one at `length`.
#[no_mangle]
pub unsafe extern "C" fn pddl_eval_list_states(
    numbers: *const u32,
    count: usize,
    most: usize,
    length: *mut usize,
) -> *mut u32 {
    let listed = catch_unwind(AssertUnwindSafe(|| {
        QUIET.call_once(|| set_hook(Box::new(|_| {})));
        list_states(std::slice::from_raw_parts(numbers, count), most)
    }));
    let Ok(Some(found)) = listed else { return null_mut() };
    length.write(found.len());
    Box::into_raw(found.into_boxed_slice()).cast()
}

/// Frees what `pddl_eval_list_states` has returned, which was so long.
///
/// # Safety
/// It was not freed before.
#[no_mangle]
pub unsafe extern "C" fn pddl_eval_release_states(found: *mut u32, length: usize) {
    drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(found, length)));
}

/// The version of the kernel and the digest of the sources that it was built from, as a C string.
#[no_mangle]
pub extern "C" fn pddl_eval_crate() -> *const c_char {
    CRATE.as_ptr().cast()
}

/// What an exported array or schema owns; those below it are released with it.
struct Owned<T> {
    _memory: Vec<Vec<u8>>,
    _words: [CString; 2],
    buffers: Vec<*const c_void>,
    children: Vec<*mut T>,
}

impl<T> Owned<T> {
    fn new(memory: Vec<Vec<u8>>, words: [&str; 2], children: Vec<T>) -> Box<Owned<T>> {
        let words = words.map(|word| CString::new(word).unwrap_or_default());
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let mut buffers: Vec<*const c_void> = memory.iter().map(|buffer| buffer.as_ptr().cast()).collect();
        // The first buffer says which rows are null; none does where it is left out.
        if memory.first().is_some_and(Vec::is_empty) {
            buffers[0] = null();
        }
        Box::new(Owned { _memory: memory, _words: words, buffers, children })
    }

    /// How many columns are below, and which is the dictionary: it is no child.
    fn below(&self, format: &str) -> (i64, *mut T) {
        match format {
            DICTIONARY => (0, self.children[0]),
            _ => (self.children.len() as i64, null_mut()),
        }
    }
}

fn schema(name: &str, format: &str, children: Vec<ArrowSchema>) -> ArrowSchema {
    let mut owned = Owned::new(Vec::new(), [name, format], children);
    let (count, dictionary) = owned.below(format);
    ArrowSchema {
        format: owned._words[1].as_ptr(),
        name: owned._words[0].as_ptr(),
        metadata: null(),
        flags: NULLABLE,
        n_children: count,
        children: owned.children.as_mut_ptr(),
        dictionary,
        release: Some(release_schema),
        private_data: Box::into_raw(owned).cast(),
    }
}

fn array(format: &str, rows: usize, memory: Vec<Vec<u8>>, children: Vec<ArrowArray>) -> ArrowArray {
    let null_count = match format {
        "n" => rows as i64,
        "+s" | UNION => 0,
        _ => -1,
    };
    let mut owned = Owned::new(memory, [""; 2], children);
    let (count, dictionary) = owned.below(format);
    ArrowArray {
        length: rows as i64,
        null_count,
        offset: 0,
        n_buffers: owned.buffers.len() as i64,
        n_children: count,
        buffers: owned.buffers.as_mut_ptr(),
        children: owned.children.as_mut_ptr(),
        dictionary,
        release: Some(release_array),
        private_data: Box::into_raw(owned).cast(),
    }
}

/// # Safety
/// The array is one that `array` made and that was not released yet.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    let owned: Box<Owned<ArrowArray>> = Box::from_raw((*array).private_data.cast());
    for child in &owned.children {
        let mut child = Box::from_raw(*child);
        if let Some(release) = child.release {
            release(&mut *child); // None where the consumer has taken the child for itself
        }
    }
    (*array).release = None;
}

/// # Safety
/// The schema is one that `schema` made and that was not released yet.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    let owned: Box<Owned<ArrowSchema>> = Box::from_raw((*schema).private_data.cast());
    for child in &owned.children {
        let mut child = Box::from_raw(*child);
        if let Some(release) = child.release {
            release(&mut *child);
        }
    }
    (*schema).release = None;
}
