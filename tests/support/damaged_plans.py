"""Labelled plan texts: valid plans with one to three lines decorated (still valid) or damaged (never valid).

The labels follow from section 6 of DESIGN alone. Nothing of the program is imported; the judges' interpreter
finds and executes the plans. What the contract leaves open is not generated; it stands at the end (`open_question`).
"""

import itertools
import json
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tests.judges import interpreter

Step = tuple[str, ...]
LINES, CALLS = ("pddl", "times", "numbered"), ("calls",)
LINE, LIST, JSON = (*LINES, *CALLS), ("bare_list", "quoted_list", "inline"), ("json",)
ALL, PLACES = (*LINE, *LIST, *JSON), ("before", "between", "behind")


@dataclass(frozen=True, slots=True)
class Text:
    """One labelled answer. `steps` is what a right reader finds if the text is only decorated."""

    domain: str
    problem: str
    plan: str
    ways: tuple[str, ...]
    places: tuple[str, ...]
    damaged: bool
    steps: tuple[Step, ...]
    without_domain_too: bool
    notation: str


@dataclass(frozen=True, slots=True)
class Way:
    """One way to damage or to decorate.

    In templates %S is the step, %O its operator, %A and %C its arguments with blanks and with commas, %H all words but
    the last, %L the last, %G all glued, %U and %M upper and mixed case, %N its number.
    """

    name: str
    damage: bool
    about: str
    example: str
    templates: tuple[str, ...]
    call: tuple[str, ...] = ()  # templates where the plan is written go(x, y); empty: `templates`
    kind: str = "step"  # step: a line of a step; line: a line of its own; text: the whole answer
    notations: tuple[str, ...] = LINE
    places: tuple[str, ...] = PLACES
    replaces: bool = False  # damage: may stand in place of a step, too. False: only as an additional, inapplicable step
    needs_domain: bool = False  # damage that only a reader who knows the operators must see


def fill(template: str, step: Step, call: bool = False, number: int = 1) -> str:
    """Return the template with the step's parts put in."""
    whole = f"{step[0]}({', '.join(step[1:])})" if call else f"({' '.join(step)})"
    parts = {"S": whole, "O": step[0], "A": " ".join(step[1:]), "C": ", ".join(step[1:]), "H": " ".join(step[:-1])}
    parts |= {"L": step[-1], "G": "_".join(step), "U": whole.upper(), "N": str(number)}
    parts["M"] = "".join(c.upper() if i % 2 else c for i, c in enumerate(whole))
    return re.sub("%([SOACHLGUMN])", lambda found: parts[found[1]], template)


WAYS: dict[str, Way] = {}


def _way(damage: bool, name: str, about: str, *templates: str, example: str = "", **more: Any) -> None:
    shown = example or fill(templates[0], ("go", "x", "y"), more.get("notations") == CALLS)
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
    WAYS[name] = Way(name, damage, about, shown, templates, **more)


def _decoration(name: str, about: str, *templates: str, **more: Any) -> None:
    _way(False, name, about, *templates, **more)


def _damage(name: str, about: str, *templates: str, **more: Any) -> None:
    _way(True, name, about, *templates, **{"notations": (*LINE, *LIST), **more})


# fmt: off
# Decoration: signs, numbers, mark-up, tags and TeX around a step.
_decoration("check_mark", "Check mark before or behind it.", "✅ %S", "✓ %S", "✔%S", "☑️ %S", "%S ✅", "%S✓")
_decoration("arrow", "Arrow before it.", "→ %S", "➜ %S", "👉 %S", "▶ %S", "-> %S", "=> %S", "↳%S")
_decoration("bullet", "Bullet before it.", "- %S", "* %S", "• %S", "+ %S", "‣ %S", "◦ %S", "– %S", "— %S")
_decoration("empty_box", "Empty check box before it.", "- [ ] %S", "☐ %S", "[ ] %S")
_decoration(
    "emoji", "Emoji before or behind it.", "🚗 %S", "👩‍💻 %S", "🇫🇷 %S", "⚙️%S", "👍🏽 %S", "%S 🎉", "%S🏁")
_decoration(
    "ornament", "Another sign before it.", "★ %S", "» %S", "! %S", "... %S", "~ %S", "$ %S", "§%S", "◆ %S")
_decoration(
    "keycap", "Keycap or a circled digit before it.", "1️⃣ %S", "🔟 %S", "③ %S", "❷%S", notations=("pddl", "calls"))
