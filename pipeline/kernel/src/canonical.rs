//! Canonical labelling (definition/canonical.py; the page "Certificates" defines the form).

use crate::blake2b::hex_digest;
use crate::hashing::{HashMap, HashSet};
use crate::left::{Answer, Left};
use crate::model::{arguments, is_long, parts, Atom, Lifted, Word, Words, MOST_ARGUMENTS, NO_OBJECT};
use crate::pddl::problems::Interner;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter;
use std::rc::Rc;

/// Edges and vertices that may be visited for one graph: a fifth of the definition's budget, and more for a large one.
const BUDGET: usize = 300_000;
const VISITS: usize = 40;

/// Objects individualised one inside the other, and pieces inside pieces: below the definition's limit.
const DEEPEST: usize = 60;

/// 32 hexadecimal digits.
pub type Digits = [u8; 32];

/// The scenes of a problem's graphs, in the order of their names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scene {
    Goal,
    NotGoal,
    Possible,
    Init,
    NoGoal,
}

impl Scene {
    pub fn name(self) -> &'static [u8] {
        SCENES[self as usize]
    }
}

const SCENES: [&[u8]; 5] = [b"goal", b"goal not", b"goal possible", b"init", b"no reachable state has"];

/// `digest(version, fingerprint, (outline, form), …)` of some labelled graphs.
pub fn digest(version: usize, fingerprint: &[u8], graphs: &[(&LabelledGraph, &Labelling)]) -> Digits {
    let mut bytes = Vec::with_capacity(4096);
    encode_number(&mut bytes, 2 + graphs.len());
    encode_number(&mut bytes, version);
    encode_text(&mut bytes, fingerprint);
    graphs.iter().for_each(|(graph, labelling)| encode_form(&mut bytes, graph, labelling));
    hex_digest(&bytes)
}

/// The form of a labelled graph: its outline, and the numbers of the labelling.
pub fn encode_form(bytes: &mut Vec<u8>, graph: &LabelledGraph, labelling: &Labelling) {
    encode_number(bytes, 2);
    bytes.extend_from_slice(&graph.outline);
    encode_number(bytes, labelling.form.len());
    let start = bytes.len();
    bytes.resize(start + 8 * labelling.form.len(), 0);
    for (place, number) in bytes[start..].chunks_exact_mut(8).zip(&labelling.form) {
        place.copy_from_slice(&u64::from(*number).to_le_bytes());
    }
}

pub fn encode_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend_from_slice(&(number as u64).to_le_bytes());
}

pub fn encode_text(bytes: &mut Vec<u8>, text: &[u8]) {
    encode_number(bytes, text.len());
    bytes.extend_from_slice(text);
}

/// A relation, and the vertices that it leads from and to.
type Edge = (u32, u32, u32);

/// A relation, how many vertices it joins, and these.
pub type Link = (u32, usize, [u32; MOST_ARGUMENTS]);

/// How many vertices a link joins: from none to that many.
const ARITIES: usize = 1 + MOST_ARGUMENTS;

const NONE: u32 = u32::MAX;

/// The bits of a colour, a vertex or a relation in a number that is made of several.
const BITS: u32 = 21;

/// An edge as one number.
fn packed((relation, first, second): Edge) -> u64 {
    u64::from(relation) << (2 * BITS) | u64::from(first) << BITS | u64::from(second)
}

fn unpacked(edge: u64) -> Edge {
    const MASK: u64 = (1 << BITS) - 1;
    ((edge >> (2 * BITS)) as u32, (edge >> BITS & MASK) as u32, (edge & MASK) as u32)
}

/// The graph of some scenes over typed objects, which are numbered in the order of the text.
pub struct LabelledGraph {
    /// The outline as bytes: the labels, and how often each kind of vertex occurs.
    outline: Vec<u8>,
    /// Where the kinds begin in it.
    kinds_at: usize,
    /// Its vertices by their kinds, and its edges, sorted.
    piece: Piece,
    /// How many vertices are objects; atoms with more than two arguments come behind them.
    objects: u32,
}

/// A form, the objects in canonical order, and pairs of objects that symmetries exchange.
pub struct Labelling {
    pub form: Vec<u32>,
    pub order: Vec<u32>,
    symmetries: Vec<(u32, u32)>,
}

