"""The language server: schedules analyses of open documents and answers the editor's requests."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from nkijit.host.output_files import write_text
from nkijit.host.processes.isolated import missing, prepare
from nkijit.lsp.answers import (
    SHOW_IR,
    code_actions_of,
    code_lenses_of,
    completions_of,
    diagnostic_of,
    hover_of,
    inlay_hints_of,
    ir_of_line,
    renamed,
    renamed_range,
)
from nkijit.lsp.facts import Analysis
from nkijit.lsp.places import Places, uri_of
from nkijit.lsp.process import Run
from nkijit.lsp.renaming import RenameError
from nkijit.lsp.settings import Settings, settings_of
from nkijit.lsp.syntax import is_about_kernels, syntax_problem
from nkijit.version import __version__


@dataclass
class _Open:
    """The state of an open document: its analysis, finished or in progress."""

    task: asyncio.Task[None] | None = None
    """The task of the analysis in progress, or of the last analysis."""
    analysis: Analysis | None = None
    version: int | None = None
    """The version of the document that was analysed."""


class NkiServer(LanguageServer):
    """The server for one editor.

    Args:
        folder: the folder for files that the editor opens: IR, explanations of rules.
    """

    def __init__(self, folder: Path):
        # Full sync: pygls would apply changes by its own lines, which differ (see `Places`).
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            "nkijit", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full
        )
        self._folder = folder
        self._open: dict[str, _Open] = {}
        self._settings = Settings()
        self._wrong: list[str] = []

    # ---------------------------------------------------------------- the session

    def begin(self, params: types.InitializeParams) -> None:
        """Read the settings."""
        self._settings, self._wrong = settings_of(params.initialization_options)

    async def begun(self) -> None:
        """Report wrong settings, and register for notifications about changed files."""
        for text in self._wrong:
            self.window_show_message(
                types.ShowMessageParams(types.MessageType.Warning, f"nkijit: {text}")
            )
        if (lacking := missing()) is not None:
            self.window_log_message(
                types.LogMessageParams(types.MessageType.Warning, f"nkijit: {lacking}")
            )
        workspace = self.client_capabilities.workspace
        watched = workspace and workspace.did_change_watched_files
        if watched and watched.dynamic_registration:
            patterns = ("**/*.py", "**/pyproject.toml")
            options = types.DidChangeWatchedFilesRegistrationOptions(
                [types.FileSystemWatcher(pattern) for pattern in patterns]
            )
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registration = types.Registration("nkijit.files", method, options)
            await self.client_register_capability_async(types.RegistrationParams([registration]))

    def shutdown(self) -> None:
        """End the session and close its connection; Python 3.12 and newer wait for this."""
        super().shutdown()
        if isinstance(self.protocol.writer, asyncio.StreamWriter):
            self.protocol.writer.close()

    def leave(self) -> None:
        """Cancel all analyses."""
        for opened in self._open.values():
            if opened.task is not None:
                opened.task.cancel()

    # ---------------------------------------------------------------- documents

    def opened(self, uri: str) -> None:
        """Analyse a document that the editor has opened."""
        document = self.workspace.get_text_document(uri)
        # Editors use other schemes for other versions of a file, such as an earlier commit.
        if uri.startswith("file:") and document.path.endswith(".py"):
            self._open[uri] = _Open()
            self._start(uri, 0.0)

    def changed(self, uri: str) -> None:
        """Analyse a document whose text has changed."""
        if uri in self._open and self._settings.run != "save":
            self._start(uri, self._settings.delay)

    def saved(self, uris: list[str]) -> None:
        """Analyse open documents again after changes of files that they may import."""
        for uri in self._open:
            if self._settings.run == "save" or uri not in uris:
                self._start(uri, self._settings.delay)

    def closed(self, uri: str) -> None:
        """Drop a closed document and clear its diagnostics."""
        opened = self._open.pop(uri, None)
        if opened is not None:
            if opened.task is not None:
                opened.task.cancel()
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def _start(self, uri: str, delay: float) -> None:
        """Analyse a document after `delay` seconds. Cancels an analysis in progress."""
        opened = self._open[uri]
        if opened.task is not None:
            opened.task.cancel()
        opened.task = asyncio.ensure_future(self._analyse(uri, opened, delay))

    async def _analyse(self, uri: str, opened: _Open, delay: float) -> None:
        await asyncio.sleep(delay)
        document = self.workspace.get_text_document(uri)
        at, text = document.version, document.source
        if not is_about_kernels(text):
            self._show(document, opened, Analysis(), at)
            return
        if self._settings.run == "never":
            problem = syntax_problem(document.path, text)
            found = Analysis(() if problem is None else (problem,))
            self._show(document, opened, found, at)
            return
        folder = self._folder_of(document.path)
        starting = asyncio.ensure_future(
            asyncio.to_thread(Run, document.path, text, folder, self._settings)
        )
        try:
            run = await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(_kill)
            raise
        try:
            while (found := await asyncio.to_thread(run.next)) is not None:
                self._show(document, opened, found, at)
        finally:
            run.kill()

    def _show(
        self, document: TextDocument, opened: _Open, analysis: Analysis, at: int | None
    ) -> None:
        """Publish the analysis of version `at` of a document."""
        before = opened.analysis if opened.version == at else None
        opened.analysis, opened.version = analysis, at
        if before is None or before.problems != analysis.problems:
            related = self._shows_related()
            found = [
                diagnostic_of(p, document, related=related, link=self._link(p.rule))
                for p in analysis.problems
            ]
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(document.uri, found, at)
            )
        if analysis.complete:
            self._refresh()

    def _refresh(self) -> None:
        """Let the editor request inlay hints and code lenses again."""
        workspace = self.client_capabilities.workspace
        if workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)
        if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)

    def _shows_related(self) -> bool:
        document = self.client_capabilities.text_document
        published = document and document.publish_diagnostics
        return bool(published and published.related_information)

    def _link(self, rule: str | None) -> str | None:
        """Return the URI of a file that explains a rule. Writes the file when it is missing."""
        if rule is None:
            return None
        file = self._folder / "rules" / f"{rule}.md"
        if not file.exists():
            from nkijit.reference.catalogue import rule_as_markdown

            file.parent.mkdir(exist_ok=True)
            write_text(file, rule_as_markdown(rule))
        return uri_of(str(file))

    def _folder_of(self, path: str) -> Path:
        """Return the folder for the IR of a file's kernels, always the same for a file."""
        digest = hashlib.sha256(path.encode(errors="surrogateescape")).hexdigest()[:12]
        folder = self._folder / f"{Path(path).stem}-{digest}"
        folder.mkdir(exist_ok=True)
        return folder

    # ---------------------------------------------------------------- questions

    def document(self, uri: str) -> TextDocument:
        """Return an open document."""
        return self.workspace.get_text_document(uri)

    def known(self, uri: str) -> Analysis | None:
        """Return the analysis of a document's current text, None if there is none yet."""
        opened = self._open.get(uri)
        if opened is None or opened.version != self.document(uri).version:
            return None
        return opened.analysis

    async def settled(self, uri: str) -> Analysis | None:
        """Wait for the analysis of a document and return it."""
        while (opened := self._open.get(uri)) and opened.task and not opened.task.done():
            await asyncio.wait([opened.task])
        return self.known(uri)

    async def show_ir(self, uri: str, line: int) -> types.Location | None:
        """Open the IR of a line, counted from 0."""
        analysis = await self.settled(uri)
        found = ir_of_line(analysis, line + 1) if analysis is not None else None
        if found is None:
            text = "no IR: the kernel was not traced, or no operation comes from this line"
            self.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))
            return None
        window = self.client_capabilities.window
        if window and window.show_document and window.show_document.support:
            await self.window_show_document_async(
                types.ShowDocumentParams(found.uri, take_focus=True, selection=found.range)
            )
        else:
            where = f"the IR is in {found.uri}, line {found.range.start.line + 1}"
            self.window_show_message(types.ShowMessageParams(types.MessageType.Info, where))
        return found

    @property
    def settings(self) -> Settings:
        """The editor's settings."""
        return self._settings


