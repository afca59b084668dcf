//! Texts of nothing but ordinary lines or items, and what `lines.py` of definition/plans reads just so: blank
//! lines among them, commas at their ends, a heading above them, one fence around them, and a last line that is cut off.

use crate::pddl::sexpr::is_space;
use crate::plans::found::{in_time, Step, Steps, Unread};

const MAX_CHARACTERS: usize = 120;

/// Digits of a number that counts steps.
const MOST_DIGITS: usize = 6;

/// Characters of an action among items; where commas in it end is told from so many.
const MOST_INSIDE: usize = 100;

/// Bytes of a call that is kept as it is written.
const MOST_KEPT: usize = 48;

pub const LINKS: [&str; 7] = ["and", "then", "next", "finally", "lastly", "first", "afterwards"];

/// Parts of words that make a heading one above states.
const STATES: [&str; 7] = ["init", "goal", "state", "fact", "object", "condition", "effect"];

/// How words begin that say how long a step takes.
const TIMES: [&str; 3] = ["dur", "last", "for"];

const LONGEST_HEADING: usize = 60;

/// Characters of a place that are quoted.
pub const EXCERPT: usize = 60;

/// The steps of the text, and the line after them that is cut off; None where it is none of these.
pub fn read_ordinary(text: &[u8], steps: &mut Steps) -> Option<(Vec<Step>, Option<Unread>)> {
    let text = text.trim_ascii();
    let on_one_line = |steps: &mut Steps| side_by_side(text, steps).or_else(|| ordinary_items(text, steps));
    let found = if text.contains(&b'\n') { None } else { on_one_line(steps).map(|found| (found, None)) };
    found.or_else(|| ordinary_lines(text, steps)).filter(|(found, _)| !found.is_empty())
}

struct Line {
    number: Option<f64>,
    time: Option<f64>,
    is_led: bool,
    has_comma: bool,
    step: Step,
}

fn ordinary_lines(text: &[u8], steps: &mut Steps) -> Option<(Vec<Step>, Option<Unread>)> {
    let mut lines = (1..).zip(text.split(|byte| *byte == b'\n')).peekable();
    // In a text that is not only of ordinary lines, drafts are told apart by more than their numbers.
    let mut only_ordinary = text.contains(&b'\n');
    let mut fenced = false;
    let is_above = |line: &[u8]| fenced_by(line) || is_heading(line) || line.trim_ascii().is_empty();
    while let Some((_, line)) = lines.next_if(|(_, line)| is_above(line)) {
        if fenced && !line.trim_ascii().is_empty() {
            return None;
        }
        fenced |= fenced_by(line);
        only_ordinary = false;
    }
    let mut found: Vec<(Option<f64>, Step)> = Vec::new();
    let (mut before, mut gap, mut closed) = (-1.0, false, false);
    let (mut numbered, mut unnumbered, mut repeats) = (false, false, false);
    let mut cut = None;
    for (number, line) in lines {
        if line.trim_ascii().is_empty() {
            gap = true;
            only_ordinary = false;
            continue;
        }
        if closed {
            return None;
        }
        if fenced && fenced_by(line) {
            closed = true;
            continue;
        }
        if cut.is_some() {
            return None;
        }
        let Some(read) = ordinary_line(line, steps) else {
            if is_comment(line) {
                continue;
            }
            if found.is_empty() || !is_cut(line) {
                return None;
            }
            let shown = line.trim_ascii();
            let column = 1 + line.len() - line.trim_ascii_start().len();
            let shown = shown[..shown.len().min(EXCERPT)].trim_ascii_end();
            cut = Some(Unread { line: number, column, text: shown.to_vec() });
            only_ordinary = false;
            continue;
        };
        only_ordinary &= !read.has_comma;
        if read.is_led || before >= 0.0 {
            let number = read.number.unwrap_or(-1.0);
            if number < before {
                return None; // another draft
            }
            before = number;
        }
        numbered |= read.number.is_some();
        unnumbered |= read.number.is_none();
        repeats |= gap && found.first().is_some_and(|(_, first)| *first == read.step);
        gap = false;
        found.push((read.time, read.step));
    }
    if !only_ordinary && (numbered && unnumbered || repeats || before >= 1e6 || fenced != closed && cut.is_none()) {
        return None;
    }
    if !only_ordinary && text.to_ascii_lowercase().windows(7).any(|window| window == b"(define") {
        return None;
    }
    Some((in_time(found, steps), cut))
}

fn fenced_by(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_word = |byte: &u8| is_name(*byte) && !matches!(byte, b'@' | b'/');
    line.strip_prefix(b"```").is_some_and(|word| word.iter().all(is_word))
}