impl LabelledGraph {
    /// `types` are those of the objects; `scenes` come in the order of their names, each with sorted atoms. An atom of
    /// more than two arguments is a vertex, and so is a constant that is named.
    pub fn new(
        words: &Words,
        types: &[Word],
        constants: &[Word],
        number: &[u32],
        scenes: &[(Scene, &[Atom])],
    ) -> LabelledGraph {
        let count = scenes.iter().map(|(_, atoms)| atoms.len()).sum();
        let mut kinds: Vec<u32> = types.iter().map(|type_| words.count() as u32 + type_).collect();
        let mut number = Cow::Borrowed(number);
        if !constants.is_empty() {
            let mut is_named = words.each(false);
            for atom in scenes.iter().flat_map(|(_, atoms)| *atoms) {
                arguments(*atom).for_each(|word| is_named[word as usize] = true);
            }
            for name in constants.iter().filter(|name| is_named[**name as usize]) {
                number.to_mut()[*name as usize] = kinds.len() as u32;
                kinds.push(*name);
            }
        }
        let objects = kinds.len() as u32;
        // A label is a scene, a predicate and a number of arguments, in one number.
        let mut labels: Vec<u64> = Vec::with_capacity(16);
        // Objects with the places of their labels, and edges with those of theirs.
        let mut marks: Vec<(u32, u32)> = Vec::with_capacity(count);
        let mut edges: Vec<u64> = Vec::with_capacity(count);
        let mut longer: Vec<(u32, Atom)> = Vec::new();
        let mut place = 0;
        for (scene, atoms) in scenes {
            let mut last = None;
            for each in *atoms {
                let (predicate, first, second) = parts(*each);
                let mut arity = usize::from(first != 0) + usize::from(second != 0);
                if is_long(*each) {
                    arity = arguments(*each).count();
                }
                let label = (*scene as u64) << 40 | u64::from(predicate) << 3 | arity as u64;
                if last != Some(label) {
                    last = Some(label);
                    // Atoms are sorted, but one predicate may have several numbers of arguments.
                    let known = labels.iter().rev().take(1 + MOST_ARGUMENTS).position(|known| *known == label);
                    place = known.map_or(labels.len(), |back| labels.len() - 1 - back);
                    if place == labels.len() {
                        labels.push(label);
                    }
                }
                let (first, second) = (number[first as usize], number[second as usize]); // `NO_OBJECT` of word 0
                if arity > 2 {
                    longer.push((place as u32, *each));
                } else if second != NO_OBJECT && first != second {
                    edges.push(packed((place as u32, first, second)));
                } else if first != NO_OBJECT {
                    marks.push((first, place as u32));
                }
            }
        }
        let mut sorted: Vec<u32> = (0..labels.len() as u32).collect();
        let mut relation = sorted.clone();
        if !labels.windows(2).all(|pair| pair[0] < pair[1]) {
            sorted.sort_unstable_by_key(|place| labels[*place as usize]);
            (0..).zip(&sorted).for_each(|(rank, place)| relation[*place as usize] = rank);
            for edge in &mut edges {
                let (place, first, second) = unpacked(*edge);
                *edge = packed((relation[place as usize], first, second));
            }
            marks.iter_mut().for_each(|(_, label)| *label = relation[*label as usize]);
            marks.sort_by_key(|(_, label)| *label);
        }
        if !longer.is_empty() {
            longer.sort_by_key(|(place, _)| relation[*place as usize]);
            for (place, atom) in longer {
                marks.push((kinds.len() as u32, relation[place as usize]));
                let from = kinds.len() as u32;
                let vertices = arguments(atom).map(|name| number[name as usize]);
                edges.extend((labels.len() as u32..).zip(vertices).map(|(relation, to)| packed((relation, from, to))));
                kinds.push(2 * words.count() as u32 + 1);
            }
        }
        edges.sort_unstable();
        let edges: Vec<Edge> = edges.into_iter().map(unpacked).collect();
        let mut outline = Vec::with_capacity(1024);
        encode_number(&mut outline, 2);
        encode_number(&mut outline, labels.len());
        for place in &sorted {
            let label = labels[*place as usize];
            encode_number(&mut outline, 3);
            encode_text(&mut outline, SCENES[(label >> 40) as usize]);
            encode_text(&mut outline, words.text((label >> 3 & 0xFFFF_FFFF) as Word));
            encode_number(&mut outline, (label & 7) as usize);
        }
        let count = words.count() as u32;
        let text = |kind| match kind {
            _ if kind > 2 * count => Cow::default(),
            _ if kind > count => Cow::Borrowed(words.text(kind - count)),
            name => [b"= ", words.text(name)].concat().into(),
        };
        let kinds_at = outline.len();
        let piece = Piece::of_kinds(&kinds, 2 * words.count() + 2, &marks, edges, text, &mut outline);
        LabelledGraph { outline, kinds_at, piece, objects }
    }

