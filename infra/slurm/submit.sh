#!/bin/bash
# Score a dataset in 32 tasks and report when all have ended: submit.sh 32 INPUT OUTPUT REPORT.html [OPTION…]
# The options are those of `pddl-eval score`. After a failure, the same command does what is missing.
set -euo pipefail
if (($# < 4)); then
  echo "usage: submit.sh PARTS INPUT OUTPUT REPORT.html [OPTION…]" >&2
  exit 2
fi
here=$(dirname "$0")
parts=$1 input=$2 output=$3 report=$4
shift 4

job=$(sbatch --parsable --array="1-$parts" "$here/score.sbatch" "$parts" "$input" "$output" "$@")
# Whatever became of the tasks: the report says what is missing, where a job that waits for success would wait for ever.
sbatch --parsable --dependency="afterany:${job%%;*}" "$here/report.sbatch" "$output" "$report"
