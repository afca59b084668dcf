#!/bin/sh
# One night: score what changed since the last complete night, write its report, then fail if an answer got worse.
#
#     nightly.sh INPUT NIGHTS [OPTION…]
#
# OPTIONs, such as --column generated_problem=output or --workers 4, are those of score and rescore.
#
# NIGHTS/2026-03-01/ gets scored/ and report.html. The report is written last: a night that has one is complete, and
# the next night compares itself with it. Interrupted, the same command goes on where it stopped; finished, it says
# the same again, so that whoever schedules it may retry.
set -eu

if [ "$#" -lt 2 ]; then
    echo "usage: nightly.sh INPUT NIGHTS [OPTION…]" >&2
    exit 2
fi
input=$1
nights=$2
night=$nights/$(date -u +%Y-%m-%d)
shift 2

previous=
for report in "$nights"/????-??-??/report.html; do
    if [ -f "$report" ] && [ "${report%/report.html}" != "$night" ]; then
        previous=${report%/report.html}
    fi
done

mkdir -p "$night"
if [ -n "$previous" ]; then
    pddl-eval rescore --previous "$previous/scored" "$@" "$input" "$night/scored"
else
    pddl-eval score "$@" "$input" "$night/scored"
fi
pddl-eval report "$night/scored" --format html --output "$night/report.html.part"
mv "$night/report.html.part" "$night/report.html"
if [ -n "$previous" ]; then
    pddl-eval compare "$previous/scored" "$night/scored" --fail-on regression
fi