    /// The graph of vertices of these kinds, and of links. `said` is the text of a kind, or the scene and the text of a
    /// relation.
    pub fn of_links<'a>(kinds: &[u32], links: &[Link], said: &dyn Fn(u32) -> (&'a [u8], Vec<u8>)) -> LabelledGraph {
        // The place of each kind, and of each relation, among the sorted texts of those that occur.
        let all = || kinds.iter().chain(links.iter().map(|(relation, ..)| relation)).copied();
        let mut occurs = vec![false; all().max().map_or(0, |most| most as usize + 1)];
        all().for_each(|each| occurs[each as usize] = true);
        let used = (0..).zip(&occurs).filter(|(_, occurs)| **occurs);
        let mut texts: Vec<_> = used.map(|(each, _)| (said(each), each)).collect();
        texts.sort_unstable();
        let mut rank = vec![0; occurs.len()];
        (0..).zip(&texts).for_each(|(place, (_, each))| rank[*each as usize] = place);
        // The labels, which are relations with how many vertices they join, and their numbers.
        let label = |link: &Link| rank[link.0 as usize] as usize * ARITIES + link.1;
        let mut number_of = vec![NONE; texts.len() * ARITIES];
        links.iter().for_each(|link| number_of[label(link)] = 0);
        let mut labels: Vec<(u32, usize)> = Vec::new();
        for (place, number) in number_of.iter_mut().enumerate().filter(|(_, number)| **number != NONE) {
            *number = labels.len() as u32;
            labels.push(((place / ARITIES) as u32, place % ARITIES));
        }
        let number = |link| number_of[label(link)];
        let mut marks: Vec<(u32, u32)> = Vec::with_capacity(links.len());
        let mut edges: Vec<Edge> = Vec::with_capacity(links.len());
        let mut longer: Vec<(u32, &[u32])> = Vec::new();
        for link in links {
            match link.2[..link.1] {
                [] => {}
                [one] => marks.push((one, number(link))),
                [one, other] if one == other => marks.push((one, number(link))),
                [one, other] => edges.push((number(link), one, other)),
                _ => longer.push((number(link), &link.2[..link.1])),
            }
        }
        longer.sort_by_key(|(own, _)| *own);
        for (atom, (own, vertices)) in (kinds.len() as u32..).zip(&longer) {
            edges.extend((labels.len() as u32..).zip(*vertices).map(|(relation, vertex)| (relation, atom, *vertex)));
            marks.push((atom, *own));
        }
        let marks = in_order(labels.len(), &marks, |mark| mark.1);
        let relations = labels.len() + labels.iter().map(|(_, arity)| *arity).max().unwrap_or(0);
        let mut edges = in_order(relations, &edges, |edge| edge.0);
        edges.chunk_by_mut(|a, b| a.0 == b.0).for_each(<[_]>::sort_unstable);
        let mut outline = Vec::with_capacity(2048);
        encode_number(&mut outline, 2);
        encode_number(&mut outline, labels.len());
        for (place, arity) in &labels {
            encode_number(&mut outline, 3);
            let (scene, text) = &texts[*place as usize].0;
            encode_text(&mut outline, scene);
            encode_text(&mut outline, text);
            encode_number(&mut outline, *arity);
        }
        // An atom's kind comes behind those of all objects.
        let atoms = std::iter::repeat(texts.len() as u32).take(longer.len());
        let own: Vec<u32> = kinds.iter().map(|kind| rank[*kind as usize]).chain(atoms).collect();
        let text = |kind: u32| texts.get(kind as usize).map_or(Cow::default(), |(text, _)| Cow::Borrowed(&text.1[..]));
        let kinds_at = outline.len();
        let piece = Piece::of_kinds(&own, texts.len() + 1, &marks, edges, text, &mut outline);
        LabelledGraph { outline, kinds_at, piece, objects: kinds.len() as u32 }
    }

    /// The graph of scenes over terms, each with its type; what the terms are called does not count.
    pub fn of_scenes<'a>(
        terms: &'a [(Word, Vec<u8>)],
        atoms: &[(&'a [u8], &Lifted)],
        names: &'a Interner,
    ) -> Answer<LabelledGraph> {
        let vertex: HashMap<Word, u32> = terms.iter().map(|(name, _)| *name).zip(0..).collect();
        let mut labels: Vec<(&'a [u8], Vec<u8>)> = Vec::new();
        let mut known: BTreeMap<(&[u8], &[u8]), u32> = BTreeMap::new();
        let mut kinds = Vec::with_capacity(terms.len());
        let mut label = |scene: &'a [u8], text: &'a [u8]| {
            *known.entry((scene, text)).or_insert_with(|| {
                labels.push((scene, text.to_vec()));
                labels.len() as u32 - 1
            })
        };
        terms.iter().for_each(|(_, type_)| kinds.push(label(b"", type_)));
        let mut links: Vec<Link> = Vec::with_capacity(atoms.len());
        let mut sorted = atoms.to_vec();
        if atoms.iter().any(|(_, atom)| atom.len() > 3) {
            sorted.sort_by(|one, other| names.order_of(one.1, other.1)); // vertices of atoms are numbered by their names
        }
        for (scene, atom) in sorted {
            let mut vertices = [0; MOST_ARGUMENTS];
            for (place, term) in atom[1..].iter().enumerate() {
                *vertices.get_mut(place).ok_or(Left::Arity)? = *vertex.get(term).ok_or(Left::Notation)?;
            }
            links.push((label(scene, names.text(atom[0])), atom.len() - 1, vertices));
        }
        Ok(LabelledGraph::of_links(&kinds, &links, &|number| labels[number as usize].clone()))
    }

    /// The graph in which the vertices of one kind are of another, which no vertex has: it has the same labelling.
    pub fn with_kind(&self, kind: &[u8], other: &[u8]) -> LabelledGraph {
        let own = &self.outline;
        let number = |at: usize| own[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes) as usize);
        let mut at = self.kinds_at + 8; // behind how many there are
        let mut outline = own[..at].to_vec();
        while at < own.len() {
            let text = at + 16; // the text and the marks behind their lengths, and how many vertices
            let marks = text + number(at + 8);
            let end = marks + 8 * (number(marks) + 2);
            outline.extend_from_slice(&own[at..at + 8]);
            encode_text(&mut outline, if own[text..marks] == *kind { other } else { &own[text..marks] });
            outline.extend_from_slice(&own[marks..end]);
            at = end;
        }
        LabelledGraph { outline, piece: self.piece.clone(), ..*self }
    }

    /// True where the cheap invariant is the same, as it is for isomorphic graphs.
    pub fn same_invariant(&self, other: &LabelledGraph) -> bool {
        self.outline == other.outline
            && self.piece.edges.iter().map(|edge| edge.0).eq(other.piece.edges.iter().map(|edge| edge.0))
    }

    pub fn labelling(&self) -> Answer<Labelling> {
        let mut piece = self.piece.clone();
        let vertices = piece.members.len();
        let budget = BUDGET.max(VISITS * (vertices + piece.edges.len()));
        let least = HashSet::default();
        let mut search = Search { left: budget, objects: self.objects, least, asks_for_symmetries: false };
        search.refine(&mut piece, (0..vertices as u32).collect())?;
        search.label(&piece, 0)
    }
}