/// `Here is the plan:`; it says nothing of states, and nothing that would be a step.
fn is_heading(line: &[u8]) -> bool {
    let Some(label) = line.trim_ascii().strip_suffix(b":") else { return false };
    let plain = label.len() <= LONGEST_HEADING && label.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b' ');
    let text = String::from_utf8_lossy(label).to_ascii_lowercase();
    plain && text.ends_with("plan") && !STATES.iter().any(|word| text.contains(word))
}

/// An action of plain words whose parenthesis is not closed, behind at most a number or a bullet.
fn is_cut(line: &[u8]) -> bool {
    if line.len() > MAX_CHARACTERS {
        return false;
    }
    let line = line.trim_ascii();
    let digits = run(line, 0, |byte| byte.is_ascii_digit());
    let decimals =
        if line.get(digits) == Some(&b'.') { run(line, digits + 1, |byte| byte.is_ascii_digit()) } else { 0 };
    let action = match line.get(digits) {
        Some(b'.') if decimals > digits + 1 => line[decimals..].strip_prefix(b": "),
        Some(b'.' | b')' | b':') if digits > 0 => line[digits + 1..].strip_prefix(b" "),
        Some(b'-') if digits == 0 => line[1..].strip_prefix(b" "),
        _ => Some(line),
    };
    let Some(action) = action.filter(|_| digits <= MOST_DIGITS) else { return false };
    let name = run(action, 0, is_plain);
    let (first, rest) = match action.strip_prefix(b"(") {
        Some(words) => (words, words),
        None if action.get(name) == Some(&b'(') => (action, &action[name + 1..]),
        None => return false,
    };
    let is_within = |byte: &u8| is_plain(*byte) || matches!(byte, b' ' | b',');
    first.first().is_some_and(u8::is_ascii_alphabetic) && rest.iter().all(is_within)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// A comment without characters that other notations know.
fn is_comment(line: &[u8]) -> bool {
    let comment = line.trim_ascii_start();
    comment.first() == Some(&b';') && !comment.iter().any(|byte| b"<[{}\"'\\*`~".contains(byte))
}

/// The lead and the step of an ordinary line; a comma at its end where it has no lead.
fn ordinary_line(line: &[u8], steps: &mut Steps) -> Option<Line> {
    if line.len() > MAX_CHARACTERS {
        return None;
    }
    let mut at = blanks(line, 0);
    let (mut number, mut time, start) = (None, None, at);
    let digits = if line[at..].len() > 5 && line[at..at + 5].eq_ignore_ascii_case(b"step ") { at + 5 } else { at };
    let whole = run(line, digits, |byte| byte.is_ascii_digit());
    if whole > digits {
        let fraction =
            if line.get(whole) == Some(&b'.') { run(line, whole + 1, |byte| byte.is_ascii_digit()) } else { 0 };
        let end = if fraction > whole + 1 { fraction } else { whole };
        let colon = blanks(line, end);
        let value = |end: usize| std::str::from_utf8(&line[digits..end]).ok()?.parse().ok();
        if line.get(colon) == Some(&b':') {
            time = value(end);
            number = time;
            at = colon + 1;
        } else if digits == at && matches!(line.get(whole), Some(b'.' | b')')) {
            number = value(whole);
            at = whole + 1;
        }
        if whole - digits > MOST_DIGITS {
            return None;
        }
    } else if line.get(at) == Some(&b'-') {
        at += 1;
    }
    let is_led = at > start;
    let (step, end) = action(line, blanks(line, at), false, steps)?;
    let mut end = blanks(line, end);
    if line.get(end) == Some(&b'[') {
        let duration = run(line, end + 1, |byte| byte.is_ascii_digit() || byte == b'.');
        if duration == end + 1 || line.get(duration) != Some(&b']') {
            return None;
        }
        end = blanks(line, duration + 1);
    }
    let has_comma = !is_led && line.get(end) == Some(&b',') && line[end - 1] == b')';
    let end = if has_comma { blanks(line, end + 1) } else { end };
    (end == line.len()).then_some(Line { number, time, is_led, has_comma, step })
}

fn ordinary_items(text: &[u8], steps: &mut Steps) -> Option<Vec<Step>> {
    let mut found: Vec<Step> = Vec::with_capacity(text.len() / 8);
    let mut inside: Option<Vec<Step>> = None;
    let read = if text.contains(&b')') { action } else { new_action };
    let mut start = 0;
    loop {
        let mut at = blanks(text, start);
        if text.get(at) == Some(&b'{') {
            if inside.is_some() {
                return None;
            }
            inside = Some(Vec::new());
            at = blanks(text, at + 1);
        }
        if text.get(at).is_some_and(|byte| !matches!(byte, b',' | b'}')) {
            let (step, end) = read(text, at, true, steps)?;
            if end - at > MOST_INSIDE {
                return None;
            }
            inside.as_mut().unwrap_or(&mut found).push(step);
            at = blanks(text, end);
        }
        if text.get(at) == Some(&b'}') {
            found.push(steps.set(inside.take()?));
            at = blanks(text, at + 1);
        }
        if at - start > MAX_CHARACTERS || text.get(at).is_some_and(|byte| *byte != b',') {
            return None;
        }
        if at == text.len() {
            return inside.is_none().then_some(found);
        }
        start = at + 1;
    }
}

/// `(take a b) (drop a)`: two actions or more, with nothing but blanks between them. `(take a) (duration 8)` is one.
fn side_by_side(text: &[u8], steps: &mut Steps) -> Option<Vec<Step>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < text.len() {
        if text[at] != b'(' || at > 0 && TIMES.iter().any(|word| begins_with(&text[at + 1..], word)) {
            return None;
        }
        let (step, end) = action(text, at, false, steps).filter(|(_, end)| end - at <= MOST_INSIDE)?;
        found.push(step);
        at = blanks(text, end);
        if at == end && end < text.len() {
            return None;
        }
    }
    (found.len() > 1).then_some(found)
}

