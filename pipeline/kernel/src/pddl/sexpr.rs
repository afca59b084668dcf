//! Words, parentheses and the closed blocks `(define (problem …) …)` of a raw answer (definition/pddl/sexpr.py).

use crate::left::{Answer, Left};
use crate::model::{Mark, Word};
use crate::pddl::problems::Interner;

/// The longest text that is read here; beyond it the definition's window begins to count.
pub const LONGEST: usize = 1_000_000;

/// Blocks of one answer; each is followed by itself, so a limit keeps that linear.
const MOST_BLOCKS: usize = 20;

/// The most parentheses open at once; deeper blocks are the package's.
pub const PACKAGE_NESTING: usize = 50;

/// White space of ASCII as Python's `str.split` and `\s` know it.
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 9..=13 | 28..=31)
}

/// True for a text that `str.isspace` says yes to, or that is empty.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|each| if each.is_ascii() { is_space(each as u8) } else { each.is_whitespace() })
}

/// Where `(define (problem` stands in a lower-case answer, or `(define (domain` before a blank or a parenthesis.
pub struct Openings<'a> {
    answer: &'a str,
    what: &'static str,
    /// Where the next is looked for.
    pub at: usize,
    found: usize,
}

impl<'a> Openings<'a> {
    pub fn new(answer: &'a str, what: &'static str) -> Openings<'a> {
        Openings { answer, what, at: 0, found: 0 }
    }

    pub fn next(&mut self) -> Answer<Option<usize>> {
        let (answer, what) = (self.answer, self.what);
        while let Some(before) = answer[self.at..].find('f') {
            let third = self.at + before;
            self.at = third + 1;
            let Some((before, rest)) = split_at_word(answer, third) else { continue };
            let before = trimmed_end(before)?;
            let rest = trimmed_start(rest)?;
            // A comment between the words of the opening is left to the definition.
            let is_commented = |rest: &str| what == "problem" && before.ends_with('(') && rest.starts_with(';');
            if is_commented(rest) {
                return Err(Left::Notation);
            }
            if !before.ends_with('(') || !rest.starts_with('(') {
                continue;
            }
            let rest = trimmed_start(&rest[1..])?;
            if is_commented(rest) {
                return Err(Left::Notation);
            }
            let Some(rest) = rest.strip_prefix(what) else { continue };
            if what == "domain" && trimmed_start(rest)?.len() == rest.len() && !rest.starts_with(')') {
                continue;
            }
            self.found += 1;
            return if self.found > MOST_BLOCKS { Err(Left::Text) } else { Ok(Some(before.len() - 1)) };
        }
        Ok(None)
    }

    /// All that are still to come.
    pub fn rest(&mut self) -> Answer<Vec<usize>> {
        std::iter::from_fn(|| self.next().transpose()).collect()
    }
}

/// What stands before and after a `define`, the third letter of which is there: few words have its letter.
fn split_at_word(answer: &str, third: usize) -> Option<(&str, &str)> {
    Some((answer[..third].strip_suffix("de")?, answer[third..].strip_prefix("fine")?))
}

fn is_ascii_space(each: char) -> bool {
    each.is_ascii() && is_space(each as u8)
}

/// White space of Unicode, which is left to the definition.
fn is_odd_space(each: char) -> bool {
    !each.is_ascii() && each.is_whitespace()
}

fn trimmed_start(text: &str) -> Answer<&str> {
    let rest = text.trim_start_matches(is_ascii_space);
    if rest.starts_with(is_odd_space) {
        return Err(Left::Characters);
    }
    Ok(rest)
}

fn trimmed_end(text: &str) -> Answer<&str> {
    let rest = text.trim_end_matches(is_ascii_space);
    if rest.ends_with(is_odd_space) {
        return Err(Left::Characters);
    }
    Ok(rest)
}

