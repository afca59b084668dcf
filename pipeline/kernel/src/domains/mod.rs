//! All that is known of particular domains (definition/domains), and what the rules of three of them share.

pub mod blocksworld;
pub mod floor_tile;
pub mod gripper;
pub mod renaming;

use crate::canonical::Digits;
use crate::domains::blocksworld::{Chains, Towers};
use crate::domains::floor_tile::{Aims, Floor};
use crate::domains::gripper::{Arrangement, Scene};
use crate::domains::renaming::{KnownDomains, Renaming};
use crate::left::{Answer, Left};
use crate::metrics::domain_pair::ill_typed_operator;
use crate::model::{self, Atom, Known, Word, Words, EQUALITY};
use crate::pddl::domains::parse_domain;
use crate::pddl::problems::Interner;
use crate::structure::structure::DomainStructure;
use crate::validation::Action;
use std::collections::HashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    Blocksworld,
    FloorTile,
    Gripper,
}

impl Domain {
    pub fn named(name: Known) -> Option<Domain> {
        match name {
            Known::Blocksworld => Some(Domain::Blocksworld),
            Known::FloorTile => Some(Domain::FloorTile),
            Known::Gripper => Some(Domain::Gripper),
            _ => None,
        }
    }

    /// The domain of this certificate, which all domains have that are this one in other words.
    pub fn certified(certificate: &Digits) -> Option<Domain> {
        match certificate {
            b"c1901eb9dd5b08aceba500257d61ecae" => Some(Domain::Blocksworld),
            b"c96e2f07e160049f49e2a22e15988e8e" => Some(Domain::FloorTile),
            b"064939ab3ce821a798cd340001123d82" => Some(Domain::Gripper),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Domain::Blocksworld => "blocksworld",
            Domain::FloorTile => "floor-tile",
            Domain::Gripper => "gripper",
        }
    }

    pub fn pddl(self) -> &'static str {
        match self {
            Domain::Blocksworld => blocksworld::PDDL,
            Domain::FloorTile => floor_tile::PDDL,
            Domain::Gripper => gripper::PDDL,
        }
    }

    /// True where some operator takes more than plain objects.
    pub fn has_types(self) -> bool {
        self == Domain::FloorTile
    }

    /// True for the predicates that some operator changes; all others are static.
    pub fn is_fluent(self, predicate: Known) -> bool {
        use Known::{ArmEmpty, At, AtRobby, Carry, Clear, Free, Holding, On, OnTable, Painted, RobotAt, RobotHas};
        match self {
            Domain::Blocksworld => matches!(predicate, ArmEmpty | Clear | Holding | On | OnTable),
            Domain::FloorTile => matches!(predicate, Painted | RobotAt | RobotHas),
            Domain::Gripper => matches!(predicate, At | AtRobby | Carry | Free),
        }
    }

    /// The domain's name and operators as a certificate has them; the page "Certificates" lists these.
    pub fn fingerprint(self) -> &'static str {
        match self {
            Domain::Blocksworld => "3118c3a346e29d728f2b8a359e50a623",
            Domain::FloorTile => "ff0907a89cd119aa9509ae01368f0a80",
            Domain::Gripper => "537d6ea47a5ea0824ba0ff3032b1a05d",
        }
    }

    /// The initial state as the rules see it; `types` are those of the words, None where they do not count.
    pub fn read(self, words: &Words, init: &[Atom], types: Option<&[Word]>) -> Result<CoveredState, BrokenAssumption> {
        Ok(match self {
            Domain::Blocksworld => CoveredState::Towers(blocksworld::read(words, init)?),
            Domain::FloorTile => CoveredState::Floor(floor_tile::read(words, init, types)?),
            Domain::Gripper => CoveredState::Scene(gripper::read(words, init)?),
        })
    }
}

/// The known domain without rules: it is decided as one that is given as text.
const ROVER: &str = include_str!(concat!(env!("OUT_DIR"), "/rover_single_stores.pddl"));

/// What problems call it.
pub const ROVER_NAMES: [&[u8]; 3] = [b"rover", b"rover-single", b"rover-single-stores"];

