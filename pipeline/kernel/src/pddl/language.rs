//! Conditions and effects beyond sets of atoms, and what is said of numbers: comparisons of them, and effects on them
//! (definition/pddl/language.py).

use crate::canonical::{encode_number, encode_text};
use crate::fraction::Fraction;
use crate::left::{Answer, Left};
use crate::model::{Arithmetic, Expression, Form, Formula, Mark, Part, Word, EQUALITY};
use crate::pddl::domains::variables;
use crate::pddl::problems::Interner;
use crate::pddl::sexpr::{Items, Node, Tree};
use std::collections::BTreeMap;

pub const COMPARISONS: [&[u8]; 5] = [b"<", b">", b"<=", b">=", b"="];
pub const UPDATES: [&[u8]; 5] = [b"increase", b"decrease", b"assign", b"scale-up", b"scale-down"];

/// Words that are no functions, beside `UPDATES`.
const RESERVED: [&[u8]; 4] = [b"minimize", b"maximize", b"when", b"is-violated"];

/// What a number is computed by.
const ARITHMETIC: [&[u8]; 4] = [b"+", b"-", b"*", b"/"];

/// Parts of an expression; what has more is no hot path.
const MOST_PARTS: usize = 100;

/// True for what conditions and effects begin with that are made of others, but for `and` and `not`.
pub fn is_connective(word: &[u8]) -> bool {
    matches!(word, b"when" | b"forall" | b"exists" | b"or" | b"imply")
}

/// True for what an atom of a condition or of an effect, or an equation, may begin with.
pub fn is_predicate(word: &[u8]) -> bool {
    let is_other = matches!(word, b"and" | b"not" | b"preference" | b"oneof" | b"probabilistic") || is_connective(word);
    word == EQUALITY || !(is_other || UPDATES.contains(&word) || COMPARISONS.contains(&word))
}

/// True where a comparison of numbers, or an effect on one, begins with the word; the others follow it.
pub fn is_numeric(head: &[u8], is_effect: bool, tree: &Tree, terms: Items) -> bool {
    match is_effect {
        true => UPDATES.contains(&head),
        false => COMPARISONS.contains(&head) && !(head == EQUALITY && tree.has_only_words(terms)),
    }
}

/// The form of a formula that begins with the word.
pub fn numeric(head: &[u8], sides: [Expression; 2]) -> Answer<Form> {
    let known = COMPARISONS.into_iter().chain(UPDATES).find(|known| *known == head).ok_or(Left::Panic)?;
    Ok(Form::Numeric(known, Box::new(sides)))
}

/// The condition or the effect that stands there. Blocks are not nested deeply.
pub fn form(
    tree: &Tree,
    place: usize,
    is_effect: bool,
    alternatives: &mut BTreeMap<Word, [Vec<Word>; 2]>,
    names: &mut Interner,
) -> Answer<Form> {
    if tree.is_empty(place) {
        return Ok(Form::And(Vec::new()));
    }
    let (head, mut terms) = tree.named(place)?;
    let (text, all) = (names.text(head).to_vec(), terms);
    let mut places = Vec::new();
    while let Some((place, _)) = tree.next(&mut terms.clone()) {
        places.push(place);
        tree.next(&mut terms);
    }
    let mut part = |place: usize, is_effect: bool| form(tree, place, is_effect, alternatives, names);
    Ok(match (&text[..], is_effect, &places[..]) {
        (b"and", ..) => Form::And(places.iter().map(|place| part(*place, is_effect)).collect::<Answer<_>>()?),
        (b"or", false, _) => Form::Or(places.iter().map(|place| part(*place, false)).collect::<Answer<_>>()?),
        (b"not", _, [place]) => match part(*place, is_effect)? {
            denied if is_effect && !matches!(denied, Form::Atom(_)) => return Err(Left::Effect),
            denied => Form::Not(Box::new(denied)),
        },
        (b"imply", false, [one, other]) => Form::Imply(Box::new([part(*one, false)?, part(*other, false)?])),
        (b"when", true, [one, other]) => Form::When(Box::new([part(*one, false)?, part(*other, true)?])),
        (b"forall", _, [listing, body]) | (b"exists", false, [listing, body]) => {
            let variables = variables(tree, tree.items(*listing)?, alternatives, names)?;
            let body = Box::new(form(tree, *body, is_effect, alternatives, names)?);
            if text == b"forall" {
                Form::Forall(variables, body)
            } else {
                Form::Exists(variables, body)
            }
        }
        _ if is_numeric(&text, is_effect, tree, all) => {
            let Formula { sides, .. } = formula(tree, place, is_effect, true, names)?;
            numeric(&text, sides)?
        }
        _ if !is_predicate(&text) => return Err(if is_effect { Left::Effect } else { Left::Formula }),
        _ => {
            let mut atom = vec![head];
            for place in places {
                let Node::Word(term) = tree.nodes[place] else { return Err(Left::Formula) };
                if !matches!(names.text(term), [b'a'..=b'z' | b'?', ..]) {
                    return Err(Left::Formula); // perhaps a number
                }
                atom.push(term);
            }
            let is_right = match text == EQUALITY {
                true => atom.len() == 3 && !is_effect,
                false => names.is_name(head) && !RESERVED.contains(&&text[..]),
            };
            if !is_right || atom.len() > MOST_PARTS {
                return Err(Left::Formula);
            }
            Form::Atom(atom)
        }
    })
}

