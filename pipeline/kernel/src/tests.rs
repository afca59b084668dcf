//! Facts about the crate alone; tests/kernel compares it with the definition.

use crate::blake2b::hex_digest;
use crate::canonical::{digest, LabelledGraph};
use crate::domains::PlanningDomain;
use crate::formulas::World;
use crate::left::Left;
use crate::metrics::actions::Marks;
use crate::metrics::averages::fmean;
use crate::metrics::domain_pair::{self, read_executable, score_domain_pair, DomainScores, GeneratedProblem};
use crate::metrics::plans;
use crate::metrics::problem::{read_in, read_reference, score_problem_pair, ProblemVerdict, Settings};
use crate::model::{Span, Words, NO_OBJECT};
use crate::pddl::any_problem::read_any_problem;
use crate::pddl::drafts::without_thinking;
use crate::pddl::problems::{read_problem, Declared, Interner, Refused};
use crate::planning::bounds::closure_bounds;
use crate::planning::cheapest::{search_by_open_goals, search_cheapest};
use crate::planning::invariants::unit_propagation;
use crate::planning::search::{find_path, Proof, Question, StatesLeft, MAX_STATES};
use crate::planning::symmetries::Symmetries;
use crate::planning::task::{ground, Bits, Goal, GroundTask};
use crate::plans::found::Steps;
use crate::plans::reading::read_plan;
use crate::state_space::list_states;
use crate::states::Chance;
use crate::task::{LiftedTask, Task};
use crate::validation::State;
use std::collections::HashSet;
use std::rc::Rc;

const SETTINGS: Settings = Settings::new(5);

fn scored(reference: &str, generated: &str) -> Result<ProblemVerdict, Left> {
    let task = read_reference(Some(reference.as_bytes()), None, SETTINGS, &mut Interner::new())?;
    score_problem_pair(&task, Some(generated.as_bytes()), false, SETTINGS)
}

fn blocks(init: &str, goal: &str) -> String {
    format!("(define (problem p) (:domain blocksworld) (:objects a b) (:init {init}) (:goal {goal}))")
}

/// What Python's hashlib gives.
#[test]
fn digests() {
    assert_eq!(&hex_digest(b""), b"cae66941d9efbd404e4d88758ea67670");
    assert_eq!(&hex_digest(b"abc"), b"cf4ab791c62b8d2b2109c90275287816");
    assert_eq!(&hex_digest(&[b'a'; 128]), b"1271d28e731afb57bdfba6bdaf3501be");
    assert_eq!(&hex_digest(&[b'a'; 300]), b"ccc6f168e83a9fcfde99f7d9ddeeae49");
}

/// A state is a set, whatever is put in and taken out.
#[test]
fn states() {
    let mut expected: HashSet<u128> = (1..40).map(|number| number << 100).collect();
    let mut state = State::new(&expected.iter().copied().collect::<Vec<_>>());
    let mut number = 1u64;
    for _ in 0..20_000 {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let atom = (u128::from((number >> 33) % 500) << 100) | u128::from((number >> 20) % 3);
        if number >> 63 == 0 {
            assert_eq!(state.insert(atom), expected.insert(atom));
        } else {
            assert_eq!(state.remove(&atom), expected.remove(&atom));
        }
        assert_eq!((state.contains(&atom), state.len()), (expected.contains(&atom), expected.len()));
    }
}

