"""An editor for tests: a client of the protocol, and a server that it has started."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE = 120.0
"""Seconds after which something hangs."""

CAPABILITIES = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(related_information=True)
    ),
    window=types.WindowClientCapabilities(
        show_document=types.ShowDocumentClientCapabilities(support=True)
    ),
    workspace=types.WorkspaceClientCapabilities(
        inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(
            dynamic_registration=True
        ),
    ),
)


class Editor:
    """One editor with one server; a context."""

    def __init__(
        self,
        options: dict[str, Any] | None = None,
        capabilities: types.ClientCapabilities = CAPABILITIES,
        port: int | None = None,
        command: Sequence[str] = ("-m", "nkijit", "lsp"),
    ):
        self._options = {"delay": 0.0, **(options or {})}
        self._capabilities, self._port, self._command = capabilities, port, command
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._told = threading.Condition()
        self.published: list[types.PublishDiagnosticsParams] = []
        self.messages: list[str] = []
        self.logged: list[str] = []
        self.shown: list[types.ShowDocumentParams] = []
        self.registered: list[str] = []
        self._versions: dict[str, int] = {}

    def __enter__(self) -> Editor:
        self._thread.start()
        self._run(self._begin())
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    async def _begin(self) -> None:
        self.client = client = LanguageClient("tests", "1")
        feature: Any = client.feature

        def note(into: list[Any], what: Any) -> None:
            with self._told:
                into.append(what)
                self._told.notify_all()

        @feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params: types.PublishDiagnosticsParams) -> None:
            note(self.published, params)

        @feature(types.WINDOW_SHOW_MESSAGE)
        def _(params: types.ShowMessageParams) -> None:
            note(self.messages, params.message)

        @feature(types.WINDOW_LOG_MESSAGE)
        def _(params: types.LogMessageParams) -> None:
            note(self.logged, params.message)

        @feature(types.WINDOW_SHOW_DOCUMENT)
        def _(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            note(self.shown, params)
            return types.ShowDocumentResult(True)

        @feature(types.WORKSPACE_INLAY_HINT_REFRESH)
        def _(_: None) -> None:
            pass

        @feature(types.CLIENT_REGISTER_CAPABILITY)
        def _(params: types.RegistrationParams) -> None:
            for each in params.registrations:
                note(self.registered, each.method)

        if self._port is None:
            await client.start_io(sys.executable, *self._command)
        else:
            await client.start_tcp("127.0.0.1", self._port)
        initialize = types.InitializeParams(
            capabilities=self._capabilities, initialization_options=self._options
        )
        self.initialized = await client.initialize_async(initialize)
        client.initialized(types.InitializedParams())

    async def _end(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await asyncio.wait_for(self.client.stop(), PATIENCE)

    def wait(self, condition: Any) -> Any:
        """Wait until a condition gives a true value, and return it."""
        with self._told:
            assert self._told.wait_for(condition, PATIENCE), (self.published, self.messages)
            return condition()

    # ---------------------------------------------------------------- actions of users

    def open(self, file: Path, text: str, uri: str = "") -> str:
        uri = uri or file.as_uri()
        self._versions[uri] = 1
        item = types.TextDocumentItem(uri, "python", 1, text)
        self._tell(self.client.text_document_did_open, types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, text: str) -> None:
        self._versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        params = types.DidChangeTextDocumentParams(document, [change])
        self._tell(self.client.text_document_did_change, params)

    def save(self, uri: str) -> None:
        params = types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri))
        self._tell(self.client.text_document_did_save, params)

    def close(self, uri: str) -> None:
        params = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        self._tell(self.client.text_document_did_close, params)

    def _tell(self, notify: Any, params: Any) -> None:
        self._loop.call_soon_threadsafe(notify, params)

    def problems(self, uri: str) -> list[types.Diagnostic]:
        """Those of the present text."""

        def last() -> types.PublishDiagnosticsParams | None:
            of_it = [p for p in self.published if p.uri == uri]
            return of_it[-1] if of_it and of_it[-1].version == self._versions[uri] else None

        return list(self.wait(last).diagnostics)

    def hints(self, uri: str) -> dict[int, str]:
        """Inlay hints by line, counted from 0."""
        everything = types.Range(types.Position(0, 0), types.Position(10_000, 0))
        params = types.InlayHintParams(types.TextDocumentIdentifier(uri), everything)
        found = self._run(self.client.text_document_inlay_hint_async(params))
        return {hint.position.line: hint.label for hint in found}

    def lenses(self, uri: str) -> list[types.CodeLens]:
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        return self._run(self.client.text_document_code_lens_async(params))

    def hover(self, uri: str, line: int, character: int) -> str | None:
        at = types.Position(line, character)
        params = types.HoverParams(types.TextDocumentIdentifier(uri), at)
        found = self._run(self.client.text_document_hover_async(params))
        return None if found is None else found.contents.value

    def completions(self, uri: str, line: int, character: int) -> types.CompletionList:
        at = types.Position(line, character)
        params = types.CompletionParams(types.TextDocumentIdentifier(uri), at)
        return self._run(self.client.text_document_completion_async(params))

    def rename(self, uri: str, line: int, character: int, new: str) -> types.WorkspaceEdit:
        at = types.Position(line, character)
        params = types.RenameParams(types.TextDocumentIdentifier(uri), at, new)
        return self._run(self.client.text_document_rename_async(params))

    def implementation(self, uri: str, line: int) -> types.Location | None:
        at = types.Position(line, 0)
        params = types.ImplementationParams(types.TextDocumentIdentifier(uri), at)
        return self._run(self.client.text_document_implementation_async(params))

    def actions(self, uri: str, line: int) -> list[types.CodeAction]:
        at = types.Range(types.Position(line, 0), types.Position(line, 1000))
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(uri), at, types.CodeActionContext([])
        )
        return list(self._run(self.client.text_document_code_action_async(params)))

    def command(self, command: types.Command) -> Any:
        params = types.ExecuteCommandParams(command.command, command.arguments)
        return self._run(self.client.workspace_execute_command_async(params))


def edited(text: str, edits: list[types.TextEdit]) -> str:
    """A text after insertions at the beginnings of lines."""
    lines = text.splitlines(keepends=True)
    for edit in sorted(edits, key=lambda e: -e.range.start.line):
        assert edit.range.start == edit.range.end
        assert edit.range.start.character == 0
        lines.insert(edit.range.start.line, edit.new_text)
    return "".join(lines)
