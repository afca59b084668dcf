//! What is said of numbers: comparisons of them, and effects on them (definition/pddl/language.py).

use crate::fraction::Fraction;
use crate::left::{Answer, Left};
use crate::model::{Arithmetic, Expression, Formula, Mark, Part, Word};
use crate::pddl::problems::Interner;
use crate::pddl::sexpr::{Items, Node, Tree};

pub const COMPARISONS: [&[u8]; 5] = [b"<", b">", b"<=", b">=", b"="];
pub const UPDATES: [&[u8]; 5] = [b"increase", b"decrease", b"assign", b"scale-up", b"scale-down"];

/// Words that are no functions, beside `UPDATES`.
const RESERVED: [&[u8]; 4] = [b"minimize", b"maximize", b"when", b"is-violated"];

/// Parts of an expression; what has more is no hot path.
const MOST_PARTS: usize = 100;

/// The comparison or the effect that stands there.
pub fn formula(tree: &Tree, place: usize, is_effect: bool, holds: bool, names: &Interner) -> Answer<Formula> {
    let (head, mut terms) = tree.named(place)?;
    let mut side = || expression(tree, tree.next(&mut terms).ok_or(Left::Strips)?.0, names);
    let sides = [side()?, side()?];
    if terms.at < terms.end || (is_effect && !matches!(sides[0][..], [Part::Fluent(_)])) {
        return Err(Left::Strips);
    }
    Ok(Formula { is_effect, holds, head, sides, written: tree.written(place) })
}

/// The numeric expression that stands there, in the order in which it is computed.
pub fn expression(tree: &Tree, place: usize, names: &Interner) -> Answer<Expression> {
    let mut parts: Expression = Vec::new();
    // The operations that are open, each with its operands so far and those that are still to come.
    let mut open: Vec<(Arithmetic, usize, Items)> = Vec::new();
    let mut next = Some(place);
    loop {
        match next.map(|place| (place, tree.nodes[place])) {
            Some((_, Node::Word(word))) => parts.push(match names.text(word) {
                [b'0'..=b'9' | b'-' | b'.', ..] => Part::Value(Fraction::parse(names.text(word))?),
                _ => Part::Fluent(vec![function(word, names)?]),
            }),
            Some((place, Node::List(_))) => {
                let (head, mut terms) = tree.named(place)?;
                let operation = match names.text(head) {
                    b"+" => Some(Arithmetic::Add),
                    b"-" => Some(Arithmetic::Subtract),
                    b"*" => Some(Arithmetic::Multiply),
                    b"/" => Some(Arithmetic::Divide),
                    _ => None,
                };
                match operation {
                    Some(operation) => open.push((operation, 0, terms)),
                    None => {
                        let mut fluent = vec![function(head, names)?];
                        while terms.at < terms.end {
                            fluent.push(tree.next_word(&mut terms)?);
                        }
                        parts.push(Part::Fluent(fluent));
                    }
                }
            }
            None => {
                let (operation, operands, _) = open.pop().ok_or(Left::Panic)?;
                if operands == 0 || (matches!(operation, Arithmetic::Divide) && operands != 2) {
                    return Err(Left::Strips);
                }
                parts.push(Part::Operation(operation, operands));
            }
        }
        if parts.len() > MOST_PARTS {
            return Err(Left::Budget);
        }
        let Some((_, operands, terms)) = open.last_mut() else { return Ok(parts) };
        next = tree.next(terms).map(|(place, _)| place);
        *operands += usize::from(next.is_some());
    }
}

fn function(word: Word, names: &Interner) -> Answer<Word> {
    let text = names.text(word);
    let is_plain = text.first().is_some_and(u8::is_ascii_lowercase);
    if !is_plain || UPDATES.contains(&text) || RESERVED.contains(&text) {
        return Err(Left::Strips);
    }
    Ok(word)
}

/// A formula as PDDL writes it, with these words in place of those.
pub fn show_formula(written: &[Mark], holds: bool, value: impl Fn(Word) -> Word, names: &Interner) -> Vec<u8> {
    let mut shown: Vec<u8> = if holds { Vec::new() } else { b"(not ".to_vec() };
    for mark in written {
        let follows = !matches!(shown.last(), None | Some(b'(' | b' '));
        match mark {
            Mark::Close => shown.push(b')'),
            _ if follows => shown.push(b' '),
            _ => {}
        }
        match mark {
            Mark::Open => shown.push(b'('),
            Mark::Word(word) => shown.extend_from_slice(names.text(value(*word))),
            Mark::Close => {}
        }
    }
    if !holds {
        shown.push(b')');
    }
    shown
}
