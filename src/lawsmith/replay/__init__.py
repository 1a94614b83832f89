"""Replaying a finished study: what a policy would have found, run by run, and at what cost.

task = prepare(load("oellm-english"), get_law("LC"))
for step in replay(task, make_policy("window", GP()), seed=0):
    print(step.cost_fraction, step.fantasized)
"""

from __future__ import annotations

from lawsmith.replay.loop import Stop, answer_after, replay, run_replay
from lawsmith.replay.replayed import Answers, Replayed, answers_of, stopped_by
from lawsmith.replay.steps import Scores, Step, Trace, step_values
from lawsmith.replay.task import TARGETS, Task, default_hold_out, prepare
