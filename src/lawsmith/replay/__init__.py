"""Replaying a finished study: what a policy would have found, run by run, for how much compute.

task = prepare(load("oellm-english"), get_law("LC"))
for step in replay(task, make_policy("window", GP()), seed=0):
    print(step.cost_fraction, step.fantasized)
"""

from __future__ import annotations

from lawsmith.replay.answering import Answers as Answers
from lawsmith.replay.answering import answer_after as answer_after
from lawsmith.replay.answering import answers_of as answers_of
from lawsmith.replay.loop import Stop as Stop
from lawsmith.replay.loop import replay as replay
from lawsmith.replay.loop import run_replay as run_replay
from lawsmith.replay.replayed import Replayed as Replayed
from lawsmith.replay.replayed import stopped_by as stopped_by
from lawsmith.replay.steps import Scores as Scores
from lawsmith.replay.steps import Step as Step
from lawsmith.replay.steps import Trace as Trace
from lawsmith.replay.steps import step_values as step_values
from lawsmith.replay.task import TARGETS as TARGETS
from lawsmith.replay.task import Task as Task
from lawsmith.replay.task import default_hold_out as default_hold_out
from lawsmith.replay.task import prepare as prepare
