//! What plans are executed in: a problem's objects, atoms and numbers in a domain (definition/formulas.py), and the
//! actions there (definition/validation.py).

use crate::difference::Difference;
use crate::domain_difference::words_of;
use crate::fraction::Fraction;
use crate::grounding::{self, broken_equation, Objects};
use crate::hashing::{HashMap, HashSet};
use crate::left::{Answer, Left};
use crate::metrics::domain_pair::{is_ill_typed as is_ill_typed_form, misfit, misfit_of};
use crate::model::{
    alternatives_in, Atom, Domain, Expression, Form, Formula, Lifted, Operator, Part, Word, EQUALITY, PLACES,
    TOTAL_COST,
};
use crate::numbers::{compare, updated, value_of, GroundExpression, GroundPart, Undefined, FALSE, TRUE};
use crate::pddl::any_problem::{AnyProblem, Conjunct};
use crate::pddl::language::show_formula;
use crate::pddl::problems::Interner;
use crate::planning::conditions::{ConditionalEffect, Conditions, Ranges};
use crate::plans::found::{Step, Steps};
use crate::state_space::{Formula as Condition, Judge, Rules};
use crate::validation::State;
use std::rc::Rc;

const TOTAL_TIME: &[u8] = b"total-time";

/// Actions that are kept with what they need and do.
const ACTIONS_KEPT: usize = 20_000;

/// Parts of their formulas.
const PARTS_KEPT: usize = 3_000_000;

/// Parts of formulas over atoms that are looked at in the time of one of a number.
const PARTS_PER_EVALUATION: usize = 10;

const MOST_ATOMS: usize = 250_000;