/// Words beyond those that sixteen bits count: objects of different types are never of one kind.
#[test]
fn many_types() {
    let texts: Vec<String> = (0..70_000).map(|number| format!("t{number:05}")).collect();
    let of_types = |types: [usize; 2]| {
        let (mut bytes, mut spans) = (Vec::new(), Vec::new());
        for (number, text) in (0..).zip(&texts) {
            let start = bytes.len() as u32;
            bytes.extend_from_slice(text.as_bytes());
            spans.push(Span { start, end: bytes.len() as u32, number, key: 0 });
        }
        let words = Words::new(bytes, spans, (1..70_001).collect());
        let number = words.each(NO_OBJECT);
        let graph = LabelledGraph::new(&words, &types.map(|type_| type_ as u32), &[], &number, &[]);
        let labelling = graph.labelling().expect("two objects");
        digest(2, b"", &[(&graph, &labelling)])
    };
    let last = of_types([69_999, 70_000]);
    assert_eq!(last, of_types([70_000, 69_999]));
    assert_ne!(last, of_types([70_000, 70_000]));
    assert_ne!(last, of_types([4_464, 4_465])); // the same in sixteen bits
}

/// The examples of the page "Certificates".
#[test]
fn certificates() {
    let one = "(define (problem one) (:domain blocksworld) (:objects a)
        (:init (arm-empty) (clear a) (on-table a)) (:goal (holding a)))";
    let two = blocks("(arm-empty) (clear a) (on a b) (on-table b)", "(on b a)");
    for (text, digits) in [(one, "d9d61017df9eb8aef0cfe7ca6978bddf"), (&two, "168e63f882b16d6b29b1cefaf1720b3c")] {
        let task = read_reference(Some(text.as_bytes()), None, SETTINGS, &mut Interner::new()).ok().unwrap();
        assert_eq!(task.certificate(false, None).unwrap(), digits.as_bytes());
    }
}

#[test]
fn verdicts() {
    let tower = "(arm-empty) (clear a) (on a b) (on-table b)";
    let reference = blocks(tower, "(on b a)");
    for (answer, verdict) in [
        (reference.to_uppercase(), "identical"),
        (reference.replace(" a", " x"), "isomorphic"),
        (blocks(tower, "(and (on b a) (clear b))"), "equivalent"),
        (blocks(tower, "(on a b)"), "goal_differs"),
        (blocks(tower, "(and (on a b) (on b a))"), "unsolvable"),
        (blocks(tower, "(on a c)"), "invalid_atom"),
        (blocks(tower, "(not (on a b))"), "not_strips"),
        (reference.replace("objects a b)", "objects a b c)"), "object_count"),
        (reference.replace("objects a b)", "objects a b - block)"), "types_differ"),
        (reference.replace("(clear a)", ""), "init_differs"),
        (reference.replace("blocksworld", "gripper"), "domain_mismatch"),
        (reference[..80].to_string(), "unparseable"),
        (" \n".to_string(), "empty"),
    ] {
        let found = scored(&reference, &answer).map(|found| found.verdict.unwrap_or_default());
        assert_eq!(found, Ok(verdict), "{answer}");
    }
}

#[test]
fn what_is_left() {
    let reference = blocks("(holding a) (clear b) (on-table b)", "(clear a)");
    for (answer, reason) in [
        (reference.replace(" p)", " π)"), Left::Characters),
        (reference.replace("(clear a)", "(or (clear a) (clear b))"), Left::Formula),
        (reference.replace("(clear a)", "(clear a b b b b b b)"), Left::Arity),
        (reference.replace("(holding", "(holding\u{0}"), Left::Characters),
    ] {
        assert_eq!(scored(&reference, &answer).err(), Some(reason), "{answer}");
    }
    assert_eq!(scored(&reference.replace("blocksworld", "ferry"), &reference).err(), Some(Left::Domain));
    assert_eq!(scored(&reference.replace("(clear a)", "(on a a)"), &reference).err(), Some(Left::Reference));
}

