//! Plans written as T-Eval's list of objects (definition/plans/json.py): a text that is one list of `name`, `args`, `id`.

use crate::pddl::sexpr::is_space;
use crate::plans::found::{Step, Steps};

/// Texts inside of the list are read as steps, marks or escapes where they have one of these; else they are words.
fn is_strange(byte: u8) -> bool {
    matches!(byte, b'\\' | b'"' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | 0..=31)
}

/// The steps of the list, by `id` where all objects have one; None for any other text.
pub fn read_json(text: &[u8], steps: &mut Steps) -> Option<Vec<Step>> {
    let mut json = Json { text, at: 0 };
    let mut found: Vec<(Option<i64>, Step)> = Vec::new();
    json.expect(b'[')?;
    loop {
        found.push(json.object(steps)?);
        if !json.more(b']')? {
            break;
        }
    }
    json.blanks();
    if json.at < text.len() {
        return None;
    }
    if found.iter().all(|(id, _)| id.is_some()) {
        found.sort_by_key(|(id, _)| *id);
    }
    Some(found.into_iter().map(|(_, step)| step).collect())
}

struct Json<'a> {
    text: &'a [u8],
    at: usize,
}

enum Arguments<'a> {
    None,
    One(&'a [u8]),
    List(Vec<&'a [u8]>),
    Named(Vec<(&'a [u8], &'a [u8])>),
}

impl<'a> Json<'a> {
    /// The `id` and the action of the object here.
    fn object(&mut self, steps: &mut Steps) -> Option<(Option<i64>, Step)> {
        let (mut name, mut arguments, mut id) = (None, None, None);
        self.expect(b'{')?;
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            match key {
                b"name" if name.is_none() => name = Some(self.string()?.trim_ascii()),
                b"args" if arguments.is_none() => arguments = Some(self.arguments()?),
                b"id" if id.is_none() => id = Some(self.number()?),
                _ => return None,
            }
            if !self.more(b'}')? {
                break;
            }
        }
        let name = name.filter(|name| !name.is_empty() && !name.contains(&b' '))?; // no name of an operator
        steps.push(name);
        match arguments.unwrap_or(Arguments::None) {
            Arguments::None => {}
            Arguments::One(text) => steps.push(text.trim_ascii()),
            Arguments::List(texts) => texts.iter().for_each(|text| steps.push(text.trim_ascii())),
            Arguments::Named(mut pairs) => {
                pairs.sort_unstable();
                if pairs.windows(2).any(|two| two[0].0 == two[1].0) {
                    steps.drop_words();
                    return None; // of two values for a key, the last one counts
                }
                for (key, value) in pairs {
                    steps.push(&[key, b"=", value.trim_ascii()].concat());
                }
            }
        }
        Some((id, steps.action().ok()?))
    }

    fn arguments(&mut self) -> Option<Arguments<'a>> {
        match self.next()? {
            b'[' => {
                let mut list = Vec::new();
                if self.opens(b'[', b']')? {
                    return Some(Arguments::List(list));
                }
                loop {
                    list.push(self.value()?);
                    if !self.more(b']')? {
                        return Some(Arguments::List(list));
                    }
                }
            }
            b'{' => {
                let mut pairs = Vec::new();
                if self.opens(b'{', b'}')? {
                    return Some(Arguments::Named(pairs));
                }
                loop {
                    let key = self.string()?;
                    self.expect(b':')?;
                    pairs.push((key, self.value()?));
                    if !self.more(b'}')? {
                        return Some(Arguments::Named(pairs));
                    }
                }
            }
            _ => {
                let text = self.value()?;
                Some(if text.is_empty() { Arguments::None } else { Arguments::One(text) })
            }
        }
    }

    /// A string or a whole number, as a text.
    fn value(&mut self) -> Option<&'a [u8]> {
        if self.next()? == b'"' {
            return self.string();
        }
        self.blanks();
        let start = self.at;
        self.number()?;
        Some(&self.text[start..self.at])
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|byte| is_strange(*byte))?;
        self.at += length + 1;
        (rest[length] == b'"').then_some(&rest[..length])
    }

    /// A whole number as `json.dumps` writes it.
    fn number(&mut self) -> Option<i64> {
        self.blanks();
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let plain = (1..=15).contains(&length) && (rest[0] != b'0' || length == 1);
        let ends = rest.get(length).is_some_and(|byte| is_space(*byte) || b",]}".contains(byte));
        self.at += length;
        if !plain || !ends {
            return None;
        }
        std::str::from_utf8(&rest[..length]).ok()?.parse().ok()
    }

    /// True where a comma follows, false where the list ends.
    fn more(&mut self, end: u8) -> Option<bool> {
        let found = self.next()?;
        self.at += 1;
        match found {
            b',' => Some(true),
            _ => (found == end).then_some(false),
        }
    }

    /// True where the brackets hold nothing.
    fn opens(&mut self, open: u8, close: u8) -> Option<bool> {
        self.expect(open)?;
        let empty = self.next()? == close;
        self.at += usize::from(empty);
        Some(empty)
    }

    fn expect(&mut self, wanted: u8) -> Option<()> {
        let found = self.next()?;
        self.at += 1;
        (found == wanted).then_some(())
    }

    fn next(&mut self) -> Option<u8> {
        self.blanks();
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(|byte| is_space(*byte)) {
            self.at += 1;
        }
    }
}
