"""Replaying a finished study: what a policy would have found, run by run, for how much compute.

task = prepare(load("oellm-english"), get_law("LC"))
for step in replay(task, make_policy("window", GP()), seed=0):
    print(step.cost_fraction, step.fantasized)
"""

from __future__ import annotations

from lawsmith.replay.answering import Answers, answer_after, answers_of
from lawsmith.replay.loop import Stop, replay, run_replay
from lawsmith.replay.replayed import Replayed, stopped_by
from lawsmith.replay.steps import Scores, Step, Trace, step_values
from lawsmith.replay.task import TARGETS, Task, default_hold_out, prepare