#[test]
fn thoughts_are_blank() {
    for (answer, read) in [
        ("<think>(a)</think> (b)", " (b)"),
        ("(a)</think>(b) <think> (c)", "(b) "),
        ("<deep:reasoning effort=\"3\"> (a)</deep:reasoning>(b)", "(b)"),
        ("a < b and [t] (b)", "a < b and [t] (b)"),
        ("<|channel|>analysis (a)<|channel|>final<|message|>(b)", "(b)"),
        ("(b)</s> <|eot_id|>\n<end_of_turn> ", "(b)               \n"),
        ("(b)<｜end▁of▁sentence｜>", "(b)"),
        ("(b)<|a b|>", "(b)<|a b|>"),
    ] {
        let mut text = answer.to_string();
        without_thinking(&mut text).unwrap();
        assert_eq!(text.len(), answer.len());
        assert_eq!(text.trim_matches(' '), read.trim_matches(' '));
    }
}

#[test]
fn reading_is_linear_and_bounded() {
    let mut names = Interner::new();
    for text in ["(".repeat(900_000), ")".repeat(900_000), "(define (problem p) ".repeat(20), "(define".repeat(90_000)]
    {
        let read = read_problem(Some(text.as_bytes()), &Declared::default(), &mut names).ok().unwrap();
        assert!(matches!(read.outcome, Err(unread) if unread.verdict == Refused::Unparseable));
    }
    let deep = blocks("(clear a)", &format!("{}(clear a){}", "(and ".repeat(100), ")".repeat(100)));
    assert_eq!(read_problem(Some(deep.as_bytes()), &Declared::default(), &mut names).err(), Some(Left::Notation));
}

fn common(reference: &str, generated: &str) -> (usize, f64) {
    let (mut steps, mut marks) = (Steps::new(), Marks::default());
    let mut plan = |text: &str| read_plan(Some(text.as_bytes()), &mut steps).ok().unwrap().steps;
    let (ours, theirs) = (plan(reference), plan(generated));
    (marks.common_subsequence(&ours, &theirs, &steps).unwrap(), marks.plan_jaccard(&ours, &theirs, &steps))
}

/// The examples of GAICo's page on planning metrics.
#[test]
fn shared_actions() {
    let towers = "pickup(A), stack(A,B), pickup(C)";
    assert_eq!(common(towers, "pickup(A), stack(A,B), {noop1, noop2}, pickup(C)").0, 3);
    assert_eq!(common("pickup(A), stack(A,B), drop(B)", "(pickup a)\n(stack a b)").1, 2.0 / 3.0);
    assert_eq!(common("pickup(A), stack(A,B), drop(B)", "pickup(A), {stack(A,B), noop}").1, 0.5);
    assert_eq!(common("a, {b}", "[]"), (0, 0.0));
}

/// One plan in every notation that is read.
#[test]
fn notations() {
    let plan = "take(a, b), (drop a)";
    for text in [
        "(TAKE a b)\n(drop a)",
        "; two steps\n1. (take a b) [1]\n2) drop(a)",
        "Step 1: take(a,b)\r\nstep 2: (drop a)",
        "- (take a b)\n\n- (drop a)\n",
        "Here is the plan:\n```pddl\n(take a b),\n(drop a)\n```",
        r#"[{"name": "drop", "args": "a", "id": 2}, {"id": 1, "name": "Take", "args": ["a", "b"]}]"#,
    ] {
        assert_eq!(common(plan, text), (2, 1.0), "{text}");
    }
    for (text, reason) in [
        ("2. (take a)\n1. (drop a)", Left::Notation),
        ("Sure! take(a)", Left::Notation),
        ("(take a)\n\n(take a)", Left::Notation),
        ("(take \u{e4})", Left::Characters),
        ("<plan>(take a)</plan>", Left::Notation),
    ] {
        assert_eq!(read_plan(Some(text.as_bytes()), &mut Steps::new()).err(), Some(reason), "{text}");
    }
}