def _kill(starting: asyncio.Future[Run]) -> None:
    """End the process of an analysis that was cancelled while the process was starting."""
    if not starting.cancelled() and starting.exception() is None:
        starting.result().kill()


def _server(folder: Path) -> NkiServer:
    server = NkiServer(folder)
    feature: Any = server.feature

    @feature(types.INITIALIZE)
    def _(params: types.InitializeParams) -> None:
        server.begin(params)

    @feature(types.INITIALIZED)
    async def _(_params: types.InitializedParams) -> None:
        await server.begun()

    @feature(types.SHUTDOWN)
    def _(_params: None) -> None:
        server.leave()

    @feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def _(params: types.DidOpenTextDocumentParams) -> None:
        server.opened(params.text_document.uri)

    @feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def _(params: types.DidChangeTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def _(params: types.DidSaveTextDocumentParams) -> None:
        server.saved([params.text_document.uri])

    @feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def _(params: types.DidChangeWatchedFilesParams) -> None:
        server.saved([change.uri for change in params.changes])

    @feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def _(params: types.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @feature(types.TEXT_DOCUMENT_HOVER)
    async def _(params: types.HoverParams) -> types.Hover | None:
        document = server.document(params.text_document.uri)
        column = Places.of(document).column(params.position)
        known, line = server.known(document.uri), params.position.line + 1
        return await asyncio.to_thread(hover_of, document.source, line, column, known)

    @feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions([".", "(", "=", ","]))
    async def _(params: types.CompletionParams) -> types.CompletionList:
        document = server.document(params.text_document.uri)
        column = Places.of(document).column(params.position)
        line = params.position.line + 1
        return await asyncio.to_thread(completions_of, document.source, line, column)

    @feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def _(params: types.PrepareRenameParams) -> types.Range | None:
        document = server.document(params.text_document.uri)
        try:
            return renamed_range(document, params.position)
        except RenameError:
            return None

    @feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def _(params: types.RenameParams) -> types.WorkspaceEdit:
        document = server.document(params.text_document.uri)
        try:
            return renamed(document, params.position, params.new_name)
        except RenameError as error:
            raise JsonRpcInvalidParams(str(error)) from None

    @feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def _(params: types.InlayHintParams) -> list[types.InlayHint]:
        uri = params.text_document.uri
        if not server.settings.inlayHints or (known := await server.settled(uri)) is None:
            return []
        requested = params.range
        lines = (requested.start.line + 1, requested.end.line + 1)
        return inlay_hints_of(known, server.document(uri), lines)

    @feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def _(params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri
        if not server.settings.codeLens or (known := await server.settled(uri)) is None:
            return []
        return code_lenses_of(known, server.document(uri))

    @feature(types.TEXT_DOCUMENT_CODE_ACTION)
    async def _(params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        known = server.known(params.text_document.uri)
        if known is None:
            return []
        return code_actions_of(known, server.document(params.text_document.uri), params.range)

    @feature(types.TEXT_DOCUMENT_IMPLEMENTATION)
    async def _(params: types.ImplementationParams) -> types.Location | None:
        known = await server.settled(params.text_document.uri)
        return None if known is None else ir_of_line(known, params.position.line + 1)

    @server.command(SHOW_IR)
    async def _(uri: str, line: int) -> types.Location | None:
        return await server.show_ir(uri, line)

    return server


def serve(port: int | None = None) -> None:
    """Serve one editor until it disconnects.

    Args:
        port: TCP port on this machine; by default, standard input and output are used.
    """
    with tempfile.TemporaryDirectory(prefix="nkijit-lsp-", ignore_cleanup_errors=True) as folder:
        server = _server(Path(folder))
        if port is not None:
            prepare()
            print(f"waiting for an editor at 127.0.0.1:{port}", file=sys.stderr, flush=True)
            server.start_tcp("127.0.0.1", port)
            return
        # Prints go to standard error, the editor's log: standard output is for the protocol.
        with os.fdopen(os.dup(1), "wb") as output:
            os.dup2(2, 1)
            prepare()
            server.start_io(stdout=output)
