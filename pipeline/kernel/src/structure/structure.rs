//! What follows from the operators of a domain, each thing made once (definition/structure/structure.py).

use crate::blake2b::hex_digest;
use crate::canonical::{digest, encode_form, encode_number, encode_text, Digits, LabelledGraph};
use crate::difference::Difference;
use crate::hashing::{HashMap, HashSet};
use crate::left::Answer;
use crate::metrics::domain_pair::ill_typed_operator;
use crate::model::{alternatives_in, Domain, Lifted, Operator, Word, EQUALITY};
use crate::pddl::problems::Interner;
use crate::structure::graph::{DomainGraph, PARTS};
use crate::structure::types::{hierarchy, least_types};
use crate::task::UNCHANGED_SINCE;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A domain with what follows from its operators.
#[derive(Default)]
pub struct DomainStructure {
    pub domain: Rc<Domain>,
    graph: OnceCell<Answer<DomainGraph>>,
    untyped: OnceCell<Answer<DomainGraph>>,
    certificate: OnceCell<Answer<Digits>>,
    operator_forms: OnceCell<Answer<Vec<Vec<u8>>>>,
    in_full: OnceCell<Digits>,
    ill_typed: OnceCell<Option<Difference>>,
    /// By the types of objects.
    fingerprints: RefCell<HashMap<BTreeSet<Word>, Digits>>,
}

impl DomainStructure {
    pub fn new(domain: Domain) -> DomainStructure {
        DomainStructure { domain: Rc::new(domain), ..DomainStructure::default() }
    }

    /// The graph of the operators.
    pub fn graph(&self, names: &Interner) -> Answer<&DomainGraph> {
        let made = self.graph.get_or_init(|| DomainGraph::new(&self.domain, true, names));
        made.as_ref().map_err(|left| *left)
    }

    /// The graph of the operators once all types are erased.
    pub fn untyped(&self, names: &Interner) -> Answer<&DomainGraph> {
        let made = self.untyped.get_or_init(|| DomainGraph::new(&self.domain, false, names));
        made.as_ref().map_err(|left| *left)
    }

    /// 32 hexadecimal digits that are equal exactly for equivalent domains.
    pub fn certificate(&self, names: &Interner) -> Answer<Digits> {
        let compute = || {
            let graph = self.graph(names)?;
            Ok(digest(UNCHANGED_SINCE, b"domain", &[(graph.labelled(), graph.labelling()?)]))
        };
        *self.certificate.get_or_init(compute)
    }

    /// The first atom of an operator that the declarations do not admit; a domain is always on the same side.
    pub fn ill_typed(&self, side: &[u8], names: &Interner) -> Option<&Difference> {
        self.ill_typed.get_or_init(|| ill_typed_operator(&self.domain, side, names)).as_ref()
    }

    /// 32 digits of the name and the operators in their words, and of where these types stand among theirs.
    pub fn fingerprint(&self, own: impl Iterator<Item = Word>, names: &Interner) -> Answer<Digits> {
        let domain = &self.domain;
        if !domain.rules.is_empty() || domain.operators.iter().any(|operator| !operator.beyond.is_empty()) {
            return Ok(*self.in_full.get_or_init(|| in_full(domain, names)));
        }
        let mut further: BTreeSet<Word> = BTreeSet::new();
        let mut last = Word::MAX;
        let mut is_next = |type_: &Word| std::mem::replace(&mut last, *type_) != *type_;
        if !domain.types.is_empty() {
            further.extend(own.filter(|type_| is_next(type_) && domain.types.contains_key(type_)));
        }
        if let Some(known) = self.fingerprints.borrow().get(&further) {
            return Ok(*known);
        }
        let (constants, mut types) = used_types(domain, names);
        types.extend(&further);
        let mut below = hierarchy(domain, &types);
        below.sort_by(|one, other| names.order(one.0, other.0).then(names.order(one.1, other.1)));
        let mut constants: Vec<(Word, Option<Word>)> = constants.into_iter().collect();
        constants.sort_by(|one, other| names.order(one.0, other.0));
        let mut bytes = Vec::new();
        encode_number(&mut bytes, 4);
        encode_text(&mut bytes, names.text(domain.name));
        encode_number(&mut bytes, constants.len());
        for (name, type_) in constants {
            encode_number(&mut bytes, 2);
            encode_text(&mut bytes, names.text(name));
            encode_number(&mut bytes, usize::from(type_.is_some()));
            type_.iter().for_each(|type_| encode_text(&mut bytes, names.text(*type_)));
        }
        encode_number(&mut bytes, below.len());
        for (type_, upper) in below {
            encode_number(&mut bytes, 2);
            encode_text(&mut bytes, names.text(type_));
            encode_text(&mut bytes, names.text(upper));
        }
        let forms =
            self.operator_forms.get_or_init(|| self.forms_of_operators(names)).as_ref().map_err(|left| *left)?;
        encode_number(&mut bytes, forms.len());
        bytes.extend(forms.concat());
        let digits = hex_digest(&bytes);
        self.fingerprints.borrow_mut().insert(further, digits);
        Ok(digits)
    }