/// These by their keys, which are below the count; those of one key stay in their order.
fn in_order<T: Copy>(count: usize, all: &[T], key: impl Fn(&T) -> u32) -> Vec<T> {
    let mut start = vec![0; count + 1];
    all.iter().for_each(|each| start[key(each) as usize + 1] += 1);
    for i in 1..start.len() {
        start[i] += start[i - 1];
    }
    let mut sorted = all.to_vec();
    for each in all {
        let next = &mut start[key(each) as usize];
        sorted[*next] = *each;
        *next += 1;
    }
    sorted
}

/// Vertices of one kind that have the same marks, as far as these have been gone through.
struct Class {
    /// The class whose vertices lacked its last mark; `NONE` for that of a kind.
    above: u32,
    /// Its last mark, or the kind.
    last: u32,
    size: u32,
    /// The last mark that vertices left it for, and the class that these have become.
    mark: u32,
    next: u32,
}

impl Class {
    fn new(above: u32, last: u32) -> Class {
        Class { above, last, size: 0, mark: NONE, next: NONE }
    }
}

#[derive(Clone)]
struct Cell {
    colour: u32,
    begin: usize,
    size: usize,
}

#[derive(Clone, Copy, Default)]
struct Vertex {
    /// Where it stands among the members.
    at: u32,
    /// The number of its cell.
    cell: u32,
    /// Its colour, the number of vertices of the whole graph in the cells before.
    colour: u32,
}

/// The neighbours of each vertex, each with the relation and the direction in which it sees the vertex.
struct Around {
    start: Vec<usize>,
    words: Vec<(u32, u32)>,
}

/// Some vertices in cells of one colour each, and the edges that still say something.
///
/// Vertices are numbered anew in each piece, in the order that they have in the whole graph.
#[derive(Clone)]
struct Piece {
    cells: Vec<Cell>,
    /// The vertices, cell by cell.
    members: Vec<u32>,
    vertices: Vec<Vertex>,
    edges: Rc<Vec<Edge>>,
    around: Option<Rc<Around>>,
}