_decoration(
    "number", "Number before it.", "%N) %S", "%N %S", "#%N %S", "[%N] %S", "%N - %S", notations=("pddl", "calls"))
_decoration("block_quote", "Markdown quotation.", "> %S", ">> %S", ">%S")
_decoration("quotes", "Quotation marks around it.", '"%S"', "'%S'", "“%S”", "«%S»", "„%S“", "「%S」")
_decoration("bold", "Bold Markdown.", "**%S**", "- **%S**")
_decoration("italic", "Italic Markdown.", "*%S*", "_%S_", "***%S***", call=("*%S*", "***%S***"))
_decoration("back_ticks", "Markdown code.", "`%S`", "``%S``", "**`%S`**", "- `%S`")
_decoration("table_row", "Markdown table.", "| %S |", "|%S|")
_decoration(
    "tag", "Tag around it.", "<step>%S</step>", "<li>%S</li>", "<code>%S</code>", '<action id="1">%S</action>')
_decoration("break_tag", "Single tag at the line.", "%S<br>", "%S <br/>", "<s>%S", "<bos> %S")
_decoration("dollars", "TeX formula.", "$%S$", "$$%S$$")
_decoration("tex_brackets", "TeX formula.", r"\(%S\)", r"\[%S\]")
_decoration("tex_command", "TeX command around it.", r"\texttt{%S}", r"\text{%S}", r"\boxed{%S}", r"$\mathtt{%S}$")
_decoration("tex_sign", "TeX item or arrow before it.", r"\item %S", r"$\rightarrow$ %S", r"\item \texttt{%S}")
_decoration("stop_behind", "Punctuation mark behind it.", "%S.", "%S,", "%S!", "%S;")
_decoration(
    "cost_behind", "Number in brackets behind it.", "%S [1]", "%S [1.000]", notations=("pddl", "numbered"))
_decoration("comment_behind", "Comment.", "%S ; on the way", "%S;first part", "%S ;; ok so far", notations=LINES)
_decoration("case", "Upper or mixed case.", "%U", "%M")
_decoration("inner_blanks", "More blanks and tabs.", "( %O  %A )", "(%O\t%A)  ", "\t%S", call=("%O( %C )", "%O(%C)\t"))
_decoration("blank_in_call", "Blank before the parenthesis.", "%O (%C)", "%O\u00a0(%C)", "%O\u2003(%C)",
    "%O\u202f(%C)", notations=CALLS)
# Decoration: characters that are not seen, around a step.
_decoration("bom_in_line", "Byte order mark at it.", "\ufeff%S", "%S\ufeff", "\ufeff \ufeff%S")
_decoration("zero_width", "Zero-width character at it.", "\u200b%S", "\u200c%S", "\u200d%S", "\u2060%S", "%S\u200b")
_decoration(
    "direction", "Mark of direction.", "\u200e%S", "\u200f%S", "\u202a%S\u202c", "\u2066%S\u2069", "%S\u200e")
_decoration("soft_hyphen", "Soft hyphen before or behind it.", "\u00ad%S", "%S\u00ad")
_decoration("nul", "NUL character before or behind it.", "\0%S", "%S\0")
_decoration(
    "control", "Another control character at it.", "\x1b%S", "\x07%S", "\x01%S", "%S\x1b", "%S\x7f", "\x08%S")
_decoration(
    "unicode_blank", "Blanks of Unicode at it.", "\u00a0%S", "\u2003%S", "\u202f%S\u00a0", "\u3000%S", "%S\u2007")
_decoration("line_end", "Another end of a line.", "%S\x85", "%S\u2028", "%S\x0b", "%S\x0c", "%S\u2029")
# Decoration: lines of their own.
_decoration("prose", "Prose that quotes no action.", "Here is the plan, as asked:", "I hope this helps!",
    "计划如下：", "Let me know if anything is unclear.", "Voici la réponse demandée :", "## Our plan for this task",
    "**Final plan:**", "It reaches the goal; no step is superfluous.", kind="line", notations=ALL)
_decoration("quoting_prose", "Prose that quotes an action.",
    "We could also use %S here, but it does not help.", "Note that %S would not work now, so we avoid it.",
    kind="line")
