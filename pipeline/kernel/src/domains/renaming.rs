//! A known domain in other words (definition/domains/renaming.py): its rules solve the given domain's problems.

use crate::domains::Rules;
use crate::hashing::HashMap;
use crate::left::{Answer, Left};
use crate::model::{arguments, atom, parts, Atom, Domain, Known, Word, Words, KNOWN_WORDS};
use crate::pddl::problems::Interner;
use crate::structure::graph::Vertex;
use crate::structure::renaming::isomorphism;
use crate::structure::structure::DomainStructure;
use crate::validation::{operator_named, Action, Plan, OPERATORS};

/// What the predicates, types and operators of a domain are in the rules of a known one.
pub struct Roles {
    pub rules: Rules,
    /// True where the rules read its problems as they are written.
    is_plain: bool,
    /// By predicate and number of arguments: the rules' predicate, and whether its two arguments change places.
    to: HashMap<(u32, usize), (u32, bool)>,
    /// The way back.
    back: HashMap<(u32, usize), (u32, bool)>,
    types: HashMap<u32, u32>,
    /// Of each operator of the rules its number in the domain, and the places of its arguments in the rules'.
    operators: Vec<(Word, Vec<usize>)>,
}

impl Roles {
    /// The roles of a domain that is `theirs` in other words, each with the words of its text.
    pub fn new(
        rules: Rules,
        (given, names): (&DomainStructure, &Interner),
        (theirs, their_names): (&DomainStructure, &Interner),
    ) -> Answer<Roles> {
        let image: HashMap<Vertex, Vertex> =
            isomorphism(given.graph(names)?, theirs.graph(their_names)?)?.into_iter().collect();
        let mut roles = Roles {
            rules,
            is_plain: true,
            to: HashMap::default(),
            back: HashMap::default(),
            types: HashMap::default(),
            operators: vec![(0, Vec::new()); OPERATORS.len()],
        };
        for (one, two) in &image {
            let (one, two, changes_places) = match (one, two) {
                (Vertex::Type(one), Vertex::Type(two)) => {
                    roles.types.insert(*one, *two);
                    (one, two, false)
                }
                (Vertex::Predicate(one, arity), Vertex::Predicate(two, _)) => {
                    let first = image.get(&Vertex::Place(*one, *arity, 0));
                    let changes_places = matches!(first, Some(Vertex::Place(_, _, 1)));
                    roles.to.insert((*one, *arity), (*two, changes_places));
                    roles.back.insert((*two, *arity), (*one, changes_places));
                    (one, two, changes_places)
                }
                _ => continue,
            };
            if *two as usize >= KNOWN_WORDS {
                return Err(Left::Rules);
            }
            roles.is_plain &= one == two && !changes_places;
        }
        roles.is_plain &= given.domain.types.keys().all(|type_| roles.types.contains_key(type_));
        for (number, operator) in given.domain.operators.iter().enumerate() {
            let Some(Vertex::Operator(theirs_)) = image.get(&Vertex::Operator(number)) else { return Err(Left::Rules) };
            let name = their_names.text(theirs.domain.operators[*theirs_].name);
            let place = |place| match image.get(&Vertex::Parameter(number, place)) {
                Some(Vertex::Parameter(_, place)) => Ok(*place),
                _ => Err(Left::Rules),
            };
            let places = (0..operator.parameters.len()).map(place).collect::<Answer<_>>()?;
            let operator = operator_named(rules, name).ok_or(Left::Rules)?;
            roles.operators[operator as usize] = (number as Word, places);
        }
        Ok(roles)
    }

    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// The atom as the rules read it.
    pub fn in_rules(&self, atom: Atom, words: &Words) -> Atom {
        atom_in(&self.to, &self.back, atom, words)
    }

    /// The rules' atom in the words of the domain.
    pub fn in_domain(&self, atom: Atom, words: &Words) -> Atom {
        atom_in(&self.back, &self.to, atom, words)
    }

    /// The type of the rules that includes the type.
    pub fn type_of(&self, type_: Word, domain: &Domain, words: &Words) -> Word {
        let found = domain.ancestors(words.number(type_)).into_iter().find_map(|each| self.types.get(&each).copied());
        words.place_of(found.unwrap_or(Known::Object as Word))
    }

    /// The rules' plan in the operators of the domain.
    pub fn plan(&self, actions: &[Action]) -> Plan {
        let mut plan = Vec::with_capacity(4 * actions.len());
        for Action { operator, arguments } in actions {
            let (number, places) = &self.operators[*operator as usize];
            plan.push(*number);
            plan.extend(places.iter().map(|place| arguments[*place]));
        }
        Plan(plan)
    }
}

/// The atom with another predicate; a name that is given away becomes one that is free.
fn atom_in(
    to: &HashMap<(u32, usize), (u32, bool)>,
    back: &HashMap<(u32, usize), (u32, bool)>,
    own: Atom,
    words: &Words,
) -> Atom {
    let (name, mut first, mut second) = parts(own);
    let arity = arguments(own).count();
    let mut number = words.number(name);
    match to.get(&(number, arity)) {
        Some((role, changes_places)) => {
            number = *role;
            if *changes_places {
                (first, second) = (second, first);
            }
        }
        None if arity > 2 => return own, // no rules know it
        None => {
            while let Some((before, _)) = back.get(&(number, arity)) {
                number = *before;
            }
        }
    }
    atom(words.place_of(number), first, second)
}
