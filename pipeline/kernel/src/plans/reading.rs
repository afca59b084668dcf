//! Plans out of text (definition/plans/reading.py): ordinary lines or items, T-Eval's list, the empty plan, no answer.

use crate::left::{Answer, Left};
use crate::pddl::drafts::{may_have_marks, without_thinking};
use crate::pddl::sexpr::LONGEST;
use crate::plans::found::{Plan, Step, Steps};
use crate::plans::json::read_json;
use crate::plans::ordinary::read_ordinary;
use std::borrow::Cow;

/// Why there is no plan: a kind of the sentences in Python.
pub const EMPTY: &str = "empty answer";
const NO_ANSWER: &str = "no answer";

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
    let (mut found, mut damage) = found.ok_or(Left::Notation)?;
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
    Ok(Plan { steps: found, missing: None, damage })
}