_decoration("rule", "Line of signs.", "---", "***", "=====", "| --- |", "───", kind="line")
_decoration(
    "blank_line", "Line of blanks.", "", "   ", "\t", "\u00a0", "\u200b", kind="line", example="(a line of blanks)")
_decoration("comment_line", "Comment of its own.", "; now the way back", ";; part two", kind="line", notations=LINES)
# Decoration: the whole answer.
_text: dict[str, Any] = {"kind": "text", "notations": ALL, "places": ("none",)}
_decoration(
    "tag_lines", "Tags around the plan.", "plan", "answer", "solution", example="<plan>", **_text)
_decoration("fence", "Markdown fence around the plan.", "```", "```pddl", "```text", "~~~", **_text)
_decoration("crlf", "CR LF.", "", example="(go x y)\r", **_text)
_decoration(
    "bom", "Byte order mark before the answer.", "\ufeff", example="\ufeff(go x y)",
    **_text | {"places": ("before",)})
_decoration("end_token", "End token of a chat template.", "<|im_end|>", "</s>", "<|eot_id|>",
    "<end_of_turn>", "<｜end▁of▁sentence｜>", "<|endoftext|>", "<|im_end|>\n<|endoftext|>", "\n</s>",
    "\n<|im_end|>\n", "<|end_of_text|>", "<|end|>", "<eos>", example="(go x y)<|im_end|>",
    **_text | {"places": ("behind",)})
_decoration("finish_action", "FinishAction.", "(FinishAction)", "(FinishAction done)",
    call=("FinishAction()", "FinishAction(done)"), **_text | {"places": ("behind",)})
_times = _text | {"notations": ("times",)}
_decoration(
    "decimal_times", "Times and durations with decimals.", "", example="2.001: (go x y) [1.000]", **_times)
_decoration("shuffled_times", "Shuffled lines; their times give the order.", "", example="7: (go x y) [1]", **_times)
_json = _text | {"notations": JSON}
_decoration(
    "python_quotes", "List with Python quotes.", "", example="[{'name': 'go', 'args': {'a': 'x', 'b': 'y'}}]",
    **_json)
_decoration(
    "args_string", "Arguments as a JSON string.", "", example=r'[{"name": "go", "args": "{\"a\": \"x\"}"}]', **_json)
_decoration(
    "ids", "Numbered steps.", "", example='[{"name": "go", "args": {"a": "x", "b": "y"}, "id": 0}]', **_json)
# Damage: a line, or an item of a list.
_domain: dict[str, Any] = {"needs_domain": True, "notations": LINE}
_damage(
    "bracket", "Bracket in the step.", "(%H [%L)", "(%H [%L])", "([%H %L)", call=("%O([%C)", "%O(%C])"),
    replaces=True)
_damage("full_stop", "Full stop in an argument.", "(%H %L.)", "(%O. %A)", call=("%O(%C.)",), replaces=True)
_damage("question_mark", "Question mark in an argument.", "(%H %L?)", "(%H ?%L)", call=("%O(%C?)",), replaces=True)
_damage("odd_sign", "Sign that no name has.", "(%H %L!)", "(%H @%L)", "(%H %L/2)", "(%H %L=1)", "(%H #%L)")
_damage("angle", "Angle brackets around an argument.", "(%H <%L>)", call=("%O(<%C>)",), replaces=True)
_damage("glued", "Operator and arguments in one unreadable word.", "(%G!)", "(%G?)", replaces=True)
_damage("tail_inside", "Parenthesis in the step.", "(%O %A (1))", "(%O %A (done))", replaces=True)
_damage("nested_arguments", "Parentheses around arguments.", "(%O (%A))", "(%H (%L))")
_damage("extra_close", "Closing parenthesis too many.", "(%O %A))", replaces=True)
_damage("extra_open", "One opening parenthesis too many.", "((%O %A)", "(%H (%L)")
_damage("missing_close", "Closing parenthesis is missing.", "(%O %A", call=("%O(%C",), replaces=True)
_damage("missing_open", "Opening parenthesis is missing.", "%O %A)", call=("%O %C)",), **_domain)
_damage("wrong_close", "Closed by another bracket.", "(%O %A]", "(%O %A}", call=("%O(%C]", "%O(%C}"), replaces=True)
_damage("cut_off", "Step breaks off.", "(%H", "(%O", call=("%O(", "%O(%L,"), replaces=True)
_damage("second_cut_off", "Second step in the line breaks off.", "(%O %A) (%O", "(%O %A) (%H", notations=LINE)
_damage("keyword", "Keyword of PDDL in the step.", "(:action %O %A)", "(:action %O :parameters (%A))", replaces=True)
_damage("negation", "Negated step.", "(not (%O %A))", replaces=True)
_damage("conjunction", "Steps joined by `and`.", "(and (%O %A))", "(and (%O %A) (%O %A))")
_damage("colon", "Colon or number in the step.", "(%O: %A)", "(1. %O %A)", "(1: %O %A)", "(action: %O %A)", **_domain)
_damage("quoted_argument", "Quotes around an argument.", '(%H "%L")', "(%H '%L')", "(%H `%L`)", **_domain)
_damage("arrow_inside", "Arrow in the step.", "(%H -> %L)", "(%H → %L)", **_domain)
_damage("swallowed_close", "Comment takes the closing parenthesis.", "(%O %A ; last one)", "(%O ; %A)",
    needs_domain=True, notations=LINES)
