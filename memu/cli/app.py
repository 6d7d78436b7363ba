"""The commands by name, loaded when they run, and what becomes of their errors."""

from __future__ import annotations

import importlib
import itertools
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

import click

from memu.cli.output import error_document, print_error, write_json
from memu.errors import MemuError, UnavailableError

__all__ = ["program", "run"]

INTERRUPTED = 130
BROKEN_PIPE = 141
TERMINATED = 143


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a command lives and the line that ``memu --help`` shows for it."""

    module: str
    attribute: str
    help: str
    alias: str = ""


_COMMANDS = {
    "memorize-workspace": _Place(
        "synchronize", "memorize_workspace", "Sync a folder and export its pages.", "sync"
    ),
    "retrieve-workspace": _Place("search", "retrieve_workspace", "Answer a query from memory.", "search"),
    "export": _Place("export", "export", "Write the Markdown tree again."),
    "get": _Place("get", "get", "Show one page, source or entry; or list the entries."),
    "recall": _Place("recall", "recall", "What was done last: the last turns of the newest agent session."),
    "status": _Place("status", "status", "How each workspace stands."),
    "doctor": _Place("doctor", "doctor", "Check the store and say what is wrong."),
    "forget": _Place("forget", "forget", "Forget an entry, page, source, match or all; for good."),
    "reindex": _Place("reindex", "reindex", "Encode the store anew with another encoder."),
    "workspace": _Place("workspace", "workspace", "List or remove synced folders."),
    "eval": _Place("evaluate", "evaluate", "How often the known places of answers are found."),
    "mcp": _Place("mcp", "mcp", "Offer the memory to other agents (MCP)."),
    "steps": _Place("steps", "steps", "The steps of each workflow."),
    "db": _Place("database", "db", "Upgrade or check the schema; import from memU."),
}
_ALIASES = {place.alias: name for name, place in _COMMANDS.items() if place.alias}


class _Commands(click.Group):
    """A group whose help needs no import of the commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = _COMMANDS.get(_ALIASES.get(cmd_name, cmd_name))
        if place is None:
            return None
        command: click.Command = getattr(importlib.import_module(f"memu.cli.{place.module}"), place.attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [
            (f"{name}, {place.alias}" if place.alias else name, place.help) for name, place in _COMMANDS.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _print_version(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"memu {version('memu')}")
        ctx.exit()


@click.command("memu", cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="The version."
)
def program() -> None:
    """The memory of a workspace: sync a folder, read its pages, search it."""


def run(arguments: Sequence[str]) -> int:
    """Run one command and give its exit code: 0 done, 1 partial, 2 usage or configuration, 3 busy,
    4 root, store or provider unavailable; 130 interrupted, 141 nobody reads the output any more, 143 ended by
    SIGTERM."""
    as_json = "--json" in arguments
    ending = _Ending()
    try:
        _refuse_empty(arguments)
        with ending.on_request(), program.make_context("memu", list(arguments)) as context:
            code = program.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except BrokenPipeError:
        # Python would complain once more when it flushes on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (KeyboardInterrupt, click.Abort):
        print_error(f"{'Terminated' if ending.asked else 'Interrupted'}. Run the same command again to go on.")
        return TERMINATED if ending.asked else INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else error.format_message())
        return error.exit_code
    except click.ClickException as error:
        return _fail(error, _usage_message(error), error.exit_code, as_json)
    except MemuError as error:
        return _fail(error, str(error), error.exit_code, as_json)
    except OSError as error:
        return _fail(error, _system_message(error), UnavailableError.exit_code, as_json)
    return code if isinstance(code, int) else 0


def _refuse_empty(arguments: Sequence[str]) -> None:
    """Make sure that no argument is empty: of a job whose variable is not set, "" would be the folder it runs in.

    Raises:
        click.UsageError: one is.
    """
    for before, argument in itertools.pairwise(("", *arguments)):
        name, equals, value = argument.partition("=")
        if not argument.strip() or (name.startswith("--") and equals and not value.strip()):
            option = name if equals else before
            what = option if option.startswith("-") else "An argument"
            raise click.UsageError(f"{what} is empty; is a variable not set?")


class _Ending:
    """SIGTERM ends a command as Ctrl-C does: work under way is cancelled, what holds a lock gives it back."""

    def __init__(self) -> None:
        self.asked = False

    @contextmanager
    def on_request(self) -> Iterator[None]:
        """Listen inside the block; where signals cannot be heard, or are ignored, nothing changes."""
        unheard = threading.current_thread() is not threading.main_thread()
        if unheard or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            yield
            return
        signal.signal(signal.SIGTERM, self._end)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _end(self, _number: int, frame: FrameType | None) -> None:
        self.asked = True
        # Where Ctrl-C is ignored the task at hand is cut off, and the loop would tell of it at length.
        import logging

        logging.getLogger("asyncio").disabled = True
        # A running event loop has its own way to be interrupted; a job behind a shell ignores it.
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt):
            raise KeyboardInterrupt
        interrupt(signal.SIGINT, frame)


def _usage_message(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    hint = f" Try: {context.command_path} --help" if context else ""
    return f"{error.format_message()}{hint}"


def _system_message(error: OSError) -> str:
    """Which file, and what the system says of it, without its number."""
    if isinstance(error, FileNotFoundError) and error.filename is None:
        return "The working directory is not there any more; change to another one (`cd /`) and run it again."
    said = error.strerror or str(error)
    return f"{error.filename}: {said}." if error.filename else f"{said}."


def _fail(error: BaseException, message: str, code: int, as_json: bool) -> int:
    if as_json:
        write_json(error_document(type(error).__name__, message, code), to_stderr=True)
    else:
        print_error(message)
    return code
