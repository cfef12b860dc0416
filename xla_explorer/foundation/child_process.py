"""A process of our own that answers messages: started, asked, waited for with a deadline, ended; how it died and what it said last.

The other end reads requests from its standard input with `messages.receive` and writes one answer to each on its standard output with
`messages.send`; whatever else it prints goes to its error output, of which the last line is kept for people.
"""

from __future__ import annotations

import contextlib
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, Final, cast

from xla_explorer.foundation.messages import receive, send

_LAST_WORDS: Final = 300  # characters
_TIME_TO_DIE: Final = 10.0  # seconds, from closing its output to its exit status


class ChildEndedError(Exception):
    """The process is gone. code: its exit status, of a signal negative. said: the lines of its error output."""

    def __init__(self, code: int, said: Sequence[str]) -> None:
        self.code, self.said = code, list(said)
        super().__init__(self.how + self.last_words)

    @property
    def how(self) -> str:
        """`crashed with SIGSEGV`, or `ended its process with exit code 3`."""
        return f"crashed with {signal.Signals(-self.code).name}" if self.code < 0 else f"ended its process with exit code {self.code}"

    @property
    def last_words(self) -> str:
        """What to put behind `how`; empty when it said nothing."""
        return f"; its last words: {self.said[-1][:_LAST_WORDS]}" if self.said else ""


class MessagingChild:
    """One such process. `ask` is for one thread at a time."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the process)
        self._ended: ChildEndedError | None = None
        # A session of its own: a notebook's interrupt goes to the kernel's whole process group. Who waits for the child ends it.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=environment, start_new_session=True
        )
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._listen, args=(self._answers, self._process.stdout), daemon=True).start()

    @staticmethod
    def _listen(answers: queue.SimpleQueue[Any], stream: BinaryIO) -> None:
        try:
            while True:
                answers.put((receive(stream),))
        except Exception:  # the end of the stream, or an answer that cannot be read here: nothing more comes
            answers.put(None)

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def ask(self, timeout: float | None, *request: Any) -> Any:
        """One request, its answer. timeout: in seconds; None waits for ever.

        TimeoutError when it was still at it, ChildEndedError when it died (or had); after either, and after an interrupt, it is gone.
        """
        if self._ended is None:
            try:
                with contextlib.suppress(OSError):  # it has died: the listener knows
                    send(cast(BinaryIO, self._process.stdin), request)
                answer = self._answers.get(timeout=timeout)
            except queue.Empty:
                self.close()
                raise TimeoutError(f"was still at it after {timeout:g} s and was ended") from None
            except BaseException:  # Ctrl-C: what runs there must not run on
                self.close()
                raise
            if answer is not None:
                return answer[0]
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_TIME_TO_DIE)
        raise self.close()

    def close(self) -> ChildEndedError:
        """End it, if it still runs. How it ended."""
        if self._ended is None:
            if self._process.poll() is None:
                self._process.kill()
            code = self._process.wait()
            self._errors.seek(0)
            self._ended = ChildEndedError(code, self._errors.read().decode(errors="replace").strip().splitlines())
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
            self._errors.close()
        return self._ended