impl Piece {
    /// Vertices by their kinds, numbers below the count, and by their marks, which are sorted by these; with the second
    /// half of the outline.
    fn of_kinds<'a>(
        kinds: &[u32],
        count: usize,
        marks: &[(u32, u32)],
        edges: Vec<Edge>,
        text: impl Fn(u32) -> Cow<'a, [u8]>,
        outline: &mut Vec<u8>,
    ) -> Piece {
        let mut classes: Vec<Class> = Vec::with_capacity(16);
        let mut of_kind = vec![NONE; count];
        let mut own = kinds.to_vec();
        for class in &mut own {
            let known = &mut of_kind[*class as usize];
            if *known == NONE {
                *known = classes.len() as u32;
                classes.push(Class::new(NONE, *class));
            }
            *class = *known;
        }
        for (vertex, mark) in marks {
            let number = &mut own[*vertex as usize];
            let (next, class) = (classes.len() as u32, &mut classes[*number as usize]);
            if class.mark == *mark {
                *number = class.next;
            } else {
                (class.mark, class.next) = (*mark, next);
                classes.push(Class::new(*number, *mark));
                *number = next;
            }
        }
        own.iter().for_each(|number| classes[*number as usize].size += 1);
        // The kind and the marks of each class that has vertices, and where they are.
        let mut said: Vec<u32> = Vec::with_capacity(64);
        let mut sorted: Vec<(usize, usize, usize)> = Vec::with_capacity(classes.len());
        for (number, class) in classes.iter().enumerate().filter(|(_, class)| class.size > 0) {
            let (start, mut each) = (said.len(), class);
            said.push(each.last);
            while each.above != NONE {
                each = &classes[each.above as usize];
                said.push(each.last);
            }
            said[start..].reverse();
            sorted.push((start, said.len(), number));
        }
        sorted.sort_unstable_by(|one, other| said[one.0..one.1].cmp(&said[other.0..other.1]));
        encode_number(outline, sorted.len());
        let mut cells = Vec::with_capacity(kinds.len()); // of which there may be as many
        let mut begin = 0;
        for (start, end, number) in sorted {
            let class = &mut classes[number];
            let (kind, marks) = (said[start], &said[start + 1..end]);
            encode_number(outline, 3);
            encode_text(outline, &text(kind));
            encode_number(outline, marks.len());
            marks.iter().for_each(|mark| encode_number(outline, *mark as usize));
            encode_number(outline, class.size as usize);
            // From here on: the place of its next vertex, and its cell.
            (class.next, class.mark) = (begin, cells.len() as u32);
            cells.push(Cell { colour: begin, begin: begin as usize, size: class.size as usize });
            begin += class.size;
        }
        let mut members = vec![0; kinds.len()];
        let place = |(vertex, class): (u32, &u32)| {
            let class = &mut classes[*class as usize];
            let (at, cell) = (class.next, class.mark);
            members[at as usize] = vertex;
            class.next += 1;
            Vertex { at, cell, colour: cells[cell as usize].colour }
        };
        let vertices = (0..).zip(&own).map(place).collect();
        Piece { cells, members, vertices, edges: Rc::new(edges), around: None }
    }

    /// Some vertices of a piece, which has all of their cells.
    fn part(&self, part: &[u32], edges: Vec<Edge>) -> Piece {
        let colour = |vertex: u32| self.vertices[part[vertex as usize] as usize].colour;
        let members = sorted_by(0..part.len() as u32, colour);
        let mut cells: Vec<Cell> = Vec::with_capacity(part.len()); // of which there may be as many
        let mut vertices = vec![Vertex::default(); part.len()];
        for (begin, vertex) in members.iter().enumerate() {
            let own = colour(*vertex);
            match cells.last_mut() {
                Some(last) if last.colour == own => last.size += 1,
                _ => cells.push(Cell { colour: own, begin, size: 1 }),
            }
            vertices[*vertex as usize] = Vertex { at: begin as u32, cell: cells.len() as u32 - 1, colour: own };
        }
        Piece { cells, members, vertices, edges: Rc::new(edges), around: None }
    }

    fn around(&mut self) -> Rc<Around> {
        let edges = &self.edges;
        let count = self.members.len();
        self.around
            .get_or_insert_with(|| {
                let mut start = vec![0; count + 2];
                for (_, first, second) in edges.iter() {
                    start[*first as usize + 2] += 1;
                    start[*second as usize + 2] += 1;
                }
                for i in 2..start.len() {
                    start[i] += start[i - 1];
                }
                let mut words = vec![(0, 0); 2 * edges.len()];
                for (relation, first, second) in edges.iter() {
                    for (direction, here, there) in [(2 * relation, first, second), (2 * relation + 1, second, first)] {
                        words[start[*here as usize + 1]] = (direction, *there);
                        start[*here as usize + 1] += 1;
                    }
                }
                Rc::new(Around { start, words })
            })
            .clone()
    }

    /// Split off the parts of a cell, which are these of its vertices in order with the sizes of the parts; vertices that
    /// are not given stay in front, where they are. So it takes as long as there are vertices that leave.
    fn split(&mut self, cell: usize, vertices: &[u32], sizes: &[usize]) {
        let Cell { colour, begin, size } = self.cells[cell];
        let stay = size - vertices.len();
        for (free, vertex) in (begin + stay..).zip(vertices) {
            let (place, other) = (self.vertices[*vertex as usize].at, self.members[free]);
            (self.members[place as usize], self.vertices[other as usize].at) = (other, place);
            (self.members[free], self.vertices[*vertex as usize].at) = (*vertex, free as u32);
        }
        let mut before = stay;
        let mut rest = vertices;
        if stay > 0 {
            self.cells[cell].size = stay;
        }
        for size in sizes {
            let number = if before == 0 { cell } else { self.cells.len() };
            let own = Cell { colour: colour + before as u32, begin: begin + before, size: *size };
            let (part, others) = rest.split_at(*size);
            for vertex in part {
                let vertex = &mut self.vertices[*vertex as usize];
                (vertex.cell, vertex.colour) = (number as u32, own.colour);
            }
            if before == 0 {
                self.cells[cell] = own;
            } else {
                self.cells.push(own);
            }
            before += size;
            rest = others;
        }
    }

    fn members_of(&self, cell: usize) -> &[u32] {
        let Cell { begin, size, .. } = self.cells[cell];
        &self.members[begin..begin + size]
    }

    /// The cells in the order of their colours, in which their members follow each other.
    fn cells_in_order(&self) -> impl Iterator<Item = &Cell> {
        let mut begin = 0;
        iter::from_fn(move || {
            let cell = &self.cells[self.vertices[*self.members.get(begin)? as usize].cell as usize];
            begin += cell.size;
            Some(cell)
        })
    }
}

/// Who heard, from which direction, which colour, as one number: the order of numbers is that of such lists.
type Heard = u64;

const HEARD: u64 = (1 << (2 * BITS + 1)) - 1;

fn heard_by(heard: Heard) -> u32 {
    (heard >> (2 * BITS + 1)) as u32
}

/// A vertex that heard something: the first of it, with the cell in the vertex's place, and where all of it is.
struct Listener {
    first: Heard,
    vertex: u32,
    begin: u32,
    end: u32,
}