_damage("other_brackets", "Braces or brackets in place of parentheses.", "{%O %A}", "[%O %A]", **_domain)
_damage("bare_with_tail", "Unreadable tail.", "%O %A (1)", "%O %A (done)", "%O %A [", **_domain)
_damage("bare_step", "No parentheses.", "%O %A", "%O %A.", "%O: %A", "%O %A;", **_domain)
_damage("list_wrong_type", "Item that is no string.", "7", "3.5", "None", "True",
    notations=("quoted_list",), example="['(go x y)', 7]")
_damage("list_cut_off", "List that breaks off.", "", notations=LIST, kind="text", places=("behind",),
    needs_domain=True, example="['(go x y)', '(go y")
_damage("json_wrong_type", "Item that is no object.", "7", "null", "true", "2.5", notations=JSON)
_damage(
    "json_no_name", "Object without a name.", '{"args": {"a": "x"}}', "{}", '{"args": {}, "id": 3}', notations=JSON)
_damage("json_name_type", "Name that is no text.", '{"name": 5, "args": {}}', '{"name": null, "args": {"a": "x"}}',
    '{"name": ["%O"], "args": {}}', notations=JSON)
_damage("json_args_type", "Arguments that are a number.", '{"name": "%O", "args": 7}',
    '{"name": "%O", "args": true}', notations=JSON)
_damage("json_args_cut", "JSON string that breaks off.", r'{"name": "%O", "args": "{\"a\": \"%L"}',
    notations=JSON)
_damage("json_argument_type", "Argument that is no text.", '{"name": "%O", "args": {"a": ["%L"], "b": null}}',
    '{"name": "%O", "args": {"a": {}, "b": "%L"}}', notations=JSON, needs_domain=True)
_damage("json_syntax", "Item that is no JSON.", '{"name": "%O", "args": }', '{"name" "%O"}',
    '{"name": "%O", "args": {"a" "%L"}}', notations=JSON, needs_domain=True)
_damage("json_cut_off", "JSON that breaks off.", '{"name": "%O", "ar', '{"name": "%', '{"na',
    notations=JSON, kind="text", places=("behind",), needs_domain=True)
# fmt: on

