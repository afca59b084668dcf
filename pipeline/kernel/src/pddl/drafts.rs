//! What of a raw answer counts (definition/pddl/drafts.py): no train of thought, no end tokens.

use crate::left::{Answer, Left};
use crate::pddl::sexpr::{is_space, LONGEST};

const NAMES: [&str; 8] =
    ["thinking", "think", "thoughts", "thought", "reasoning", "reflection", "scratchpad", "analysis"];
const MOST_PREFIX: usize = 20;
const MOST_ATTRIBUTES: usize = 200;

/// Tokens of chat templates beside those of the form `<|im_end|>`.
const END_TOKENS: [&str; 14] = [
    "</s>",
    "<s>",
    "<eos>",
    "<eot>",
    "<eod>",
    "<eom>",
    "<bos>",
    "<pad>",
    "<end_of_turn>",
    "<end_of_text>",
    "<end_of_utterance>",
    "<start_of_turn>",
    "<start_of_text>",
    "<start_of_utterance>",
];
const MOST_IN_TOKEN: usize = 40;

enum Mark {
    Opens,
    Closes,
    /// The end of a message: of a thought only where one is open.
    Ends,
}

/// A raw answer in lower case without what does not count.
///
/// Lower case of characters beyond ASCII makes no letter of a keyword, and stands in no plain block.
pub fn answer_of(raw: &[u8]) -> Answer<String> {
    if raw.len() > LONGEST {
        return Err(Left::Text);
    }
    let mut answer = std::str::from_utf8(raw).map_err(|_| Left::Text)?.to_owned();
    answer.make_ascii_lowercase();
    if may_have_marks(answer.as_bytes()) {
        without_thinking(&mut answer)?;
        // Strings of JSON may hold PDDL: they are the definition's.
        if answer.contains('\\') && answer.contains(['"', '\'']) {
            return Err(Left::Notation);
        }
    }
    Ok(answer)
}

/// Put blanks in place of thoughts, and of end tokens behind the answer, which is in lower case; lines stay as they were.
pub fn without_thinking(answer: &mut String) -> Answer<()> {
    // The definition looks for marks only where one of these is, whatever else would be one.
    if !["<", "[t", "assistantfinal", "◁"].iter().any(|start| answer.contains(start)) {
        return Ok(());
    }
    let mut bytes = std::mem::take(answer).into_bytes();
    blank_thoughts(&mut bytes)?;
    blank_end_tokens(&mut bytes);
    *answer = String::from_utf8(bytes).map_err(|_| Left::Thoughts)?;
    Ok(())
}

/// False for most answers without thinking marks and escapes.
pub fn may_have_marks(answer: &[u8]) -> bool {
    let may_be = |pair: (&u8, &u8)| matches!(pair, (b'<' | b'\\', _) | (b'[', b't' | b'T') | (b't', b'f') | (0xE2, _));
    let next = answer.get(1..).unwrap_or_default();
    let found = answer.iter().zip(next).fold(false, |found, pair| found | may_be(pair)); // 16 bytes at once
    found || answer.last() == Some(&b'\\')
}