/// The verdict on a plan and what it costs, and the first step that fails, in a domain that is given or known.
fn executed(domain: &str, problem: &str, plan: &str) -> Result<(&'static str, Option<f64>, Option<usize>), Left> {
    let (mut steps, mut marks, mut names) = (Steps::new(), Marks::default(), Interner::new());
    let problem = read_any_problem(problem.as_bytes(), &mut names)?;
    let domain = plans::read_domain(domain.as_bytes(), &mut names)?;
    let mut world = World::new(0, problem, domain, &names)?;
    let mut none = plans::read_reference(None, &mut steps)?;
    let answer = Some(plan.as_bytes());
    let found = plans::score_plan_pair(&mut none, answer, Some(&mut world), &mut steps, &mut marks, &names)?;
    Ok((found.verdict.unwrap_or_default(), found.cost, found.first_failed_step))
}

/// A last line that is cut off is a step that cannot be read; one that says something else is none.
#[test]
fn damage() {
    for (text, place) in [
        ("\n(take a b)\n  (drop a", Some((3, 3))),
        ("1. (take a b)\n2. (drop\n", Some((2, 1))),
        ("```\ntake(a, b)\n\ndrop(a,\n```", Some((4, 1))),
        ("(take a b)\n(drop a)", None),
    ] {
        let plan = read_plan(Some(text.as_bytes()), &mut Steps::new()).ok().unwrap();
        assert_eq!(plan.damage.map(|place| (place.line, place.column)), place, "{text}");
    }
    for text in ["(take a", "(take a b)\n(drop a\n(take a b)", "(take a b)\n(drop 'a", "(take a b)\n("] {
        assert_eq!(read_plan(Some(text.as_bytes()), &mut Steps::new()).err(), Some(Left::Notation), "{text}");
    }
}

#[test]
fn execution() {
    let text = blocks("(holding a) (clear b) (on-table b)", "(on a b)");
    let domain = crate::domains::blocksworld::PDDL;
    for (plan, expected) in [
        ("(stack a b)", ("valid", Some(1.0), None)),
        ("(putdown a)", ("goal_not_reached", None, None)),
        ("(stack a c)", ("wrong_arguments", None, Some(1))),
        ("(stack a b)\n(stack a b)", ("precondition", None, Some(2))),
    ] {
        assert_eq!(executed(domain, &text, plan), Ok(expected), "{plan}");
    }
}

/// A van that uses up fuel, and pays what is left by the metric.
#[test]
fn numbers() {
    let van = "(define (domain van) (:predicates (at ?p) (road ?a ?b)) (:functions (fuel) (length ?a ?b) (total-cost))
        (:action drive :parameters (?a ?b)
          :precondition (and (at ?a) (not (at ?b)) (>= (fuel) (* 2 (length ?a ?b))))
          :effect (and (at ?b) (not (at ?a)) (decrease (fuel) (* 2 (length ?a ?b))) (increase (total-cost) 0.1))))";
    let start = "(define (problem p) (:domain van) (:objects a b c)
        (:init (at a) (= (fuel) 7) (= (length a b) 1.5) (= (length b a) 2) (= (length b c) 3))
        (:goal (and (at b) (not (at c)))) (:metric minimize (+ (* 10 (total-cost)) (fuel))))";
    for (plan, expected) in [
        ("(drive a b)", ("valid", Some(5.0), None)),
        ("(drive a b)\n(drive b a)", ("goal_not_reached", None, None)),
        ("(drive a b)\n(drive b c)", ("precondition", None, Some(2))),
        ("(drive a c)", ("precondition", None, Some(1))),
        ("(drive a a)", ("precondition", None, Some(1))),
    ] {
        assert_eq!(executed(van, start, plan), Ok(expected), "{plan}");
    }
    let far = start.replace("1.5", "999999999999999.5");
    assert_eq!(executed(van, &far, "(drive a b)"), Ok(("precondition", None, Some(1))));
    for (old, new) in [("(= (fuel) 7)", "(= (fuel) 1e3)"), ("(at c)", "(or (at c) c)"), ("(at a)", "(at d)")] {
        assert!(executed(van, &start.replace(old, new), "(drive a b)").is_err(), "{new}");
    }
}

