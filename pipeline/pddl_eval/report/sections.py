"""The whole report as sections, and what stands above them: title, facts and warnings."""

from __future__ import annotations

from pddl_eval.report.build import Report
from pddl_eval.report.failure_section import failure_section
from pddl_eval.report.labels import rows
from pddl_eval.report.metric_sections import domain_section, plan_section
from pddl_eval.report.page import Section
from pddl_eval.report.rate_sections import differences_section, rates_section, sizes_section


def sections(report: Report) -> tuple[Section, ...]:
    """The sections for which there is something to say, in order."""
    parts = (
        rates_section(report),
        differences_section(report),
        failure_section(report),
        sizes_section(report),
        plan_section(report),
        domain_section(report),
    )
    return tuple(part for part in parts if part is not None)


def title(report: Report) -> str:
    """The report's heading."""
    return f"Scores of {report.place}" if report.place is not None else "Scores"


def facts(report: Report) -> tuple[str, ...]:
    """What the numbers below are about, each in one sentence."""
    found = [f"{rows(report.rows)}."]
    if report.mistakes:
        found.append(
            f"{rows(report.mistakes)} left out of all rates and metrics: the reference cannot be read or solved, "
            "a mistake in the data."
        )
    if report.failed:
        found.append(f"{rows(report.failed)} not scored (the column score_error says why), counted as undecided.")
    if len(report.signatures) == 1 and report.signatures[0][0] is not None:
        found.append(f"Signature: {report.signatures[0][0]}")
    return tuple(found)


def warnings(report: Report) -> tuple[str, ...]:
    """What a reader must know before comparing any of the numbers."""
    if len(report.signatures) < 2:
        return ()
    listed = "; ".join(f"{signature or 'no signature'} ({rows(number)})" for signature, number in report.signatures)
    return (f"The rows were scored in different ways and their scores are not comparable. Signatures: {listed}.",)