/// The labelling of one graph, with its budget.
struct Search {
    left: usize,
    objects: u32,
    least: HashSet<(Vec<u32>, Vec<u32>)>,
    /// True inside a branch, which leaves out what symmetries map onto what it has tried.
    asks_for_symmetries: bool,
}

impl Search {
    fn spend(&mut self, visits: usize) -> Answer<()> {
        self.left = self.left.checked_sub(visits).ok_or(Left::Budget)?;
        Ok(())
    }

    /// Split cells until all vertices of a cell have equally many neighbours in each cell, relation by relation.
    fn refine(&mut self, piece: &mut Piece, mut telling: Vec<u32>) -> Answer<()> {
        let count = piece.members.len();
        if piece.cells.len() == count {
            return Ok(());
        }
        let around = piece.around();
        let mut heard: Vec<Heard> = Vec::with_capacity(around.words.len());
        let mut listeners: Vec<Listener> = Vec::with_capacity(count);
        let (mut vertices, mut sizes) = (Vec::with_capacity(count), Vec::with_capacity(16));
        while !telling.is_empty() && piece.cells.len() < count {
            heard.clear();
            listeners.clear();
            let words_of =
                |vertex: u32| around.words[around.start[vertex as usize]..around.start[vertex as usize + 1]].iter();
            let word = |direction: u32, colour: u32| u64::from(direction) << BITS | u64::from(colour);
            let by = |number: u32, word: u64| u64::from(number) << (2 * BITS + 1) | word;
            // What is alone in its cell need not listen.
            let listens = |vertex: u32| piece.cells[piece.vertices[vertex as usize].cell as usize].size > 1;
            let listener = |vertex: u32, first: Heard, begin: usize, end: usize| {
                let first = by(piece.vertices[vertex as usize].cell, first);
                Listener { first, vertex, begin: begin as u32, end: end as u32 }
            };
            if telling.len() == count {
                // All tell: what a vertex hears is around it, in the other direction, and is sorted but for a few words.
                for vertex in piece.members.iter().copied().filter(|vertex| listens(*vertex)) {
                    let begin = heard.len();
                    let colour = |other: u32| piece.vertices[other as usize].colour;
                    heard.extend(words_of(vertex).map(|(to, other)| word(*to ^ 1, colour(*other))));
                    heard[begin..].sort_unstable();
                    if let Some(first) = heard.get(begin) {
                        listeners.push(listener(vertex, *first, begin, heard.len()));
                    }
                }
            } else {
                for vertex in &telling {
                    let colour = piece.vertices[*vertex as usize].colour;
                    let others = words_of(*vertex).filter(|(_, other)| listens(*other));
                    heard.extend(others.map(|(to, other)| by(*other, word(*to, colour))));
                }
                heard.sort_unstable();
                let mut begin = 0;
                for own in heard.chunk_by_mut(|a, b| heard_by(*a) == heard_by(*b)) {
                    let vertex = heard_by(own[0]);
                    own.iter_mut().for_each(|each| *each &= HEARD);
                    listeners.push(listener(vertex, own[0], begin, begin + own.len()));
                    begin += own.len();
                }
                listeners.sort_unstable_by_key(|each| each.first); // those of one cell follow each other
            }
            self.spend(telling.len() + heard.len())?;
            // Those that heard something, cell by cell, in the order of what they heard.
            let rest = |each: &Listener| &heard[each.begin as usize + 1..each.end as usize];
            let same = |a: &Listener, b: &Listener| a.first == b.first && rest(a) == rest(b); // of one cell
            let same_cell = |a: &Listener, b: &Listener| heard_by(a.first) == heard_by(b.first);
            telling.clear();
            for group in listeners.chunk_by_mut(same_cell) {
                if group.len() > 1 {
                    group.sort_unstable_by(|a, b| a.first.cmp(&b.first).then_with(|| rest(a).cmp(rest(b))));
                }
                let cell = heard_by(group[0].first) as usize;
                let size = piece.cells[cell].size;
                vertices.clear();
                sizes.clear();
                for part in group.chunk_by(|a, b| same(a, b)) {
                    vertices.extend(part.iter().map(|each| each.vertex));
                    sizes.push(part.len());
                }
                let silent = size - group.len(); // which heard nothing
                if silent == 0 && sizes.len() == 1 {
                    continue;
                }
                piece.split(cell, &vertices, &sizes);
                // What the largest part would tell follows from what the whole cell told and the others tell.
                let largest = sizes.iter().copied().fold(silent, usize::max);
                if silent > 0 && silent < largest {
                    telling.extend_from_slice(piece.members_of(cell));
                }
                let quiet = sizes.iter().position(|size| *size == largest && silent < largest);
                let mut before = 0;
                for (part, size) in sizes.iter().enumerate() {
                    if Some(part) != quiet {
                        telling.extend_from_slice(&vertices[before..before + size]);
                    }
                    before += size;
                }
            }
        }
        Ok(())
    }