const FERRY: &str = "(define (domain ferry) (:types car place) (:predicates (at ?c - car ?p - place) (here ?p - place))
    (:action sail :parameters (?from - place ?to - place)
      :precondition (and (here ?from) (not (= ?from ?to))) :effect (and (here ?to) (not (here ?from))))
    (:action carry :parameters (?c - car ?from - place ?to - place)
      :precondition (and (here ?from) (at ?c ?from)) :effect (and (at ?c ?to) (here ?to) (not (at ?c ?from)))))";

fn domains(generated: &str, problem: Option<&str>) -> Result<DomainScores, Left> {
    task(generated, problem, None)
}

fn task(generated: &str, problem: Option<&str>, answer: Option<&str>) -> Result<DomainScores, Left> {
    let mut names = Interner::new();
    let known = domain_pair::read_reference(Some(FERRY.as_bytes()), &mut names)?;
    let (domain, has_tasks) = (FERRY.as_bytes(), answer.is_some());
    let mut read = |problem: &str| read_executable(&known, domain, problem.as_bytes(), has_tasks, &mut names);
    let executable = problem.map(&mut read).transpose()?;
    let answer = answer.map(|text| GeneratedProblem { text: Some(text.as_bytes()), is_placeholder: false });
    score_domain_pair(&known, Some(generated.as_bytes()), executable.as_ref(), answer, SETTINGS, &mut names)
}

#[test]
fn pairs_of_domains() {
    for (generated, verdict, note) in [
        (FERRY.to_string(), "identical", ""),
        (FERRY.replace("sail", "swim"), "renamed", "other words"),
        (FERRY.replace("?from ?to", "?to ?from"), "identical", ""),
        (FERRY.replace("(here ?to) (not (at", "(not (at"), "operators_differ", "literal"),
        (FERRY.replace("?c - car ?p - place", "?c ?p"), "identical", ""),
        ("I cannot.".to_string(), "unparseable", "domain not found"),
        (FERRY[..FERRY.len() - 2].to_string(), "unparseable", "domain never closed"),
        (" ".to_string(), "empty", "domain not found"),
    ] {
        let found = domains(&generated, None).unwrap();
        assert_eq!(found.verdict.name(), verdict, "{generated}");
        assert_eq!(found.notes.first().map_or("", |first| first.kind), note, "{generated}");
    }
    let either = FERRY.replace("?c - car ?p", "?c - (either car place) ?p");
    assert_eq!(domains(&either, None).map(|found| found.verdict.name()), Ok("identical"));
    let either = FERRY.replace("(?c - car ?from", "(?c - (either car place) ?from");
    assert_eq!(domains(&either, None).map(|found| found.verdict.name()), Ok("types_differ"));
    let either = FERRY.replace("car place)", "place car - (either place object))");
    assert_eq!(domains(&either, None).err(), Some(Left::Either));
    let conditional = FERRY.replace("(not (here ?from))", "(when (here ?to) (not (here ?from)))");
    assert_eq!(domains(&conditional, None).err(), Some(Left::Effect));
}

const CROSSING: &str = "(define (problem p) (:domain ferry) (:objects c - car x y - place)
    (:init (at c x) (here y)) (:goal (and (at c y))))";

#[test]
fn whole_tasks() {
    let in_other_words = |text: &str| text.replace("here", "seen").replace("carry", "take").replace("car", "van");
    let (domain, problem) = (in_other_words(FERRY), in_other_words(CROSSING));
    let is_equivalent = |answer: &str| task(&domain, Some(CROSSING), Some(answer)).unwrap().task_equivalent;
    assert_eq!(is_equivalent(&problem.replace(" x", " z")), Some(true));
    assert_eq!(is_equivalent(&problem.replace("(at c y)", "(at c x)")), Some(false));
    assert_eq!(is_equivalent(&problem.replace("(at c x)", "(at c y)")), Some(false));
    assert_eq!(is_equivalent("I cannot."), Some(false));
    assert_eq!(task(CROSSING, Some(CROSSING), Some(CROSSING)).unwrap().task_equivalent, Some(false));
}

