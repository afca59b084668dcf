//! A known domain in other words (definition/domains/renaming.py): its rules solve the given domain's problems.

use crate::domains::Domain;
use crate::hashing::HashMap;
use crate::left::{Answer, Left};
use crate::metrics::plan_exchange::Plan;
use crate::model::{parts, Atom, Domain as Given, Known, Lifted, Word};
use crate::pddl::domains::parse_domain;
use crate::pddl::problems::{read_problem, Interner, LiftedProblem};
use crate::structure::graph::Vertex;
use crate::structure::renaming::isomorphism;
use crate::structure::structure::DomainStructure;
use crate::task::Task;
use crate::validation::operator_named;
use std::iter;
use std::rc::Rc;

/// The known domains over the words of an interner, each read when it is first asked for.
#[derive(Default)]
pub struct KnownDomains([Option<Rc<DomainStructure>>; 3]);

impl KnownDomains {
    fn structure(&mut self, known: Domain, names: &mut Interner) -> Answer<Rc<DomainStructure>> {
        let place = &mut self.0[known as usize];
        if let Some(structure) = place {
            return Ok(structure.clone());
        }
        let domain = parse_domain(known.pddl().as_bytes(), false, names)?.outcome.map_err(|_| Left::Rules)?;
        Ok(place.insert(Rc::new(DomainStructure::new(domain))).clone())
    }
}

/// A given domain in the words of a known one.
pub struct Renaming {
    known: Domain,
    theirs: Rc<DomainStructure>,
    image: HashMap<Vertex, Vertex>,
}

impl Renaming {
    pub fn new(
        known: Domain,
        given: &DomainStructure,
        domains: &mut KnownDomains,
        names: &mut Interner,
    ) -> Answer<Renaming> {
        let theirs = domains.structure(known, names)?;
        let image = isomorphism(given.graph(names)?, theirs.graph(names)?)?.into_iter().collect();
        Ok(Renaming { known, theirs, image })
    }

    /// The problem in the known domain; with types, or without.
    pub fn task(&self, given: &Given, problem: &LiftedProblem, typed: bool, names: &Interner) -> Answer<Task> {
        let text = written(self.known, given, problem, &self.image, names);
        let mut words = Interner::new();
        let read = read_problem(Some(text.as_bytes()), &mut words)?.outcome.map_err(|_| Left::Rules)?;
        Ok(Task::new(Rc::new(read), self.known, typed))
    }

    /// The plan by the rules of the known domain.
    pub fn plan(&self, task: &Task, given: &Given, names: &Interner) -> Answer<Plan> {
        let plan = task.plan()?.ok_or(Left::Rules)?;
        let mut found = Vec::with_capacity(plan.len());
        for action in plan {
            let is_known = |name: Word| operator_named(self.known, names.text(name)).map(|(operator, _)| operator);
            let operators = &self.theirs.domain.operators;
            let number = operators.iter().position(|each| is_known(each.name) == Some(action.operator()));
            let theirs = Vertex::Operator(number.ok_or(Left::Rules)?);
            let ours = (0..given.operators.len()).find(|own| self.image.get(&Vertex::Operator(*own)) == Some(&theirs));
            let ours = ours.ok_or(Left::Rules)?;
            let operator = &given.operators[ours];
            let mut step = vec![operator.name];
            for place in 0..operator.parameters.len() {
                let Some(Vertex::Parameter(_, place)) = self.image.get(&Vertex::Parameter(ours, place)) else {
                    return Err(Left::Rules);
                };
                let text = task.problem.words.text(action.argument(*place));
                step.push(names.find(text).ok_or(Left::Rules)?);
            }
            found.push(step);
        }
        Ok(found)
    }

    /// An atom of the known domain in the words of the given one.
    pub fn atom_back(&self, task: &Task, atom: Atom, names: &Interner) -> Answer<Lifted> {
        let words = &task.problem.words;
        let (name, first, second) = parts(atom);
        let terms: Vec<Word> = [first, second].into_iter().filter(|word| *word != 0).collect();
        let is_image = |vertex: &Vertex| match vertex {
            Vertex::Predicate(theirs, arity) => *arity == terms.len() && names.text(*theirs) == words.text(name),
            _ => false,
        };
        let Some((Vertex::Predicate(ours, arity), _)) = self.image.iter().find(|(_, theirs)| is_image(theirs)) else {
            // No operator uses it: its name was free, or became so.
            let mut own = names.find(words.text(name)).ok_or(Left::Rules)?;
            while let Some(Vertex::Predicate(given_away, _)) = self.image.get(&Vertex::Predicate(own, terms.len())) {
                own = *given_away;
            }
            let terms = terms.iter().map(|term| names.find(words.text(*term)).ok_or(Left::Rules));
            return iter::once(Ok(own)).chain(terms).collect();
        };
        let mut found = vec![*ours];
        for place in 0..*arity {
            let place = match self.image.get(&Vertex::Place(*ours, *arity, place)) {
                Some(Vertex::Place(_, _, theirs)) => *theirs,
                _ => place, // the only one
            };
            found.push(names.find(words.text(terms[place])).ok_or(Left::Rules)?);
        }
        Ok(found)
    }
}

/// The problem in the words of the known domain.
fn written(
    known: Domain,
    given: &Given,
    problem: &LiftedProblem,
    image: &HashMap<Vertex, Vertex>,
    names: &Interner,
) -> String {
    let text = |word: Word| String::from_utf8_lossy(names.text(word));
    let name = known.name();
    let type_of = |type_: Word| {
        let renamed = |each: Word| image.get(&Vertex::Type(each));
        let found = given.ancestors(type_).into_iter().find_map(renamed);
        if let Some(Vertex::Type(type_)) = found {
            *type_
        } else {
            Known::Object as Word
        }
    };
    let objects = problem.objects.iter().map(|(name, type_)| format!("{} - {}", text(*name), text(type_of(*type_))));
    let mut old: HashMap<(Word, usize), (Word, usize)> = HashMap::default();
    for (one, two) in image {
        if let (Vertex::Predicate(one, arity), Vertex::Predicate(two, _)) = (one, two) {
            old.insert((*two, *arity), (*one, *arity));
        }
    }
    let atom = |atom: &Lifted| {
        let arity = atom.len() - 1;
        let mut terms: Vec<Word> = atom[1..].to_vec();
        let mut predicate = atom[0];
        if let Some(Vertex::Predicate(new, _)) = image.get(&Vertex::Predicate(predicate, arity)) {
            predicate = *new;
            for (place, term) in atom[1..].iter().enumerate().filter(|_| arity > 1) {
                if let Some(Vertex::Place(_, _, new)) = image.get(&Vertex::Place(atom[0], arity, place)) {
                    terms[*new] = *term;
                }
            }
        } else {
            // A name that is given away becomes one that is free.
            let mut free = (predicate, arity);
            while let Some(before) = old.get(&free) {
                free = *before;
            }
            predicate = free.0;
        }
        let words: Vec<_> = [predicate].into_iter().chain(terms).map(text).collect();
        format!("({})", words.join(" "))
    };
    let [init, goal] = [&problem.init, &problem.goal].map(|atoms| atoms.iter().map(atom).collect::<String>());
    let objects = objects.collect::<Vec<_>>().join(" ");
    format!("(define (problem p) (:domain {name}) (:objects {objects}) (:init {init}) (:goal (and {goal})))")
}
