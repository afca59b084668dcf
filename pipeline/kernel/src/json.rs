//! The rows of a call as JSON: an array of objects, a value for each column.
//!
//! A difference is an object, too: its kind and its fields. Lists of words are arrays of arrays.

use crate::arrow::Value;
use crate::batches::Rows;
use crate::difference::{Difference, Field};
use std::io::Write;

#[derive(Default)]
pub struct Json(Vec<u8>);

impl Rows for Json {
    fn new(_: &[(&'static str, Value)]) -> Json {
        Json::default()
    }

    fn push(&mut self, row: &[(&'static str, Value)]) {
        self.object(row, |json, value| json.value(*value));
    }
}

impl Json {
    pub fn whole(mut self) -> Vec<u8> {
        self.0.insert(0, b'[');
        self.0.push(b']');
        self.0
    }

    /// A comma, where something is before this in the same array or object.
    fn comma(&mut self) {
        if !matches!(self.0.last(), None | Some(b'[' | b'{' | b':')) {
            self.0.push(b',');
        }
    }

    fn plain(&mut self, value: Option<impl ToString>) {
        self.comma();
        self.0.extend_from_slice(value.map_or("null".into(), |value| value.to_string()).as_bytes());
    }

    fn array<V>(&mut self, values: &[V], each: impl Fn(&mut Json, &V)) {
        self.comma();
        self.0.push(b'[');
        values.iter().for_each(|value| each(self, value));
        self.0.push(b']');
    }

    fn object<V>(&mut self, values: &[(&'static str, V)], each: impl Fn(&mut Json, &V)) {
        self.comma();
        self.0.push(b'{');
        for (name, value) in values {
            self.text(name.as_bytes());
            self.0.push(b':');
            each(self, value);
        }
        self.0.push(b'}');
    }

    fn text(&mut self, text: &[u8]) {
        self.comma();
        self.0.push(b'"');
        for byte in text {
            match byte {
                b'"' | b'\\' => self.0.extend([b'\\', *byte]),
                ..b' ' => write!(self.0, "\\u{byte:04x}").unwrap_or_default(),
                _ => self.0.push(*byte),
            }
        }
        self.0.push(b'"');
    }

    fn words(&mut self, words: &[Vec<u8>]) {
        self.array(words, |json, word| json.text(word));
    }

    fn value(&mut self, value: Value) {
        match value {
            Value::Truth(truth) => self.plain(truth),
            Value::Real(number) => self.plain(number.map(|number| format!("{number:?}"))), // 1.0 is no 1
            Value::Whole(number) => self.plain(number),
            Value::Text(Some(text)) => self.text(text),
            Value::Words(words) => self.words(words),
            Value::Lists(Some(lists)) => self.array(lists, |json, words| json.words(words)),
            Value::Differences(Some(found)) => self.array(found, Json::difference),
            Value::Text(None) | Value::Lists(None) | Value::Differences(None) => self.plain(None::<bool>),
        }
    }

    fn difference(&mut self, Difference { kind, fields }: &Difference) {
        self.comma();
        self.0.push(b'{');
        self.text(b"what");
        self.0.push(b':');
        self.text(kind.as_bytes());
        self.text(b"fields");
        self.0.push(b':');
        self.object(fields, |json, field| match field {
            Field::Number(number) => json.plain(Some(number)),
            Field::Word(word) => json.text(word),
            Field::Words(words) => json.words(words),
            Field::Lists(lists) => json.array(lists, |json, words| json.words(words)),
            Field::Reason(reason) => json.difference(reason),
        });
        self.0.push(b'}');
    }
}
