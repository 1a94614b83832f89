"""The batch script around the scripts of one or more runs: a pure function of their folders.

Slurm may forget a job a few minutes after it ended, and two jobs may carry one name if a driver
died while it submitted. So the batch script leaves two files beside the run's own script, each put
in place in one step: `owner`, the id of the first job that began (any other steps back), and
`exit`, how the run ended and at which start of the job, since Slurm may start a job again. Signals
sent to the batch shell (--signal=B:USR1@90) reach the run's script.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from lawsmith.runners.slurm.template import Rendered

# Below the choice of $folder. Indented code of a shell, so that it reads as one.
_RUN = r"""
id=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}
id=${id:-$SLURM_JOB_ID}
cd "$folder" || exit 1
for name in slurm log.txt; do
  if [ -L "$name" ]; then echo "lawsmith: $name is a symbolic link"; exit 1; fi
done
# A hard link is made or not made, on shared disks too: one job alone becomes the owner.
echo "$id" > "slurm/owner.$id"
ln "slurm/owner.$id" slurm/owner 2> /dev/null || [ -e slurm/owner ] ||
  cp "slurm/owner.$id" slurm/owner  # a disk without links
rm -f "slurm/owner.$id"
owner=$(cat slurm/owner)
if [ "$owner" != "$id" ]; then
  echo "lawsmith: job $owner runs this already"
  exit 0
fi
rm -f slurm/exit  # of the time before a requeue
(trap - INT; exec INTERPRETER slurm/job.sh) >> log.txt 2>&1 &
run=$!
stopped=no
for signal in HUP INT TERM USR1 USR2; do
  trap "stopped=$signal; kill -$signal $run 2> /dev/null" "$signal"
done
while true; do
  wait "$run"
  code=$?
  kill -0 "$run" 2> /dev/null || break  # else a signal ended the wait, not the run
done
# A run that a signal ended: the shell's own may still be on its way.
if [ "$code" -gt 128 ] && [ "$stopped" = no ]; then sleep 1; fi
echo "$id $code $stopped ${SLURM_RESTART_COUNT:-0}" > slurm/exit.new
mv slurm/exit.new slurm/exit
exit "$code"
"""


def batch_script(folders: Sequence[Path], rendered: Rendered) -> str:
    """One job, or an array whose task k runs in the k-th folder. All share their directives."""
    cases = [f"  {k}) folder={shlex.quote(str(folder))} ;;" for k, folder in enumerate(folders)]
    run = _RUN.replace("INTERPRETER", shlex.join(rendered.interpreter))
    lines = [
        "#!/bin/bash",
        *rendered.directives,
        "case ${SLURM_ARRAY_TASK_ID:-0} in",
        *cases,
        "  *) exit 1 ;;",
        "esac",
    ]
    return "\n".join(lines) + run
