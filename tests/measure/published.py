"""Published answers, graded again: ``python -m tests.measure.published SOURCE GIT_DIR``.

``GIT_DIR`` is a clone of the source's repository, a bare one will do, and nothing of it is kept. More clones may
follow, in which files are looked for that it does not have:

* ``planbench``: github.com/karthikv792/LLMs-Planning; plans of models, extracted ones and raw answers in PDDL.
* ``llmp``: github.com/Cranial-XIX/llm-pddl (LLM+P); the planner's plans for problems that GPT-4 wrote, as VAL judged
  them in the problems that were meant, and these problems themselves.
* ``proc2pddl``: github.com/zharry29/proc2pddl; plans that its planner found in the domains that models wrote.
* ``recovery``: github.com/maayan25/llm-plan-evaluation (arXiv 2508.01300), and behind it a clone of ``planbench``,
  whose instances it takes: models' plans, and what its search made of them, with recorded validity.
* ``vlm``: github.com/RiddleHe/vlm-as-formalizer; problems that models wrote of images, by whether the plan of each was
  recorded as the gold plan up to names and order (``--problems``).
* ``bgu``: github.com/SPL-BGU/pddl-copilot-experiments; labelled plans, half of them in numeric domains, and plans of
  models.
* ``lexicon``: github.com/Periklismant/lexicon_neurips (LexiCon); plans of models for problems with constraints.
  Its verdict is whether the plan solves the problem in which its compiler has replaced the constraints by atoms.
* ``autoplanbench``: github.com/minecraft-saar/autoplanbench; planners' gold plans in 77 domains.
* ``pddlego``: github.com/zharry29/pddlego-pf; plans that its solver found in domains that models wrote.
* ``formalizer``: github.com/CassieHuang22/llm-as-pddl-formalizer; domains and problems of a model (``--problems``).
* ``nl2pddl``: github.com/giadatroilo/NL2PDDL; domains that models wrote (``--problems``).

Each plan is executed in its problem without a reference, and compared with the recorded verdict. A table says what
stands behind the differences, and what the judge's interpreter, which shares no code with the validator, says of them.

``--problems`` scores problems instead: each reference problem against itself, by what it says beyond STRIPS and with
what is wrong with it, and the problems that models wrote against the references. ``--seconds`` is a row's budget.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import polars as pl
from pddl_eval import score_frame
from pddl_eval.definition.model import show_formula
from pddl_eval.definition.plans import actions_of, read_plan
from pddl_eval.definition.task import task_of
from pddl_eval.errors import UserError

from tests.judges import trajectories
from tests.judges.interpreter import judge

Row = dict[str, Any]
"""``reference_problem``, ``domain``, ``generated_plan``, ``recorded``, ``kind``, ``file``; ``gold`` where one is."""


class Clone:
    """The newest commit of a repository, and of others behind it."""

    def __init__(self, *git_dirs: str) -> None:
        self.gits = [["git", f"--git-dir={each}"] for each in git_dirs]
        listing = [*self.gits[0], "ls-tree", "-r", "--name-only", "HEAD"]
        self.files = subprocess.run(listing, capture_output=True, check=True, text=True).stdout.splitlines()
        self.show = cache(self._show)

    def _show(self, path: str) -> str | None:
        """A file; None where a partial clone lacks it."""
        for git in self.gits:
            shown = subprocess.run([*git, "show", f"HEAD:{path}"], capture_output=True, check=False)
            if shown.returncode == 0:
                return shown.stdout.decode("utf-8", "replace")
        return None


# --- Sources ---------------------------------------------------------------------------------------------------------


def planbench(clone: Clone) -> Iterator[Row]:
    """Extracted plans, and raw answers in PDDL (``…_pddl.json``), with the recorded gold plan."""
    root = "llm_planning_analysis"
    for path in clone.files:
        named, results = re.fullmatch(rf"{root}/results/([^/]+)/([^/]+)/([^/]*)\.json", path), None
        if named and (results := clone.show(path)):
            config = clone.show(f"{root}/configs/{named[1]}.yaml") or ""
            settings = dict(re.findall(r"(?m)^(\w+): *['\"]?([^\s'\"]+)", config))
            domain = clone.show(f"{root}/instances/{settings.get('domain_file')}")
            for each in json.loads(results)["instances"]:
                recorded = each.get("llm_correct", each.get("correct"))
                file = str(settings.get("instances_template")).format(each["instance_id"])
                problem = clone.show(f"{root}/instances/{settings.get('instance_dir')}/{file}")
                if domain is None or problem is None or recorded is None:
                    continue
                row = {"reference_problem": problem, "domain": domain, "recorded": str(recorded) == "True"}
                row |= {"file": f"{named[1]}/{named[2]}/{named[3]}/{file}"}
                row["gold"] = str(each.get("ground_truth_plan") or "")
                if each.get("extracted_llm_plan"):
                    yield row | {"kind": "extracted", "generated_plan": str(each["extracted_llm_plan"])}
                if named[3].endswith("_pddl") and each.get("llm_raw_response"):
                    yield row | {"kind": "raw", "generated_plan": str(each["llm_raw_response"])}


def llmp(clone: Clone) -> Iterator[Row]:
    """The plans that VAL judged; its report names them. And the problems, of which nothing is recorded."""
    for report in (each for each in clone.files if each.endswith("/validation.txt")):
        for part in re.split(r"(?m)^Checking plan: ", clone.show(report) or "")[1:]:
            path = part.split()[0]
            _, _, _, _, name, task = path.split("/")
            validated = f"domains/{name}/domain_validation.pddl"
            domain = clone.show(validated if validated in clone.files else f"domains/{name}/domain.pddl")
            problem, plan = clone.show(f"domains/{name}/{task[:3]}.pddl"), clone.show(path)
            if domain and problem and plan is not None:
                row = {"reference_problem": problem, "domain": domain, "generated_plan": plan, "file": path}
                yield row | {"kind": name, "recorded": "Plan valid" in part}
    for path in clone.files:
        if named := re.fullmatch(r"experiments/\w+/problems/(\w+)/(\w+)/(p\d+)\.pddl", path):
            domain, problem = (clone.show(f"domains/{named[2]}/{name}.pddl") for name in ("domain", named[3]))
            if domain and problem:
                row = {"reference_problem": problem, "domain": domain, "generated_problem": clone.show(path)}
                yield row | {"kind": named[1], "file": path}


def proc2pddl(clone: Clone) -> Iterator[Row]:
    """The plans that its planner found, each in the domain in which it found it: the header and a model's actions."""
    folders = {each.split("/")[2].lower(): each.split("/")[2] for each in clone.files if "_evaluation/pred/" in each}
    for path in clone.files:
        named = re.fullmatch(r"pddl_evaluation/plan/([\w.]+)/(\d+)_(problem-.*)\.txt", path)
        plan = clone.show(path) if named else None
        if named is None or plan is None or plan.startswith(("No solution", "Error")):
            continue
        problem = clone.show(f"pddl_data/{named[2]}/problems/{named[3]}.pddl")
        if named[1] == "gold":
            domain = clone.show(f"pddl_data/{named[2]}/domain.pddl")
        else:
            header = clone.show(f"pddl_data/{named[2]}/domain_header.pddl")
            actions = clone.show(f"pddl_evaluation/pred/{folders.get(named[1].lower())}/{named[2]}.txt")
            domain = header + actions if header and actions else None
        if problem and domain:
            row = {"reference_problem": problem, "domain": domain, "generated_plan": plan, "file": path}
            yield row | {"kind": "annotated" if named[1] == "gold" else "models", "recorded": True}


