//! The graph of a domain: a vertex for each type, constant, predicate, place of a predicate, operator, parameter, atom
//! (definition/structure/graph.py).

use crate::canonical::{LabelledGraph, Labelling, Link};
use crate::hashing::HashMap;
use crate::left::{Answer, Left};
use crate::model::{Domain, Known, Lifted, Operator, Word, EQUALITY, MOST_ARGUMENTS};
use crate::pddl::problems::Interner;
use crate::structure::types::{hierarchy, least_types};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// Vertices of a graph; beyond it a domain is no hot path.
const MOST_VERTICES: usize = 20_000;

/// Of an operator, in the order of its parts.
pub const PARTS: [&str; 4] = ["condition", "negative condition", "added", "deleted"];

/// Their order by name.
pub const SORTED_PARTS: [usize; 4] = [2, 0, 3, 1];

/// Kinds of vertices, and relations, whose text is always the same.
const TEXTS: [&str; 16] = [
    "operator",
    "parameter",
    "type",
    "constant",
    "place",
    "below",
    "with",
    "at",
    "on",
    "says",
    "argument",
    "symbol",
    "object",
    "atom init",
    "atom goal",
    "atom goal init",
];

const OPERATOR: u32 = 0;
const PARAMETER: u32 = 1;
const TYPE: u32 = 2;
const CONSTANT: u32 = 3;
const PLACE: u32 = 4;
const BELOW: u32 = 5;
const WITH: u32 = 6;
const AT: u32 = 7;
const ON: u32 = 8;
const SAYS: u32 = 9;
const ARGUMENT: u32 = 10;
const SYMBOL: u32 = 11;

/// The kind of an atom of a problem is this and a bit for each of its scenes, the initial state and the goal.
const OBJECT: u32 = 12;

/// The kind of an atom is this and a bit for each part that it is in; that of an equation is that much more.
const ATOM: u32 = 16;
const EQUATION: u32 = 16;

/// The kind of a predicate is this and the number of its arguments.
const PREDICATE: u32 = ATOM + 2 * EQUATION;

/// What a vertex is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vertex {
    Operator(usize),
    /// The number of the operator, and the place.
    Parameter(usize, usize),
    Type(Word),
    Constant(Word),
    /// A predicate with the number of its arguments.
    Predicate(Word, usize),
    Place(Word, usize, usize),
    Atom(usize),
    Object(Word),
}

pub struct DomainGraph {
    pub vertices: Vec<Vertex>,
    labelled: LabelledGraph,
    labelling: OnceCell<Answer<Labelling>>,
}

impl DomainGraph {
    pub fn new(domain: &Domain, typed: bool, names: &Interner) -> Answer<DomainGraph> {
        DomainGraph::with_scenes(domain, typed, &[], &[], names)
    }

    /// The graph of a domain and of scenes, each an initial state with a goal over objects of its own, none of which
    /// operators name.
    pub fn with_scenes(
        domain: &Domain,
        typed: bool,
        objects: &[(Word, Word)],
        scenes: &[[&[Lifted]; 2]],
        names: &Interner,
    ) -> Answer<DomainGraph> {
        let mut drawing = Drawing { domain, typed, names, ..Drawing::empty(domain, names) };
        for (number, operator) in domain.operators.iter().enumerate() {
            drawing.add_operator(number, operator);
            if drawing.vertices.len() > MOST_VERTICES {
                return Err(Left::Budget);
            }
        }
        for scene in scenes {
            drawing.add_scene(objects, scene);
        }
        if drawing.vertices.len() > MOST_VERTICES {
            return Err(Left::Budget);
        }
        let is_type = |vertex: &Vertex| if let Vertex::Type(name) = vertex { Some(*name) } else { None };
        let types: BTreeSet<Word> = drawing.vertices.iter().filter_map(is_type).collect();
        for (type_, other) in hierarchy(domain, &types) {
            let ends = [drawing.type_(type_), drawing.type_(other)];
            drawing.link(BELOW, ends);
        }
        let labelled = LabelledGraph::of_links(&drawing.kinds, &drawing.links, &|kind| (b"", said(kind)));
        Ok(DomainGraph { vertices: drawing.vertices, labelled, labelling: OnceCell::new() })
    }

    /// The graph, for a digest.
    pub fn labelled(&self) -> &LabelledGraph {
        &self.labelled
    }

    pub fn labelling(&self) -> Answer<&Labelling> {
        self.labelling.get_or_init(|| self.labelled.labelling()).as_ref().map_err(|left| *left)
    }

