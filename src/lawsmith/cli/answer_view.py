"""An answer on the terminal."""

from __future__ import annotations

from rich.console import Console

from lawsmith.answer import Answer
from lawsmith.answer.text import (
    HEADS,
    beyond,
    curves_text,
    held_out_text,
    learnt_text,
    lines,
    loss_text,
    rests_on,
)
from lawsmith.cli import console as out
from lawsmith.formats import count, interval, percent


def show_answer(console: Console, answer: Answer) -> None:
    """The verdict, then each target: the loss, how to get it, and what is as good."""
    out.heading(console, f"Answer, from {rests_on(answer)}")
    if answer.verdict:
        out.prose(console, answer.verdict)
    for forecast in answer.forecasts:
        out.heading(console, f"{forecast.target.label}, {beyond(forecast)}")
        named = (HEADS[0], HEADS[1], f"{percent(answer.level)} {HEADS[2]}", HEADS[3])
        table = out.table(*named)
        for line in lines(forecast):
            table.add_row(*line)
        out.show(console, table)
    if answer.held_out is not None:
        console.print()
        out.prose(console, f"Held out: {held_out_text(answer)}.")
    if learnt := learnt_text(answer):
        console.print()
        out.prose(console, f"Learnt from: {learnt}.")
    if answer.curves is not None:
        show_curves(console, answer)
    show_warnings(console, answer)


def show_curves(console: Console, answer: Answer) -> None:
    """What curves have added, and where unfinished runs will end."""
    if answer.curves is None:
        return
    console.print()
    text = curves_text(answer.curves)
    out.prose(console, f"Curves: {text}.")
    planned = [end for end in answer.curves.ends if end.kind == "scheduled"]
    if not planned:
        return
    out.heading(console, "Ends of unfinished runs")
    table = out.table("run", "D", "loss", f"{percent(answer.level)} of that run")
    for end in planned:
        ends = interval(end.run_low, end.run_high, loss_text)
        table.add_row(end.run, count(end.D), loss_text(end.loss), ends)
    out.show(console, table)


def show_warnings(console: Console, answer: Answer) -> None:
    """What to beware of, if anything."""
    if answer.warnings:
        out.heading(console, "Warnings about the answer")
        for warning in answer.warnings:
            out.item(console, warning.code, warning.message)