DOMAINS = {
    "roads": """(:requirements :strips) (:predicates (at ?p) (road ?p ?q) (plain ?p) (painted ?p))
 (:action go :parameters (?a ?b) :precondition (and (at ?a) (road ?a ?b)) :effect (and (at ?b) (not (at ?a))))
 (:action paint :parameters (?p) :precondition (and (at ?p) (plain ?p)) :effect (and (painted ?p) (not (plain ?p))))""",
    "towers": """(:requirements :strips) (:predicates (on ?b ?c) (low ?b) (clear ?b) (holding ?b) (free))
 (:action pickup :parameters (?b) :precondition (and (low ?b) (clear ?b) (free))
  :effect (and (holding ?b) (not (low ?b)) (not (clear ?b)) (not (free))))
 (:action put-down :parameters (?b) :precondition (holding ?b)
  :effect (and (low ?b) (clear ?b) (free) (not (holding ?b))))
 (:action stack :parameters (?b ?c) :precondition (and (holding ?b) (clear ?c))
  :effect (and (on ?b ?c) (clear ?b) (free) (not (holding ?b)) (not (clear ?c))))
 (:action unstack :parameters (?b ?c) :precondition (and (on ?b ?c) (clear ?b) (free))
  :effect (and (holding ?b) (clear ?c) (not (on ?b ?c)) (not (clear ?b)) (not (free))))""",
    "lamps": """(:requirements :strips) (:predicates (power) (still) (dark ?l) (lit ?l) (near ?l ?m))
 (:action start-up :parameters () :precondition (still) :effect (and (power) (not (still))))
 (:action shut_down :parameters () :precondition (power) :effect (and (still) (not (power))))
 (:action light :parameters (?l) :precondition (and (power) (dark ?l)) :effect (and (lit ?l) (not (dark ?l))))
 (:action pass-on :parameters (?l ?m) :precondition (and (lit ?l) (dark ?m) (near ?l ?m))
  :effect (and (lit ?m) (dark ?l) (not (lit ?l)) (not (dark ?m))))""",
    "parcels": """(:requirements :strips :typing) (:types truck parcel - thing thing place - object)
 (:predicates (at ?t - thing ?p - place) (in ?q - parcel ?t - truck))
 (:action load :parameters (?q - parcel ?t - truck ?p - place) :precondition (and (at ?q ?p) (at ?t ?p))
  :effect (and (in ?q ?t) (not (at ?q ?p))))
 (:action unload :parameters (?q - parcel ?t - truck ?p - place) :precondition (and (in ?q ?t) (at ?t ?p))
  :effect (and (at ?q ?p) (not (in ?q ?t))))
 (:action drive :parameters (?t - truck ?a - place ?b - place) :precondition (at ?t ?a)
  :effect (and (at ?t ?b) (not (at ?t ?a))))""",
}


@dataclass(slots=True)
class _Task:
    name: str
    objects: dict[str, str]  # object -> type
    initial: frozenset[Step]
    goal: tuple[Step, ...] = ()
    steps: tuple[Step, ...] = ()
    bad: list[Step] = field(default_factory=list)  # steps that no state of the plan admits

    def texts(self) -> tuple[str, str]:
        """Return the domain and the problem in PDDL."""
        typed = ":typing" in DOMAINS[self.name]
        objects = " ".join(f"{name} - {kind}" if typed else name for name, kind in self.objects.items())
        initial, goal = (" ".join(f"({' '.join(atom)})" for atom in sorted(part)) for part in (self.initial, self.goal))
        named = f"(define (problem p)\n (:domain {self.name})\n (:objects {objects})"
        domain = f"(define (domain {self.name})\n {DOMAINS[self.name]})\n"
        return domain, f"{named}\n (:init {initial})\n (:goal (and {goal})))\n"


def _after(task: interpreter.Task, state: interpreter.State, step: Step) -> interpreter.State | None:
    with suppress(interpreter.Failed):
        return interpreter.execute(task, state, step)
    return None


def _task(rng: random.Random, shortest: int) -> _Task:
    """Return a task that needs steps, with a valid plan of `shortest` to 8 steps, found by a random walk."""
    while True:
        name = rng.choice(list(DOMAINS))
        stem = rng.choice(
            {"roads": ["p", "x-", "loc_"], "towers": ["b", "block-"], "lamps": ["k", "lamp"], "parcels": ["n"]}[name]
        )
        names = [f"{stem}{i}" for i in range(1, 6)]
        kinds = ["truck", "parcel", "place", "place", "place"] if name == "parcels" else ["object"] * 5
        objects = dict(zip(names, kinds, strict=True))
        pairs = [pair for pair in itertools.permutations(names, 2) if rng.random() < 0.5]
        initial: dict[str, list[Step]] = {
            "roads": [("at", names[0]), *(("plain", n) for n in names), *(("road", *pair) for pair in pairs)],
            "towers": [("free",), ("on", names[0], names[1]), *(("low", n) for n in names[1:])],
            "lamps": [("still",), *(("dark", n) for n in names), *(("near", *pair) for pair in pairs)],
            "parcels": [("at", names[0], names[2]), ("at", names[1], names[3])],
        }
        if name == "towers":
            initial[name] += [("clear", n) for n in (names[0], *names[2:])]
        task = _Task(name, objects, frozenset(initial[name]))
        read = interpreter.read(*task.texts())
        ground = [
            (operator, *chosen)
            for operator, action in read.actions.items()
            for chosen in itertools.permutations(names, len(action.parameters))
            if all(read.fits(each, kinds) for each, (_, kinds) in zip(chosen, action.parameters, strict=True))
        ]
        states = [read.initial]
        for _ in range(rng.randint(shortest, 8)):
            able = {step: after for step in ground if (after := _after(read, states[-1], step))}
            if not able:
                break
            task.steps += (rng.choice(list(able)),)
            states.append(able[task.steps[-1]])
        reached = sorted(states[-1].atoms - task.initial)
        task.bad = [s for s in ground if len(s) > 2 and not any(_after(read, state, s) for state in states)]
        if len(task.steps) >= shortest and reached and task.bad:
            task.goal = tuple(rng.sample(reached, rng.randint(1, min(2, len(reached)))))
            return task