#[test]
fn behaviour() {
    let problem = CROSSING;
    let found = domains(FERRY, Some(problem)).unwrap();
    assert_eq!((found.predictive, found.plans_valid), (Some([1.0; 4]), [Some(true); 2]));
    // A car that is carried stays where it was, too: its goal is reached all the same.
    let found = domains(&FERRY.replace(" (not (at ?c ?from))", ""), Some(problem)).unwrap();
    assert_eq!(found.plans_valid, [Some(true); 2]);
    assert!(found.predictive.unwrap()[3] < 1.0);
    let found = domains(&FERRY.replace("(at ?c ?to) (here", "(here"), Some(problem)).unwrap();
    assert_eq!(found.plans_valid, [Some(false); 2]);
}

fn scored_in(domain: &str, reference: &str, generated: &str) -> Result<ProblemVerdict, Left> {
    let domain = Rc::new(PlanningDomain::read(domain.as_bytes(), false)?);
    let task = read_reference(Some(reference.as_bytes()), Some(&domain), SETTINGS, &mut Interner::new())?;
    score_problem_pair(&task, Some(generated.as_bytes()), false, SETTINGS)
}

/// Lamps that can be switched: of a few all states are listed, of many the bounds of the closure meet.
#[test]
fn pairs_of_problems_in_a_domain_given_as_text() {
    let domain = "(define (domain lamps) (:predicates (lamp ?l) (off ?l) (on ?l))
        (:action switch :parameters (?l) :precondition (and (lamp ?l) (off ?l)) :effect (and (on ?l) (not (off ?l))))
        (:action back :parameters (?l) :precondition (and (lamp ?l) (on ?l)) :effect (and (off ?l) (not (on ?l)))))";
    let problem = |lamps: usize, goal: &str| {
        let names: Vec<String> = (0..lamps).map(|number| format!("l{number}")).collect();
        let init: String = names.iter().map(|name| format!("(lamp {name}) (off {name}) ")).collect();
        let objects = names.join(" ");
        format!("(define (problem p) (:domain lamps) (:objects {objects}) (:init {init}) (:goal (and {goal})))")
    };
    for lamps in [3, 20] {
        let verdict = |reference: &str, generated: &str| {
            let scores = scored_in(domain, &problem(lamps, reference), &problem(lamps, generated));
            scores.map(|ProblemVerdict { verdict, equivalent_untyped, solvable, solves_reference, .. }| {
                (verdict.unwrap_or_default(), equivalent_untyped, solvable, solves_reference)
            })
        };
        let yes = |name| Ok((name, Some(true), Some(true), Some(true)));
        assert_eq!(verdict("(on l0)", "(on l0)"), yes("identical"));
        assert_eq!(verdict("(on l0)", "(on l1)"), yes("isomorphic"));
        assert_eq!(verdict("(on l0)", "(on l0) (lamp l1)"), yes("equivalent"));
        assert_eq!(verdict("(on l0)", "(on l0) (off l1)"), Ok(("goal_differs", Some(false), Some(true), Some(true))));
        assert_eq!(verdict("(on l0) (on l1)", "(on l0)"), Ok(("goal_differs", Some(false), Some(true), Some(false))));
        assert_eq!(verdict("(on l0)", "(on l0) (off l0)"), Ok(("unsolvable", Some(false), Some(false), None)));
        assert_eq!(verdict("(on l0) (off l0)", "(on l0)"), Ok(("reference_invalid", None, Some(true), Some(false))));
    }
}

#[test]
fn averages_are_exact() {
    assert_eq!(fmean([0.1; 10].into_iter()), 0.1);
    assert_eq!(fmean([1e16, 1.0, -1e16].into_iter()), 1.0 / 3.0);
}

