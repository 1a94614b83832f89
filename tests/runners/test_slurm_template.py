"""Templates of the Slurm runner: what a run's values become in a script, tried out with bash."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from lawsmith.errors import LawsmithError
from lawsmith.runners.slurm.script import Template

HEAD = "#!/bin/bash\n#SBATCH --time=1:00\n# a note\n\n"


def render(body: str, **values: float | int | str) -> str:
    return Template("job.sbatch", HEAD + body).render(values, {}).script.removeprefix(HEAD)


def test_values_stand_where_their_names_stood():
    text = render("train --n {{N}} --lr {{ lr }} --opt={{opt}}", N=1e9, lr=3e-4, opt="adamw")
    assert text == "train --n 1000000000 --lr 0.0003 --opt=adamw"


def test_braces_of_the_shell_are_left_alone():
    body = "for f in {1..3}; do echo ${f} ${x:-{{}}; done; awk '{{print $1}}' {{{{"
    assert render(body) == body


def test_a_name_that_stands_for_nothing_is_told_with_its_line_and_the_names_there_are():
    message = r"job.sbatch, line 5: got \{\{learning\}\}, want one of N, learn \(did you mean"
    with pytest.raises(LawsmithError, match=message):
        render("echo {{learning}}", N=1, learn=2)


def test_variables_of_the_run_are_set_below_what_sbatch_reads():
    template = Template("job.sbatch", HEAD + "#SBATCH --mem=1\ntrain\n#SBATCH --mem=2\n")
    found = template.render({}, {"LAWSMITH_RESULT": "a b/r.json"})
    assert found.directives == ("#SBATCH --time=1:00", "#SBATCH --mem=1")
    assert found.script.splitlines()[4:] == [
        "#SBATCH --mem=1",
        "export LAWSMITH_RESULT='a b/r.json'",
        "train",
        "#SBATCH --mem=2",
    ]


def test_options_of_sbatch_take_values_and_refuse_what_would_be_more_than_one():
    template = Template("job.sbatch", "#!/bin/sh -l\n#SBATCH --time={{hours}}:00:00\ntrain\n")
    found = template.render({"hours": 4.0}, {})
    assert (found.directives, found.interpreter) == (("#SBATCH --time=4:00:00",), ("/bin/sh", "-l"))
    for value in ("1 --uid=0", "1\ntouch pwned", "", "'1'", "1\u2028x"):
        with pytest.raises(LawsmithError, match=r"line 2: got hours = .* want letters, digits"):
            template.render({"hours": value}, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("train\n", r"got 'train', want a first line such as #!/bin/bash"),
        ("#!/bin/zsh\n", r"got '#!/bin/zsh', want a first line"),
        ("#!/usr/bin/env python3\n", r"got '#!/usr/bin/env python3', want a first line"),
        ("#!/bin/bash\r\ntrain\r\n", "got DOS line endings"),
        ("#!/bin/bash\n#SBATCH --time=1 --array=0-3\n", r"line 2: got --array, want a script for"),
        ("#!/bin/bash\n\n#SBATCH -a 0-3\n", r"line 3: got -a"),
    ],
)
def test_a_script_that_cannot_be_a_template_is_told(text, message):
    with pytest.raises(LawsmithError, match=message):
        Template("job.sbatch", text)


def test_a_script_that_names_the_account_is_no_array():
    text = "#!/bin/bash\n#SBATCH -A lab --account=lab\n#SBATCH --partition=a-array\n"
    assert Template("job.sbatch", text).text == text


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    with pytest.raises(LawsmithError, match=r"none\.sbatch: got No such file or directory"):
        Template.read(tmp_path / "none.sbatch")


NASTY = [
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "\n touch pwned \n",
    "a[$(touch pwned)]",
    "x'$(touch pwned)'",
    "\\'; touch pwned #",
    "EOF\ntouch pwned\nEOF\n",
    "* ~ {a,b} $HOME !! | & > pwned",
    ")); touch pwned; ((",
    "}; touch pwned; {",
    "]]; touch pwned; [[",
    "",
]
# Places in a script, with X where the value goes.
PLACES = [
    "echo X",
    "echo a{{x}}b X c",
    'echo "X"',
    'echo "a X \\" X"',
    "echo 'X'",
    "echo 'it'\\''s X'",
    "echo $'X'",
    "echo `echo X`",
    "echo $(echo X)",
    'echo "$(echo X)"',
    "echo $((1 + X))",
    "(( X )) || true",
    "[[ 1 -eq X ]] || true",
    "[ 1 = X ] || true",
    "cat <<EOF\nX\nEOF",
    "cat <<'EOF'\nX\nEOF",
    "cat <<< X",
    "# X",
    "echo a # X",
    "echo a#X",
    "v=X; echo $v",
    "a=(X X); echo ${#a[@]}",
    "a[X]=1",
    "echo ${u:-X}",
    'echo "${u:-X}"',
    "echo ${u:-'X'}",
    "echo \\X",
    "case X in a) ;; *) echo X ;; esac",
    "f() { echo X; }; f",
    "echo {1..2} X",
    "for v in X; do echo $v; done",
    "echo $'a\\' X'",
    'echo "\'" X "\'"',
    "echo '\"' X '\"'",
    "! true X",
    "cat <(echo X)",
    "let v=X || true",
    "declare -i v=X || true",
    "declare -i v\nv=X",
    "f() { local -i v; v=X; }; f",
    "[ 1 -eq X ] || true",
    "[ -v X ] || true",
    "test -v X || true",
    "unset X || true",
    "read X < /dev/null || true",
    "printf -v X a || true",
    "eval X",
    "trap X EXIT",
    "bash -c X",
    "bash -lc X",
    "exit X",
    "export v=X",
    "readonly v=X",
    "shift X || true",
]


@pytest.mark.parametrize("place", PLACES)
def test_nothing_in_a_value_is_ever_run(place, tmp_path):
    """With bash itself: in every place a value is text or refused."""
    for before in ("", "echo 'ok' \"$HOME\" # it's\n", "cat <<EOF\n'\nEOF\n"):
        for value in NASTY:
            assert_harmless(before + place.replace("X", "{{x}}"), value, tmp_path)


def test_scripts_put_together_at_random_run_nothing_from_a_value(tmp_path):
    rng = np.random.default_rng(0)
    for _ in range(150):
        lines = rng.choice(PLACES, size=3)
        value = "".join(rng.choice(NASTY, size=2))
        assert_harmless("\n".join(lines).replace("X", "{{x}}"), value, tmp_path)


def assert_harmless(body: str, value: str, folder: Path) -> None:
    try:
        script = render(body + "\n", x=value)
    except LawsmithError:
        return
    command = ["bash", "--norc", "-c", script]
    subprocess.run(command, cwd=folder, check=False, capture_output=True, timeout=120)
    assert list(folder.iterdir()) == [], f"{value!r} was run in {body!r}"


def test_a_value_in_a_place_where_quotes_do_not_hold_is_refused():
    with pytest.raises(LawsmithError, match=r"line 6: got x = 'a b', want .* where quotes do not"):
        render('echo {{x}}\necho "{{x}}"', x="a b")


@pytest.mark.parametrize("place", ["echo {{x}}", "echo 'a' \"b\" {{x}} # {{y}}", "cat <<< {{x}}"])
def test_any_value_is_taken_where_a_word_may_stand(place, tmp_path):
    for value in NASTY:
        script = render(place, x=value, y="plain")
        found = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True)
        assert found.stdout.removeprefix("a b ") == value + "\n"


def test_the_templates_of_the_docs_and_the_example_are_templates():
    root = Path(__file__).parents[2]
    texts = [(root / "examples" / "slurm" / "train.sbatch").read_text(encoding="utf-8")]
    for name in ("slurm.md", "recipes.md"):
        text = (root / "docs" / name).read_text(encoding="utf-8")
        texts += re.findall(r"```bash\n(#!/bin/bash\n.*?)```", text, flags=re.DOTALL)
    assert len(texts) == 3
    values = dict.fromkeys(["nodes", "hours", "minutes", "layers", "N", "D", "lr"], 2.0)
    for text in texts:
        found = Template("t", text).render({**values, "study": "/a b"}, {})
        assert "{{" not in found.script
        assert "'/a b'/train.py" in found.script or "{{study}}" not in text
