//! All that is known of particular domains (definition/domains), and what the rules of three of them share.

pub mod blocksworld;
pub mod floor_tile;
pub mod gripper;
pub mod renaming;

use crate::canonical::Digits;
use crate::domains::blocksworld::{Chains, Towers};
use crate::domains::floor_tile::{Aims, Floor};
use crate::domains::gripper::{Arrangement, Scene};
use crate::domains::renaming::Roles;
use crate::formulas::has_ill_typed_numbers;
use crate::left::{Answer, Left};
use crate::metrics::domain_pair::{has_ill_typed_forms, ill_typed_operator};
use crate::model::{
    sort_atoms, Atom, Beyond, Domain, Form, Formula, Known, Lifted, Mark, Operator, Problem, Word, Words, EQUALITY,
    MOST_ARGUMENTS,
};
use crate::pddl::any_problem::read_any_problem;
use crate::pddl::domains::parse_any_domain;
use crate::pddl::language::{numeric, UPDATES};
use crate::pddl::problems::{read_problem, Declared, Interner, Reading};
use crate::structure::structure::DomainStructure;
use crate::validation::{Action, Template};
use std::cell::RefCell;
use std::rc::Rc;

/// The known domains of which there are rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    Blocksworld,
    FloorTile,
    Gripper,
}

impl Rules {
    pub fn named(name: Known) -> Option<Rules> {
        match name {
            Known::Blocksworld => Some(Rules::Blocksworld),
            Known::FloorTile => Some(Rules::FloorTile),
            Known::Gripper => Some(Rules::Gripper),
            _ => None,
        }
    }

    /// Those of the domain of this certificate, which all domains have that are this one in other words.
    fn certified(certificate: &Digits) -> Option<Rules> {
        match certificate {
            b"c1901eb9dd5b08aceba500257d61ecae" => Some(Rules::Blocksworld),
            b"c96e2f07e160049f49e2a22e15988e8e" => Some(Rules::FloorTile),
            b"064939ab3ce821a798cd340001123d82" => Some(Rules::Gripper),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Rules::Blocksworld => "blocksworld",
            Rules::FloorTile => "floor-tile",
            Rules::Gripper => "gripper",
        }
    }

    fn pddl(self) -> &'static str {
        match self {
            Rules::Blocksworld => blocksworld::PDDL,
            Rules::FloorTile => floor_tile::PDDL,
            Rules::Gripper => gripper::PDDL,
        }
    }

    /// True where some operator takes more than plain objects.
    pub fn has_types(self) -> bool {
        self == Rules::FloorTile
    }

    /// The initial state as the rules see it; `types` are those of the words, None where they do not count.
    pub fn read(self, words: &Words, init: &[Atom], types: Option<&[Word]>) -> Result<CoveredState, BrokenAssumption> {
        Ok(match self {
            Rules::Blocksworld => CoveredState::Towers(blocksworld::read(words, init)?),
            Rules::FloorTile => CoveredState::Floor(floor_tile::read(words, init, types)?),
            Rules::Gripper => CoveredState::Scene(gripper::read(words, init)?),
        })
    }
}

/// The known domain without rules.
const ROVER: &str = include_str!(concat!(env!("OUT_DIR"), "/rover_single_stores.pddl"));

/// What problems call it.
pub const ROVER_NAMES: [&[u8]; 3] = [b"rover", b"rover-single", b"rover-single-stores"];

/// The text of the known domain that problems call by this name.
pub fn pddl_of(name: &[u8]) -> Option<&'static str> {
    let with_rules = [Rules::Blocksworld, Rules::FloorTile, Rules::Gripper];
    let found = with_rules.into_iter().find(|known| known.name().as_bytes() == name).map(Rules::pddl);
    found.or_else(|| ROVER_NAMES.contains(&name).then_some(ROVER))
}

/// True for the name of a known domain: a problem in it has a certificate.
pub fn is_known(name: &[u8]) -> bool {
    pddl_of(name).is_some() || name == b"rover-single-storeless"
}