def bgu(clone: Clone) -> Iterator[Row]:
    """Labelled plans (``p01_v1.plan`` is valid, ``p01_b1.plan`` is not), and the plans of models."""
    for path in clone.files:
        if named := re.fullmatch(r"(domains\S*?)/(\w+)/(\S+?)/(p\d+)_([vb])\d+\.plan", path):
            folder = f"{named[1]}/{named[2]}/{named[3]}"
            row = {"domain": clone.show(f"{folder}/domain.pddl"), "generated_plan": clone.show(path), "file": path}
            row |= {"reference_problem": clone.show(f"{folder}/{named[4]}.pddl"), "recorded": named[5] == "v"}
            yield row | {"kind": f"{named[2]}{', other names' if 'anon' in named[1] else ''}"}
        elif path.endswith("/trials.jsonl") and "/keys/" not in path:
            for line in (clone.show(path) or "").splitlines():
                trial = json.loads(line)["result"]
                if trial["task"] == "solve" and not trial["with_tools"] and not trial["infra_failure"]:
                    yield from solved(clone, path, trial)


def solved(clone: Clone, path: str, trial: Row) -> Iterator[Row]:
    """The answer of a model that had no tools."""
    for kind in ("classical", "numeric"):
        folder = f"domains/{kind}/{trial['domain_name']}"
        domain, problem = (clone.show(f"{folder}/{name}.pddl") for name in ("domain", trial["problem_name"]))
        if domain and problem:
            row = {"reference_problem": problem, "domain": domain, "generated_plan": trial["response"]}
            yield row | {"kind": f"models, {kind}", "recorded": trial["success"], "file": f"{path}: {folder}"}