    /// A refined piece's form, its vertices in canonical order, and, if asked for, symmetries that generate all of its
    /// symmetries.
    fn label(&mut self, piece: &Piece, depth: usize) -> Answer<Labelling> {
        let count = piece.members.len();
        self.spend(count + piece.edges.len())?;
        if depth > DEEPEST {
            return Err(Left::Budget);
        }
        let colour = |vertex: u32| piece.vertices[vertex as usize].colour;
        let mut form = Vec::with_capacity(3 + 2 * piece.cells.len() + 4 * piece.edges.len());
        form.push(piece.cells.len() as u32);
        piece.cells_in_order().for_each(|cell| form.extend([cell.colour, cell.size as u32]));
        let line = |edge: &Edge| packed((edge.0, colour(edge.1), colour(edge.2)));
        let mut lines: Vec<(u64, u32)> = piece.edges.iter().zip(0..).map(|(edge, place)| (line(edge), place)).collect();
        let same_relation = |a: &(u64, u32), b: &(u64, u32)| unpacked(a.0).0 == unpacked(b.0).0;
        lines.chunk_by_mut(same_relation).for_each(<[_]>::sort_unstable); // relation by relation, as the edges are
        let count_at = form.len();
        form.push(0);
        let mut kept: Vec<Edge> = Vec::new();
        let mut left: Vec<u32> = Vec::new();
        let size = |vertex: u32| piece.cells[piece.vertices[vertex as usize].cell as usize].size;
        for group in lines.chunk_by(|a, b| a.0 == b.0) {
            let (relation, first, second) = unpacked(group[0].0);
            form[count_at] += 1;
            form.extend([relation, first, second, group.len() as u32]);
            // Edges between all vertices of two cells say nothing more than the quotient.
            let (_, from, to) = piece.edges[group[0].1 as usize];
            if group.len() != size(from) * (size(to) - usize::from(first == second)) {
                left.extend(group.iter().map(|(_, place)| *place));
            }
        }
        left.sort_unstable();
        kept.reserve_exact(left.len());
        kept.extend(left.iter().map(|place| piece.edges[*place as usize]));
        let parts = connected(&kept, count);
        let mut found: Vec<Labelling> = Vec::with_capacity(parts.ends.len());
        // The vertices of no component, and the places of all others among those of their component.
        let mut alone: Vec<u32> = Vec::new();
        if parts.ends.len() == 1 && parts.vertices.len() == count {
            let mut whole = piece.clone();
            whole.edges = Rc::new(kept);
            whole.around = None;
            found.push(self.branch(whole, &form, depth)?);
        } else if parts.ends.is_empty() {
            alone.reserve_exact(count);
            for cell in piece.cells_in_order() {
                let before = alone.len();
                alone.extend_from_slice(&piece.members[cell.begin..cell.begin + cell.size]);
                alone[before..].sort_unstable();
            }
        } else {
            const ALONE: u32 = u32::MAX;
            let mut own = vec![ALONE; count];
            let (mut start, mut first) = (0, 0);
            for (end, last) in &parts.ends {
                let vertices = &parts.vertices[start..*end];
                for (place, vertex) in vertices.iter().enumerate() {
                    own[*vertex as usize] = place as u32;
                }
                let edges = parts.edges[first..*last].iter();
                let edges = edges.map(|(relation, a, b)| (*relation, own[*a as usize], own[*b as usize])).collect();
                let mut part = self.label(&piece.part(vertices, edges), depth + 1)?;
                let back = |vertex: &mut u32| *vertex = vertices[*vertex as usize];
                part.order.iter_mut().for_each(back);
                part.symmetries.iter_mut().for_each(|(a, b)| {
                    back(a);
                    back(b);
                });
                found.push(part);
                (start, first) = (*end, *last);
            }
            found.sort_by(|a, b| a.form.cmp(&b.form));
            let is_alone = |vertex: &u32| own[*vertex as usize] == ALONE;
            alone = sorted_by((0..count as u32).filter(is_alone), colour);
        }
        form.reserve_exact(1 + found.iter().map(|each| each.form.len()).sum::<usize>());
        form.push(found.len() as u32);
        let symmetries = if self.asks_for_symmetries { symmetries_of(&alone, &found, &colour) } else { Vec::new() };
        let mut order = alone;
        order.reserve_exact(parts.vertices.len());
        for each in &found {
            form.extend_from_slice(&each.form);
            order.extend_from_slice(&each.order);
        }
        Ok(Labelling { form, order, symmetries })
    }

