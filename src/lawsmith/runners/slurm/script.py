"""Scripts for Slurm, as pure functions of text: the user's sbatch template filled in for one run,
and the batch script around the scripts of one or more runs.

{{name}} in a template is replaced by a value as one quoted word. In single quotes, a value is one
word of text wherever a shell expects words. It is not inside other quotes, a comment, a
here-document or arithmetic: there `'` has no meaning, and `$(…)` within the value would run. Nor is
it safe in commands that read their words a second time (eval, declare -i, a subscript, sh -c). From
the first place that `bare_places` cannot parse, all places to the end count as unsafe. In unsafe
places and in #SBATCH lines, only values without special characters are allowed.

Slurm may forget a job a few minutes after it ended, and two jobs may have one name if a driver died
while it submitted. So the batch script writes two files beside the run's own script, each in one
step: `owner`, the id of the first job that began (any other job ends at once), and `exit`, how the
run ended and after how many restarts of the job. Signals that are sent to the batch shell
(--signal=B:USR1@90) reach the run's script.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lawsmith.errors import LawsmithError
from lawsmith.files import read_bytes
from lawsmith.runners.template import PLAIN, PLAIN_TEXT, Value, placeholder_text

MAX_BYTES = 2**20  # of a template; Slurm itself takes scripts of at most 4 MB
PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHELLS = ("sh", "bash", "dash")  # `bare_places` does not know the syntax of others
_ARRAY_OPTION = re.compile(r"#SBATCH(?:\s.*)?\s(--array|-a)(?=[\s=\d]|$)")
# One piece of a script: escaped, quoted or commented text, or one bare character. There is no match
# at the end, and at anything with a grammar of its own: here-documents, arithmetic, $(…) in quotes,
# and commands that read their words a second time.
_PIECE = re.compile(
    r"""(?!(?<!<)<<(?!<)|`|\(\(|\[\[|\w\[|\$'|\$\{(?!\w+\})
         |\b(?:eval|let|declare|typeset|local|trap|unset|read|mapfile|readarray|ssh)\b
         |(?<!\S)-\w*[cv]\b)                            # sh -c, bash -lc, test -v, printf -v
    (?:\\.
      |'[^']*(?:'|\Z)
      |"(?:[^"\\`$]|\\.|\$(?!\(|\{(?!\w+\})))*(?:"|\Z)
      |(?:(?<=[\s;&|()])|(?<![\s\S]))\#[^\n]*\n?
      |(?P<bare>[^\\'"]))""",
    re.VERBOSE | re.DOTALL,
)
# The part of the batch script after $folder is set.
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


@dataclass(frozen=True)
class Rendered:
    """A template filled in for one run.

    interpreter  the words of its first line
    directives   its #SBATCH lines, which only sbatch reads
    script       the whole script, with the environment variables of the run
    """

    interpreter: tuple[str, ...]
    directives: tuple[str, ...]
    script: str


@dataclass(frozen=True)
class Template:
    """A script with placeholders; ``name`` stands for it in errors."""

    name: str
    text: str

    def __post_init__(self) -> None:
        if not any(Path(word).name in _SHELLS for word in _interpreter(self.text)):
            got = repr(self.text.partition("\n")[0][:60])
            raise LawsmithError(self.name, got=got, want="a first line such as #!/bin/bash")
        if "\r" in self.text:
            raise LawsmithError(
                self.name, got="DOS line endings", want="lines that end in \\n alone"
            )
        for number, line in enumerate(_head(self.text), start=1):
            if (option := _ARRAY_OPTION.match(line)) is not None:
                hint = "lawsmith makes arrays itself: see runner.array"
                want = "a script for one run"
                raise LawsmithError(
                    f"{self.name}, line {number}", got=option.group(1), want=want, hint=hint
                )

    @classmethod
    def read(cls, path: Path) -> Template:
        """Read a template from a file."""
        try:
            return cls(str(path), read_bytes(path, limit=MAX_BYTES).decode("utf-8"))
        except (OSError, ValueError) as error:
            got = getattr(error, "strerror", None) or "bytes that are not UTF-8"
            raise LawsmithError(str(path), got=got, want="an sbatch script") from None

    def render(self, values: Mapping[str, Value], env: Mapping[str, str]) -> Rendered:
        """The script of a run with these values; ``env`` is exported below the #SBATCH lines."""
        text = self._filled(values)
        head = _head(text)
        for name in env:
            if not _VARIABLE.fullmatch(name):
                raise LawsmithError("environment", got=repr(name), want="the name of a variable")
        exports = [f"export {name}={_word(name, value)}" for name, value in env.items()]
        script = "\n".join([*head, *exports, *text.split("\n")[len(head) :]])
        directives = tuple(line for line in head if line.startswith("#SBATCH"))
        return Rendered(_interpreter(text), directives, script)

    def _filled(self, values: Mapping[str, Value]) -> str:
        bare = bare_places(self.text)

        def replaced(match: re.Match[str]) -> str:
            name = match.group(1)
            where = f"{self.name}, line {self.text.count(chr(10), 0, match.start()) + 1}"
            value = placeholder_text(name, values, where=where, written=f"{{{{{name}}}}}")
            if PLAIN.fullmatch(value):
                return value
            if match.start() not in bare:
                want = f"{PLAIN_TEXT} in a place where quotes do not hold"
                hint = "give it a place of its own above them, or read $LAWSMITH_CONFIG"
                raise LawsmithError(where, got=f"{name} = {value!r}", want=want, hint=hint)
            return _word(name, value)

        return PLACEHOLDER.sub(replaced, self.text)


def _interpreter(text: str) -> tuple[str, ...]:
    first = text.partition("\n")[0].strip()
    return tuple(first[2:].split()) if first.startswith("#!") else ()


def _head(text: str) -> list[str]:
    """The lines in which sbatch looks for options: those before the first command."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.strip() and not line.startswith("#"):
            break
        lines.append(line)
    return lines


def _word(name: str, value: str) -> str:
    if "\0" in value:
        raise LawsmithError(name, got="a null byte", want="text")
    return shlex.quote(value)


def bare_places(script: str) -> set[int]:
    """Positions of ``script`` where a quoted word is safe."""
    places: set[int] = set()
    at = 0
    while (piece := _PIECE.match(script, at)) is not None:
        if piece.lastgroup == "bare":
            places.add(at)
        at = piece.end()
    return places


def batch_script(folders: Sequence[Path], rendered: Rendered) -> str:
    """The script of one job, or of an array whose task k runs in the k-th folder."""
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
