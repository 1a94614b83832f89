"""What Slurm calls the states of a job, as phases and endings."""

from __future__ import annotations

from lawsmith.runners.base import Ending, Phase

# After a preemption or a node failure Slurm itself may queue a job again, under its old id.
QUEUED = {
    "PENDING",
    "CONFIGURING",
    "REQUEUED",
    "REQUEUE_HOLD",
    "REQUEUE_FED",
    "RESV_DEL_HOLD",
    "SPECIAL_EXIT",
}
ENDINGS = {
    "COMPLETED": Ending.COMPLETED,
    "FAILED": Ending.FAILED,
    "OUT_OF_MEMORY": Ending.OUT_OF_MEMORY,
    "TIMEOUT": Ending.TIMEOUT,
    "DEADLINE": Ending.TIMEOUT,
    "PREEMPTED": Ending.PREEMPTED,
    "NODE_FAIL": Ending.NODE_FAILURE,
    "BOOT_FAIL": Ending.NODE_FAILURE,
    "LAUNCH_FAILED": Ending.NODE_FAILURE,
    "RECONFIG_FAIL": Ending.NODE_FAILURE,
    "CANCELLED": Ending.CANCELLED,
    "REVOKED": Ending.CANCELLED,
}


def read_state(text: str) -> tuple[Phase, Ending | None]:
    """Phase and ending of 'RUNNING', 'CANCELLED by 1000', 'CANCELLED+', …

    A state that is not listed (COMPLETING, SUSPENDED, one of a newer Slurm) is of a job that Slurm
    still has in its hands.
    """
    word = text.split()[0].rstrip("+").upper() if text.strip() else ""
    if word in ENDINGS:
        return Phase.ENDED, ENDINGS[word]
    return (Phase.QUEUED if word in QUEUED else Phase.RUNNING), None
