"""The command line of objecthood, which asks whether models group as people do.

One command per arrow of the diagram in docs/design.md. Commands live in
`commands/`, a module per group; each imports what it needs when it runs, so that
``objecthood --help`` answers at once and each job installs alone.
"""

import sys

import typer

from commands import cache, data, learn, models, session, trials
from commands.console import say
from commands.demo import demo
from commands.evaluate import evaluate
from commands.human import human
from commands.power import power
from commands.publish import figures, leaderboard
from commands.report import report
from commands.scores import score
from commands.stats import compare, explain, layers
from commands.submit import submit_check
from stimuli.errors import InputError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Do vision models group a photograph's pixels into objects as people do?",
)

app.add_typer(data.app, name="data")
app.add_typer(trials.app, name="trials")
app.add_typer(models.app, name="models")
app.add_typer(cache.app, name="cache")
app.add_typer(learn.app, name="learn")
app.add_typer(session.app, name="session")
for command in (
    demo,
    human,
    evaluate,
    score,
    explain,
    compare,
    layers,
    power,
    leaderboard,
    submit_check,
    figures,
    report,
):
    app.command()(command)


def main() -> None:
    """Run the command line; what a user, a file or a model can cause ends in a message and 2."""
    try:
        app()
    except InputError as error:
        say(f"error: {error}")
        sys.exit(2)


if __name__ == "__main__":
    main()