/// A verdict, and a kind with the words of its sentence.
pub type Fault = (&'static str, Difference);

/// Conditions, each as it is written, effects, and how many parts they took.
type Forms = (Vec<(Condition, Vec<u8>)>, Vec<ConditionalEffect>, usize);

/// A ground operator, and the action that it is; it deletes nothing that it adds.
#[derive(Default)]
pub struct Done {
    pub action: Step,
    pub needs: Vec<Atom>,
    avoids: Vec<Atom>,
    pub adds: Vec<Atom>,
    pub deletes: Vec<Atom>,
    formulas: Vec<Ground>,
    /// Conditions that sets of atoms cannot say, each as it is written.
    conditions: Vec<(Condition, Vec<u8>)>,
    effects: Vec<ConditionalEffect>,
    /// How many parts its formulas have.
    pub evaluations: usize,
}

/// A ground formula, and how it is written.
pub struct Ground {
    is_effect: bool,
    holds: bool,
    head: Word,
    sides: [GroundExpression; 2],
    shown: Vec<u8>,
}

/// A ground conjunct of the goal that is no atom.
pub enum Other {
    /// A condition, and how it is written.
    Formed(Condition, Vec<u8>),
    Compared(Ground),
}

impl Other {
    /// As PDDL writes it.
    pub fn shown(&self) -> &[u8] {
        match self {
            Other::Formed(_, shown) => shown,
            Other::Compared(formula) => &formula.shown,
        }
    }
}

/// The numbers of a state, by fluent; None where there is none.
pub type Values = Vec<Option<Fraction>>;

/// Numbers for atoms and for fluents, in the order in which they come, and the actions that were made of them.
pub struct World {
    /// Which of a batch it is.
    pub number: usize,
    domain: Rc<Domain>,
    objects: Objects,
    atoms: grounding::Atoms,
    fluents: grounding::Atoms,
    pub init: Vec<Atom>,
    pub values: Values,
    /// The goal's atoms, sorted as tuples of names are, and its other conjuncts.
    pub goal: Vec<Atom>,
    pub others: Vec<Other>,
    /// Where one of these is a `forall`, all conjuncts but comparisons, with those that it stands for.
    instances: Vec<Condition>,
    metric: Option<GroundExpression>,
    rules: Rules,
    actions: HashMap<Step, Rc<Result<Done, Fault>>>,
    ranges: Ranges,
    /// How many parts the formulas of these actions have.
    parts: usize,
}

/// True where the declarations of a typed domain do not admit a number of an operator.
pub fn has_ill_typed_numbers(domain: &Domain, names: &Interner) -> bool {
    domain.operators.iter().any(|operator| {
        let type_of = |term: Word| domain.type_in(operator, term);
        operator.fluents().any(|fluent| is_ill_typed(domain, fluent, type_of, names))
    })
}

/// True where the declarations of a typed domain do not admit the number.
pub fn is_ill_typed(
    domain: &Domain,
    fluent: &Lifted,
    type_of: impl Fn(Word) -> Option<Word>,
    names: &Interner,
) -> bool {
    let is_built_in = fluent.len() == 1 && [TOTAL_COST, TOTAL_TIME].contains(&names.text(fluent[0]));
    let needs_declaration = !is_built_in || domain.functions.contains_key(&fluent[0]);
    needs_declaration && misfit_of(&domain.functions, domain, fluent, type_of, names).is_some()
}

/// The number of an atom; 0 is none.
fn atom_number(atoms: &mut grounding::Atoms, atom: Lifted) -> Atom {
    numbered(atoms.number(atom))
}

fn numbered(atom: u32) -> Atom {
    Atom::from(atom) + 1
}

fn is_true(condition: &[u32], state: &State) -> bool {
    Judge::new(condition.len()).is_true(condition, |atom| state.contains(&numbered(atom as u32)))
}

impl World {
    /// A problem in a domain in which it is well typed.
    pub fn new(number: usize, problem: AnyProblem, domain: Rc<Domain>, names: &Interner) -> Answer<World> {
        let objects = problem.objects_in(&domain);
        problem.require_declared(&objects)?;
        let type_of = |term: Word| objects.get(&term).copied();
        let is_misfit = |atom: &Lifted| misfit(&domain, atom, type_of, names).is_some();
        if problem.atoms().any(is_misfit)
            || problem.fluents().any(|fluent| is_ill_typed(&domain, fluent, type_of, names))
        {
            return Err(Left::Reference);
        }
        let mut forms = problem.others.iter().filter_map(Conjunct::form);
        if forms.clone().any(|form| is_ill_typed_form(&domain, form, &[], type_of, names)) {
            return Err(Left::Reference);
        }
        let mut instances: Vec<Form> = Vec::new();
        let has_instances = forms.any(|form| matches!(form, Form::Forall(..)));
        if has_instances {
            instances.extend(problem.goal.iter().cloned().map(Form::Atom));
        }
        let init = if domain.rules.is_empty() { Vec::new() } else { problem.init.clone() };
        let mut world = World::of(number, domain, objects, [problem.init, problem.goal], names)?;
        if !world.domain.rules.is_empty() {
            world.ground_rules(&init, names)?;
        }
        for (fluent, value) in problem.values {
            let place = world.fluents.number(fluent) as usize;
            world.values.resize(world.values.len().max(place + 1), None);
            world.values[place] = Some(value);
        }
        for conjunct in problem.others {
            let other = match conjunct {
                Conjunct::Formed(conjunct) => {
                    let (found, _) = world.ground_forms(&[], &|_| true, names, |forms| {
                        if has_instances {
                            forms.instances_of(&conjunct.form, &mut Vec::new(), &mut instances)?;
                        }
                        forms.condition(&conjunct.form, &mut Vec::new())
                    })?;
                    Other::Formed(found, conjunct.shown(|name| names.text(name)))
                }
                Conjunct::Compared(formula, _) => Other::Compared(world.ground_formula(&formula, &[], &[], names)),
            };
            world.others.push(other);
        }
        let mut seen = HashSet::default();
        instances.retain(|instance| seen.insert(instance.clone()));
        let make =
            |forms: &mut Conditions| instances.iter().map(|each| forms.condition(each, &mut Vec::new())).collect();
        world.instances = world.ground_forms(&[], &|_| true, names, make)?.0;
        world.metric = problem.metric.map(|metric| world.ground(&metric.expression, Lifted::clone));
        Ok(world)
    }

    /// Sets of atoms in a domain, an initial state and a goal, over the problem's objects and the domain's constants.
    pub fn of(
        number: usize,
        domain: Rc<Domain>,
        objects: Objects,
        [init, mut goal]: [Vec<Lifted>; 2],
        names: &Interner,
    ) -> Answer<World> {
        let (mut atoms, mut fluents) = (grounding::Atoms::default(), grounding::Atoms::default());
        fluents.number(vec![names.find(TOTAL_COST).ok_or(Left::Panic)?]); // a word that all texts share
        names.sort(&mut goal);
        goal.dedup();
        let mut numbers = |part: Vec<Lifted>| part.into_iter().map(|atom| atom_number(&mut atoms, atom)).collect();
        let (init, goal) = (numbers(init), numbers(goal));
        let (values, actions) = (vec![Some(Fraction::ZERO)], HashMap::default());
        let (others, instances) = (Vec::new(), Vec::new());
        let (metric, rules, ranges, parts) = (None, Rules::new(), Ranges::default(), 0);
        Ok(World {
            number,
            domain,
            objects,
            atoms,
            fluents,
            init,
            values,
            goal,
            others,
            instances,
            metric,
            rules,
            actions,
            ranges,
            parts,
        })
    }

    /// Grounds the rules of derived predicates, from an initial state that has none of them.
    fn ground_rules(&mut self, init: &[Lifted], names: &Interner) -> Answer<()> {
        let domain = self.domain.clone();
        let is_derived = |name: Word| domain.rules.iter().any(|rule| rule.name == name);
        if init.iter().any(|atom| is_derived(atom[0])) {
            return Err(Left::Derived);
        }
        let by_operators = domain.operators.iter().flat_map(Operator::changed);
        let changed: HashSet<Word> = by_operators.chain(domain.rules.iter().map(|rule| rule.name)).collect();
        for rule in &domain.rules {
            let is_fluent = |name: Word| changed.contains(&name);
            let (found, _) = self.ground_forms(init, &is_fluent, names, |forms| forms.instances(rule))?;
            self.rules.resize_with(rule.stratum + 1, Vec::new);
            self.rules[rule.stratum].extend(found.into_iter().map(|(atom, body)| (atom as usize, body)));
        }
        Ok(())
    }

    fn ground(&mut self, expression: &Expression, with_values: impl Fn(&Lifted) -> Lifted) -> GroundExpression {
        let mut part = |part: &Part| match part {
            Part::Value(value) => GroundPart::Value(*value),
            Part::Fluent(fluent) => GroundPart::Fluent(self.fluents.number(with_values(fluent)) as usize),
            Part::Operation(operation, count) => GroundPart::Operation(*operation, *count),
        };
        expression.iter().map(&mut part).collect()
    }

    /// The words of an atom.
    pub fn show(&self, atom: Atom, names: &Interner) -> Vec<Vec<u8>> {
        words_of(&self.atoms.atoms[atom as usize - 1], names)
    }

    /// The operator of the domain with this name.
    pub fn operator_named(&self, name: &[u8], names: &Interner) -> Option<usize> {
        let name = names.find(name)?;
        self.domain.operators.iter().position(|operator| operator.name == name)
    }

    /// The action's operator, whether or not it can be applied, or why there is none.
    pub fn operator_of(&mut self, action: Step, steps: &Steps, names: &Interner) -> Answer<Rc<Result<Done, Fault>>> {
        if let Some(known) = self.actions.get(&action) {
            return Ok(known.clone());
        }
        if self.actions.len() >= ACTIONS_KEPT || self.parts > PARTS_KEPT {
            self.actions.clear();
            self.parts = 0;
        }
        if self.atoms.atoms.len() > MOST_ATOMS {
            return Err(Left::Budget);
        }
        let made = Rc::new(self.ground_operator(action, steps, names)?);
        self.actions.insert(action, made.clone());
        Ok(made)
    }

    fn ground_operator(&mut self, action: Step, steps: &Steps, names: &Interner) -> Answer<Result<Done, Fault>> {
        let fault = |kind| Difference::of(kind).words("action", steps.words(action));
        let wrong = |fault| Ok(Err(("wrong_arguments", fault)));
        let mut words = steps.words(action);
        let operator = self.operator_named(words.next().unwrap_or_default(), names);
        let given: Vec<&[u8]> = words.collect();
        if given.iter().any(|argument| argument.contains(&b'=') || argument.contains(&b' ')) {
            return Err(Left::Notation); // arguments by name
        }
        let domain = self.domain.clone();
        let Some(operator) = operator.map(|place| &domain.operators[place]) else {
            let known = domain.operators.iter().map(|each| names.text(each.name));
            return Ok(Err(("unknown_action", fault("unknown action").words("operators", known))));
        };
        if operator.parameters.len() != given.len() {
            let takes = operator.parameters.len();
            return wrong(fault("wrong arguments").number("takes", takes).number("given", given.len()));
        }
        let mut arguments: Lifted = Vec::with_capacity(given.len());
        for (argument, (_, wanted)) in given.iter().zip(&operator.parameters) {
            let object = names.find(argument).and_then(|name| Some((name, *self.objects.get(&name)?)));
            let Some((name, type_)) = object else {
                return wrong(fault("no object").word("argument", argument));
            };
            if !domain.fits(type_, *wanted) {
                let fault = fault("not of type").word("argument", argument).words("own", [names.text(type_)]);
                return wrong(fault.words("types", alternatives_in(names.text(*wanted))));
            }
            arguments.push(name);
        }
        if let Some((one, other)) = broken_equation(operator, &arguments, names) {
            let fault = fault("different").word("one", names.text(one)).word("other", names.text(other));
            return Ok(Err(("precondition", fault)));
        }
        let value = |term: &Word| arguments.get((PLACES - term) as usize).copied().unwrap_or(*term);
        let [needs, avoids, adds, mut deletes] = operator.by_position.each_ref().map(|part| {
            let plain = part.iter().filter(|atom| names.text(atom[0]) != EQUALITY);
            let numbers = plain.map(|atom| atom_number(&mut self.atoms, atom.iter().map(value).collect()));
            let mut numbers: Vec<Atom> = numbers.collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        });
        deletes.retain(|atom| adds.binary_search(atom).is_err());
        let formulas = operator
            .formulas
            .iter()
            .map(|formula| self.ground_formula(formula, &operator.parameters, &arguments, names));
        let formulas: Vec<Ground> = formulas.collect();
        let evaluations: usize = formulas.iter().flat_map(|formula| &formula.sides).map(Vec::len).sum();
        let (conditions, effects, parts) = self.forms_of(operator, &arguments, names)?;
        let evaluations = evaluations + parts / PARTS_PER_EVALUATION;
        Ok(Ok(Done { action, needs, avoids, adds, deletes, formulas, conditions, effects, evaluations }))
    }

    /// The operator's conditions and effects that sets of atoms cannot say, and how many parts they took.
    fn forms_of(&mut self, operator: &Operator, arguments: &[Word], names: &Interner) -> Answer<Forms> {
        if operator.beyond.is_empty() {
            return Ok(Forms::default());
        }
        let ((conditions, effects), parts) =
            self.ground_forms(&[], &|_| true, names, |forms| forms.forms(operator, arguments))?;
        let place = |term: Word| operator.parameters.iter().position(|(name, _)| *name == term);
        let value = |term: Word| place(term).map_or(term, |place| arguments[place]);
        let written = operator.beyond.iter().filter(|each| !each.is_effect);
        let shown = written.map(|each| show_formula(&each.written, each.holds, |word| names.text(value(word))));
        Ok((conditions.into_iter().zip(shown).collect(), effects, parts))
    }

    /// What is made of forms over the numbers of atoms, and how many parts that took; what is no fluent is as it is here.
    fn ground_forms<T>(
        &mut self,
        init: &[Lifted],
        is_fluent: &dyn Fn(Word) -> bool,
        names: &Interner,
        make: impl FnOnce(&mut Conditions) -> Answer<T>,
    ) -> Answer<(T, usize)> {
        let mut grounding = Conditions::new(&self.objects, init, &self.domain, names, is_fluent);
        std::mem::swap(&mut grounding.atoms, &mut self.atoms);
        std::mem::swap(&mut grounding.ranges, &mut self.ranges);
        let found = make(&mut grounding);
        let Conditions { atoms, ranges, parts, .. } = grounding;
        (self.atoms, self.ranges, self.parts) = (atoms, ranges, self.parts + parts);
        Ok((found?, parts))
    }

    /// The state with all that is derived in it, where something is.
    pub fn full(&self, state: &State, judge: &mut Judge) -> Answer<Option<State>> {
        if self.rules.is_empty() {
            return Ok(None);
        }
        let mut full = state.clone();
        let truth = |state: &State, atom: usize| if state.contains(&numbered(atom as u32)) { TRUE } else { FALSE };
        judge.derive_in(&self.rules, &mut full, &truth, &|state, atom| _ = state.insert(numbered(atom as u32)));
        if judge.left == 0 {
            return Err(Left::Budget);
        }
        Ok(Some(full))
    }

    /// The operator with the effects that it has in a state, where these depend on it.
    pub fn acting(&self, done: &Done, state: &State) -> Option<Done> {
        if done.effects.is_empty() {
            return None;
        }
        let (mut adds, mut deletes) = (done.adds.clone(), done.deletes.clone());
        for (condition, [added, deleted, _]) in &done.effects {
            if is_true(condition, state) {
                adds.extend(added.iter().map(|atom| numbered(*atom)));
                deletes.extend(deleted.iter().map(|atom| numbered(*atom)));
            }
        }
        for part in [&mut adds, &mut deletes] {
            part.sort_unstable();
            part.dedup();
        }
        deletes.retain(|atom| adds.binary_search(atom).is_err());
        Some(Done { action: done.action, needs: done.needs.clone(), adds, deletes, ..Done::default() })
    }

    /// The formula with these values in place of the parameters.
    fn ground_formula(
        &mut self,
        formula: &Formula,
        parameters: &[(Word, Word)],
        values: &[Word],
        names: &Interner,
    ) -> Ground {
        let value = |term: Word| {
            let place = parameters.iter().position(|(name, _)| *name == term);
            place.map_or(term, |place| values[place])
        };
        let shown = show_formula(&formula.written, formula.holds, |word| names.text(value(word)));
        let with_values = |fluent: &Lifted| fluent.iter().map(|term| value(*term)).collect();
        let sides = formula.sides.each_ref().map(|side| self.ground(side, with_values));
        Ground { is_effect: formula.is_effect, holds: formula.holds, head: formula.head, sides, shown }
    }

    /// The values that the operator gives fluents in a state, or why it cannot be applied there.
    pub fn applied(
        &self,
        done: &Done,
        state: &State,
        values: &Values,
        steps: &Steps,
        names: &Interner,
    ) -> Answer<Result<Vec<(usize, Fraction)>, Fault>> {
        let shown = || steps.words(done.action);
        let needs = |kind| Difference::of(kind).words("action", shown());
        let fault = |why| Ok(Err(("precondition", why)));
        let no_value = |fluent: usize| {
            let fluent = words_of(&self.fluents.atoms[fluent], names);
            let why = Difference::of("no value").words("fluent", fluent);
            fault(Difference::of("of atom").words("atom", shown()).because("why", why))
        };
        let lacking: Vec<Atom> = done.needs.iter().copied().filter(|atom| !state.contains(atom)).collect();
        if !lacking.is_empty() {
            return fault(needs("needs").lists("lacking", self.sorted(&lacking, names)));
        }
        let wrong: Vec<Atom> = done.avoids.iter().copied().filter(|atom| state.contains(atom)).collect();
        if !wrong.is_empty() {
            return fault(needs("needs false").lists("true", self.sorted(&wrong, names)));
        }
        let mut missing: Vec<Vec<u8>> = Vec::new();
        for formula in done.formulas.iter().filter(|formula| !formula.is_effect) {
            match self.holds(formula, values, names)? {
                Ok(true) => {}
                Ok(false) => missing.push(formula.shown.clone()),
                Err(fluent) => return no_value(fluent),
            }
        }
        let lacking = done.conditions.iter().filter(|(condition, _)| !is_true(condition, state));
        missing.extend(lacking.map(|(_, shown)| shown.clone()));
        if !missing.is_empty() {
            return fault(needs("needs").words("lacking", missing));
        }
        let mut changes = Vec::new();
        for formula in done.formulas.iter().filter(|formula| formula.is_effect) {
            match (&formula.sides[0][..], self.value_of(&formula.sides[1], values)?) {
                ([GroundPart::Fluent(fluent)], Ok(amount)) => changes.push((names.text(formula.head), *fluent, amount)),
                (_, Err(fluent)) => return no_value(fluent),
                _ => return Err(Left::Panic),
            }
        }
        match updated(&changes, &|fluent| values.get(fluent).copied().flatten())? {
            Err(Undefined::Fluent(fluent)) => no_value(fluent),
            updated => updated.map(Ok).map_err(|_| Left::Strips), // of the others the definition has more to say
        }
    }

    /// Whether a comparison holds, or the first fluent in it that has no value.
    fn holds(&self, formula: &Ground, values: &Values, names: &Interner) -> Answer<Result<bool, usize>> {
        let value = |fluent: usize| values.get(fluent).copied().flatten();
        match compare(names.text(formula.head), &formula.sides, &value)? {
            Ok(is_true) => Ok(Ok(is_true == formula.holds)),
            Err(Undefined::Fluent(fluent)) => Ok(Err(fluent)),
            Err(_) => Err(Left::Strips),
        }
    }

    /// How many conjuncts the goal has, a `forall` counted as those that it stands for, and how many of these are false in a
    /// state in which so many of its atoms are, and of its other conjuncts those at these places.
    pub fn count_conjuncts(&self, state: &State, lacking: usize, unmet: &[usize]) -> (usize, usize) {
        if self.instances.is_empty() {
            return (self.goal.len() + self.others.len(), lacking + unmet.len());
        }
        let is_compared = |place: &usize| matches!(self.others[*place], Other::Compared(_));
        let compared = (0..self.others.len()).filter(is_compared).count();
        let wrong = self.instances.iter().filter(|each| !is_true(each, state)).count();
        (self.instances.len() + compared, wrong + unmet.iter().filter(|place| is_compared(place)).count())
    }

    /// Whether a conjunct of the goal holds; one without a value does not.
    pub fn is_true(&self, other: &Other, state: &State, values: &Values, names: &Interner) -> Answer<bool> {
        Ok(match other {
            Other::Formed(condition, _) => is_true(condition, state),
            Other::Compared(formula) => self.holds(formula, values, names)?.unwrap_or(false),
        })
    }

    /// The words of the atoms, sorted.
    fn sorted(&self, atoms: &[Atom], names: &Interner) -> Vec<Vec<Vec<u8>>> {
        let mut atoms: Vec<&Lifted> = atoms.iter().map(|atom| &self.atoms.atoms[*atom as usize - 1]).collect();
        names.sort(&mut atoms);
        atoms.into_iter().map(|atom| words_of(atom, names)).collect()
    }

    /// The number that an expression denotes, or the first fluent in it that has no value.
    fn value_of(&self, expression: &GroundExpression, values: &Values) -> Answer<Result<Fraction, usize>> {
        match value_of(expression, &|fluent| values.get(fluent).copied().flatten())? {
            Ok(value) => Ok(Ok(value)),
            Err(Undefined::Fluent(fluent)) => Ok(Err(fluent)),
            Err(_) => Err(Left::Strips), // of a division by 0 the definition has more to say
        }
    }

    /// What a valid plan of so many actions in so many steps costs; None where the metric has no value.
    pub fn cost(&self, values: &Values, actions: usize, steps: usize, names: &Interner) -> Answer<Option<f64>> {
        let Some(metric) = &self.metric else { return Ok(Some(actions as f64)) };
        let mut values = values.clone();
        values.resize(self.fluents.atoms.len(), None);
        let time =
            self.fluents.atoms.iter().position(|fluent| fluent.len() == 1 && names.text(fluent[0]) == TOTAL_TIME);
        if let Some(place) = time {
            values[place] = Some(Fraction::whole(steps)?);
        }
        self.value_of(metric, &values)?.ok().map(Fraction::nearest).transpose()
    }
}
