//! Is this domain right? Strong equivalence of domain models (definition/domain_equivalence.py).

use crate::difference::Difference;
use crate::domain_difference::{count_sentence, nearest_sentence, renaming_sentence, types_sentence};
use crate::left::{named, Answer};
use crate::model::{Domain, Operator, Word};
use crate::pddl::problems::Interner;
use crate::structure::renaming::isomorphism;
use crate::structure::structure::DomainStructure;
use std::collections::{BTreeMap, BTreeSet};

named! {
    /// What is said of a pair of domains.
    DomainVerdict {
        Identical "identical"
        Renamed "renamed"
        OperatorCount "operator_count"
        OperatorsDiffer "operators_differ"
        TypesDiffer "types_differ"
        Empty "empty"
        Unparseable "unparseable"
    }
}

impl DomainVerdict {
    pub fn right(self) -> bool {
        matches!(self, DomainVerdict::Identical | DomainVerdict::Renamed)
    }

    /// The same once types are erased: domains in which operators share a name are left, of all others the verdict says it.
    pub fn right_untyped(self) -> bool {
        self.right() || self == DomainVerdict::TypesDiffer
    }
}

/// Whether the operators of the generated domain are those of the reference in some other words, and which ones.
pub fn decide_domains(
    reference: &DomainStructure,
    generated: &DomainStructure,
    names: &mut Interner,
) -> Answer<(DomainVerdict, Option<Difference>)> {
    let sides = (&reference.domain, &generated.domain);
    if generated.is_written_as(reference, names) {
        return Ok((DomainVerdict::Identical, None));
    }
    if sides.0.operators.len() != sides.1.operators.len() {
        return Ok((DomainVerdict::OperatorCount, Some(count_sentence(sides.0, sides.1, names)?)));
    }
    let graphs = (generated.graph(names)?, reference.graph(names)?);
    if graphs.0.isomorphic(graphs.1)? {
        let image = isomorphism(graphs.0, graphs.1)?;
        return Ok((DomainVerdict::Renamed, Some(renaming_sentence(sides.1, sides.0, &image, names))));
    }
    if !sides.0.types.is_empty() || !sides.1.types.is_empty() {
        let untyped = (generated.untyped(names)?, reference.untyped(names)?);
        if untyped.0.isomorphic(untyped.1)? {
            let image = isomorphism(untyped.0, untyped.1)?;
            return Ok((DomainVerdict::TypesDiffer, Some(types_sentence(sides.0, sides.1, &image, names))));
        }
    }
    Ok((DomainVerdict::OperatorsDiffer, Some(nearest_sentence(sides.0, sides.1, names)?)))
}

/// The operators by the names by which they match; of several with one name the last.
pub fn by_name(domain: &Domain) -> BTreeMap<Word, &Operator> {
    domain.operators.iter().map(|operator| (operator.key, operator)).collect()
}

/// The names of the operators that are the same in both domains but for the names of their parameters.
pub fn shared_operators(reference: &Domain, generated: &Domain) -> BTreeSet<Word> {
    if (&reference.types, &reference.constants) != (&generated.types, &generated.constants) {
        return BTreeSet::new();
    }
    let theirs = by_name(generated);
    let types = |operator: &Operator| operator.parameters.iter().map(|(_, type_)| *type_).collect::<Vec<Word>>();
    let same = |one: &Operator, other: &Operator| types(one) == types(other) && one.by_position == other.by_position;
    let both = by_name(reference).into_iter().filter(|(name, own)| theirs.get(name).is_some_and(|it| same(own, it)));
    both.map(|(name, _)| name).collect()
}