/// What Python's `random.Random(0).random()` gives first.
#[test]
fn chance() {
    let mut chance = Chance::new(0);
    let found: Vec<usize> = (0..5).map(|_| chance.below(1_000_000)).collect();
    assert_eq!(found, [844_421, 757_954, 420_571, 258_916, 511_274]);
}

/// Three operators over so many objects, and an initial state, drawn from a seed; the last two of the lifted atoms may be
/// left out.
fn random_task(seed: u64, objects: usize, kinds: u64) -> (String, String) {
    let mut state = seed;
    let mut below = |count: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % count) as usize
    };
    let lifted = ["(a ?x)", "(a ?y)", "(b ?x)", "(b ?y)", "(c)", "(d ?x ?y)", "(d ?y ?x)"];
    let mut domain = String::from("(define (domain t) ");
    for name in ["p", "q", "r"] {
        let mut draw = |count: usize| (0..count).map(|_| lifted[below(kinds)]).collect::<Vec<_>>();
        let (needed, added, deleted) = (draw(2).concat(), draw(2).concat(), draw(2));
        let deleted: String = deleted.iter().map(|atom| format!("(not {atom})")).collect();
        let conditions = if below(3) == 0 { format!("{needed} (not {})", lifted[below(kinds)]) } else { needed };
        domain += &format!(
            "(:action {name} :parameters (?x ?y) :precondition (and {conditions}) :effect (and {added} {deleted}))"
        );
    }
    let objects: Vec<String> = (0..objects).map(|number| format!("o{number}")).collect();
    let unary = objects.iter().flat_map(|one| [format!("(a {one})"), format!("(b {one})")]);
    let binary = objects.iter().flat_map(|one| objects.iter().map(move |two| format!("(d {one} {two})")));
    let init: String = unary.chain(binary).chain([String::from("(c)")]).filter(|_| below(5) < 2).collect();
    let objects = objects.join(" ");
    (domain + ")", format!("(define (problem s) (:domain t) (:objects {objects}) (:init {init}) (:goal (and)))"))
}

fn ground_random((domain, problem): (String, String)) -> Option<GroundTask> {
    let domain = Rc::new(PlanningDomain::read(domain.as_bytes(), false).expect("a domain"));
    let problem = read_in(&domain, Some(problem.as_bytes())).expect("a problem").outcome.ok()?;
    let start = Task::new(Rc::new(problem), domain.clone(), true, true);
    let LiftedTask { names, objects, init, .. } = start.lifted().expect("few words");
    let objects = objects.iter().copied().collect();
    Some(ground(&objects, init, &domain.structure.domain, names).expect("few operators"))
}

/// Objects that change places change no cost: searches that open one state for all such find the fewest operators.
#[test]
fn cheapest_plans_where_objects_change_places() {
    let (mut found, mut exchanged) = (0, 0);
    for seed in 0..150 {
        let Some(task) = ground_random(random_task(seed, 4, 5)) else { continue };
        let (count, no) = (task.atoms.len(), Bits::none(task.atoms.len()));
        for goal in (0..count).flat_map(|one| (0..one).map(move |two| Bits::of(count, [one, two]))) {
            let Some((_, states)) = task.shared(&Goal::of(&goal, &no), 5_000) else { continue };
            let symmetries = Symmetries::new(&task, &goal);
            exchanged += usize::from(symmetries.size() > 0);
            let shortest = task.shortest_plan(&Goal::of(&goal, &no)).expect("few states");
            for cheapest in [search_cheapest(&task, &goal), search_by_open_goals(&task, &goal)] {
                match (cheapest.expect("few states"), &shortest) {
                    (Ok(path), Ok(shortest)) => {
                        assert_eq!(path.len(), shortest.len(), "{seed}");
                        let end = task.after(&task.initial, &path);
                        assert!(goal.within(&end) && symmetries.representative(&goal).count() == goal.count());
                        found += usize::from(!path.is_empty());
                    }
                    (Err(Proof::RanOut(seen)), Err(_)) => assert!(seen <= states),
                    (Err(_), Err(_)) => {}
                    _ => panic!("{seed}: a plan is found by one search alone"),
                }
            }
        }
    }
    assert!(found > 1000 && exchanged > 1000, "{found} {exchanged}");
}

