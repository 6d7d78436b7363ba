"""MemoryService: where everything is put together. Its verbs are thin; the work is in the workflows.

async with MemoryService.open(folder="notes") as memu:
    report = await memu.memorize_workspace("notes")
    result = await memu.retrieve_workspace("when do we deploy?")
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel

from memu.arguments import require_given, require_name, require_path, require_root
from memu.assembly import (
    choose_chat_models,
    choose_extractor,
    choose_media_models,
    choose_text_encoder,
    default_store,
)
from memu.carrier import Carrier, Change, Workflows
from memu.errors import ConfigurationError, MemuError, NotFound, StoreError
from memu.memorize.extractors.protocol import Extractor
from memu.providers.endpoint import require_local
from memu.providers.meter import Meter
from memu.providers.prices import require_prices
from memu.providers.protocols import ChatModel, Encoder
from memu.records import (
    ExportReport,
    ForgetReceipt,
    HealthReport,
    ImportReport,
    Kind,
    Layer,
    Listing,
    MemoryType,
    ReindexReport,
    RetrieveResult,
    Scope,
    SyncPlan,
    SyncReport,
    Track,
    Workspace,
    WorkspaceStatus,
)
from memu.scoping import Scoping, open_scoped
from memu.settings import Settings, WorkspaceScope, check_scope_model
from memu.storage.database import Database
from memu.trees import Trees
from memu.workflow import Interceptor, LocalRunner, Runner, Workflow

if TYPE_CHECKING:
    from memu.doctor.examination import Doctor
    from memu.memorize.failure import FailureNote
    from memu.memorize.forget.errand import Forgetter
    from memu.memorize.imports.errand import Importer
    from memu.memorize.states import SyncState
    from memu.providers.models import ChatModels, MediaModels
    from memu.retrieve.evaluation import EvalReport, Question
    from memu.retrieve.listings import Lists
    from memu.retrieve.lookup import Lookup

__all__ = ["MemoryService"]


class MemoryService:
    """The memory of workspaces in one store. Make one with :meth:`open`; close it, or use it as ``async with``."""

    def __init__(
        self,
        *,
        database: Database,
        encoder: Encoder | None,
        extractor: Extractor,
        models: ChatModels | None,
        media: MediaModels | None,
        settings: Settings,
        out: Path | None,
        scope_model: type[BaseModel],
        runner: Runner,
        interceptors: Sequence[Interceptor],
        changes: Mapping[str, Change],
    ) -> None:
        self._database = database
        self._encoder = encoder
        self._extractor = extractor
        self._models = models
        self._media = media
        self._settings = settings
        self._out = out
        self._scoping = Scoping(database=database, settings=settings, model=scope_model)
        workflows = Workflows(
            {
                ("sync", "append", "memorize", "assign", "fold", "embed"): self._make_write,
                ("export",): self._make_export,
                ("retrieve",): self._make_retrieve,
            },
            changes,
        )
        self._carrier = Carrier(runner, tuple(interceptors), workflows)
        self._trees = Trees(database=database, carrier=self._carrier, resources=settings.resources, out=out)
        self._closed = False
        workflows.apply_changes()

    @classmethod
    def open(
        cls,
        db: str | None = None,
        *,
        folder: Path | str | None = None,
        out: Path | str | None = None,
        encoder: Encoder | str | None = "auto",
        extractor: Extractor | None = None,
        models: ChatModels | ChatModel | str | None = "auto",
        media: MediaModels | str | None = "auto",
        workflows: Mapping[str, Change] | None = None,
        interceptors: Sequence[Interceptor] = (),
        runner: Runner | None = None,
        scope_model: type[BaseModel] | None = None,
        settings: Settings | None = None,
    ) -> Self:
        """Open a store.

        Args:
            db: a database URL. None: ``MEMU_DB`` or the config file; else ``.memu/memu.sqlite3`` in ``folder``,
                made if need be; without a folder, the nearest one at or above the current directory.
            folder: the workspace that the store and its export lie in by default.
            out: where exported trees go; by default ``.memu`` in the synced folder.
            encoder: an encoder of your own, "auto" (``MEMU_EMBED_MODEL``'s endpoint, else the embedded one), the
                path of an ONNX file, or None (or "none") for words only.
            models: the chat models that read sources and write pages: "auto" (those of the settings, none without
                ``MEMU_CHAT_MODEL``), one of your own for all steps or one for each, or None for none.
            media: who looks at images and listens to recordings: "auto" (those of the settings, nobody without
                ``MEMU_VISION_MODEL`` and ``MEMU_AUDIO_MODEL``), models of your own, or None for nobody.
            extractor: what turns documents into entries; by default a model's where there is one, else the
                extractive one, which needs none.
            workflows: workflow name → a function that gives a changed one, such as
                ``{"memorize": lambda w: w.replacing("extract", my_step)}``.
            interceptors: told of every step of every workflow, outermost first.
            runner: carries states through workflows; by default in this task.
            scope_model: the pydantic model whose fields name a scope; by default ``user_id`` and ``agent_id``. Its
                fields are texts, whole numbers and booleans, required or None unless given.
            settings: settings already loaded; by default read from the environment and the user's config file.

        Raises:
            ConfigurationError: a setting, a workflow change or the scope model does not fit, the store's included.
            StoreError: the store cannot be opened.
        """
        scope = check_scope_model(scope_model or WorkspaceScope)
        settings = settings or Settings.load()
        around = require_path("folder", folder) if folder is not None else None
        url = require_given("db", db) or settings.db or default_store(around)
        place = require_path("out", out) if out is not None else settings.out
        if settings.local_only:
            require_local(settings.endpoints())
        database = open_scoped(url, scope)
        asked = choose_chat_models(models, settings, database)
        return cls(
            database=database,
            encoder=choose_text_encoder(encoder, settings),
            extractor=extractor or choose_extractor(asked, settings),
            models=asked,
            media=choose_media_models(media, settings),
            settings=settings,
            out=Path(place) if place is not None else None,
            scope_model=scope,
            runner=runner or LocalRunner(),
            interceptors=interceptors,
            changes=workflows or {},
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Wait for work under way and close the store and the encoder's connections. Twice is no error."""
        if self._closed:
            return
        self._closed = True
        for asked in (self._encoder, self._models, self._media):
            if asked is not None:
                await asked.close()
        await asyncio.to_thread(self._database.close)

    async def memorize_workspace(
        self,
        folder: Path | str,
        *,
        user: Mapping[str, Any] | None = None,
        name: str | None = None,
        allow_empty: bool = False,
        wait: bool = False,
        retry_failed: bool = False,
        synthesize: bool = False,
        max_calls: int | None = None,
        max_cost: float | None = None,
    ) -> SyncReport:
        """Sync a folder: remember what is new, forget what is gone, settle and export the pages.

        Args:
            user: whose memory; the fields of the scope. None is the empty scope.
            name: know the workspace by this name, wherever it lies.
            allow_empty: accept that a folder whose sources are stored has become empty.
            wait: wait for another sync of the same folder instead of raising BusyError.
            retry_failed: try failed files again now, not when they are due.
            synthesize: have a model write an overview above the lists of pages.
            max_calls: stop asking models and encoders after so many calls; max_cost: before more than so many USD
                are spent, by the prices that the settings name. The next sync goes on.

        Raises:
            RootError: the folder is missing, unreadable, suddenly empty, or overlaps another workspace.
            BusyError: another sync of the folder runs. EncoderMismatch: the vectors come from another encoder.
        """
        from memu.memorize.states import SyncState

        self._require_prices(max_cost)
        state = SyncState(
            scope=self._scope(user),
            folder=require_path("folder", folder),
            name=require_name(name),
            allow_empty=allow_empty,
            retry_failed=retry_failed,
            synthesize=synthesize,
            meter=self._meter(max_calls, max_cost),
        )
        return await self._sync(state, wait=wait)

    async def plan_workspace(
        self,
        folder: Path | str,
        *,
        user: Mapping[str, Any] | None = None,
        name: str | None = None,
        allow_empty: bool = False,
        retry_failed: bool = False,
        synthesize: bool = False,
    ) -> SyncPlan:
        """What ``memorize_workspace`` would do now; nothing is written.

        Raises:
            RootError, EncoderMismatch: as the sync itself would.
        """
        from memu.memorize.plan import Planner
        from memu.memorize.states import SyncState

        place = require_path("folder", folder)
        require_root(place)
        planner = Planner(
            self._database,
            self._encoder,
            self._extractor,
            (self._out,) if self._out else (),
            self._settings.max_file_bytes,
            asks=self._models is not None,
            media=self._media,
        )
        return await planner.plan(
            SyncState(
                scope=self._scope(user),
                folder=place,
                name=require_name(name),
                allow_empty=allow_empty,
                retry_failed=retry_failed,
                synthesize=synthesize,
            )
        )

    async def memorize(self, path: Path | str, *, user: Mapping[str, Any] | None = None) -> SyncReport:
        """Sync one file or folder of a workspace; of none, its parent becomes one in which nothing is forgotten.

        Raises:
            RootError: the path, and every workspace around it, is missing.
            NotFound: its workspace has no such file or folder, nor is one remembered.
        """
        from memu.memorize.target import find_target

        scope, target = self._scope(user), require_path("path", path)
        return await self._sync(await find_target(self._database, scope, target), wait=True)

    async def retrieve_workspace(
        self,
        query: str,
        *,
        where: Mapping[str, Any] | None = None,
        across: bool = False,
        layers: Iterable[Layer | str] | None = None,
        tracks: Iterable[Track | str] | None = None,
        path: str | None = None,
        kinds: Iterable[Kind | str] | None = None,
        memory_types: Iterable[MemoryType | str] | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        changed_since: datetime | str | None = None,
        changed_until: datetime | str | None = None,
        workspace: str | None = None,
        max_hits: int = 10,
        max_words: int | None = None,
        min_score: float = 0.0,
        explain: bool = False,
    ) -> RetrieveResult:
        """Answer a query from the store in one pass: one encoder call at most, no model call.

        Args:
            where: the one scope that is searched, by its fields; None is the empty scope. With ``across`` every
                scope whose fields match. ``field__in`` with a list matches several.
            layers: of "file" (pages), "entry" and "resource" (sources); by default all.
            tracks: of "memory" and "skill"; by default both. Sources belong to no track.
            path: only from sources at paths of this glob: ``docs/**``, ``*.md`` (any folder), ``docs/``.
            kinds: only from sources of these kinds. memory_types: only entries of these types.
            since, until: only what happened then, by the source's own words; both included. changed_since,
                changed_until: only from files that changed then. A datetime with its zone, or a text in ISO 8601
                (taken as UTC; a date is the whole day). Pages have none of these, and are no hits then.
            workspace: only from this one, by its name, root or id.
            max_hits: at most so many hits. max_words: at most so many words of text in all.
            min_score: no hit that scores less, from 0 to 1. explain: say how each hit scored in each list, what
                the answer was taken from and what was cut.

        Raises:
            ScopeError: ``where`` names no scope. NotFound: no workspace is called so. ConfigurationError: there is
                no such layer, track, kind or type; a time cannot be read; less than one hit or word is asked for.
        """
        from memu.retrieve.bounds import bound
        from memu.retrieve.states import ask

        scopes = await self._scopes(where, across=across)
        within = bound(
            path=path,
            kinds=kinds,
            memory_types=memory_types,
            since=since,
            until=until,
            changed_since=changed_since,
            changed_until=changed_until,
            workspace_id=None if workspace is None else await self._find_workspace_id(scopes, workspace),
        )
        state = ask(
            scopes,
            query,
            layers=layers,
            tracks=tracks,
            within=within,
            max_hits=max_hits,
            max_words=max_words,
            min_score=min_score,
            explain=explain,
        )
        done = await self._carrier("retrieve", state)
        return done.result

    async def export_memory_files(
        self, *, user: Mapping[str, Any] | None = None, force: Iterable[str] = ()
    ) -> ExportReport:
        """Publish the scope's tree. ``force`` names files of the user's that memu takes over.

        Raises:
            ConfigurationError: it is not clear where the tree goes; open the service with ``out``.
        """
        return await self._trees.publish_known(self._scope(user), force)

    async def get(self, reference: str, *, user: Mapping[str, Any] | None = None) -> Listing:
        """A page (``memory/NAME``, ``skill/NAME``), a source (``PATH``, ``PATH#L10-L12``), or any thing by its id.

        Raises:
            NotFound: nothing of that name is in the scope.
        """
        return await self._lookup().get(self._scope(user), reference)

    async def evaluate(
        self, questions: Iterable[Question | Mapping[str, Any]], *, user: Mapping[str, Any] | None = None
    ) -> EvalReport:
        """Ask questions whose answers' places are known, and tell how far down a search shows them.

        Args:
            questions: each a ``Question``, or as ``{"query": …, "path": …, "lines": [10, 12]}``.

        Raises:
            ConfigurationError: there is no question, or one is not of that form.
        """
        from memu.retrieve import evaluation

        asked = [
            each if isinstance(each, evaluation.Question) else evaluation.Question.of(each) for each in questions
        ]
        return await evaluation.Evaluator(self._database, self._encoder).evaluate(self._scope(user), asked)

    async def recall(self, *, last: int = 1, user: Mapping[str, Any] | None = None) -> Listing:
        """The last turns of the newest agent session, as one quoted block that names its source.

        Raises:
            NotFound: the scope has no session. ConfigurationError: ``last`` is less than one.
        """
        from memu.retrieve.recall import Recall

        return await Recall(self._database).recall(self._scope(user), last)

    async def list_files(
        self,
        *,
        user: Mapping[str, Any] | None = None,
        tracks: Iterable[Track | str] | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> tuple[Listing, ...]:
        """The scope's pages with their descriptions, in the order of their ids.

        Args:
            tracks: of "memory" and "skill"; by default both.
            after: the id of the last one already seen. limit: at most so many; by default all that follow.

        Raises:
            ConfigurationError: there is no such track, ``after`` is no text, or ``limit`` no number from 1.
        """
        return await self._lists().list_files(self._scope(user), tracks=tracks, after=after, limit=limit)

    async def list_entries(
        self,
        *,
        user: Mapping[str, Any] | None = None,
        tracks: Iterable[Track | str] | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> tuple[Listing, ...]:
        """The scope's shown entries in the order of their ids; takes and raises what ``list_files`` does."""
        return await self._lists().list_entries(self._scope(user), tracks=tracks, after=after, limit=limit)

    async def list_resources(
        self,
        *,
        user: Mapping[str, Any] | None = None,
        workspace: str | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> tuple[Listing, ...]:
        """The scope's sources with their states, in the order of their ids.

        Args:
            workspace: of this one alone, by its name, root or id.
            after, limit: as for ``list_files``.

        Raises:
            NotFound: the scope has no such workspace. ConfigurationError: as ``list_files``.
        """
        scope = self._scope(user)
        within = None if workspace is None else (await self._find_workspace(scope, workspace)).id
        return await self._lists().list_resources(scope, workspace_id=within, after=after, limit=limit)

    async def status(self, *, user: Mapping[str, Any] | None = None) -> tuple[WorkspaceStatus, ...]:
        """How each workspace of the scope stands, told without opening a file."""
        return await self._doctor().describe(self._scope(user))

    async def examine(
        self, *, user: Mapping[str, Any] | None = None, across: bool = False, thorough: bool = False
    ) -> HealthReport:
        """Check the store and the trees of a scope against one another; nothing is written.

        Args:
            user: the scope; with ``across`` every scope whose fields match.
            thorough: compare the word index of every passage and probe every source, not a sample, and read the
                files of the sources once more.
        """
        return await self._doctor().examine(await self._scopes(user, across=across), thorough=thorough)

    async def list_workspaces(self, *, user: Mapping[str, Any] | None = None) -> tuple[Workspace, ...]:
        """The scope's workspaces, by name, those without one after them by root."""
        scope = self._scope(user)
        return await self._database.read(lambda session: session.within(scope).workspaces.list())

    async def remove_workspace(
        self,
        reference: str,
        *,
        user: Mapping[str, Any] | None = None,
        dry_run: bool = False,
        purge: bool = False,
        wait: bool = False,
        max_calls: int | None = None,
        max_cost: float | None = None,
    ) -> ForgetReceipt:
        """Forget a workspace, by its name or root, with all that only it said; the folder itself is not touched.

        Args:
            dry_run, purge, wait, max_calls, max_cost: as for ``forget``.

        Raises:
            NotFound: the scope has no such workspace. BusyError: a sync of it runs.
        """
        from memu.memorize.aftermath import telling_what_stands
        from memu.memorize.forget.workspaces import forget_workspace

        scope = self._scope(user)
        workspace = await self._find_workspace(scope, reference)
        self._require_prices(max_cost)
        forgetter = self._forgetter(self._meter(max_calls, max_cost))
        async with telling_what_stands(self._database, scope, workspace):
            receipt = await forget_workspace(forgetter, scope, workspace, dry_run=dry_run, wait=wait)
            return await self._purged(receipt, purge=purge)

    async def reindex(
        self, *, wait: bool = False, max_calls: int | None = None, max_cost: float | None = None
    ) -> ReindexReport:
        """Encode every scope's stored texts anew with this service's encoder, and search its vectors from then on.

        Until all are there the ones in use are searched, and words answer throughout. No file is read and no chat
        model asked. A run that was killed, or stopped by a cap, is gone on with by the next.

        Args:
            wait: wait for another run instead of raising BusyError. max_calls, max_cost: as for a sync.

        Raises:
            ConfigurationError: the service has no encoder, or a scope's texts may not go to it.
            ProviderError: it does not answer; nothing was changed. BusyError: another run is under way.
        """
        from memu.memorize.reembedding import Reembedding

        self._require_open()
        if self._encoder is None:
            raise ConfigurationError("There is no encoder to encode with; name one (--encoder, MEMU_ENCODER).")
        self._require_prices(max_cost)
        meter = self._meter(max_calls, max_cost)
        return await Reembedding(self._database, self._encoder).run(
            meter, wait=wait, allow=self._scoping.keep_local
        )

    async def import_memu(
        self, url: str, *, user: Mapping[str, Any] | None = None, vectors_from: str | None = None
    ) -> ImportReport:
        """Bring over a database of memU, of 1.x or later, each of its scopes; it is only read.

        What is imported lies in no folder, in a workspace of its own. A second run adds what is new since.

        Args:
            url: the database, ``postgresql://…`` or ``sqlite:///PATH``. user: only this scope's rows.
            vectors_from: the name of the encoder that its vectors come from, to keep them where it is the one in
                use; by default everything is encoded anew.

        Raises:
            ConfigurationError: it is no database of memU; its rows are told apart by fields that the scope model
                lacks; its vectors come from another encoder. NotFound: it has no rows of ``user``.
                StoreError: it does not answer.
            EncoderMismatch: the store's vectors come from another encoder. BusyError: another import runs.
        """
        self._require_open()
        only = None if user is None else self._scope(user)
        return await self._importer().run(url, only=only, vectors_from=vectors_from)

    async def forget(
        self,
        reference: str | None = None,
        *,
        match: str | None = None,
        everything: bool = False,
        undo: str | None = None,
        dry_run: bool = False,
        purge: bool = False,
        wait: bool = False,
        max_calls: int | None = None,
        max_cost: float | None = None,
        user: Mapping[str, Any] | None = None,
    ) -> ForgetReceipt:
        """Forget an entry, a page's statements or a source by ``reference``, or what ``match`` finds; for good.

        Args:
            reference: an entry's id, ``memory/NAME``, ``skill/NAME``, or a source's path.
            match: words; every statement that contains them goes.
            everything: the whole scope, its trees and what it forgot before included.
            undo: the path of a forgotten file that is to be read again by the next sync.
            dry_run: only say what would go. purge: then rewrite a store's file, vacuum a server's, or say why not.
            wait: wait for a sync that runs instead of raising BusyError.
            max_calls, max_cost: as for a sync. What they leave is cut as it was stored; the next sync goes on.

        Raises:
            ConfigurationError: not exactly one thing is named (with ``purge`` none may be).
            NotFound: it is not in the scope. BusyError: a sync of one of the scope's folders runs.
        """
        from memu.memorize.aftermath import telling_what_stands
        from memu.memorize.forget.selection import Request

        named = [each for each in (reference, match, undo) if each is not None] + [None] * everything
        if len(named) > 1 or not (named or purge):
            raise ConfigurationError("Name one thing to forget: a reference, a match, or everything.")
        scope, receipt = self._scope(user), ForgetReceipt(what="purge")
        if undo is not None:
            receipt = await self._forgetter().undo(scope, undo, wait=wait)
        elif named:
            request = Request(reference=reference, match=match, everything=everything)
            self._require_prices(max_cost)
            forgetter = self._forgetter(self._meter(max_calls, max_cost))
            async with telling_what_stands(self._database, scope):
                receipt = await forgetter.forget(scope, request, dry_run=dry_run, wait=wait)
                return await self._purged(receipt, purge=purge)
        return await self._purged(receipt, purge=purge)

    def workflow(self, name: str) -> Workflow[Any]:
        """The workflow of this name, as it runs.

        Raises:
            ConfigurationError: there is none.
        """
        try:
            return self._carrier.workflows[name]
        except KeyError:
            raise ConfigurationError(
                f"No workflow is called {name!r}; there are: {', '.join(self.workflow_names)}."
            ) from None

    @property
    def workflow_names(self) -> tuple[str, ...]:
        """The names of all workflows, the frame first."""
        return self._carrier.workflows.names

    async def _purged(self, receipt: ForgetReceipt, *, purge: bool) -> ForgetReceipt:
        if not purge or receipt.dry_run:
            return receipt
        from memu.memorize.forget.purge import purge_store

        return await purge_store(self._database, receipt)

    def _meter(self, max_calls: int | None, max_cost: float | None) -> Meter:
        return Meter(max_calls=max_calls, max_cost=max_cost, at_once=self._settings.concurrency)

    def _forgetter(self, meter: Meter | None = None) -> Forgetter:
        from memu.memorize.forget.errand import Forgetter

        return Forgetter(
            database=self._database,
            carry=self._carrier,
            lock_name=_lock_name,
            export=self._trees.refresh,
            withdraw=self._trees.withdraw,
            concurrency=self._settings.concurrency,
            asks=self._models is not None,
            meter=meter or self._meter(None, None),
        )

    def _importer(self) -> Importer:
        from memu.memorize.imports.errand import Importer

        return Importer(
            database=self._database,
            encoder=self._encoder,
            carry=self._carrier,
            scope_of=self._scope,
            scope_fields=self._scoping.model.model_fields,
            lock_name=_lock_name,
            export=self._trees.publish_if_placed,
            concurrency=self._settings.concurrency,
        )

    def _make_write(self) -> Mapping[str, Workflow[Any]]:
        from memu.memorize.workflows import Collaborators, write_workflows

        return write_workflows(
            Collaborators(
                database=self._database,
                extractor=self._extractor,
                encoder=self._encoder,
                models=self._models,
                media=self._media,
                carry=self._carrier,
                export=self._trees.publish,
                outputs=(self._out,) if self._out else (),
                max_file_bytes=self._settings.max_file_bytes,
                concurrency=self._settings.concurrency,
                changed="memorize" in self._carrier.workflows.changes,
            )
        )

    def _make_export(self) -> Mapping[str, Workflow[Any]]:
        from memu.export.workflow import export_workflow
        from memu.ingest.copies import read_copy

        copies = partial(read_copy, max_size=self._settings.max_file_bytes)
        return {"export": export_workflow(self._database, read_copy=copies)}

    def _make_retrieve(self) -> Mapping[str, Workflow[Any]]:
        from memu.retrieve.workflow import retrieve_workflow

        return {"retrieve": retrieve_workflow(self._database, self._encoder)}

    async def _sync(self, state: SyncState, *, wait: bool) -> SyncReport:
        name = _lock_name(state.scope, require_root(state.folder))
        async with self._database.lock(name, wait_seconds=None if wait else 0):
            note = self._failure_note(state)
            try:
                done = await self._carrier("sync", state)
            except MemuError as error:
                await note.write(error)
                raise
        if done.report is None:
            raise ConfigurationError("The sync workflow ended without a report; a step that writes it is missing.")
        return done.report

    def _failure_note(self, state: SyncState) -> FailureNote:
        from memu.memorize.failure import FailureNote

        return FailureNote(
            database=self._database,
            scope=state.scope,
            root=state.folder.expanduser().resolve(),
            began=datetime.now(UTC),
            extractor=self._extractor.name,
            encoder=self._encoder.identity.name if self._encoder else None,
        )

    def _lookup(self) -> Lookup:
        from memu.retrieve.lookup import Lookup

        return Lookup(self._database, self._settings.max_file_bytes)

    def _lists(self) -> Lists:
        from memu.retrieve.listings import Lists

        return Lists(self._database)

    def _doctor(self) -> Doctor:
        from memu.doctor.examination import Doctor

        return Doctor(
            database=self._database,
            encoder=self._encoder,
            extractor=self._extractor.name,
            resources=self._settings.resources,
            find_out=lambda root: self._trees.folder_for(Path(root)),
            placed=self._out is not None,
            lock_name=_lock_name,
            find_memorize=lambda: self._carrier.workflows["memorize"],
        )

    async def _find_workspace(self, scope: Scope, reference: str) -> Workspace:
        workspaces = await self.list_workspaces(user=scope.fields)
        names = {reference}
        with suppress(ConfigurationError):
            place = require_path("workspace", reference)
            names.add(str(await asyncio.to_thread(lambda: place.expanduser().resolve())))
        for workspace in workspaces:
            if reference in (workspace.name, workspace.id) or workspace.root in names:
                return workspace
        known = ", ".join(each.name or each.root for each in workspaces) or "none"
        raise NotFound(f"No workspace {reference!r} in {scope}; there are: {known}.")

    async def _find_workspace_id(self, scopes: Sequence[Scope], reference: str) -> str:
        if len(scopes) != 1:
            raise ConfigurationError(
                "A workspace belongs to one scope; name that scope, or leave the workspace open."
            )
        return (await self._find_workspace(scopes[0], reference)).id

    def _scope(self, user: Mapping[str, Any] | None) -> Scope:
        self._require_open()
        return self._scoping.one(user)

    async def _scopes(self, where: Mapping[str, Any] | None, *, across: bool) -> tuple[Scope, ...]:
        self._require_open()
        return await self._scoping.several(where, across=across)

    def _require_prices(self, max_cost: float | None) -> None:
        """See that a cap of money can be kept: every endpoint of the settings that is asked has a price."""
        if max_cost is None:
            return
        askers = {"embed": self._encoder, **dict.fromkeys(("vision", "audio"), self._media)}
        named = self._settings.endpoints().items()
        models = [each.model for name, each in named if askers.get(name, self._models) is not None]
        require_prices(models, self._settings.prices)

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError("The service is closed; open another one.")


def _lock_name(scope: Scope, root: str) -> str:
    return f"the sync of {root} for {scope}"