    fn forms_of_operators(&self, names: &Interner) -> Answer<Vec<Vec<u8>>> {
        let mut forms = Vec::new();
        for operator in &self.domain.operators {
            let graph = operator_graph(&self.domain, operator, names)?;
            let mut form = Vec::new();
            encode_form(&mut form, &graph, &graph.labelling()?);
            forms.push(form);
        }
        forms.sort_unstable();
        Ok(forms)
    }

    /// True for domains whose operators are equal under equal names, up to the names of parameters.
    pub fn is_written_as(&self, other: &DomainStructure, names: &Interner) -> bool {
        let (domain, theirs) = (&self.domain, &other.domain);
        let known: HashMap<Word, &Operator> = theirs.operators.iter().map(|each| (each.name, each)).collect();
        let same_types = |((_, one), (_, other)): (&(Word, Word), &(Word, Word))| {
            least_types(domain, one) == least_types(theirs, other)
        };
        let same = |one: &Operator, other: &Operator| {
            one.by_position == other.by_position
                && one.parameters.len() == other.parameters.len()
                && one.parameters.iter().zip(&other.parameters).all(same_types)
        };
        domain.operators.len() == known.len()
            && domain.operators.iter().all(|one| known.get(&one.name).is_some_and(|other| same(one, other)))
            && used_names(domain, names) == used_names(theirs, names)
    }
}

/// The fingerprint of a domain that says more than sets of atoms: of its name, its constants and types with what they are
/// declared with, and its operators as they are written but for the names of operators and variables.
fn in_full(domain: &Domain, names: &Interner) -> Digits {
    let mut bytes = Vec::new();
    encode_number(&mut bytes, 5);
    encode_text(&mut bytes, names.text(domain.name));
    for declared in [&domain.constants, &domain.types] {
        let mut declared: Vec<(&[u8], &[u8])> =
            declared.iter().map(|(name, type_)| (names.text(*name), names.text(*type_))).collect();
        declared.sort_unstable();
        encode_number(&mut bytes, declared.len());
        for (name, type_) in declared {
            encode_number(&mut bytes, 2);
            encode_text(&mut bytes, name);
            encode_texts(&mut bytes, &[type_]);
        }
    }
    let operators: BTreeSet<Vec<u8>> =
        domain.operators.iter().map(|operator| operator_in_full(operator, names)).collect();
    encode_number(&mut bytes, operators.len());
    operators.iter().for_each(|operator| bytes.extend(operator));
    let rules: BTreeSet<&Vec<u8>> = domain.rules.iter().map(|rule| &rule.encoded).collect();
    encode_number(&mut bytes, rules.len());
    rules.iter().for_each(|rule| bytes.extend(*rule));
    hex_digest(&bytes)
}

