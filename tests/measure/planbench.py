"""Real answers with recorded verdicts: ``python -m tests.measure.planbench GIT_DIR``.

``GIT_DIR`` is a clone of github.com/karthikv792/LLMs-Planning (PlanBench; a bare one will do). Of its raw answers to
prompts in PDDL (``…_pddl.json``) each is read and executed in its instance, once with ``--answer first`` and once
with ``last``, and compared with the recorded verdict. Nothing of it is kept. A recorded verdict may be wrong:
instances were replaced after the runs.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from functools import cache, partial

from pddl_eval.definition.metrics import PLAN
from pddl_eval.definition.options import ScoringOptions

ROOT = "llm_planning_analysis"
RESULTS = re.compile(rf"{ROOT}/results/([^/]+)/([^/]+)/[^/]*_pddl\.json")
ANSWERS = ("first", "last")


@cache
def show(git_dir: str, path: str) -> str | None:
    """A file of the newest commit; None where a partial clone lacks it."""
    shown = subprocess.run(["git", f"--git-dir={git_dir}", "show", f"HEAD:{path}"], capture_output=True, check=False)
    return shown.stdout.decode("utf-8", "replace") if shown.returncode == 0 else None


def answers(git_dir: str) -> Iterator[tuple[str, str, str, bool, dict[str, str]]]:
    """Dataset, model, instance, the recorded verdict, and the row that it is."""
    listing = ["git", f"--git-dir={git_dir}", "ls-tree", "-r", "--name-only", "HEAD"]
    for path in subprocess.run(listing, capture_output=True, check=True, text=True).stdout.splitlines():
        named, results = RESULTS.fullmatch(path), None
        if named and (results := show(git_dir, path)):
            config = show(git_dir, f"{ROOT}/configs/{named[1]}.yaml") or ""
            settings = dict(re.findall(r"(?m)^(\w+): *['\"]?([^\s'\"]+)", config))
            domain = show(git_dir, f"{ROOT}/instances/{settings.get('domain_file')}")
            for each in json.loads(results)["instances"]:
                recorded = each.get("llm_correct", each.get("correct"))
                file = str(settings.get("instances_template")).format(each["instance_id"])
                problem = show(git_dir, f"{ROOT}/instances/{settings.get('instance_dir')}/{file}")
                if domain and problem and recorded is not None and each.get("llm_raw_response"):
                    row = {"reference_problem": problem, "domain": domain, "reference_plan": "[]"}
                    row["generated_plan"] = each["llm_raw_response"]
                    yield named[1], named[2], file, bool(recorded), row


def main() -> None:
    """Print, for each model, how often we and the record agree, and each answer where we do not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("git_dir")
    parser.add_argument("--differences", action="store_true", help="print each answer with another verdict")
    arguments = parser.parse_args()
    known = {each.name for each in fields(ScoringOptions)}  # an earlier version has no such setting
    counts: Counter[tuple[str, str, str]] = Counter()
    for dataset, model, file, recorded, row in answers(arguments.git_dir):
        for answer in ANSWERS:
            options = ScoringOptions(**{"answer": answer} if "answer" in known else {})
            pair = PLAN.read(row, options)
            scores = dict(zip((column.name for column in PLAN.columns), PLAN.score(pair), strict=True))
            count = partial(lambda what, key: counts.update([(*key, what)]), key=(model, answer))
            count("answers")
            count("recorded valid" if recorded else "recorded invalid")
            count("agree" if scores["plan_valid"] == recorded else "differ")
            count("valid" if scores["plan_valid"] else "not valid")
            count("no plan" if not pair.found else "steps")
            count("drafts" if str(scores["plan_detail"]).startswith("several drafts") else "one")
            if arguments.differences and scores["plan_valid"] != recorded:
                detail = str(scores["plan_detail"])[:150]
                print(f"{answer} {dataset}/{model}/{file} recorded {recorded}, ours {scores['plan_valid']}: {detail}")
    columns = ("answers", "recorded valid", "valid", "agree", "differ", "no plan", "drafts")
    print(f"{'model':28}{'read':6}" + "".join(f"{column:>16}" for column in columns))
    for model, answer in dict.fromkeys((model, answer) for model, answer, _ in sorted(counts)):
        print(f"{model:28}{answer:6}" + "".join(f"{counts[model, answer, column]:>16,}" for column in columns))
    totals = [sum(n for (_, a, what), n in counts.items() if (a, what) == ("first", column)) for column in columns]
    print(f"{'all':28}{'first':6}" + "".join(f"{total:>16,}" for total in totals))


if __name__ == "__main__":
    main()
