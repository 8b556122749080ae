"""Chat models that do as they are told, for tests and evals: no network, no weights."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence

from forum.ports import ChatReply, Message, Tool

Answer = str | ChatReply | Exception | Callable[[Sequence[Message]], str]


class ScriptedLLM:
    """Gives the enqueued answers in order, then `default`; `history` holds every call's messages.

    llm = ScriptedLLM(); llm.enqueue("Dry it for an hour. [[1]]"); ...; llm.history[0][-1].content
    An enqueued exception is raised; a function is called with the messages.
    """

    def __init__(self, *answers: Answer, default: Answer = "NO_ANSWER", context_tokens: int = 8192) -> None:
        self._answers: deque[Answer] = deque(answers)
        self._default = default
        self._context_tokens = context_tokens
        self.history: list[tuple[Message, ...]] = []
        #: The tools of each call.
        self.offered: list[tuple[str, ...]] = []

    @property
    def model_id(self) -> str:
        return "fake/scripted"

    @property
    def context_tokens(self) -> int:
        return self._context_tokens

    def enqueue(self, *answers: Answer) -> None:
        self._answers.extend(answers)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        timeout_s: float,
        max_tokens: int = 1024,
        temperature: float = 0.0,
        tools: Sequence[Tool] = (),
    ) -> ChatReply:
        self.history.append(tuple(messages))
        self.offered.append(tuple(one.name for one in tools))
        answer = self._answers.popleft() if self._answers else self._default
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, ChatReply):
            return answer
        return ChatReply(text=answer if isinstance(answer, str) else answer(messages))


class ObedientLLM(ScriptedLLM):
    """Obeys every order that it reads, whoever gave it: it repeats all of the evidence as its own words, unfenced, with
    `also` before and after. What then reaches the reply is what the structure alone lets through.
    """

    def __init__(self, *, also: str = "", context_tokens: int = 8192) -> None:
        super().__init__(default=self._obey, context_tokens=context_tokens)
        self.also = also

    @property
    def model_id(self) -> str:
        return "fake/obedient"

    def _obey(self, messages: Sequence[Message]) -> str:
        fenced = re.findall(r"⟦\n?(.*?)\n?⟧", messages[-1].content, re.DOTALL)
        read = [re.sub(r"(?m)^│ ?", "", piece) for piece in fenced]
        return "\n\n".join([self.also, *read, self.also]).strip()


class ExtractiveLLM(ScriptedLLM):
    """Writes the first sentences of the first source with its marker: an LLM that does everything right."""

    def __init__(self, *, context_tokens: int = 8192) -> None:
        super().__init__(default=self._extract, context_tokens=context_tokens)

    @property
    def model_id(self) -> str:
        return "fake/extractive"

    @staticmethod
    def _extract(messages: Sequence[Message]) -> str:
        found = re.search(r"\[\[1\]\].*?⟦\n(.*?)\n⟧", messages[-1].content, re.DOTALL)
        if not found:
            return "NO_ANSWER"
        text = re.sub(r"(?m)^│ ?", "", found.group(1))
        said = re.findall(r"[^.!?\n]{20,}[.!?]", text)[:3]
        return " ".join(f"{sentence.strip()} [[1]]" for sentence in said) or "NO_ANSWER"