    pub fn isomorphic(&self, other: &DomainGraph) -> Answer<bool> {
        Ok(self.labelled.same_invariant(&other.labelled) && self.labelling()?.form == other.labelling()?.form)
    }

    /// The vertices in canonical order.
    pub fn order(&self) -> Answer<impl Iterator<Item = u32> + '_> {
        let count = self.vertices.len() as u32;
        Ok(self.labelling()?.order.iter().copied().filter(move |vertex| *vertex < count))
    }
}

/// A graph while it grows.
struct Drawing<'a> {
    domain: &'a Domain,
    names: &'a Interner,
    typed: bool,
    vertices: Vec<Vertex>,
    number: HashMap<Vertex, u32>,
    kinds: Vec<u32>,
    links: Vec<Link>,
}

impl<'a> Drawing<'a> {
    fn empty(domain: &'a Domain, names: &'a Interner) -> Drawing<'a> {
        let (vertices, kinds, links) = (Vec::with_capacity(128), Vec::with_capacity(128), Vec::with_capacity(256));
        Drawing { domain, names, typed: true, vertices, number: HashMap::default(), kinds, links }
    }

    fn add_operator(&mut self, number: usize, operator: &Operator) {
        let owner = self.vertex(Vertex::Operator(number), OPERATOR);
        let mut terms: HashMap<Word, u32> =
            HashMap::with_capacity_and_hasher(operator.parameters.len(), Default::default());
        for (place, (variable, type_)) in operator.parameters.iter().enumerate() {
            let vertex = self.vertex(Vertex::Parameter(number, place), PARAMETER);
            self.give_type(vertex, *type_);
            terms.insert(*variable, vertex);
            self.link(PARAMETER, [owner, vertex]);
        }
        let parts = operator.parts.each_ref().map(Vec::as_slice);
        self.add_atoms(ATOM, &parts, &terms, Some(owner));
    }

    fn add_scene(&mut self, objects: &[(Word, Word)], scene: &[&[Lifted]; 2]) {
        let mut terms: HashMap<Word, u32> = HashMap::default();
        for (name, type_) in objects {
            let vertex = self.vertex(Vertex::Object(*name), OBJECT);
            terms.insert(*name, vertex);
            if *type_ != Known::Object as Word {
                let type_ = self.type_(*type_); // an undeclared one, too: objects differ by it
                self.link(TYPE, [vertex, type_]);
            }
        }
        self.add_atoms(OBJECT, scene, &terms, None);
    }

    /// Atoms, each with a label that says which of the parts it is in.
    ///
    /// An atom of one argument is an edge to its predicate; one of two is a pair of vertices, each with its place and
    /// its argument; any other is a vertex, linked to its owner where no parameter leads there.
    fn add_atoms(&mut self, base: u32, parts: &[&[Lifted]], terms: &HashMap<Word, u32>, owner: Option<u32>) {
        // Each atom with the bit of its part; the same ones are joined where the first one stands.
        let parted = parts.iter().zip(0..).flat_map(|(part, bit)| part.iter().map(move |atom| (atom, 1u32 << bit)));
        let names = self.names;
        let sorted = |atom| sorted_equality(atom, names);
        let mut atoms: Vec<(usize, Cow<Lifted>, u32)> =
            parted.enumerate().map(|(place, (atom, sets))| (place, sorted(atom), sets)).collect();
        atoms.sort_by(|one, other| one.1.cmp(&other.1));
        atoms.dedup_by(|next, kept| {
            let is_same = next.1 == kept.1;
            kept.2 |= if is_same { next.2 } else { 0 };
            is_same
        });
        atoms.sort_unstable_by_key(|(place, ..)| *place);
        for (_, atom, sets) in atoms {
            let kind = base + sets;
            let arguments: Vec<u32> = atom[1..].iter().map(|term| self.term(*term, terms)).collect();
            let belongs = owner.is_none() || atom[1..].iter().any(|term| terms.contains_key(term));
            let is_equation = self.names.text(atom[0]) == EQUALITY;
            if is_equation || arguments.len() > 2 || (!arguments.is_empty() && !belongs) {
                let vertex = self.atom(kind, atom[0], is_equation, &arguments);
                if let (Some(owner), false) = (owner, belongs) {
                    self.link(SAYS, [owner, vertex]);
                }
                continue;
            }
            let symbol = self.symbol(atom[0], arguments.len());
            if arguments.len() < 2 {
                match arguments.first().copied().or(owner) {
                    Some(from) => self.link(kind, [from, symbol]),
                    None => self.link(kind, [symbol]),
                }
                continue;
            }
            let pair = [0, 1].map(|_| self.vertex(Vertex::Atom(self.vertices.len()), kind));
            self.link(WITH, pair);
            self.link(WITH, [pair[1], pair[0]]);
            for (place, vertex) in pair.into_iter().enumerate() {
                self.link(AT, [vertex, symbol + 1 + place as u32]);
                self.link(ON, [vertex, arguments[place]]);
            }
        }
    }

    /// The vertex of an atom, linked to its symbol and its arguments.
    fn atom(&mut self, kind: u32, predicate: Word, is_equation: bool, arguments: &[u32]) -> u32 {
        let own = if is_equation { kind + EQUATION } else { kind };
        let vertex = self.vertex(Vertex::Atom(self.vertices.len()), own);
        if is_equation {
            let once = arguments.iter().enumerate().filter(|(place, term)| !arguments[..*place].contains(term));
            once.for_each(|(_, term)| self.link(ON, [vertex, *term])); // (= ?v ?v) has one edge
            return vertex;
        }
        let symbol = self.symbol(predicate, arguments.len());
        if arguments.len() > 1 {
            for (place, term) in (1..).zip(arguments) {
                self.link(ARGUMENT, [vertex, symbol + place, *term]);
            }
        } else {
            arguments.iter().for_each(|term| self.link(ON, [vertex, *term]));
            self.link(SYMBOL, [vertex, symbol]);
        }
        vertex
    }

    /// The vertex of a predicate; those of its places, where it has more than one, follow it.
    fn symbol(&mut self, name: Word, arity: usize) -> u32 {
        if let Some(known) = self.number.get(&Vertex::Predicate(name, arity)) {
            return *known;
        }
        let symbol = self.vertex(Vertex::Predicate(name, arity), PREDICATE + arity as u32);
        for place in 0..if arity > 1 { arity } else { 0 } {
            let vertex = self.vertex(Vertex::Place(name, arity, place), PLACE);
            self.link(PLACE, [symbol, vertex]);
        }
        symbol
    }

    /// The vertex of a variable or a constant.
    fn term(&mut self, name: Word, terms: &HashMap<Word, u32>) -> u32 {
        if let Some(known) = terms.get(&name).or_else(|| self.number.get(&Vertex::Constant(name))) {
            return *known;
        }
        let vertex = self.vertex(Vertex::Constant(name), CONSTANT);
        let type_ = self.domain.constants.get(&name).copied();
        self.give_type(vertex, type_.unwrap_or(Known::Object as Word));
        vertex
    }

    fn give_type(&mut self, vertex: u32, type_: Word) {
        let domain = self.domain;
        let types = if self.typed { least_types(domain, &type_) } else { &[] };
        for type_ in types {
            let type_ = self.type_(*type_);
            self.link(TYPE, [vertex, type_]);
        }
    }

    fn type_(&mut self, name: Word) -> u32 {
        match self.number.get(&Vertex::Type(name)) {
            Some(known) => *known,
            None => self.vertex(Vertex::Type(name), TYPE),
        }
    }

    /// A new vertex.
    fn vertex(&mut self, vertex: Vertex, kind: u32) -> u32 {
        let number = self.vertices.len() as u32;
        self.vertices.push(vertex);
        if matches!(vertex, Vertex::Type(_) | Vertex::Constant(_) | Vertex::Predicate(..)) {
            self.number.insert(vertex, number); // of what is named again
        }
        self.kinds.push(kind);
        number
    }

    fn link<const N: usize>(&mut self, relation: u32, vertices: [u32; N]) {
        let mut all = [0; MOST_ARGUMENTS];
        all[..N].copy_from_slice(&vertices);
        self.links.push((relation, N, all));
    }
}

/// The text of a kind of vertices or of a relation.
fn said(kind: u32) -> Vec<u8> {
    if let Some(text) = TEXTS.get(kind as usize) {
        return text.as_bytes().to_vec();
    }
    if kind >= PREDICATE {
        return format!("predicate {}", kind - PREDICATE).into_bytes();
    }
    let parts = SORTED_PARTS.into_iter().filter(|part| ((kind - ATOM) % EQUATION) >> part & 1 == 1);
    let words: Vec<&str> = ["atom"].into_iter().chain(parts.map(|part| PARTS[part])).collect();
    let text = words.join(" ");
    if kind < ATOM + EQUATION { text } else { text + " =" }.into_bytes()
}

/// (= ?x ?y) says what (= ?y ?x) says.
pub fn sorted_equality<'a>(atom: &'a Lifted, names: &Interner) -> Cow<'a, Lifted> {
    let mut atom = Cow::Borrowed(atom);
    if names.text(atom[0]) == EQUALITY {
        names.sort_words(&mut atom.to_mut()[1..]);
    }
    atom
}