#[test]
fn what_the_search_proves_is_so_in_every_reachable_state() {
    let (mut reached, mut refuted, mut closed) = (0, 0, 0);
    for seed in 0..100 {
        let Some(task) = ground_random(random_task(seed, 3, 7)) else { continue };
        let count = task.atoms.len();
        let no = Bits::none(count);
        let pairs = (0..count).flat_map(|one| (0..one).map(move |two| [one, two]));
        for goal in pairs.map(|pair| Bits::of(count, pair)) {
            let Some((shared, _)) = task.shared(&Goal::of(&goal, &no), 5_000) else { continue };
            let question = Question { start: &task.initial, yes: &goal, no: &no, most: MAX_STATES };
            let found = find_path(&task, &question, &mut StatesLeft::new()).expect("few states");
            if seed % 4 == 0 {
                let shortest = task.shortest_plan(&Goal::of(&goal, &no)).expect("few states").ok();
                for found in [search_cheapest(&task, &goal), search_by_open_goals(&task, &goal)] {
                    let found = found.expect("few states").ok();
                    assert_eq!(found.as_ref().map(Vec::len), shortest.as_ref().map(Vec::len), "{seed}");
                    let end = found.map(|path| task.after(&task.initial, &path));
                    assert!(end.map_or(true, |end| goal.within(&end)), "{seed}");
                }
            }
            let implied = unit_propagation(&task, &goal, &no, true).expect("few operators");
            match (found.expect("few states"), shared) {
                (Ok(path), Some((all, some))) => {
                    let first = task.after(&task.initial, &path);
                    assert!(goal.within(&first));
                    let (yes, never) = implied.expect("some state has the goal");
                    assert!(yes.within(&all) && !never.meets(&some));
                    if let Some(closure) = closure_bounds(&task, &first, &goal).expect("few states") {
                        assert_eq!(closure, all);
                        closed += 1;
                    }
                    reached += 1;
                }
                (Err(_), None) => refuted += 1,
                _ => panic!("{seed}: the search and the states differ"),
            }
        }
    }
    assert!(reached > 1000 && refuted > 300 && closed > reached / 2, "{reached} {refuted} {closed}");
}

#[test]
fn listed_states() {
    // Atom 1 is derived from atom 0, which the operator makes true where atom 2, which is never true, is false.
    let rules = [1, 1, 1, 1, 0];
    let operator = [1, 0, 0, 0, 0, 2, 4 * 2, 1, 1, 0, 1, 0, 0];
    let task = [&[2, 0, 1, 3, 0][..], &operator, &[1], &rules[1..]].concat();
    let found = list_states(&task, 10).expect("a task");
    assert_eq!(found, [2, 1, 2, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 1]);
    assert_eq!(list_states(&task, 1).expect("a task")[..2], [1, 0]);
    for end in 0..task.len() {
        assert_eq!(list_states(&task[..end], 10), None);
    }
    let of_formula = |formula: &[u32]| {
        let operator = [&[1, 0, 0, 0, 0, formula.len() as u32][..], formula, &[0]].concat();
        list_states(&[&[0, 1, 0][..], &operator, &[0]].concat(), 10)
    };
    assert!(of_formula(&[0, 1]).is_some() && of_formula(&[2]).is_some());
    for malformed in [&[1][..], &[0, 0], &[4 + 2], &[4 * 7], &[u32::MAX]] {
        assert_eq!(of_formula(malformed), None);
    }
}