def lexicon(clone: Clone) -> Iterator[Row]:
    """Its own plans and those of models; where a line is no action, its verifier takes the most similar action."""
    for path in clone.files:
        if named := re.fullmatch(r"(domains/(\w+)/data/data_\d+/\d+)/([^/]+)_plan", path):
            names = ("problem.pddl", "domain.pddl", "compiled_domain.pddl", "compiled_problem.pddl")
            problem, domain, *compiled = (clone.show(f"{named[1]}/{name}") for name in names)
            plan = clone.show(path)
            if problem and domain and plan is not None and all(compiled):
                lines = (re.sub(r"^\s*\d+[.:]|[()]", " ", line).lower().split() for line in plan.splitlines())
                steps = [tuple(line) for line in lines if line]
                row = {"reference_problem": problem, "domain": domain, "generated_plan": plan, "file": path}
                whose = named[3] if named[3].endswith("constrained") else "models"
                yield row | {"kind": f"{named[2]}, {whose}", "recorded": judge(*map(str, compiled), steps).valid}


def recovery(clone: Clone) -> Iterator[Row]:
    """The plan of each model, and those that its search made of it, in PlanBench's instances; a plan once a task."""
    root, seen = "llm_planning_analysis", set[tuple[str, ...]]()
    for path in clone.files:
        named = re.fullmatch(r".*/final_evaluation/(?:[\w-]+/)?(?!full_)(\w+?)_evaluation_([^/]+)\.csv", path)
        config = clone.show(f"{root}/configs/{named[1]}.yaml") if named else None
        if named is None or config is None:
            continue
        settings = dict(re.findall(r"(?m)^(\w+): *['\"]?([^\s'\"]+)", config))
        domain = clone.show(f"{root}/instances/{settings['domain_file']}")
        for each in csv.DictReader(io.StringIO(clone.show(path) or "")):
            file = f"{settings['instance_dir']}/{settings['instances_template'].format(each['instance_id'])}"
            problem = clone.show(f"{root}/instances/{file}")
            row = {
                "reference_problem": problem,
                "domain": domain,
                "file": f"{named[2]}/{file}",
                "gold": each["gt_plan"],
            }
            for kind in ("curr", "improved", "cdt", "subseq", "cdt_subseq"):
                plan, said = each.get(f"{kind}_plan") or "", each.get(f"{kind}_validity")
                key = (named[1], named[2], each["instance_id"], kind, plan, str(said))
                if problem and domain and said in ("True", "False") and key not in seen:
                    seen.add(key)
                    what = {"curr": "models", "improved": "improved"}.get(kind, "search")
                    yield row | {"kind": what, "generated_plan": plan, "recorded": said == "True"}


def vlm(clone: Clone) -> Iterator[Row]:
    """The last problem that a model wrote of a scene; its planner's plan ``matched`` the gold plan or not."""
    for path in clone.files:
        if named := re.fullmatch(r"(results/(\w+)/.*/([^/]+))/problem\.pddl", path):
            folder = f"data/{named[2]}/{named[3]}"  # ``blocksworld_sim`` is a link to a folder that is not there.
            texts = {name: clone.show(f"{folder}/{name}.pddl") for name in ("domain", "problem")}
            said = (clone.show(f"{named[1]}/plan_validation.txt") or "no plan").strip()
            if all(texts.values()):
                row = {"reference_problem": texts["problem"], "domain": texts["domain"], "file": path}
                yield row | {"kind": f"{named[2]}: {said}", "generated_problem": clone.show(path)}


def autoplanbench(clone: Clone) -> Iterator[Row]:
    """The gold plans of its instances, with the names of their domains and with its own."""
    for path in clone.files:
        if named := re.fullmatch(r"(data/[^/]+)/(orig|adapted)_gold_plans/(.+)_gold_plan\.txt", path):
            folder = "orig_problems" if named[2] == "orig" else "adapted_instances"
            problem, domain = clone.show(f"{named[1]}/{folder}/{named[3]}.pddl"), clone.show(f"{named[1]}/domain.pddl")
            if problem and domain:
                row = {"reference_problem": problem, "domain": domain, "generated_plan": clone.show(path), "file": path}
                yield row | {"kind": named[2], "recorded": True}


