//! A domain out of a raw model answer, or the reason why there is none (definition/pddl/domains.py).
//!
//! Of what goes beyond STRIPS, conditions and effects of actions are read; other constructs, and a block that is no PDDL,
//! are the definition's: there they have names.

use crate::hashing::HashSet;
use crate::left::{Answer, Left};
use crate::model::{Beyond, Domain, Form, Formula, Known, Lifted, Operator, Rule, Word, EQUALITY, MOST_VARIABLES};
use crate::pddl::drafts::answer_of;
use crate::pddl::language::{encode_numbered, encode_written, form, formula, is_connective, is_numeric, is_predicate};
use crate::pddl::problems::Interner;
use crate::pddl::sexpr::{block, is_blank, Items, Node, Openings, Tree, PACKAGE_NESTING};
use crate::structure::types::least_alternatives;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Types of a domain, parameters of an operator and words of an atom; what has more is no hot path.
const MOST_TYPES: usize = 500;
const MOST_PARAMETERS: usize = 50;

/// Strata of derived predicates.
const MOST_STRATA: usize = 50;

/// What an operator says of numbers.
const MOST_FORMULAS: usize = 50;

/// Why a text holds no domain.
pub enum Refused {
    Empty,
    NoDomain,
    NeverClosed,
}

/// What was read from a text, and whether the text began more than one domain.
pub struct Reading {
    pub outcome: Result<Domain, Refused>,
    pub several: bool,
}

/// The domain of a text, as `parse_domain` finds it, if it is a STRIPS domain.
pub fn parse_domain(text: &[u8], last: bool, names: &mut Interner) -> Answer<Reading> {
    let reading = parse_any_domain(text, last, names)?;
    if let Ok(domain) = &reading.outcome {
        require_atoms(domain)?;
        if domain.operators.iter().any(|operator| !operator.formulas.is_empty()) {
            return Err(Left::Numbers);
        }
    }
    Ok(reading)
}

/// Err where there are derived predicates, or conditions or effects that are no sets of atoms and say nothing of numbers.
pub fn require_atoms(domain: &Domain) -> Answer<()> {
    if !domain.rules.is_empty() {
        return Err(Left::Derived);
    }
    match domain.operators.iter().flat_map(|operator| &operator.beyond).next() {
        None => Ok(()),
        Some(beyond) => Err(if beyond.is_effect { Left::Effect } else { Left::Formula }),
    }
}

/// The domain of a text, which may also say something of numbers, and have any conditions and effects.
pub fn parse_any_domain(text: &[u8], last: bool, names: &mut Interner) -> Answer<Reading> {
    let answer = answer_of(text)?;
    let refused = |reason| Ok(Reading { outcome: Err(reason), several: false });
    if is_blank(&answer) {
        return refused(Refused::Empty);
    }
    let bare = without_comments(&answer);
    let starts = Openings::new(&bare, "domain").rest()?;
    if starts.is_empty() {
        // In prose a `;` may stand before a domain; actions alone are read by the definition.
        let is_commented = bare.len() < answer.len() && Openings::new(&answer, "domain").next()?.is_some();
        return if is_commented || bare.contains(":action") { Err(Left::Notation) } else { refused(Refused::NoDomain) };
    }
    let several = starts.len() > 1;
    let mut chosen = None;
    for start in &starts {
        if let Some(block) = block(&bare.as_bytes()[*start..])? {
            chosen = Some(block);
            if !last {
                break;
            }
        }
    }
    match chosen {
        Some(block) => Ok(Reading { outcome: Ok(domain(&Tree::new(block, names)?, names)?), several }),
        None if is_deep(&bare.as_bytes()[starts[0]..]) => Err(Left::Notation),
        None => refused(Refused::NeverClosed),
    }
}

/// The text without each `;` and what follows it on its line.
fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.as_bytes().contains(&b';') {
        return Cow::Borrowed(text);
    }
    let mut bare = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.find(';') {
            Some(at) => {
                bare.push_str(&line[..at]);
                if line.ends_with('\n') {
                    bare.push('\n');
                }
            }
            None => bare.push_str(line),
        }
    }
    Cow::Owned(bare)
}