    /// The least form after a vertex of the largest cell gets a colour of its own, each of its vertices in turn.
    fn branch(&mut self, mut piece: Piece, quotient: &[u32], depth: usize) -> Answer<Labelling> {
        // An object rather than an atom: where all objects are told apart, so are all atoms.
        let largest = |cell: &usize| {
            let Cell { colour, size, .. } = piece.cells[*cell];
            (colour < self.objects, size, std::cmp::Reverse(colour))
        };
        let target = (0..piece.cells.len()).max_by_key(largest).ok_or(Left::Budget)?;
        let around = piece.around();
        let mut orbit: Vec<u32> = (0..piece.members.len() as u32).collect();
        let mut tried: Vec<u32> = Vec::new();
        let mut best: Option<(Vec<u32>, Vec<u32>)> = None;
        let asked = std::mem::replace(&mut self.asks_for_symmetries, true);
        let mut cell = piece.members_of(target).to_vec();
        cell.sort_unstable();
        for vertex in &cell {
            // A symmetry that maps a vertex onto one that was tried maps the whole branch: its form is the same.
            if tried.iter().any(|other| root(&mut orbit, *vertex) == root(&mut orbit, *other)) {
                continue;
            }
            tried.push(*vertex);
            self.spend(piece.members.len())?; // to copy the piece
            let mut child = piece.clone();
            let mut parts = vec![*vertex];
            parts.extend(cell.iter().filter(|other| *other != vertex));
            child.split(target, &parts, &[1, parts.len() - 1]);
            child.around = Some(around.clone()); // the same edges
            self.refine(&mut child, vec![*vertex])?;
            let Labelling { form, order, mut symmetries } = self.label(&child, depth + 1)?;
            match &best {
                Some((least, first)) if form == *least => {
                    symmetries.extend(first.iter().copied().zip(order.iter().copied()));
                }
                Some((least, _)) if *least < form => {}
                _ => best = Some((form.clone(), order.clone())),
            }
            for (a, b) in symmetries {
                let (a, b) = (root(&mut orbit, a), root(&mut orbit, b));
                orbit[a as usize] = b;
            }
            let seen = (quotient.to_vec(), form);
            if self.least.contains(&seen) {
                best = Some((seen.1, order)); // of a piece labelled before, to which this one must be isomorphic
                break;
            }
        }
        self.asks_for_symmetries = asked;
        let (form, order) = best.ok_or(Left::Budget)?;
        self.least.insert((quotient.to_vec(), form.clone()));
        let symmetries = (0..).zip(&orbit).filter(|(vertex, leader)| vertex != *leader).map(|(a, b)| (a, *b)).collect();
        Ok(Labelling { form, order, symmetries })
    }
}

/// Symmetries that generate all of a piece: of vertices without edges that have one colour, of components, and between
/// components of one form, which are sorted.
fn symmetries_of(alone: &[u32], components: &[Labelling], colour: &dyn Fn(u32) -> u32) -> Vec<(u32, u32)> {
    let alike = alone.windows(2).filter(|pair| colour(pair[0]) == colour(pair[1]));
    let mut symmetries: Vec<(u32, u32)> = alike.map(|pair| (pair[0], pair[1])).collect();
    components.iter().for_each(|each| symmetries.extend_from_slice(&each.symmetries));
    for pair in components.windows(2).filter(|pair| pair[0].form == pair[1].form) {
        symmetries.extend(pair[0].order.iter().copied().zip(pair[1].order.iter().copied()));
    }
    symmetries
}

/// The numbers in the order of their keys; equal keys in the order of the numbers.
fn sorted_by(numbers: impl Iterator<Item = u32>, key: impl Fn(u32) -> u32) -> Vec<u32> {
    let mut keyed: Vec<u64> = numbers.map(|number| u64::from(key(number)) << 32 | u64::from(number)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|each| each as u32).collect()
}

/// The connected components that have an edge, in the order of their first edges.
#[derive(Default)]
struct Components {
    /// Vertices and edges, component by component, and for each where hers end.
    vertices: Vec<u32>,
    edges: Vec<Edge>,
    ends: Vec<(usize, usize)>,
}

fn connected(edges: &[Edge], count: usize) -> Components {
    if edges.is_empty() {
        return Components::default();
    }
    let mut parents: Vec<u32> = (0..count as u32).collect();
    for (_, first, second) in edges {
        let (a, b) = (root(&mut parents, *first), root(&mut parents, *second));
        parents[a.max(b) as usize] = a.min(b);
    }
    // How many vertices and edges each has, and then where they end.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut number = vec![usize::MAX; count];
    for edge in edges {
        let own = root(&mut parents, edge.1) as usize;
        if number[own] == usize::MAX {
            number[own] = ends.len();
            ends.push((0, 0));
        }
        ends[number[own]].1 += 1;
    }
    for vertex in 0..count {
        number[vertex] = number[root(&mut parents, vertex as u32) as usize];
        if let Some((vertices, _)) = ends.get_mut(number[vertex]) {
            *vertices += 1;
        }
    }
    let mut before = (0, 0);
    for end in &mut ends {
        (*end, before) = (before, (before.0 + end.0, before.1 + end.1));
    }
    let mut found = Components { vertices: vec![0; before.0], edges: vec![(0, 0, 0); edges.len()], ends };
    for (vertex, own) in (0..).zip(&number) {
        if let Some((end, _)) = found.ends.get_mut(*own) {
            found.vertices[*end] = vertex;
            *end += 1;
        }
    }
    for edge in edges {
        let (_, end) = &mut found.ends[number[edge.1 as usize]];
        found.edges[*end] = *edge;
        *end += 1;
    }
    found
}

fn root(parents: &mut [u32], mut vertex: u32) -> u32 {
    while parents[vertex as usize] != vertex {
        let above = parents[parents[vertex as usize] as usize];
        parents[vertex as usize] = above;
        vertex = above;
    }
    vertex
}