/// A domain, with what rows in it share.
pub struct PlanningDomain {
    /// The words of its text.
    pub names: Interner,
    /// What its problems are read with: its words are among those of every problem.
    reader: RefCell<Interner>,
    declared: Declared,
    /// What its problems may call it.
    known_as: Vec<Vec<u8>>,
    /// True for the known domain without rules.
    pub is_rover: bool,
    pub structure: DomainStructure,
    untyped: Domain,
    /// Its operators as they are executed.
    pub operators: Vec<Template>,
    /// The rules of the known domain that it is in other words.
    pub roles: Option<Roles>,
    /// True where some operator takes more than plain objects.
    pub has_types: bool,
    /// True where operators are sets of atoms with positive preconditions, and there are no functions.
    pub is_strips: bool,
    /// True where an operator asks for an atom to be false: then cl(goal) is a set of literals.
    pub uses_negation: bool,
    /// True where the declarations do not admit an atom of an operator.
    pub is_ill_typed: bool,
    /// True where operators have conditions and effects that sets of atoms cannot say.
    pub is_beyond: bool,
    /// True where some of these say something of numbers.
    pub has_numbers: bool,
    /// True where effects on numbers alone never lack a value on the way.
    pub has_plain_costs: bool,
    /// The domain with its costs, without types and with them, where these are all that sets of atoms cannot say.
    pub costed: Option<(Domain, DomainStructure)>,
    /// By predicate: true for those that some operator changes; all others are static.
    pub fluents: Vec<bool>,
}

impl PlanningDomain {
    /// The domain of a text, of several the last one if that counts.
    pub fn read(text: &[u8], last: bool) -> Answer<PlanningDomain> {
        let read = |names: &mut Interner| parse_any_domain(text, last, names)?.outcome.map_err(|_| Left::Domain);
        let mut names = Interner::new();
        let domain = read(&mut names)?;
        let reader = Interner::with(vocabulary(&domain, &names).map(|word| names.text(word)))?;
        let mut names = reader.clone();
        let mut domain = read(&mut names)?;
        if has_ill_typed_numbers(&domain, &names) {
            return Err(Left::Numbers);
        }
        // Costs, which decide nothing in problems that say nothing of numbers.
        let mut formulas = domain.operators.iter().flat_map(|each| &each.formulas);
        let is_beyond = formulas.any(|formula| !formula.is_effect)
            || domain.operators.iter().any(|each| !each.beyond.is_empty())
            || !domain.rules.is_empty();
        let has_costs = domain.operators.iter().any(|each| !each.formulas.is_empty());
        let mut verbs = domain.operators.iter().flat_map(|each| &each.formulas).map(|formula| &formula.written);
        let is_sum = |mark: &Mark| !matches!(mark, Mark::Word(word) if !is_additive(names.text(*word)));
        let has_plain_costs = verbs.all(|written| written.iter().all(is_sum));
        domain.has_functions |= has_costs;
        let mut costed = None;
        if has_costs {
            let mut own = domain.clone();
            for operator in &mut own.operators {
                for Formula { is_effect, holds, head, sides, written, encoded } in operator.formulas.drain(..) {
                    let form = numeric(names.text(head), sides)?;
                    let form = if holds { form } else { Form::Not(Box::new(form)) };
                    operator.beyond.push(Beyond { is_effect, form, holds, written, encoded });
                }
            }
            match is_beyond {
                true => domain = own,
                false => costed = Some((own.without_types(), DomainStructure::new(own))),
            }
        }
        domain.operators.iter_mut().for_each(|each| each.formulas.clear());
        let structure = DomainStructure::new(domain);
        let domain = &structure.domain;
        let operators = &domain.operators;
        let mut types = operators.iter().flat_map(|each| &each.parameters).map(|(_, own)| *own);
        let has_types = types.any(|own| own != Known::Object as Word);
        let mut avoided = operators.iter().flat_map(|each| &each.parts[1]);
        let beyond = operators.iter().flat_map(|each| &each.beyond);
        let rules = &domain.rules;
        let compares = rules.iter().map(|rule| &rule.body).chain(beyond.clone().map(|each| &each.form));
        let has_numbers = compares.clone().any(Form::is_numeric);
        let is_long = |atom: &Lifted, _: &[(Word, Word)]| atom.len() > 1 + MOST_ARGUMENTS;
        if beyond.clone().any(|each| each.form.has_atom(&mut Vec::new(), &is_long))
            || rules.iter().any(|rule| is_long(&rule.head(), &[]) || rule.body.has_atom(&mut Vec::new(), &is_long))
        {
            return Err(Left::Arity);
        }
        let uses_negation = avoided.any(|atom| names.text(atom[0]) != EQUALITY)
            || beyond.clone().any(|each| each.form.negates(each.is_effect, &names))
            || rules.iter().any(|rule| rule.body.negates(false, &names));
        let mut changed: Vec<Word> = operators.iter().flat_map(Operator::changed).collect();
        changed.extend(rules.iter().map(|rule| rule.name));
        let mut fluents = vec![false; changed.iter().max().map_or(0, |last| *last as usize + 1)];
        changed.iter().for_each(|predicate| fluents[*predicate as usize] = true);
        let may_have_rules = domain.constants.is_empty() && !has_costs && beyond.clone().next().is_none();
        let certified = if may_have_rules { Rules::certified(&structure.certificate(&names)?) } else { None };
        if certified.is_some() && is_beyond {
            return Err(Left::Derived); // derived predicates that nothing uses
        }
        let own = (&structure, &names);
        let roles = certified.map(|rules| match rules.pddl().as_bytes() == text {
            true => Roles::new(rules, own, own),
            false => {
                let theirs = known_domain(rules.name().as_bytes())?.ok_or(Left::Rules)?;
                Roles::new(rules, own, (&theirs.structure, &theirs.names))
            }
        });
        let constants = domain.constants.keys().map(|name| names.text(*name).to_vec()).collect();
        let is_positive = operators.iter().all(|each| each.parts[1].is_empty());
        let is_strips = !domain.has_functions && !is_beyond && is_positive;
        Ok(PlanningDomain {
            reader: RefCell::new(reader),
            declared: Declared { constants, is_typed: Some(!domain.types.is_empty()) },
            known_as: vec![names.text(domain.name).to_vec()],
            is_rover: false,
            untyped: domain.without_types(),
            operators: operators.iter().map(|each| Template::new(each, &names)).collect::<Answer<_>>()?,
            roles: roles.transpose()?,
            has_types,
            is_strips,
            uses_negation,
            has_numbers,
            has_plain_costs,
            costed,
            is_ill_typed: ill_typed_operator(domain, b"", &names).is_some() || has_ill_typed_forms(domain, &names),
            is_beyond,
            fluents,
            structure,
            names,
        })
    }