fn blank_thoughts(answer: &mut [u8]) -> Answer<()> {
    let starts = |byte: u8| matches!(byte, b'<' | b'[' | b'a' | 0xE2);
    let mut thoughts: Vec<(usize, usize)> = Vec::new();
    let mut opened: Option<usize> = None;
    let mut at = 0;
    while at < answer.len() {
        let found = if starts(answer[at]) { mark(&answer[at..])? } else { None };
        let Some((kind, length)) = found else {
            at += 1;
            continue;
        };
        match (kind, opened) {
            (Mark::Opens, None) => opened = Some(at),
            (Mark::Opens, Some(_)) => {}
            (_, Some(start)) => {
                thoughts.push((start, at + length));
                opened = None;
            }
            (Mark::Closes, None) => thoughts = vec![(0, at + length)], // opened by the prompt: all before was thought
            (Mark::Ends, None) => {}
        }
        at += length;
    }
    if let Some(start) = opened {
        thoughts.push((start, answer.len()));
    }
    for (start, end) in thoughts {
        for byte in &mut answer[start..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    Ok(())
}

fn blank_end_tokens(answer: &mut [u8]) {
    let mut kept = answer.trim_ascii_end().len();
    while let Some(length) = end_token(&answer[..kept]) {
        answer[kept - length..kept].fill(b' ');
        kept = answer[..kept - length].trim_ascii_end().len();
    }
}

/// The bytes of the token that ends the text.
fn end_token(text: &[u8]) -> Option<usize> {
    if let Some(token) = END_TOKENS.iter().find(|token| text.ends_with(token.as_bytes())) {
        return Some(token.len());
    }
    let bar = |text: &[u8]| ["|", "｜"].into_iter().find(|bar| text.ends_with(bar.as_bytes())).map_or(0, str::len);
    let inside = text.strip_suffix(b">")?;
    let mut start = inside.len() - bar(inside);
    let end = start;
    for _ in 0..=MOST_IN_TOKEN {
        let before = &inside[..start];
        let opening = bar(before);
        if end < inside.len() && start < end && opening > 0 && before[..start - opening].ends_with(b"<") {
            return Some(text.len() - (start - opening - 1));
        }
        start -= match before {
            [.., byte] if byte.is_ascii_alphanumeric() || b"_.:/-".contains(byte) => 1,
            _ if before.ends_with("▁".as_bytes()) => "▁".len(),
            _ => return None,
        };
    }
    None
}

/// The mark that stands at the start of the text, with its length.
fn mark(text: &[u8]) -> Answer<Option<(Mark, usize)>> {
    for fixed in ["[think]", "[thinking]", "◁think▷", "<|begin_of_thought|>", "<|start_thinking|>"] {
        if text.starts_with(fixed.as_bytes()) {
            return Ok(Some((Mark::Opens, fixed.len())));
        }
    }
    for fixed in ["[/think]", "[/thinking]", "◁/think▷", "<|end_of_thought|>", "<|end_thinking|>", "assistantfinal"]
    {
        if text.starts_with(fixed.as_bytes()) {
            return Ok(Some((Mark::Closes, fixed.len())));
        }
    }
    if let Some(channel) = text.strip_prefix(b"<|channel|>") {
        let length = text.len() - channel.len();
        return Ok(Some(match channel.strip_prefix(b"final") {
            None => (Mark::Opens, length),
            Some(after) if after.starts_with(b"<|message|>") => (Mark::Closes, length + 5 + 11),
            Some(_) => (Mark::Closes, length + 5),
        }));
    }
    if text.starts_with(b"<|end|>") {
        return Ok(Some((Mark::Ends, 7)));
    }
    // To Python's regular expressions a long s is an s, and a dotless i an i.
    let near = &text[..text.len().min(24)];
    let fixed = ["[", "<|", "a"].iter().any(|start| near.starts_with(start.as_bytes()));
    if fixed && ["ſ", "ı"].iter().any(|odd| near.windows(2).any(|pair| pair == odd.as_bytes())) {
        return Err(Left::Thoughts);
    }
    if text[0] == b'<' {
        return tag(text);
    }
    Ok(None)
}

/// `<think>`, `</deep:reasoning effort="3">` and their like.
fn tag(text: &[u8]) -> Answer<Option<(Mark, usize)>> {
    let closes = text.get(1) == Some(&b'/');
    let start = 1 + usize::from(closes);
    let word = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
    };
    let mut from = start;
    let mut to = word(from);
    if text.get(to) == Some(&b':') && to > from && to - from <= MOST_PREFIX {
        from = to + 1;
        to = word(from);
    }
    if text[to.min(text.len())..].starts_with("｜".as_bytes()) {
        return Ok(None); // an end token
    }
    if text.get(to).is_some_and(|byte| !byte.is_ascii()) {
        return Err(Left::Thoughts); // a letter or a space of Unicode
    }
    if !NAMES.iter().any(|name| name.as_bytes() == &text[from.min(to)..to]) {
        return Ok(None);
    }
    let kind = if closes { Mark::Closes } else { Mark::Opens };
    match text.get(to) {
        Some(b'>') => Ok(Some((kind, to + 1))),
        Some(byte) if is_space(*byte) => {
            let attributes = &text[to + 1..];
            let length = attributes.iter().take_while(|byte| !matches!(**byte, b'<' | b'>' | b'\n')).count();
            let characters = attributes[..length].iter().filter(|byte| **byte & 0xC0 != 0x80).count();
            let is_tag = attributes.get(length) == Some(&b'>') && characters <= MOST_ATTRIBUTES;
            Ok(is_tag.then_some((kind, to + 1 + length + 1)))
        }
        _ => Ok(None),
    }
}