@dataclass(slots=True)
class _Line:
    body: str  # text of a step or of damage; of a list of strings: not yet quoted; of JSON: an item in JSON
    step: Step | None = None
    own: bool = False  # a line without number
    raw: bool = False  # an item that is not quoted in a list of strings
    outer: str = "%S"  # decoration around the whole line, number included
    touched: bool = False


class _Answer:
    """A plan in one notation, to which ways are applied."""

    def __init__(self, rng: random.Random, task: _Task, notation: str) -> None:
        self.rng, self.task, self.notation, self.call = (
            rng,
            task,
            notation,
            notation in ("calls", "bare_list", "inline"),
        )
        self.options: dict[str, str] = {}  # ways for the whole answer, with the template that was chosen
        self.head: list[str] = []
        self.tail: list[str] = []
        self.lines = [
            _Line(self.item(step) if notation == "json" else fill("%S", step, self.call), step) for step in task.steps
        ]
        self.seen_without_domain: list[bool] = []
        self.layout = rng.random() < 0.5

    def item(self, step: Step) -> str:
        parameters = re.search(rf":action {step[0]} :parameters \(([^)]*)\)", DOMAINS[self.task.name])
        names = re.findall(r"\?(\w+)", parameters[1] if parameters else "")
        return json.dumps({"name": step[0], "args": dict(zip(names, step[1:], strict=True))})

    def position(self, place: str) -> int:
        found = [i for i, line in enumerate(self.lines) if line.step or line.touched]
        return {"before": 0, "behind": len(self.lines), "between": self.rng.randint(found[0] + 1, found[-1])}[place]

    def free(self, place: str) -> list[_Line]:
        """Return the lines of steps at the place that no way has touched."""
        steps = [line for line in self.lines if line.step or line.touched]
        at = {"before": steps[:1], "between": steps[1:-1], "behind": steps[-1:]}[place]
        return [line for line in at if line.step and not line.touched]

    def apply(self, way: Way, place: str) -> bool:
        """Apply the way at the place; return False, with nothing changed, if it does not fit."""
        if self.notation not in way.notations or way.name in self.options:
            return False
        template = self.rng.choice(way.call if self.call and way.call else way.templates)
        if way.kind == "text":
            return self.to_answer(way, template)
        if way.kind == "line":
            return self.add_line(template, place)
        if "shuffled_times" in self.options:
            return False
        return self.damage(way, place, template) if way.damage else self.decorate(place, template)

    def to_answer(self, way: Way, template: str) -> bool:
        no_shuffle = "finish_action" in self.options or any(line.touched for line in self.lines)
        if (way.name, no_shuffle) == ("shuffled_times", True) or {way.name, *self.options} >= {
            "finish_action",
            "shuffled_times",
        }:
            return False
        self.options[way.name] = fill(template, self.rng.choice(self.task.bad))
        self.seen_without_domain += [False] if way.damage else []
        return True

    def add_line(self, template: str, place: str) -> bool:
        body = fill(template, self.rng.choice(self.task.bad), self.call)
        if place == "between" and self.notation in LINE:
            self.lines.insert(self.position(place), _Line(body, own=True))
        elif place == "before":
            self.head.insert(0, body)
        elif place == "behind":
            self.tail.append(body)
        return place != "between" or self.notation in LINE

    def damage(self, way: Way, place: str, template: str) -> bool:
        chosen = [line for line in self.free(place) if line.step and (len(line.step) > 1 or way.name != "cut_off")]
        bad = self.rng.choice(self.task.bad)
        if way.replaces and chosen and self.rng.random() < 0.4:
            line, bad = chosen[0], chosen[0].step or bad
        else:
            line = _Line("")
            self.lines.insert(self.position(place), line)
        line.body, line.step, line.touched, line.raw = (
            fill(template, bad, self.call),
            None,
            True,
            way.name == "list_wrong_type",
        )
        even = all(line.body.count(a) == line.body.count(b) for a, b in ("()", "[]", "{}"))
        seen = {"quoted_list": True, "json": True, "bare_list": even, "inline": False}
        self.seen_without_domain.append(not way.needs_domain and seen.get(self.notation, line.body.startswith("(")))
        return True

    def decorate(self, place: str, template: str) -> bool:
        for line in self.rng.sample(free := self.free(place), min(1, len(free))):
            line.touched = True
            whole = (
                self.rng.random() < 0.5 or template[-1] in "\x85\x0b\x0c\u2028\u2029"
            )  # ends the line, so it stands last
            if "%S" in template and whole:
                line.outer = template
            else:
                line.body = fill(template, line.step or (), self.call, self.lines.index(line) + 1)
        return bool(free)

    def text(self) -> str:
        """Return the answer as text."""
        options = self.options
        if "finish_action" in options:
            done = '{"name": "FinishAction", "args": {"answer": "done"}}'
            self.lines.append(_Line(done if self.notation == "json" else options["finish_action"]))
        plan = "\n".join(self.numbered()) if self.notation in LINE else self.list_text()
        if "fence" in options:
            plan = f"{options['fence']}\n{plan}\n{options['fence'][:3]}"
        if "tag_lines" in options:
            plan = f"<{options['tag_lines']}>\n{plan}\n</{options['tag_lines']}>"
        plan = options.get("bom", "") + "\n".join([*self.head, plan, *self.tail]) + options.get("end_token", "")
        plan += "" if "end_token" in options or self.rng.random() < 0.5 else "\n"
        return plan.replace("\n", "\r\n") if "crlf" in options else plan

    def numbered(self) -> list[str]:
        """Return the lines, with numbers or times where the notation has them."""
        shown, time, number = [], self.rng.choice((0, 1, 8)), 0
        decimals, shuffled = "decimal_times" in self.options, "shuffled_times" in self.options
        for line in self.lines:
            number += not line.own
            text = line.body
            if not line.own and self.notation == "numbered":
                text = f"{number}. {text}"
            elif not line.own and self.notation == "times":
                text = f"{time}.001: {text} [1.000]" if decimals else f"{time}: {text} [1]"
                time += self.rng.choice((1, 1, 2, 5)) if decimals or shuffled else 1
            shown.append(line.outer.replace("%S", text).replace("%N", str(number)))
        ordered = list(shown)
        while shuffled and shown == ordered:
            self.rng.shuffle(shown)
        return shown

    def list_text(self) -> str:
        """Return a list, on one line or on several, in JSON or with Python's quotes."""
        bodies, cut = [line.body for line in self.lines], self.options.get("json_cut_off")
        if self.notation == "quoted_list":
            quote, constants = (repr, {}) if self.layout else (json.dumps, {"None": "null", "True": "true"})
            bodies = [constants.get(line.body, line.body) if line.raw else quote(line.body) for line in self.lines]
        if self.notation == "json":
            bodies = [self.json_item(i, body) for i, body in enumerate(bodies)]
        if "list_cut_off" in self.options:
            template = "%O(%L," if self.call else "'(%H" if self.layout else '"(%H'
            cut = fill(template, self.rng.choice(self.task.bad), self.call)
        bodies += [] if cut is None else [cut]
        spread = self.rng.random() < 0.5 or "crlf" in self.options
        if self.notation == "inline":
            return (",\n" if spread else ", ").join(bodies)
        start, comma, end = ("[\n  ", ",\n  ", "\n]") if spread else ("[", ", ", "]")
        return start + comma.join(bodies) + (end if cut is None else "")

    def json_item(self, number: int, body: str) -> str:
        try:
            value = json.loads(body)
        except json.JSONDecodeError:
            return body
        if isinstance(value, dict) and "ids" in self.options:
            value["id"] = number
        if isinstance(value, dict) and isinstance(value.get("args"), dict) and "args_string" in self.options:
            value["args"] = json.dumps(value["args"])
        return repr(value) if "python_quotes" in self.options else json.dumps(value)