fn begins_with(text: &[u8], word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
}

/// `(take a b)` or `take(a, b)`, or the bare `take` where that is an action, with its end.
fn action(text: &[u8], at: usize, bare: bool, steps: &mut Steps) -> Option<(Step, usize)> {
    let written = &text[at..at + to_parenthesis(&text[at..])];
    if let Some(step) = steps.meant_by(written) {
        return Some((step, at + written.len()));
    }
    let (step, end) = new_action(text, at, bare, steps)?;
    if end == at + written.len() {
        steps.keep(written, step);
    }
    Some((step, end))
}

fn new_action(text: &[u8], at: usize, bare: bool, steps: &mut Steps) -> Option<(Step, usize)> {
    let end = words(text, at, bare, steps);
    let Some(end) = end else {
        steps.drop_words();
        return None;
    };
    Some((steps.action().ok()?, end))
}

/// The bytes up to the first `)`, eight at once; 0 where it is not among the first few.
fn to_parenthesis(text: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    for (number, piece) in text.chunks_exact(8).take(MOST_KEPT / 8).enumerate() {
        let rest = u64::from_le_bytes(piece.try_into().unwrap_or_default()) ^ (ONES * u64::from(b')'));
        let zeros = rest.wrapping_sub(ONES) & !rest & (ONES << 7); // the first of them is no false one
        if zeros != 0 {
            return 8 * number + zeros.trailing_zeros() as usize / 8 + 1;
        }
    }
    0
}

fn words(text: &[u8], start: usize, bare: bool, steps: &mut Steps) -> Option<usize> {
    let is_pddl = text.get(start) == Some(&b'(');
    let start = start + usize::from(is_pddl);
    let mut at = name(text, start)?;
    steps.push(&text[start..at]);
    if is_pddl {
        loop {
            let word = run(text, at, is_blank);
            let end = run(text, word, is_name);
            if end == word || word == at {
                return (text.get(word) == Some(&b')')).then_some(word + 1);
            }
            steps.push(&text[word..end]);
            at = end;
        }
    }
    if text.get(at) != Some(&b'(') {
        return (bare && !is_link(&text[start..at])).then_some(at);
    }
    at += 1;
    loop {
        let end = run(text, at, is_name);
        if end == at {
            return (text.get(at) == Some(&b')')).then_some(at + 1);
        }
        steps.push(&text[at..end]);
        at = end;
        if text.get(at) == Some(&b',') {
            let word = run(text, at + 1, is_blank);
            if !text.get(word).is_some_and(|byte| is_word(*byte)) {
                return None;
            }
            at = word;
        }
    }
}

/// True for a name that begins with a word that links steps.
fn is_link(name: &[u8]) -> bool {
    let ends = run(name, 0, is_word);
    name.get(ends) != Some(&b'-') && LINKS.iter().any(|word| name[..ends].eq_ignore_ascii_case(word.as_bytes()))
}

/// The end of the name here.
fn name(text: &[u8], at: usize) -> Option<usize> {
    let first = *text.get(at)?;
    (first.is_ascii_alphabetic() || first == b'_').then(|| run(text, at + 1, is_name))
}

fn run(text: &[u8], at: usize, is: impl Fn(u8) -> bool) -> usize {
    text[at..].iter().position(|byte| !is(*byte)).map_or(text.len(), |length| at + length)
}

fn blanks(text: &[u8], at: usize) -> usize {
    run(text, at, is_space)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_name(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'@' | b'/' | b'+' | b'-')
}