    /// The problem of a text.
    pub fn read_problem(&self, text: Option<&[u8]>) -> Answer<Reading> {
        read_problem(text, &self.declared, &mut self.reader.borrow_mut())
    }

    /// The same of a problem that says more than sets of atoms.
    pub fn read_any_problem(&self, text: &[u8]) -> Answer<Problem> {
        let mut names = self.reader.borrow_mut();
        names.start();
        read_any_problem(text, &mut names)?.beyond_strips(&self.structure.domain, &names)
    }

    /// True where problems name their domain, which has rules: then all problems have the same words.
    pub fn is_named(&self) -> bool {
        self.declared.is_typed.is_none()
    }

    /// True where problems may call it this.
    pub fn is_called(&self, name: &[u8]) -> bool {
        self.known_as.iter().any(|known| known == name)
    }

    /// The domain, with types or without, as a problem takes it that says something of numbers or does not.
    pub fn operators_of(&self, typed: bool, has_numbers: bool) -> &Domain {
        match (&self.costed, typed) {
            (Some((_, costed)), true) if has_numbers => &costed.domain,
            (Some((untyped, _)), false) if has_numbers => untyped,
            (_, true) => &self.structure.domain,
            (_, false) => &self.untyped,
        }
    }

    /// The constants, as words of a problem.
    pub fn constants<'a>(&'a self, words: &'a Words) -> impl Iterator<Item = Word> + 'a {
        self.structure.domain.constants.keys().map(|name| words.place_of(*name))
    }

    /// A step of a plan in the words of a problem.
    pub fn texts(&self, step: &[Word], words: &Words) -> Vec<Vec<u8>> {
        let operator = &self.structure.domain.operators[step[0] as usize];
        let arguments = step[1..].iter().map(|word| words.text(*word));
        [self.names.text(operator.name)].into_iter().chain(arguments).map(<[u8]>::to_vec).collect()
    }

    /// True for the predicates that some operator changes; all others are static.
    pub fn is_fluent(&self, predicate: Word, words: &Words) -> bool {
        self.fluents.get(words.number(predicate) as usize) == Some(&true)
    }
}

/// False for a word that plain costs do not have.
fn is_additive(word: &[u8]) -> bool {
    matches!(word, b"increase" | b"decrease") || !(word == b"/" || UPDATES.contains(&word))
}

/// True for a domain that is one with rules, in some words.
pub fn is_certified(structure: &DomainStructure, names: &Interner) -> Answer<bool> {
    Ok(structure.domain.constants.is_empty() && Rules::certified(&structure.certificate(names)?).is_some())
}

/// The words of a domain that may be among those of what follows from a problem.
fn vocabulary<'a>(domain: &'a Domain, names: &'a Interner) -> impl Iterator<Item = Word> + 'a {
    let declared = domain.predicates.iter().flat_map(|(name, types)| types.iter().chain([name]));
    let typed = domain.types.iter().chain(&domain.constants).flat_map(|(name, type_)| [name, type_]);
    let parameters = domain.operators.iter().flat_map(|each| &each.parameters).map(|(_, type_)| type_);
    let atoms = domain.operators.iter().flat_map(Operator::atoms_and_fluents);
    let mut further: Vec<Word> = domain.functions.keys().copied().collect();
    let forms = domain.operators.iter().flat_map(|each| &each.beyond).map(|each| &each.form);
    for form in forms.chain(domain.rules.iter().map(|rule| &rule.body)) {
        form.words(&mut further);
        form.each_leaf(&mut |leaf| further.extend(leaf.fluents().flatten()));
    }
    further.extend(domain.rules.iter().map(|rule| rule.name));
    let named = declared.chain(typed).chain(parameters).chain(atoms.flatten()).copied().chain(further);
    named.filter(|word| !matches!(names.text(*word), EQUALITY | [b'?', ..]))
}

