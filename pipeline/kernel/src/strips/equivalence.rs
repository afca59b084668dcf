//! Algorithm 1 of the paper in both modes (definition/equivalence.py).

use crate::equivalence::Verdict;
use crate::left::{Answer, Left};
use crate::model::{Lifted, Word};
use crate::strips::task::{Scene, Task, Within};
use std::collections::HashMap;

/// Generated → reference objects.
pub type ObjectMap = HashMap<Word, Word>;

pub struct Decision {
    pub verdict: Verdict,
    /// It proves a yes; where the goals differ it maps the initial states.
    pub object_map: Option<ObjectMap>,
    /// The map that takes goal to goal: in placeholder mode.
    pub goal_map: Option<ObjectMap>,
}

/// Whether the generated problem is the reference's planning problem.
pub fn decide(reference: &Task, generated: &Task, is_placeholder: bool, within: Within) -> Answer<Decision> {
    let (ours, theirs) = (&generated.problem, &reference.problem);
    let decision = |verdict, object_map| Ok(Decision { verdict, object_map, goal_map: None });
    let isomorphism = |scene| isomorphism(generated, reference, scene, within);
    if ours.objects.len() != theirs.objects.len() {
        return decision(Verdict::ObjectCount, None);
    }
    if generated.objects == reference.objects && ours.init == theirs.init && ours.goal == theirs.goal {
        return decision(Verdict::Identical, Some(identity(generated)));
    }
    if sorted_types(generated) != sorted_types(reference) {
        return decision(Verdict::TypesDiffer, None);
    }
    if let Some(object_map) = isomorphism(Scene::AsWritten)? {
        return decision(Verdict::Isomorphic, Some(object_map));
    }
    let same_init = generated.objects == reference.objects && ours.init == theirs.init;
    let counts_agree = || {
        let graphs = (generated.graph(Scene::Init, within)?, reference.graph(Scene::Init, within)?);
        Ok(graphs.0.same_invariant(graphs.1))
    };
    if !same_init && !counts_agree()? {
        return decision(Verdict::InitDiffers, None);
    }
    let (ours_closed, theirs_closed) = (generated.closure(within)?, reference.closure(within)?);
    let Some(object_map) = isomorphism(Scene::Init)? else { return decision(Verdict::InitDiffers, None) };
    if theirs_closed.is_err() {
        return Err(Left::Reference);
    }
    if ours_closed.is_err() {
        return decision(Verdict::Unsolvable, None);
    }
    if is_placeholder {
        if let goal_map @ Some(_) = isomorphism(Scene::ClosedGoal)? {
            return Ok(Decision { verdict: Verdict::Equivalent, object_map: Some(object_map), goal_map });
        }
    } else if let Some(joined) = isomorphism(Scene::Closed)? {
        return decision(Verdict::Equivalent, Some(joined));
    }
    decision(Verdict::GoalDiffers, Some(object_map))
}

fn identity(task: &Task) -> ObjectMap {
    task.problem.objects.iter().map(|(name, _)| (*name, *name)).collect()
}

fn sorted_types(task: &Task) -> Vec<Word> {
    let mut types: Vec<Word> = task.problem.objects.iter().map(|(_, type_)| *type_).collect();
    types.sort_unstable();
    types
}

/// The object map under which the scenes are equal, by the same names first; None if they are not isomorphic.
fn isomorphism(generated: &Task, reference: &Task, scene: Scene, within: Within) -> Answer<Option<ObjectMap>> {
    let same_objects = generated.objects == reference.objects;
    if same_objects && generated.atoms(scene, within)? == reference.atoms(scene, within)? {
        return Ok(Some(identity(generated)));
    }
    let (ours, theirs) = (generated.graph(scene, within)?, reference.graph(scene, within)?);
    let Some((ours, theirs)) = ours.orders(theirs)? else { return Ok(None) };
    let (own, other) = (&generated.problem.objects, &reference.problem.objects);
    let pairs = ours.iter().zip(theirs).filter(|(one, _)| (**one as usize) < own.len());
    Ok(Some(pairs.map(|(one, two)| (own[*one as usize].0, other[*two as usize].0)).collect()))
}

/// The atom, or the action, with other names for its objects.
pub fn in_words(atom: &Lifted, names: &ObjectMap) -> Lifted {
    let renamed = atom[1..].iter().map(|name| *names.get(name).unwrap_or(name));
    [atom[0]].into_iter().chain(renamed).collect()
}

/// The map the other way round.
pub fn inverse(map: &ObjectMap) -> ObjectMap {
    map.iter().map(|(ours, theirs)| (*theirs, *ours)).collect()
}