/// The types of its parameters, its literals and its formulas, with numbers for its variables.
fn operator_in_full(operator: &Operator, names: &Interner) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_number(&mut bytes, 3);
    encode_number(&mut bytes, operator.parameters.len());
    for (_, type_) in &operator.parameters {
        encode_texts(&mut bytes, &alternatives_in(names.text(*type_)).collect::<Vec<&[u8]>>());
    }
    let place = |term: &Word| operator.parameters.iter().position(|(name, _)| name == term);
    let text = |term| place(term).map_or_else(|| names.text(*term).to_vec(), |place| format!("?{place}").into_bytes());
    encode_number(&mut bytes, operator.parts.len());
    for part in &operator.parts {
        let mut atoms: Vec<Vec<Vec<u8>>> = part.iter().map(|atom| atom.iter().map(text).collect()).collect();
        atoms.iter_mut().filter(|atom| atom[0] == EQUALITY).for_each(|atom| atom[1..].sort_unstable());
        atoms.sort_unstable();
        encode_number(&mut bytes, atoms.len());
        atoms.iter().for_each(|atom| encode_texts(&mut bytes, &atom.iter().map(Vec::as_slice).collect::<Vec<&[u8]>>()));
    }
    let mut formulas: Vec<&[u8]> = operator.beyond.iter().map(|beyond| &beyond.encoded[..]).collect();
    formulas.sort_unstable();
    encode_number(&mut bytes, formulas.len());
    bytes.extend(formulas.concat());
    bytes
}

fn encode_texts(bytes: &mut Vec<u8>, texts: &[&[u8]]) {
    encode_number(bytes, texts.len());
    texts.iter().for_each(|text| encode_text(bytes, text));
}

/// The graph of one operator's parts over its parameters, which have no names, and over constants, which have.
fn operator_graph(domain: &Domain, operator: &Operator, names: &Interner) -> Answer<LabelledGraph> {
    let mut terms: Vec<(Word, Vec<u8>)> = Vec::new();
    for (name, type_) in &operator.parameters {
        let types = least_types(domain, type_).iter().flat_map(|type_| [b" ", names.text(*type_)]);
        terms.push((*name, [&b"?"[..]].into_iter().chain(types).collect::<Vec<_>>().concat()));
    }
    let mut known: HashSet<Word> = terms.iter().map(|(name, _)| *name).collect();
    let mut atoms: Vec<(&'static [u8], Lifted)> = Vec::new();
    for (name, part) in PARTS.iter().zip(&operator.parts) {
        for atom in part {
            if names.text(atom[0]) == EQUALITY {
                atoms.push((name.as_bytes(), vec![atom[0], atom[2], atom[1]]));
            }
            for term in &atom[1..] {
                if known.insert(*term) {
                    terms.push((*term, [b"= ", names.text(*term)].concat()));
                }
            }
            atoms.push((name.as_bytes(), atom.clone()));
        }
    }
    atoms.sort_unstable();
    atoms.dedup();
    let atoms: Vec<(&'static [u8], &Lifted)> = atoms.iter().map(|(scene, atom)| (*scene, atom)).collect();
    LabelledGraph::of_scenes(&terms, &atoms, names)
}

/// The constants in the literals of operators, each with its type, and how the types that operators use are ordered.
fn used_names(domain: &Domain, names: &Interner) -> (LeastTypes, Vec<(Word, Word)>) {
    let (constants, types) = used_types(domain, names);
    let hierarchy = hierarchy(domain, &types);
    (constants, hierarchy)
}

/// The constants that operators name, each with its least type where it has one.
type LeastTypes = BTreeMap<Word, Option<Word>>;

fn used_types(domain: &Domain, names: &Interner) -> (LeastTypes, BTreeSet<Word>) {
    let mut constants = BTreeMap::new();
    if !domain.constants.is_empty() {
        for term in domain.operators.iter().flat_map(|each| each.parts.iter().flatten()).flat_map(|atom| &atom[1..]) {
            if !names.text(*term).starts_with(b"?") {
                constants.insert(
                    *term,
                    domain.constants.get(term).and_then(|type_| least_types(domain, type_).first().copied()),
                );
            }
        }
    }
    let asked = domain.operators.iter().flat_map(|each| &each.parameters);
    let asked = asked.flat_map(|(_, type_)| least_types(domain, type_)).copied();
    let types: BTreeSet<Word> = asked.chain(constants.values().copied().flatten()).collect();
    (constants, types)
}