def texts(count: int, seed: int) -> Iterator[Text]:
    """Yield `count` labelled texts, the same for the same seed; each way comes first equally often in each place."""
    rng = random.Random(seed)
    cells = [(way, place) for way in WAYS.values() for place in way.places]
    queue: list[tuple[Way, str]] = []
    for _ in range(count):
        queue = queue or rng.sample(cells, len(cells))
        first, place = queue.pop()
        notations = [n for n in first.notations if first.kind != "line" or place != "between" or n in LINE]
        task, limit = _task(rng, 3 if place == "between" else 2), rng.randint(1, 3)
        answer = _Answer(rng, task, rng.choice(notations))
        used: list[tuple[Way, str]] = []
        others = [cell for cell in cells if first.damage or not cell[0].damage]
        for way, at in [(first, place), *rng.sample(others, 12)]:
            if len(used) < limit and way not in [w for w, _ in used] and answer.apply(way, at):
                used.append((way, at))
        damaged = any(way.damage for way, _ in used)
        names, places = tuple(way.name for way, _ in used), tuple(at for _, at in used)
        seen = not damaged or any(answer.seen_without_domain)
        yield Text(*task.texts(), answer.text(), names, places, damaged, task.steps, seen, answer.notation)


# Not generated, because section 6 leaves open, or says in two ways, what it is.
# open_question: `Step 3: (go x y)`, `Action: (go x y)`, `b) (go x y)`, `iv. (go x y)`, `- [x] (go x y)`: step
#   with a label, or prose (a word besides)?
# open_question: `Go ahead as follows:`, `Move to y, then paint.`: prose that begins with an operator: damage by
#   the letter. Also `go from y to z`.
# open_question: `(Note: two steps)`, `(4 steps)`, `()`, `(...)`, `(`: parenthesis without an action: damage by
#   the letter, or prose?
# open_question: `; (go x y)`, `(go x y) ; then (go y z)`, `# (go x y)`, `// (go x y)`, `% (go x y)`: comment, or
#   signs before a step?
# open_question: `❌ (go x y)`, `~~(go x y)~~`, `<del>(go x y)</del>`: signs and tags by the letter, a withdrawn
#   step by sense.
# open_question: `((go y z))`, `((go) y z)`, `(go(y, z))`, `(3) (go y z)`: are outer parentheses signs?
# open_question: `(go, y, z)`, `(go y, z)`: a comma inside a PDDL step: separator or damage?
# open_question: `go("y", "z")`, `go(a=y, b=z)`, `(**go** y z)`, `(go <b>y</b> z)`: quotes, keywords, mark-up
#   inside a step.
# open_question: An invisible or control character, a soft hyphen or a blank of Unicode inside the parentheses of
#   a step (H1: "said, but valid").
# open_question: `ESC[32m(go x y)ESC[0m`: the letters of a terminal's colour codes; `&nbsp;(go x y)`, `<!-- then
#   (go y z) -->`.
# open_question: `(go x y) (go y z)` on one line without a comma; `(go x y), (go y z)`; `1. (go x y) 2. (go y z)`.
# open_question: A step over several lines, `(go x` newline `y)`; a lone CR, NEL, VT, FF, U+2028 between two steps
#   in place of a line feed.
# open_question: Text, steps or damage behind an end token in the middle; start tokens (`<|im_start|>assistant`);
#   `[/INST]`, `[EOS]`, `[DONE]`.
# open_question: Damage outside a fence, a list or JSON when the plan stands inside; two fences; steps or damage
#   inside `<think>...</think>`.
# open_question: Times on some lines only; shuffled `1.` `2)` numbers (times or step numbers?); negative times;
#   what durations mean.
# open_question: FinishAction in the middle, twice, in other case, bare `FinishAction` without parentheses.
# open_question: A list whose items are whole but whose end is missing, `[{...}, {...}`; an item `""`, `[]`, `{}`
#   in a list of strings.
# open_question: JSON with `"action"` for `"name"`, `"args": null` or no `args` for an operator with arguments,
#   numbers as arguments, more keys.
# open_question: Order of JSON arguments where names differ from the domain's parameters, or no domain is known
#   (here: names and order agree).
# open_question: Bare `go y z` where it could be executed, and bare `start-up` of no arguments (GAICo's page
#   writes `{x(p), y}`).
# open_question: Damage that only a reader with the domain sees, read without a domain (`go y z (1)`, `{go y z}`,
#   `go(y, [z])`): prose or damage?