/// The block that opens at the start of the text; None where it is never closed. Comments count from its start.
pub fn block(text: &[u8]) -> Answer<Option<&[u8]>> {
    let (mut depth, mut deepest, mut odd) = (0usize, 0usize, false);
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match CLASSES[usize::from(*byte)] {
            Class::Plain | Class::Space => {}
            Class::Open => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            Class::Close => {
                depth -= 1; // the text begins with a parenthesis, and at depth 0 the block has ended
                if depth == 0 {
                    return match () {
                        () if odd => Err(Left::Characters),
                        () if deepest > PACKAGE_NESTING => Err(Left::Notation),
                        () => Ok(Some(&text[..=at])),
                    };
                }
            }
            Class::Comment => {
                at += text[at..].iter().position(|byte| *byte == b'\n').unwrap_or(text.len() - at) - 1;
            }
            Class::Odd => odd = true,
        }
        at += 1;
    }
    Ok(None)
}

/// A number of eight bytes has each of them this often.
const EACH: u64 = u64::MAX / 255;

/// How many of eight bytes of a text stand before the first that is below `*`, as all that ends a word but a comment.
#[inline(always)]
pub fn bytes_inside(bytes: u64) -> usize {
    let below = bytes.wrapping_sub(EACH * b'*' as u64) & !bytes & (EACH << 7); // exact up to the first
    below.trailing_zeros() as usize / 8
}

/// Where what follows some white space begins.
#[inline(always)]
pub fn after_spaces(block: &[u8], mut at: usize) -> usize {
    while block.get(at).is_some_and(|byte| CLASSES[usize::from(*byte)] == Class::Space) {
        at += 1;
        if let Some(bytes) = block[at..].first_chunk() {
            at += (u64::from_le_bytes(*bytes) ^ (EACH * b' ' as u64)).trailing_zeros() as usize / 8;
            // most are blanks
        }
    }
    at
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A part of a word.
    Plain,
    /// A part of a word, neither printable ASCII nor white space.
    Odd,
    Space,
    Open,
    Close,
    Comment,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Odd; 256];
    let mut byte = 9;
    while byte < 127 {
        if is_space(byte as u8) {
            classes[byte] = Class::Space;
        } else if byte > 32 {
            classes[byte] = Class::Plain;
        }
        byte += 1;
    }
    classes[b'(' as usize] = Class::Open;
    classes[b')' as usize] = Class::Close;
    classes[b';' as usize] = Class::Comment;
    classes
};

/// A parenthesis or a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    Open,
    Close,
    Word(usize, usize),
}

/// Reads the tokens of a text.
#[derive(Clone, Copy)]
pub struct Tokens<'a> {
    pub block: &'a [u8],
    pub at: usize,
    /// True where a comment was read.
    pub is_commented: bool,
}

