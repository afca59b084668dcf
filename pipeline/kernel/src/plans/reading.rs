//! Plans out of text (definition/plans/reading.py): ordinary lines or items, T-Eval's list, the empty plan, no answer, and a
//! sentence that holds no action.

use crate::left::{Answer, Left};
use crate::pddl::drafts::{may_have_marks, without_thinking};
use crate::pddl::sexpr::LONGEST;
use crate::plans::found::{Plan, Step, Steps, Unread};
use crate::plans::json::read_json;
use crate::plans::ordinary::{read_ordinary, EXCERPT, LINKS};
use std::borrow::Cow;

/// Why there is no plan: a kind of the sentences in Python.
pub const EMPTY: &str = "empty answer";
const NO_ANSWER: &str = "no answer";

pub const NO_ACTION: &str = "no action";

const MAX_ACTIONS: usize = 50_000;

const FINISH: &[u8] = b"finishaction";

/// All marks around thoughts begin so.
const THOUGHTS: [&str; 5] = ["<", "[t", "[T", "◁", "assistantfinal"];

/// The plan of an answer.
pub fn read_plan(text: Option<&[u8]>, steps: &mut Steps) -> Answer<Plan> {
    let Some(text) = text else {
        return Ok(Plan { steps: Vec::new(), missing: Some(NO_ANSWER), damage: None });
    };
    if text.len() > LONGEST {
        return Err(Left::Text);
    }
    if is_plain(text) && !may_have_marks(text) {
        return read_text(text, steps);
    }
    let answer = std::str::from_utf8(text).map_err(|_| Left::Text)?;
    let lines = if answer.contains('\r') {
        Cow::Owned(answer.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(answer)
    };
    if !THOUGHTS.iter().any(|mark| lines.contains(mark)) {
        return read_characters(lines.as_bytes(), steps);
    }
    let mut lower = lines.to_ascii_lowercase();
    without_thinking(&mut lower)?;
    let blank = |(byte, lower)| if lower == b' ' { b' ' } else { byte };
    let rest: Vec<u8> = lines.bytes().zip(lower.bytes()).map(blank).collect();
    read_characters(&rest, steps)
}

/// True for characters that notations know.
fn is_plain(text: &[u8]) -> bool {
    text.iter().fold(true, |all, byte| all & (matches!(*byte, b' '..=b'~') | matches!(*byte, b'\n' | b'\t')))
}

fn read_characters(text: &[u8], steps: &mut Steps) -> Answer<Plan> {
    if is_plain(text) {
        read_text(text, steps)
    } else {
        Err(Left::Characters)
    }
}

/// The steps without T-Eval's last action, whatever its arguments.
fn without_finish(plan: &[Step], steps: &Steps) -> usize {
    let is_finish = |last: &Step| steps.set_number(*last).is_none() && steps.words(*last).next() == Some(FINISH);
    plan.len() - usize::from(plan.last().is_some_and(is_finish))
}

fn read_text(text: &[u8], steps: &mut Steps) -> Answer<Plan> {
    let above = &text[..text.len() - text.trim_ascii_start().len()];
    let text = text.trim_ascii();
    if matches!(text, b"" | b"[]" | b"()") {
        return Ok(Plan { steps: Vec::new(), missing: text.is_empty().then_some(EMPTY), damage: None });
    }
    let found =
        if text[0] == b'[' { read_json(text, steps).map(|found| (found, None)) } else { read_ordinary(text, steps) };
    let missing = (found.is_none() && is_sentence(text)).then_some(NO_ACTION);
    let place = missing.map(|_| Unread {
        line: 1,
        column: 1 + above.iter().rev().take_while(|byte| **byte != b'\n').count(),
        text: text[..text.len().min(EXCERPT)].trim_ascii_end().to_vec(),
    });
    let (mut found, mut damage) = found.or(place.map(|place| (Vec::new(), Some(place)))).ok_or(Left::Notation)?;
    found.truncate(without_finish(&found, steps));
    if let Some(place) = &mut damage {
        place.line += above.iter().filter(|byte| **byte == b'\n').count();
    }
    if text.len() > MAX_ACTIONS {
        let actions: usize = found.iter().map(|step| steps.actions_of(step).len().max(1)).sum();
        if actions > MAX_ACTIONS {
            return Err(Left::Text);
        }
    }
    Ok(Plan { steps: found, missing, damage })
}

/// True for words apart by blanks, perhaps with a full stop behind them: three or more, and none that links steps. Nothing in
/// them is an action, unless the first one is the name of an operator.
fn is_sentence(text: &[u8]) -> bool {
    let words = text.strip_suffix(b".").unwrap_or(text).split(|byte| *byte == b' ');
    let is_word = |word: &[u8]| (1..EXCERPT).contains(&word.len()) && word.iter().all(u8::is_ascii_alphabetic);
    let links = |word: &[u8]| LINKS.iter().chain(&["followed"]).any(|link| word.eq_ignore_ascii_case(link.as_bytes()));
    words.clone().count() > 2 && words.clone().all(is_word) && !words.clone().any(links)
}