def pddlego(clone: Clone) -> Iterator[Row]:
    """The actions that its solver found in the domains and problems that models wrote, as Python writes them."""
    for path in clone.files:
        named = re.fullmatch(r"(processed_output/([^/]+))/solve_result/(\d+)_(problem-.+)\.txt", path)
        if named and not (said := clone.show(path) or "").startswith(("Error", "No ")):
            problem = clone.show(f"{named[1]}/{named[3]}/{named[4]}.pddl")
            domain = clone.show(f"{named[1]}/{named[3]}/domain.pddl")
            lines = (re.findall(r"[^\s(),']+", line) for line in said.splitlines())
            plan = "\n".join(f"({' '.join(line)})" for line in lines)
            if problem and domain and plan:
                row = {"reference_problem": problem, "domain": domain, "generated_plan": plan, "file": path}
                yield row | {"kind": named[2], "recorded": True}


def formalizer(clone: Clone) -> Iterator[Row]:
    """The domain and the problem that a model wrote of a description, where the task itself is in PDDL, too."""
    for path in clone.files:
        if named := re.fullmatch(r"(output/llm-as-formalizer/(\w+)/.*-100/([^/]+)/(p\d+)/.*)_pf\.pddl", path):
            found = rf"data/textual_{named[2]}/[^/]*_PDDL/domain\.pddl"
            folder = next(each for each in clone.files if re.fullmatch(found, each)).removesuffix("/domain.pddl")
            texts = [clone.show(f"{folder}/{name}.pddl") for name in (named[4], "domain")]
            if all(texts):
                row = {"reference_problem": texts[0], "domain": texts[1], "reference_domain": texts[1], "file": path}
                row |= {"generated_problem": clone.show(path), "generated_domain": clone.show(f"{named[1]}_df.pddl")}
                yield row | {"kind": named[3]}


def nl2pddl(clone: Clone) -> Iterator[Row]:
    """The domains that models wrote of a description, and its own."""
    for path in clone.files:
        if named := re.fullmatch(r"test/([^/]+)/domains/domain_(?!gold)([a-z]+).*\.pddl", path):
            gold = clone.show(f"test/{named[1]}/domains/domain_gold.pddl")
            problem = clone.show(f"test/{named[1]}/problems/problem_gold.pddl")
            if gold and problem:
                row = {"reference_domain": gold, "generated_domain": clone.show(path), "file": path}
                yield row | {"reference_problem": problem, "domain": gold, "kind": named[2]}


SOURCES: dict[str, Callable[[Clone], Iterator[Row]]] = {
    "planbench": planbench,
    "llmp": llmp,
    "proc2pddl": proc2pddl,
    "bgu": bgu,
    "recovery": recovery,
    "vlm": vlm,
    "lexicon": lexicon,
    "autoplanbench": autoplanbench,
    "pddlego": pddlego,
    "formalizer": formalizer,
    "nl2pddl": nl2pddl,
}

# --- Grading ---------------------------------------------------------------------------------------------------------