impl<'a> Tokens<'a> {
    pub fn new(block: &'a [u8]) -> Tokens<'a> {
        Tokens { block, at: 0, is_commented: false }
    }

    /// True where more was asked for than there is, which `next` finds closed.
    pub fn is_beyond_end(&self) -> bool {
        self.at > self.block.len()
    }

    #[inline(always)] // most of a reader's time is spent here
    pub fn next(&mut self) -> Token {
        let (block, mut at) = (self.block, self.at); // which the compiler keeps in registers
        loop {
            at = after_spaces(block, at);
            let Some(byte) = block.get(at) else { break };
            let start = at;
            at += 1;
            match CLASSES[usize::from(*byte)] {
                Class::Space => {}
                Class::Open => {
                    self.at = at;
                    return Token::Open;
                }
                Class::Close => {
                    self.at = at;
                    return Token::Close;
                }
                Class::Comment => {
                    at = line_end(block, at);
                    self.is_commented = true;
                }
                Class::Plain | Class::Odd => {
                    let is_part = |byte: &u8| matches!(CLASSES[usize::from(*byte)], Class::Plain | Class::Odd);
                    while block.get(at).is_some_and(is_part) {
                        at += 1;
                    }
                    self.at = at;
                    return Token::Word(start, at);
                }
            }
        }
        self.at = block.len() + 1;
        Token::Close
    }

    /// What comes next, which stays unread.
    pub fn peek(&mut self) -> Token {
        let before = self.at;
        let token = self.next();
        self.at = before;
        token
    }

    /// The next two, which stay unread.
    pub fn ahead(&mut self) -> (Token, Token) {
        let before = self.at;
        let tokens = (self.next(), self.next());
        self.at = before;
        tokens
    }

    /// Pass over a list whose parenthesis has been read.
    pub fn skip_list(&mut self) {
        let mut depth = 1;
        while depth > 0 && self.at < self.block.len() {
            match self.next() {
                Token::Open => depth += 1,
                Token::Close => depth -= 1,
                Token::Word(..) => {}
            }
        }
    }
}

#[cold]
fn line_end(block: &[u8], at: usize) -> usize {
    let rest = &block[at..];
    at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
}

/// A word or a list of a block; the lists follow each other as they open.
#[derive(Clone, Copy)]
pub enum Node {
    Word(Word),
    /// Where what follows the list begins.
    List(usize),
}

/// A block as a tree.
pub struct Tree {
    pub nodes: Vec<Node>,
}

/// Part of a list.
#[derive(Clone, Copy)]
pub struct Items {
    pub at: usize,
    pub end: usize,
}

impl Tree {
    /// The tree of a closed block.
    pub fn new(block: &[u8], names: &mut Interner) -> Answer<Tree> {
        let mut tokens = Tokens::new(block);
        let mut nodes = Vec::with_capacity(block.len() / 4);
        let mut open: Vec<usize> = Vec::new();
        loop {
            match tokens.next() {
                Token::Open => {
                    open.push(nodes.len());
                    nodes.push(Node::List(0));
                }
                Token::Close => {
                    let start = open.pop().ok_or(Left::Notation)?;
                    nodes[start] = Node::List(nodes.len());
                    if open.is_empty() {
                        return Ok(Tree { nodes });
                    }
                }
                Token::Word(start, end) => nodes.push(Node::Word(names.number(block, start, end)?)),
            }
        }
    }

    /// What stands there, in words and parentheses.
    pub fn written(&self, place: usize) -> Vec<Mark> {
        let mut marks = Vec::new();
        let mut ends: Vec<usize> = Vec::new();
        let mut at = place;
        loop {
            while ends.last() == Some(&at) {
                ends.pop();
                marks.push(Mark::Close);
            }
            if at > place && ends.is_empty() {
                return marks;
            }
            match self.nodes[at] {
                Node::Word(word) => marks.push(Mark::Word(word)),
                Node::List(end) => {
                    ends.push(end);
                    marks.push(Mark::Open);
                }
            }
            at += 1;
        }
    }

    /// The next item, which the rest no longer has.
    pub fn next(&self, items: &mut Items) -> Option<(usize, Node)> {
        let at = items.at;
        if at >= items.end {
            return None;
        }
        let node = self.nodes[at];
        items.at = match node {
            Node::Word(_) => at + 1,
            Node::List(end) => end,
        };
        Some((at, node))
    }

    pub fn next_word(&self, items: &mut Items) -> Answer<Word> {
        match self.next(items) {
            Some((_, Node::Word(word))) => Ok(word),
            _ => Err(Left::Notation),
        }
    }

    pub fn is_empty(&self, place: usize) -> bool {
        matches!(self.nodes[place], Node::List(end) if end == place + 1)
    }

    pub fn has_only_words(&self, items: Items) -> bool {
        self.nodes[items.at..items.end].iter().all(|node| matches!(node, Node::Word(_)))
    }

    /// The items of the list that stands there.
    pub fn items(&self, place: usize) -> Answer<Items> {
        match self.nodes[place] {
            Node::List(end) => Ok(Items { at: place + 1, end }),
            Node::Word(_) => Err(Left::Notation),
        }
    }

    /// The first word of the list that stands there, and what follows it.
    pub fn named(&self, place: usize) -> Answer<(Word, Items)> {
        let mut items = self.items(place)?;
        Ok((self.next_word(&mut items)?, items))
    }
}
