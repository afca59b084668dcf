//! Record batches in and out through the Arrow C data interface.
//!
//! What comes in is promised by the interface (pointers, lengths of buffers that follow from the length and offset of an
//! array); offsets of texts are checked all the same, because files can hold anything. What goes out owns its memory, and
//! its consumer releases it.
#![allow(unsafe_code)]

use crate::allocator::keep_blocks;
use crate::batches;
use crate::difference::{Difference, Field};
use crate::left::{Answer, Left};
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

/// A column of a batch that came in.
pub struct Column<'a> {
    array: &'a ArrowArray,
    kind: Kind,
    offset: usize,
    pub length: usize,
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

    pub fn truth(&self, row: usize) -> bool {
        self.kind == Kind::Bool && !self.is_null(row) && self.bit(1, row) == Some(true)
    }

    /// The text of a row; None for a null.
    pub fn text(&self, row: usize) -> Answer<Option<&'a [u8]>> {
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
    Words(Option<&'a [Vec<u8>]>),
    Lists(Option<&'a [Vec<Vec<u8>>]>),
    Differences(Option<&'a [Difference]>),
    /// A field that is the difference before it.
    Before,
}

impl<'a> From<&'a Field> for Value<'a> {
    fn from(field: &'a Field) -> Value<'a> {
        match field {
            Field::Number(number) => Value::Whole(Some(*number)),
            Field::Word(word) => Value::Text(Some(word)),
            Field::Words(words) => Value::Words(Some(words)),
            Field::Lists(lists) => Value::Lists(Some(lists)),
            Field::Reason(_) => Value::Before,
        }
    }
}

impl Value<'_> {
    fn format(self) -> &'static str {
        match self {
            Value::Truth(_) => "b",
            Value::Real(_) => "g",
            Value::Whole(_) => "l",
            Value::Text(_) => "U",
            Value::Words(_) | Value::Lists(_) | Value::Differences(_) => "+L",
            Value::Before => "n",
        }
    }
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
    /// In a union, the kind of each row.
    values: Vec<u8>,
    below: Vec<Built>,
}

impl Built {
    /// A column without rows, of values like this one.
    fn new(name: &'static str, like: Value) -> Built {
        let format = like.format();
        let ends = if ["U", "+L"].contains(&format) { vec![0; 8] } else { Vec::new() };
        let below = match like {
            Value::Words(_) => vec![Built::new("", Value::Text(None))],
            Value::Lists(_) => vec![Built::new("", Value::Words(None))],
            Value::Differences(_) => vec![Built { format: "+ud:", ..Built::default() }],
            _ => Vec::new(),
        };
        Built { name, format, ends, below, ..Built::default() }
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
                words.unwrap_or_default().iter().for_each(|word| self.below[0].push(Value::Text(Some(word))));
                self.end(self.below[0].rows);
                words.is_some()
            }
            Value::Lists(lists) => {
                lists.unwrap_or_default().iter().for_each(|words| self.below[0].push(Value::Words(Some(words))));
                self.end(self.below[0].rows);
                lists.is_some()
            }
            Value::Differences(found) => {
                found.unwrap_or_default().iter().for_each(|difference| self.below[0].push_difference(difference));
                self.end(self.below[0].rows);
                found.is_some()
            }
            Value::Before => false,
        };
        push_bit(&mut self.valid, self.rows, is_valid);
        self.rows += 1;
    }

    /// True where a value has this column's format, and its parts those of the columns below.
    fn is_like(&self, value: Value) -> bool {
        let part = match value {
            Value::Words(_) => "U",
            Value::Lists(_) => "+L",
            _ => "",
        };
        self.format == value.format() && self.below.first().map_or("", |below| below.format) == part
    }

    fn end(&mut self, end: usize) {
        self.ends.extend((end as u64).to_ne_bytes());
    }

    /// Push a row of a union: a struct of the fields of its kind. A difference that is a field comes before.
    fn push_difference(&mut self, Difference { kind, fields }: &Difference) {
        for (_, field) in fields {
            if let Field::Reason(reason) = field {
                self.push_difference(reason);
            }
        }
        let has_field =
            |(column, (name, field)): (&Built, &(&str, Field))| column.name == *name && column.is_like(field.into());
        let is_kind = |known: &Built| {
            known.name == *kind && known.below.len() == fields.len() && known.below.iter().zip(fields).all(has_field)
        };
        let place = self.below.iter().position(is_kind).unwrap_or_else(|| {
            let below = fields.iter().map(|(name, field)| Built::new(name, field.into())).collect();
            self.below.push(Built { name: kind, format: "+s", below, ..Built::default() });
            self.below.len() - 1
        });
        let known = &mut self.below[place];
        self.values.push(place as u8);
        self.ends.extend((known.rows as i32).to_ne_bytes());
        known.below.iter_mut().zip(fields).for_each(|(column, (_, field))| column.push(field.into()));
        known.rows += 1;
        self.rows += 1;
    }

    fn exported(self) -> (ArrowSchema, ArrowArray) {
        let memory = match self.format {
            "n" => Vec::new(),
            "+s" => vec![self.valid],
            "+L" => vec![self.valid, self.ends],
            "U" => vec![self.valid, self.ends, self.values],
            "+ud:" => vec![self.values, self.ends],
            _ => vec![self.valid, self.values],
        };
        let mut format = self.format.to_string();
        if format == "+ud:" {
            format += &(0..self.below.len()).map(|code| code.to_string()).collect::<Vec<_>>().join(",");
        }
        let (schemas, arrays) = self.below.into_iter().map(Built::exported).unzip();
        (schema(self.name, &format, schemas), array(self.format, self.rows, memory, arrays))
    }
}

fn push_bit(bits: &mut Vec<u8>, row: usize, value: bool) {
    if row % 8 == 0 {
        bits.push(0);
    }
    bits[row / 8] |= u8::from(value) << (row % 8);
}

/// The columns that go out, row by row.
pub struct Table(Vec<Built>);

impl Table {
    /// No rows, of values like these.
    pub fn new(like: &[(&'static str, Value)]) -> Table {
        Table(like.iter().map(|(name, value)| Built::new(name, *value)).collect())
    }

    pub fn push(&mut self, row: &[(&'static str, Value)]) {
        self.0.iter_mut().zip(row).for_each(|(column, (_, value))| column.push(*value));
    }

    fn exported(self) -> (ArrowSchema, ArrowArray) {
        let rows = self.0.first().map_or(0, |column| column.rows);
        Built { format: "+s", rows, below: self.0, ..Built::default() }.exported()
    }
}

/// Score a batch: of problems (`what` 0: reference, answer, placeholder, and perhaps the domain of each row), of plans (1:
/// reference, answer, and perhaps problem and domain of each row) or of domains (2: reference, answer, and perhaps the
/// reference problem of each row, and with it the answer to that and placeholder).
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
        batches::score(what, flags, &columns?)
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
}

fn schema(name: &str, format: &str, children: Vec<ArrowSchema>) -> ArrowSchema {
    let mut owned = Owned::new(Vec::new(), [name, format], children);
    ArrowSchema {
        format: owned._words[1].as_ptr(),
        name: owned._words[0].as_ptr(),
        metadata: null(),
        flags: NULLABLE,
        n_children: owned.children.len() as i64,
        children: owned.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(owned).cast(),
    }
}

fn array(format: &str, rows: usize, memory: Vec<Vec<u8>>, children: Vec<ArrowArray>) -> ArrowArray {
    let null_count = match format {
        "n" => rows as i64,
        "+s" | "+ud:" => 0,
        _ => -1,
    };
    let mut owned = Owned::new(memory, [""; 2], children);
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