def graded(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with our verdict and, where it is another than the recorded one, what stands behind that."""
    ours = score_frame(rows.select("reference_problem", "domain", "generated_plan"))
    rows = rows.with_columns(ours.select("plan_valid", "plan_verdict", "plan_detail"))
    if "gold" in rows.columns:
        gold = rows.select("reference_problem", "domain", pl.col("gold").alias("generated_plan")).unique()
        gold_valid = score_frame(gold).select("reference_problem", gold="generated_plan", gold_valid="plan_valid")
        rows = rows.join(gold_valid, on=["reference_problem", "gold"], how="left", nulls_equal=True)
    else:
        rows = rows.with_columns(gold_valid=pl.lit(None, dtype=pl.Boolean))
    agrees = pl.col("plan_valid").eq_missing(pl.col("recorded"))
    why = (
        pl.when(agrees)
        .then(pl.lit("agree"))
        .when(pl.col("plan_valid").is_null())
        .then(pl.concat_str(pl.lit("not decided: "), "plan_verdict"))
        .when(pl.col("recorded") & pl.col("gold_valid").eq_missing(False))
        .then(pl.lit("the recorded gold plan fails too: the instance was replaced"))
        .when(pl.col("recorded"))
        .then(pl.concat_str(pl.lit("recorded valid: "), "plan_verdict"))
        .otherwise(pl.lit("recorded invalid: valid"))
    )
    return rows.with_columns(why.alias("why"))


def judged(row: Row) -> str:
    """What the judge says of the plan that was read."""
    steps = read_plan(row["generated_plan"]).steps
    try:
        if ":constraints" in row["reference_problem"]:
            timed = [
                trajectories.Step(Fraction(at), each) for at, step in enumerate(steps, 1) for each in actions_of(step)
            ]
            return str(trajectories.judge(row["domain"], row["reference_problem"], timed).valid)
        return str(judge(row["domain"], row["reference_problem"], [actions_of(step) for step in steps]).valid)
    except Exception as error:  # It reads texts that are well-formed.
        return f"cannot read: {type(error).__name__}"


def beyond(problem: str, domain: str) -> str:
    """What a reference problem says beyond STRIPS."""
    try:
        read = task_of(problem, domain, for_plans=True).problem
    except UserError as error:
        return f"not read: {str(error).partition(':')[0]}"
    said = ["costs or numbers"] * read.has_numbers
    said += ["negated goal"] * any("(not (" in show_formula(each) for each in read.conjuncts)
    return " and ".join(said) or ("another goal" if read.conjuncts else "STRIPS")


def problems(rows: list[Row], seconds: float) -> None:
    """Print what the reference problems say, and the verdicts on them and on the problems that models wrote."""
    by_text = {(row["reference_problem"], row["domain"]): row for row in rows}
    references = pl.DataFrame(list(by_text), schema=["reference_problem", "domain"], orient="row")
    own = references.with_columns(generated_problem="reference_problem")
    says = pl.Series("says", [beyond(*each) for each in by_text], dtype=pl.String)
    tables = [("references", own.with_columns(says))]
    written = pl.DataFrame([row for row in rows if "generated_plan" not in row], infer_schema_length=None)
    if "generated_problem" in written.columns:
        columns = ["reference_problem", "domain", "generated_problem", "kind"]
        tables.append(("problems that models wrote", written.select(columns).rename({"kind": "says"})))
    if "generated_domain" in written.columns:
        found = score_frame(written.drop("domain", "kind", "file"), row_seconds=seconds).with_columns(written["kind"])
        for verdict in ("domain_verdict", "task_equivalent"):
            print(found.group_by("kind", verdict).len().sort("kind", "len", descending=[False, True]))
    for title, table in tables:
        used = time.process_time()
        found = score_frame(table.drop("says"), row_seconds=seconds).with_columns(table["says"])
        print(f"{len(table):,} {title} in {time.process_time() - used:.1f} s of CPU")
        print(found.group_by("says", "verdict").len().sort("says", "len", descending=[False, True]))
        wrong = found.filter(pl.col("verdict").is_in(["reference_invalid", "undecided", "not_strips"]))
        without_atoms = pl.col("detail").str.replace_all(r"(`?\([^()]*\)`?( and )?)+|`[^`]*`", "…").str.slice(0, 90)
        reasons = wrong.group_by("says", "verdict", without_atoms).len()
        print(reasons.sort("len", descending=True), flush=True)


def main() -> None:
    """Print, for each kind of answer, how often we and the record agree, and what stands behind the differences."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", choices=SOURCES)
    parser.add_argument("git_dirs", nargs="+", metavar="git_dir")
    parser.add_argument("--differences", action="store_true", help="print each answer with another verdict")
    parser.add_argument("--problems", action="store_true", help="score problems instead of plans")
    # With less the kernel leaves what takes a search to the definition: a hundred times the time in STRIPS domains.
    parser.add_argument("--seconds", type=float, default=10, help="of processor time, for a problem")
    arguments = parser.parse_args()
    rows = list(SOURCES[arguments.source](Clone(*arguments.git_dirs)))
    pl.Config(tbl_rows=-1, tbl_cols=-1, fmt_str_lengths=90, tbl_hide_dataframe_shape=True, tbl_width_chars=180)
    if arguments.problems:
        problems(rows, arguments.seconds)
        return
    plans = pl.DataFrame([row for row in rows if "generated_plan" in row], infer_schema_length=None)
    used = time.process_time()
    found = graded(plans)
    print(f"{len(plans):,} plans in {time.process_time() - used:.1f} s of CPU\n")
    differ = found.filter(pl.col("why") != "agree")
    said = Counter((row["why"], judged(row)) for row in differ.iter_rows(named=True))
    same = found.group_by("reference_problem", "domain", "generated_plan").agg(pl.col("recorded").n_unique())
    print(f"{same.filter(pl.col('recorded') > 1).height:,} plans of one problem are recorded as valid and as invalid\n")
    print(found.group_by("kind", "why").len().sort("kind", "len", descending=[False, True]))
    print(found.group_by("kind", "plan_verdict").len().sort("kind", "len", descending=[False, True]))
    for (why, valid), count in said.most_common():
        print(f"{count:>6}  {why}; valid for the judge's interpreter: {valid}")
    if arguments.differences:
        for row in differ.iter_rows(named=True):
            print(f"{row['kind']} {row['file']}: {row['why']}: {row['plan_detail']}")


if __name__ == "__main__":
    main()