/// True where more parentheses are open at once than are read.
fn is_deep(text: &[u8]) -> bool {
    let (mut depth, mut deepest) = (0usize, 0);
    for byte in text {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest > PACKAGE_NESTING
}

fn domain(tree: &Tree, names: &mut Interner) -> Answer<Domain> {
    let mut sections = tree.items(0)?;
    tree.next_word(&mut sections)?; // `define`
    let (header, _) = tree.next(&mut sections).ok_or(Left::Notation)?;
    let (_, mut header) = tree.named(header)?;
    let mut domain = Domain { name: tree.next_word(&mut header)?, ..Domain::default() };
    if header.at < header.end {
        return Err(Left::Notation);
    }
    let mut own = HashSet::default();
    let mut has_other_values = false;
    while let Some((place, _)) = tree.next(&mut sections) {
        let (keyword, body) = tree.named(place)?;
        match names.text(keyword) {
            b":types" | b":constants" => {
                let is_type = names.text(keyword) == b":types";
                let listing = typed_list(tree, body, names, &mut domain.alternatives)?;
                let single = if is_type { &mut domain.types } else { &mut domain.constants };
                for (name, type_) in listing {
                    if domain.alternatives.contains_key(&type_) || *single.entry(name).or_insert(type_) != type_ {
                        return Err(Left::Either); // more than one type
                    }
                }
            }
            b":predicates" => {
                let mut declarations = body;
                while let Some((place, _)) = tree.next(&mut declarations) {
                    let (predicate, arguments) = tree.named(place)?;
                    let listing = typed_list(tree, arguments, names, &mut domain.alternatives)?;
                    let types: Vec<Word> = listing.iter().map(|(_, type_)| *type_).collect();
                    if names.text(predicate) != EQUALITY {
                        domain.predicates.entry(predicate).or_insert(types);
                    }
                }
            }
            b":action" => {
                let operator = operator(tree, body, &mut domain.alternatives, names)?;
                if !own.insert(operator.name) {
                    return Err(Left::Strips); // defined twice
                }
                domain.operators.push(operator);
            }
            b":requirements" => {}
            b":functions" => {
                domain.has_functions = true;
                has_other_values |= !are_numbers(tree, body, names);
                let mut declarations = body;
                while let Some((place, node)) = tree.next(&mut declarations) {
                    if matches!(node, Node::List(_)) {
                        let (function, arguments) = tree.named(place)?;
                        let listing = typed_list(tree, arguments, names, &mut domain.alternatives)?;
                        let types = listing.into_iter().map(|(_, type_)| type_).collect();
                        domain.functions.entry(function).or_insert(types);
                    }
                }
            }
            b":derived" => domain.rules.push(rule(tree, place, body, &mut domain.alternatives, names)?),
            b":durative-action" | b":process" | b":event" => return Err(Left::Time),
            _ => return Err(Left::Strips),
        }
    }
    let is_plain = |type_: &Word| names.is_name(*type_) || *type_ == Known::Object as Word;
    if !domain.alternatives.values().flatten().flatten().all(is_plain) {
        return Err(Left::Either);
    }
    let parents: Vec<Word> = domain.types.values().copied().collect();
    for parent in parents {
        domain.types.entry(parent).or_insert(Known::Object as Word);
    }
    domain.types.remove(&(Known::Object as Word));
    let least: Vec<Vec<Word>> =
        domain.alternatives.values().map(|[all, _]| least_alternatives(&domain, all, names)).collect();
    domain.alternatives.values_mut().zip(least).for_each(|(known, least)| known[1] = least);
    stratify(&mut domain.rules)?;
    if domain.types.len() > MOST_TYPES {
        return Err(Left::Budget);
    }
    let is_constant = |term: &Word| domain.constants.contains_key(term);
    let is_unknown = |atom: &Lifted, variables: &[(Word, Word)]| {
        !atom[1..].iter().all(|term| is_constant(term) || variables.iter().any(|(name, _)| name == term))
    };
    if domain.rules.iter().any(|rule| rule.body.has_atom(&mut rule.variables.clone(), &is_unknown)) {
        return Err(Left::Strips);
    }
    for operator in &domain.operators {
        if has_other_values && !operator.formulas.is_empty() {
            return Err(Left::Strips); // perhaps an object fluent
        }
        let is_known = |term: &Word| names.text(*term).starts_with(b"?") || is_constant(term);
        if !operator.atoms_and_fluents().all(|atom| atom[1..].iter().all(is_known)) {
            return Err(Left::Strips); // not a constant
        }
        let mut variables = operator.parameters.clone();
        if operator.beyond.iter().any(|beyond| beyond.form.has_atom(&mut variables, &is_unknown)) {
            return Err(Left::Strips);
        }
        let changed = operator.changed();
        if domain.rules.iter().any(|rule| changed.contains(&rule.name)) {
            return Err(Left::Strips); // a derived predicate in an effect
        }
        if operator.fluents().any(|fluent| is_constant(&fluent[0])) {
            return Err(Left::Strips); // perhaps a constant where a number is expected
        }
    }
    Ok(domain)
}

/// True where all types of values among declarations of functions are `number`.
fn are_numbers(tree: &Tree, mut declarations: Items, names: &Interner) -> bool {
    while let Some((_, node)) = tree.next(&mut declarations) {
        let Node::Word(word) = node else { continue };
        let is_type = match names.text(word) {
            b"-" => {
                matches!(tree.next(&mut declarations), Some((_, Node::Word(type_))) if names.text(type_) == b"number")
            }
            word => !word.starts_with(b"-") || word == b"-number",
        };
        if !is_type {
            return false;
        }
    }
    true
}

/// Names, each with its type, `object` where none is given. Alternatives are a type of their own.
fn typed_list(
    tree: &Tree,
    mut items: Items,
    names: &mut Interner,
    alternatives: &mut BTreeMap<Word, [Vec<Word>; 2]>,
) -> Answer<Vec<(Word, Word)>> {
    let mut typed: Vec<(Word, Word)> = Vec::new();
    let mut without = 0;
    while let Some((_, item)) = tree.next(&mut items) {
        let Node::Word(word) = item else { return Err(Left::Notation) };
        match names.text(word) {
            b"-" => {
                let type_ = match tree.next(&mut items) {
                    Some((_, Node::Word(type_))) => type_,
                    Some((place, _)) => {
                        let (either, mut rest) = tree.named(place)?;
                        let mut types = Vec::new();
                        while rest.at < rest.end && types.len() < MOST_PARAMETERS {
                            types.push(tree.next_word(&mut rest)?);
                        }
                        if names.text(either) != b"either" || types.is_empty() || rest.at < rest.end {
                            return Err(Left::Either);
                        }
                        let said: Vec<&[u8]> = types.iter().map(|type_| names.text(*type_)).collect();
                        let said = said.join(&b" or "[..]);
                        let type_ = names.number(&said, 0, said.len())?;
                        if types.len() > 1 {
                            types.sort_unstable();
                            types.dedup();
                            alternatives.insert(type_, [types, Vec::new()]);
                        }
                        type_
                    }
                    None => return Err(Left::Notation),
                };
                if without == typed.len() || names.text(type_).starts_with(b"-") {
                    return Err(Left::Notation);
                }
                typed[without..].iter_mut().for_each(|(_, own)| *own = type_);
                without = typed.len();
            }
            [b'-' | b':', ..] => return Err(Left::Notation),
            _ => typed.push((word, Known::Object as Word)),
        }
    }
    Ok(typed)
}

/// Different variables with their types.
pub fn variables(
    tree: &Tree,
    listing: Items,
    alternatives: &mut BTreeMap<Word, [Vec<Word>; 2]>,
    names: &mut Interner,
) -> Answer<Vec<(Word, Word)>> {
    let variables = typed_list(tree, listing, names, alternatives)?;
    if variables.len() > MOST_VARIABLES {
        return Err(Left::Budget);
    }
    for (place, (variable, _)) in variables.iter().enumerate() {
        let is_again = variables[..place].iter().any(|(other, _)| other == variable);
        if !names.text(*variable).starts_with(b"?") || is_again {
            return Err(Left::Notation);
        }
    }
    Ok(variables)
}

/// The rule of a section `(:derived (above ?x ?y) …)`.
fn rule(
    tree: &Tree,
    section: usize,
    mut body: Items,
    alternatives: &mut BTreeMap<Word, [Vec<Word>; 2]>,
    names: &mut Interner,
) -> Answer<Rule> {
    let (head, _) = tree.next(&mut body).ok_or(Left::Derived)?;
    let (name, listing) = tree.named(head).map_err(|_| Left::Derived)?;
    let variables = variables(tree, listing, alternatives, names)?;
    let (place, _) = tree.next(&mut body).ok_or(Left::Derived)?;
    if body.at < body.end || !names.is_name(name) {
        return Err(Left::Derived);
    }
    let body = form(tree, place, false, alternatives, names)?;
    let mut encoded = Vec::new();
    encode_numbered(tree, section, &mut Vec::new(), &mut 0, names, &mut encoded);
    Ok(Rule { name, variables, body, stratum: 0, encoded })
}

/// Sorts the rules by their strata: what a predicate denies is derived in a lower one, what it needs in none above its own.
fn stratify(rules: &mut [Rule]) -> Answer<()> {
    let mut users: Vec<(Word, Word, bool)> = Vec::new();
    for rule in &*rules {
        let mut used = Vec::new();
        rule.body.predicates(false, &mut used);
        users.extend(used.into_iter().map(|(other, denied)| (other, rule.name, denied)));
    }
    users.sort_unstable();
    users.dedup();
    let mut left: BTreeSet<Word> = rules.iter().map(|rule| rule.name).collect();
    for stratum in 0..MOST_STRATA {
        // Those that deny one of those that are left, and all that need one of these, are in a higher stratum.
        let of = |other: Word| {
            users[users.partition_point(|(used, ..)| *used < other)..].iter().take_while(move |each| each.0 == other)
        };
        let denying = left.iter().flat_map(|other| of(*other)).filter(|(.., denied)| *denied).map(|(_, name, _)| *name);
        let mut higher: BTreeSet<Word> = denying.collect();
        let mut waiting: Vec<Word> = higher.iter().copied().collect();
        while let Some(other) = waiting.pop() {
            waiting.extend(of(other).map(|(_, name, _)| *name).filter(|name| higher.insert(*name)));
        }
        if higher == left {
            break;
        }
        rules.iter_mut().filter(|rule| left.contains(&rule.name)).for_each(|rule| rule.stratum = stratum);
        left = higher;
    }
    rules.sort_by_key(|rule| rule.stratum);
    if left.is_empty() {
        Ok(())
    } else {
        Err(Left::Derived)
    }
}

fn operator(
    tree: &Tree,
    mut body: Items,
    alternatives: &mut BTreeMap<Word, [Vec<Word>; 2]>,
    names: &mut Interner,
) -> Answer<Operator> {
    let name = tree.next_word(&mut body)?;
    if names.text(name).starts_with(b":") {
        return Err(Left::Notation);
    }
    // Parameters, precondition and effect; None where there is none, or an empty list.
    let mut parts: [Option<usize>; 3] = [None; 3];
    let mut seen = [false; 3];
    let mut key = None;
    while let Some((place, item)) = tree.next(&mut body) {
        if let Node::Word(word) = item {
            let own = match names.text(word) {
                b":parameters" => 0,
                b":precondition" => 1,
                b":effect" => 2,
                [b':', ..] => return Err(Left::Strips),
                _ => return Err(Left::Notation),
            };
            if std::mem::replace(&mut seen[own], true) {
                return Err(Left::Notation);
            }
            key = Some(own);
        } else {
            let own = key.ok_or(Left::Notation)?;
            if parts[own].is_some() {
                return Err(Left::Notation);
            }
            parts[own] = (!tree.is_empty(place)).then_some(place);
        }
    }
    let parameters = match parts[0] {
        None => Vec::new(),
        Some(place) => variables(tree, tree.items(place)?, alternatives, names)?,
    };
    if parameters.len() > MOST_PARAMETERS {
        return Err(Left::Budget);
    }
    let (mut formulas, mut forms) = (Vec::new(), Vec::new());
    let [needed, avoided] = literals(tree, parts[1], false, &parameters, &mut formulas, &mut forms, names)?;
    let [added, deleted] = literals(tree, parts[2], true, &parameters, &mut formulas, &mut forms, names)?;
    let parts = [needed, avoided, added, deleted];
    if formulas.len().max(forms.len()) > MOST_FORMULAS {
        return Err(Left::Budget);
    }
    let mut beyond = Vec::with_capacity(forms.len());
    for (place, is_effect, holds) in forms {
        let form = form(tree, place, is_effect, alternatives, names)?;
        let encoded = encode_written(tree, place, is_effect, holds, &parameters, names);
        let form = if holds { form } else { Form::Not(Box::new(form)) };
        beyond.push(Beyond { is_effect, form, holds, written: tree.written(place), encoded });
    }
    let key: Vec<u8> = names.text(name).iter().map(|byte| if *byte == b'_' { b'-' } else { *byte }).collect();
    let key = names.number(&key, 0, key.len())?;
    let operator = Operator { formulas, beyond, ..Operator::new(name, key, parameters, parts, names) };
    let is_own = |term: &Word| operator.parameters.iter().any(|(variable, _)| variable == term);
    let is_free = |term: &Word| names.text(*term).starts_with(b"?") && !is_own(term);
    if operator.atoms_and_fluents().any(|atom| atom[1..].iter().any(is_free)) {
        return Err(Left::Strips); // not a parameter
    }
    Ok(operator)
}

/// Where a formula stands that sets of atoms cannot say, and whether it is an effect, and has to be true.
type Place = (usize, bool, bool);

/// The positive and negative atoms of a conjunction; what it says of numbers goes into `formulas`, all else into `forms`.
fn literals(
    tree: &Tree,
    place: Option<usize>,
    is_effect: bool,
    parameters: &[(Word, Word)],
    formulas: &mut Vec<Formula>,
    forms: &mut Vec<Place>,
    names: &Interner,
) -> Answer<[Vec<Lifted>; 2]> {
    let mut found = [Vec::new(), Vec::new()];
    let mut stack: Vec<(usize, bool)> = place.map(|place| (place, true)).into_iter().collect();
    while let Some((place, holds)) = stack.pop() {
        if tree.is_empty(place) && holds {
            continue;
        }
        let (head, mut terms) = tree.named(place)?;
        let text = names.text(head);
        if matches!(text, [b'?' | b':', ..]) {
            return Err(Left::Notation);
        }
        if let b"and" | b"not" = text {
            let (below, is_and) = (stack.len(), text == b"and");
            while let Some((place, _)) = tree.next(&mut terms) {
                stack.push((place, holds == is_and));
            }
            match stack.len() - below {
                1 => {}
                _ if is_and && holds => stack[below..].reverse(), // the first one is next
                _ if !is_and || is_effect => return Err(if is_and { Left::Strips } else { Left::Notation }),
                _ => {
                    stack.truncate(below);
                    forms.push((place, is_effect, holds));
                }
            }
            continue;
        }
        if is_numeric(text, is_effect, tree, terms) && (holds || !is_effect) {
            let encoded = encode_written(tree, place, is_effect, holds, parameters, names);
            formulas.push(Formula { encoded, ..formula(tree, place, is_effect, holds, names)? });
            continue;
        }
        if is_connective(text) && (holds || !is_effect) {
            forms.push((place, is_effect, holds));
            continue;
        }
        if !is_predicate(text) {
            return Err(if is_effect { Left::Effect } else { Left::Formula });
        }
        let mut atom = Vec::with_capacity(1 + terms.end - terms.at);
        atom.push(head);
        while let Some((_, node)) = tree.next(&mut terms) {
            let Node::Word(term) = node else { return Err(Left::Strips) };
            atom.push(term);
        }
        if atom.len() > MOST_PARAMETERS {
            return Err(Left::Budget);
        }
        if text == EQUALITY && (is_effect || atom.len() != 3) {
            return Err(Left::Notation);
        }
        found[usize::from(!holds)].push(atom);
    }
    Ok(found)
}