thread_local! {
    /// The known domains that were asked for, by their texts.
    static KNOWN_DOMAINS: RefCell<Vec<(&'static str, Rc<PlanningDomain>)>> = const { RefCell::new(Vec::new()) };
}

/// The known domain that problems call by this name.
pub fn known_domain(name: &[u8]) -> Answer<Option<Rc<PlanningDomain>>> {
    let Some(text) = pddl_of(name) else { return Ok(None) };
    let known =
        KNOWN_DOMAINS.with_borrow(|all| all.iter().find(|(own, _)| *own == text).map(|(_, known)| known.clone()));
    if known.is_some() {
        return Ok(known);
    }
    let mut read = PlanningDomain::read(text.as_bytes(), false)?;
    if text == ROVER {
        read.is_rover = true;
        read.known_as = ROVER_NAMES.map(<[u8]>::to_vec).to_vec();
    } else {
        read.declared.is_typed = None;
    }
    let read = Rc::new(read);
    KNOWN_DOMAINS.with_borrow_mut(|all| all.push((text, read.clone())));
    Ok(Some(read))
}

/// Gives the known domains up, after a panic.
pub fn forget_known_domains() {
    KNOWN_DOMAINS.with_borrow_mut(Vec::clear);
}

/// Atoms of an initial state that exclude each other: the rules do not cover it.
pub struct BrokenAssumption(pub Vec<Atom>);

/// A proof that no reachable state contains the goal: atoms, and whether they exclude each other.
#[derive(Clone)]
pub struct Unsolvable {
    pub atoms: Vec<Atom>,
    pub never_true: bool,
}

pub fn exclude_each_other(atoms: Vec<Atom>) -> Unsolvable {
    Unsolvable { atoms, never_true: false }
}

pub fn never_true(atom: Atom) -> Unsolvable {
    Unsolvable { atoms: vec![atom], never_true: true }
}

/// An initial state that the rules of its domain cover.
pub enum CoveredState {
    Towers(Towers),
    Floor(Floor),
    Scene(Scene),
}

/// A goal as the rules of its domain read it.
pub enum CoveredGoal {
    Towers(Chains),
    Floor(Aims),
    Scene(Arrangement),
}

impl CoveredState {
    /// The goal as the rules read it, or the proof that no reachable state contains it.
    pub fn goal(&self, words: &Words, goal: &[Atom]) -> Result<CoveredGoal, Unsolvable> {
        Ok(match self {
            CoveredState::Towers(state) => CoveredGoal::Towers(state.goal(words, goal)?),
            CoveredState::Floor(state) => CoveredGoal::Floor(state.goal(words, goal)?),
            CoveredState::Scene(state) => CoveredGoal::Scene(state.goal(words, goal)?),
        })
    }

    /// cl(goal), sorted; `goal` are the atoms of the goal that `aims` was read from.
    pub fn closure(&self, words: &Words, goal: &[Atom], aims: &CoveredGoal) -> Vec<Atom> {
        let mut closure = match (self, aims) {
            (CoveredState::Towers(state), CoveredGoal::Towers(aims)) => state.closure(words, aims),
            (CoveredState::Floor(state), CoveredGoal::Floor(aims)) => state.closure(words, aims),
            (CoveredState::Scene(state), CoveredGoal::Scene(aims)) => state.closure(words, aims),
            _ => unreachable!("a goal is read by the state of its own domain"),
        };
        closure.extend_from_slice(goal);
        sort_atoms(&mut closure);
        closure
    }

    /// A plan to a state that contains the goal; where the goal holds already, nobody asks.
    pub fn plan(&self, words: &Words, aims: &CoveredGoal) -> Vec<Action> {
        match (self, aims) {
            (CoveredState::Towers(state), CoveredGoal::Towers(aims)) => state.plan(words, aims),
            (CoveredState::Floor(state), CoveredGoal::Floor(aims)) => state.plan(words, aims),
            (CoveredState::Scene(state), CoveredGoal::Scene(aims)) => state.plan(words, aims),
            _ => unreachable!("a goal is read by the state of its own domain"),
        }
    }
}