/// The text of the known domain that problems call by this name.
pub fn pddl_of(name: &[u8]) -> Option<&'static str> {
    let with_rules = [Domain::Blocksworld, Domain::FloorTile, Domain::Gripper];
    let found = with_rules.into_iter().find(|known| known.name().as_bytes() == name).map(Domain::pddl);
    found.or_else(|| ROVER_NAMES.contains(&name).then_some(ROVER))
}

/// True for the name of a known domain: a problem in it has a certificate.
pub fn is_known(name: &[u8]) -> bool {
    pddl_of(name).is_some() || name == b"rover-single-storeless"
}

/// A domain of which there is the text, with what rows in it share.
pub struct PlanningDomain {
    /// What its problems may call it.
    pub names: Vec<Word>,
    /// True for the known domain without rules.
    pub is_rover: bool,
    pub structure: DomainStructure,
    untyped: model::Domain,
    /// The known domain that it is in other words.
    pub rules: Answer<Option<Renaming>>,
    /// True where some operator takes more than plain objects.
    pub has_types: bool,
    /// True where operators are sets of atoms with positive preconditions, and there are no functions.
    pub is_strips: bool,
    /// True where an operator asks for an atom to be false: then cl(goal) is a set of literals.
    pub uses_negation: bool,
    /// True where the declarations do not admit an atom of an operator.
    pub is_ill_typed: bool,
    fluents: HashSet<Word>,
}

impl PlanningDomain {
    pub fn new(
        structure: DomainStructure,
        known_domains: &mut KnownDomains,
        names: &mut Interner,
    ) -> Answer<PlanningDomain> {
        let domain = &structure.domain;
        let operators = &domain.operators;
        let mut types = operators.iter().flat_map(|each| &each.parameters).map(|(_, own)| *own);
        let has_types = types.any(|own| own != Known::Object as Word);
        let is_strips = !domain.has_functions && operators.iter().all(|each| each.parts[1].is_empty());
        let mut avoided = operators.iter().flat_map(|each| &each.parts[1]);
        let uses_negation = avoided.any(|atom| names.text(atom[0]) != EQUALITY);
        let is_ill_typed = ill_typed_operator(domain, b"", names).is_some();
        let fluents = operators.iter().flat_map(|each| each.parts[2..].iter().flatten()).map(|atom| atom[0]).collect();
        let untyped = domain.without_types();
        let rules = match structure.certificate(names) {
            Ok(certificate) if structure.domain.constants.is_empty() => Domain::certified(&certificate)
                .map(|known| Renaming::new(known, &structure, known_domains, names))
                .transpose(),
            other => other.map(|_| None),
        };
        let known_as = vec![structure.domain.name];
        Ok(PlanningDomain {
            names: known_as,
            is_rover: false,
            structure,
            untyped,
            rules,
            has_types,
            is_strips,
            uses_negation,
            is_ill_typed,
            fluents,
        })
    }

    /// The domain, with types or without.
    pub fn operators_of(&self, typed: bool) -> &model::Domain {
        if typed {
            &self.structure.domain
        } else {
            &self.untyped
        }
    }

    /// True for the predicates that some operator changes; all others are static.
    pub fn is_fluent(&self, predicate: Word) -> bool {
        self.fluents.contains(&predicate)
    }
}

/// The domain of a text.
pub fn planning_domain(text: &[u8], names: &mut Interner) -> Answer<PlanningDomain> {
    let domain = parse_domain(text, false, names)?.outcome.map_err(|_| Left::Domain)?;
    PlanningDomain::new(DomainStructure::new(domain), &mut KnownDomains::default(), names)
}

/// The known domain without rules.
pub fn rover(names: &mut Interner) -> Answer<PlanningDomain> {
    let mut domain = planning_domain(ROVER.as_bytes(), names)?;
    domain.is_rover = true;
    domain.names = ROVER_NAMES.iter().map(|name| names.number(name, 0, name.len())).collect::<Answer<_>>()?;
    Ok(domain)
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
        closure.sort_unstable();
        closure.dedup();
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
