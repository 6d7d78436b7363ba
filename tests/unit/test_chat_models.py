"""Which model each step asks, and the fakes that stand in for one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pydantic import SecretStr

from memu.errors import ConfigurationError, ProviderError, ReplyError
from memu.providers.endpoint import Endpoint
from memu.providers.fakes import FailingChatModel, ScriptedChatModel
from memu.providers.models import PROFILES, ChatModels, choose_models
from memu.providers.protocols import ChatMessage, ChatModel

pytestmark = pytest.mark.unit

MESSAGES = (ChatMessage(role="user", content="Why?"),)
HERE = Endpoint(model="m", base_url="http://localhost:8000/v1")


def test_without_a_default_there_are_none() -> None:
    assert choose_models({}) is None
    assert choose_models({"extract": HERE, "embed": HERE}) is None


def test_profiles_with_one_endpoint_share_one_model() -> None:
    other = Endpoint(model="n", base_url=HERE.base_url)
    same = Endpoint(model="m", base_url=HERE.base_url)
    chosen = choose_models({"default": HERE, "extract": same, "fold": other})
    assert chosen is not None
    assert chosen.default is chosen.extract is chosen.overview
    assert (chosen.extract.name, chosen.fold.name) == ("m@localhost", "n@localhost")


def test_another_key_or_dialect_is_another_model() -> None:
    keyed = Endpoint(model="m", base_url=HERE.base_url, api_key=SecretStr("k"))
    told = Endpoint(model="m", base_url=HERE.base_url, dialect="ollama")
    chosen = choose_models({"default": HERE, "extract": keyed, "fold": told})
    assert chosen is not None
    assert len({id(getattr(chosen, name)) for name in PROFILES}) == 3


def test_each_model_has_its_own_price() -> None:
    dear = Endpoint(model="dear", base_url=HERE.base_url)
    chosen = choose_models({"default": HERE, "fold": dear}, prices={"dear": (1.0, 1.0)})
    assert chosen is not None
    assert chosen.fold.foresee_cost(MESSAGES) > chosen.extract.foresee_cost(MESSAGES) == 0


@pytest.mark.parametrize(
    "endpoint", [Endpoint(model="m", base_url="x"), Endpoint(model="m", base_url=HERE.base_url, dialect="none")]
)
def test_an_endpoint_that_cannot_be_is_refused_before_anything_is_asked(endpoint: Endpoint) -> None:
    with pytest.raises(ConfigurationError):
        choose_models({"default": HERE, "overview": endpoint})


async def test_models_are_closed_once_each() -> None:
    class Closing(ScriptedChatModel):
        closed = 0

        async def close(self) -> None:
            self.closed += 1

    one, two = Closing(), Closing()
    await ChatModels.of(one).close()
    await ChatModels(default=one, extract=two, fold=two, overview=one).close()
    assert (one.closed, two.closed) == (2, 1)


async def test_a_scripted_model_does_as_told_and_notes_what_it_was_asked() -> None:
    def shout(messages: Sequence[ChatMessage]) -> str:
        return messages[-1].content.upper()

    model = ScriptedChatModel("[1]", ReplyError("cut off"), "", ProviderError("away"), usual=shout, price=(1, 2))
    port: ChatModel = model
    assert (await port.reply(MESSAGES)).text == "[1]"
    for error, told in [(ReplyError, "cut off"), (ReplyError, "empty"), (ProviderError, "away")]:
        with pytest.raises(error, match=told):
            await port.reply(MESSAGES)
    for _ in range(2):
        reply = await port.reply(MESSAGES)
        assert reply.text == "WHY?"
        assert (reply.usage.calls, reply.usage.prompt_tokens) == (1, 2)
        assert reply.usage.cost == pytest.approx((2 * 1 + 2 * 2) / 1e6)
    assert model.asked == [MESSAGES] * 6


async def test_a_failing_model_is_down() -> None:
    model: ChatModel = FailingChatModel()
    for _ in range(2):
        with pytest.raises(ProviderError) as raised:
            await model.reply(MESSAGES)
        assert not isinstance(raised.value, ReplyError)