/// The bytes, as digests have them, of the part of an operator and the formula in it that stands there, in which variables
/// are numbers: these parameters, then those of quantifiers.
pub fn encode_written(
    tree: &Tree,
    place: usize,
    is_effect: bool,
    holds: bool,
    parameters: &[(Word, Word)],
    names: &Interner,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_number(&mut bytes, 2);
    encode_text(&mut bytes, if is_effect { b":effect" } else { b":precondition" });
    if !holds {
        encode_number(&mut bytes, 2);
        encode_text(&mut bytes, b"not");
    }
    let mut variables = parameters.iter().map(|(name, _)| *name).zip(0..).collect();
    encode_numbered(tree, place, &mut variables, &mut parameters.len(), names, &mut bytes);
    bytes
}

/// The same of a formula or a rule alone; `variables` are those around, each with its number, the innermost last.
pub fn encode_numbered(
    tree: &Tree,
    place: usize,
    variables: &mut Vec<(Word, usize)>,
    count: &mut usize,
    names: &Interner,
    bytes: &mut Vec<u8>,
) {
    let (mut items, around) = (Items { at: place + 1, end: place + 1 }, variables.len());
    match tree.nodes[place] {
        Node::Word(word) => match variables.iter().rev().find(|(name, _)| *name == word) {
            Some((_, number)) => encode_text(bytes, format!("?{number}").as_bytes()),
            None => encode_text(bytes, names.text(word)),
        },
        Node::List(end) => items.end = end,
    }
    if !matches!(tree.nodes[place], Node::List(_)) {
        return;
    }
    let (mut rest, mut children) = (items, Vec::new());
    while let Some((place, _)) = tree.next(&mut rest) {
        children.push(place);
    }
    let is_quantified = |word: Word| matches!(names.text(word), b"forall" | b"exists" | b":derived");
    if let Some(Node::Word(head)) = children.first().map(|place| tree.nodes[*place]) {
        if let (true, Some(Node::List(end))) = (is_quantified(head), children.get(1).map(|place| tree.nodes[*place])) {
            for node in &tree.nodes[children[1] + 1..end] {
                if let Node::Word(word) = node {
                    if names.text(*word).starts_with(b"?") {
                        variables.push((*word, *count));
                        *count += 1;
                    }
                }
            }
        }
    }
    let has_numbers = match children.first().map(|place| tree.nodes[*place]) {
        Some(Node::Word(head)) => {
            let (head, terms) = (names.text(head), Items { at: children[0] + 1, ..items });
            ARITHMETIC.contains(&head) || is_numeric(head, true, tree, terms) || is_numeric(head, false, tree, terms)
        }
        _ => false,
    };
    encode_number(bytes, children.len());
    for (number, child) in children.into_iter().enumerate() {
        match tree.nodes[child] {
            Node::Word(word) if has_numbers && number > 0 => match Fraction::parse(names.text(word)) {
                Ok(value) => encode_text(bytes, value.text().as_bytes()),
                Err(_) => {
                    encode_number(bytes, 1); // a function, which may have parentheses
                    encode_text(bytes, names.text(word));
                }
            },
            _ => encode_numbered(tree, child, variables, count, names, bytes),
        }
    }
    variables.truncate(around);
}

/// The comparison or the effect that stands there.
pub fn formula(tree: &Tree, place: usize, is_effect: bool, holds: bool, names: &Interner) -> Answer<Formula> {
    let (head, mut terms) = tree.named(place)?;
    let mut side = || expression(tree, tree.next(&mut terms).ok_or(Left::Strips)?.0, names);
    let sides = [side()?, side()?];
    if terms.at < terms.end || (is_effect && !matches!(sides[0][..], [Part::Fluent(_)])) {
        return Err(Left::Strips);
    }
    Ok(Formula { is_effect, holds, head, sides, written: tree.written(place), encoded: Vec::new() })
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
    let is_other = matches!(text, b"and" | b"not" | b"object" | b"either") || is_connective(text);
    if !is_plain || is_other || UPDATES.contains(&text) || RESERVED.contains(&text) {
        return Err(Left::Strips);
    }
    Ok(word)
}

/// True where a quantifier of the formula has a variable of one of these names.
pub fn hides(written: &[Mark], parameters: &[(Word, Word)], names: &Interner) -> bool {
    let is_quantifier =
        |mark: &Mark| matches!(mark, Mark::Word(word) if matches!(names.text(*word), b"forall" | b"exists"));
    let is_own = |mark: &&Mark| matches!(mark, Mark::Word(word) if parameters.iter().any(|(name, _)| name == word));
    let listing = |place: usize| written[place + 2..].iter().take_while(|mark| !matches!(mark, Mark::Close));
    (0..written.len()).any(|place| is_quantifier(&written[place]) && listing(place).find(is_own).is_some())
}

/// A formula as PDDL writes it, with these texts of its words.
pub fn show_formula<'a>(written: &[Mark], holds: bool, text: impl Fn(Word) -> &'a [u8]) -> Vec<u8> {
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
            Mark::Word(word) => shown.extend_from_slice(text(*word)),
            Mark::Close => {}
        }
    }
    if !holds {
        shown.push(b')');
    }
    shown
}
