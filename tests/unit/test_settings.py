"""Settings: who wins, what is refused, and that no key goes where it was not meant to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from memu.errors import ConfigurationError, ScopeError, StoreError
from memu.records import EMPTY_SCOPE, Scope
from memu.settings import Settings, WorkspaceScope, conditions_of, config_file, locate_store, scope_of, store_path

pytestmark = pytest.mark.unit

SHELL = {"OPENAI_API_KEY": "shell"}
SHELL_A = {**SHELL, "OPENAI_BASE_URL": "https://a.example/v1"}
NO_SCOPES = [{"user": "x"}, {"user_id": None}, {"user_id": ""}, {"user_id": 5}, {"user_id": ["a"]}]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("MEMU_CONFIG", str(path))
    return path


def test_defaults_need_nothing() -> None:
    settings = Settings.load()
    assert (settings.db, settings.out, settings.encoder, settings.resources) == (None, None, "auto", "link")
    assert settings.notices() == ()


def test_argument_wins_over_environment_over_file_over_default(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text('encoder = "file"\ndb = "file"\nconcurrency = 7\n', encoding="utf-8")
    monkeypatch.setenv("MEMU_ENCODER", "environment")
    monkeypatch.setenv("MEMU_DB", "environment")
    settings = Settings.load(db="argument", encoder=None)
    assert (settings.db, settings.encoder, settings.concurrency) == ("argument", "environment", 7)
    assert settings.max_file_bytes == Settings.model_fields["max_file_bytes"].default


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMU_DB", "")
    assert Settings.load().db is None


def test_a_dotenv_file_in_the_folder_we_stand_in_sets_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P11: a synced folder must not choose a database or an endpoint."""
    (tmp_path / ".env").write_text("MEMU_DB=postgresql://evil/x\nMEMU_CHAT_MODEL=x\n", encoding="utf-8")
    (tmp_path / "config.toml").write_text('db = "postgresql://evil/x"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert (Settings.load().db, Settings.load().chat_model) == (None, None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('encodr = "none"', "encodr"),
        ("db = ", "cannot be read"),
        ('concurrency = "many"', "concurrency"),
        ("concurrency = 0", "concurrency"),
        ('resources = "move"', "resources"),
    ],
)
def test_a_wrong_config_file_is_refused_by_name(config: Path, text: str, told: str) -> None:
    config.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=told):
        Settings.load()


def test_a_named_config_file_must_exist(config: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Settings.load()


def test_without_a_name_the_config_file_is_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMU_CONFIG")
    path = config_file()
    assert path is not None
    assert path.parts[-2:] == ("memu", "config.toml")


def test_what_does_not_fit_is_told_without_its_value(config: Path) -> None:
    config.write_text('chat_api_key = ["sk-very-secret"]', encoding="utf-8")
    with pytest.raises(ConfigurationError) as raised:
        Settings.load()
    assert "chat_api_key" in str(raised.value)
    assert "very-secret" not in str(raised.value)
    assert raised.value.__cause__ is None


PROFILES = ("default", "extract", "fold", "overview", "embed")


@pytest.mark.parametrize("which", ["chat", "embed", "extract", "fold", "overview"])
def test_a_key_in_the_shell_makes_no_endpoint(which: str) -> None:
    """Only MEMU_CHAT_MODEL or MEMU_EMBED_MODEL does."""
    shell = {"OPENAI_API_KEY": "sk-shell", "OPENAI_BASE_URL": "https://models.example"}
    settings = Settings.load(**{f"{which}_base_url": "https://other.example", f"{which}_api_key": "x"})
    assert [settings.profile_endpoint(name, shell) for name in PROFILES] == [None] * 5
    assert settings.endpoints(shell) == {}


@pytest.mark.parametrize("which", ["extract", "fold", "overview"])
@pytest.mark.parametrize(
    ("own", "url", "key", "dialect"),
    [
        ({}, "https://a.example/v1", "chat", "vllm"),
        ({"model": "small"}, "https://a.example/v1", "chat", "vllm"),
        ({"api_key": "own"}, "https://a.example/v1", "own", "vllm"),
        ({"dialect": "ollama"}, "https://a.example/v1", "chat", "ollama"),
        ({"base_url": "https://A.example/v2"}, "https://A.example/v2", "chat", "vllm"),
        ({"base_url": "https://b.example/v1"}, "https://b.example/v1", None, None),
        ({"base_url": "https://b.example/v1", "api_key": "own"}, "https://b.example/v1", "own", None),
        ({"base_url": "http://a.example/v1"}, "http://a.example/v1", None, None),
        ({"base_url": "https://a.example:8443/v1"}, "https://a.example:8443/v1", None, None),
        ({"base_url": "https://a.example.evil/v1"}, "https://a.example.evil/v1", None, None),
        ({"base_url": "https://api.openai.com/v1"}, "https://api.openai.com/v1", "shell", None),
    ],
)
def test_p11_a_profile_takes_from_chat_what_it_does_not_say_but_no_key_of_another_host(
    which: str, own: dict[str, str], url: str, key: str | None, dialect: str | None
) -> None:
    chat = {"model": "big", "base_url": "https://a.example/v1", "api_key": "chat", "dialect": "vllm"}
    settings = Settings.load(
        **{f"chat_{name}": value for name, value in chat.items()},
        **{f"{which}_{name}": value for name, value in own.items()},
    )
    endpoint = settings.profile_endpoint(which, SHELL)
    assert endpoint is not None
    assert (endpoint.model, endpoint.base_url, endpoint.dialect) == (own.get("model", "big"), url, dialect)
    assert (endpoint.api_key.get_secret_value() if endpoint.api_key else None) == key
    others = {each for name, each in settings.endpoints(SHELL).items() if name != which}
    assert others == {settings.profile_endpoint("default", SHELL)}


def test_a_profile_alone_makes_no_endpoint_and_says_so() -> None:
    settings = Settings.load(fold_model="m")
    assert settings.endpoints({}) == {}
    (notice,) = settings.notices()
    assert "fold_model" in notice
    assert "extract_model" not in notice
    assert Settings.load(fold_model="m", chat_model="n").notices() == ()


def test_an_embedding_endpoint_that_is_not_used_is_none_of_those_in_use() -> None:
    assert set(Settings.load(embed_model="m").endpoints({})) == {"embed"}
    assert Settings.load(embed_model="m", encoder="none").endpoints({}) == {}


def test_prices_and_scopes_come_from_the_config_file(config: Path) -> None:
    config.write_text(
        'local_only_scopes = [{ user_id = "alice" }, { agent_id__in = ["x", "y"] }]\n'
        '[prices]\n"gpt-4o-mini" = [0.15, 0.6]\n',
        encoding="utf-8",
    )
    settings = Settings.load()
    assert settings.prices == {"gpt-4o-mini": (0.15, 0.6)}
    local = [{"user_id": "alice"}, {"user_id": "alice", "agent_id": "z"}, {"agent_id": "y"}]
    assert all(settings.is_local_only(Scope.of(dict(fields))) for fields in local)
    elsewhere = [{}, {"user_id": "bob"}, {"user_id": "bob", "agent_id": "z"}]
    assert not any(settings.is_local_only(Scope.of(dict(fields))) for fields in elsewhere)
    assert Settings.load(local_only=True).is_local_only(EMPTY_SCOPE)


def test_p6_a_demand_for_a_scope_that_cannot_be_is_an_error() -> None:
    """A field that is misspelt would demand nothing."""
    with pytest.raises(ScopeError, match="user"):
        Settings.load(local_only_scopes=[{"user": "alice"}]).is_local_only(EMPTY_SCOPE)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prices", {"m": [1.0]}),
        ("prices", {"m": [-1.0, 2.0]}),
        ("prices", {"m": [float("nan"), 2.0]}),
        ("prices", {"m": [float("inf"), 2.0]}),
        ("chat_temperature", -0.1),
        ("chat_max_tokens", 0),
        ("chat_context_tokens", 100),
        ("chat_timeout", 0),
        ("local_only", "perhaps"),
    ],
)
def test_a_setting_of_models_that_does_not_fit_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ConfigurationError, match=name):
        Settings.load(**{name: value})


def test_models_can_be_set_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "MEMU_EXTRACT_MODEL": "small",
        "MEMU_LOCAL_ONLY": "1",
        "MEMU_PRICES": '{"small": [1, 2]}',
        "MEMU_CHAT_TEMPERATURE": "0",
    }.items():
        monkeypatch.setenv(name, value)
    settings = Settings.load()
    assert (settings.extract_model, settings.local_only, settings.prices) == ("small", True, {"small": (1, 2)})
    assert settings.chat_temperature == 0
    assert (settings.chat_max_tokens, settings.chat_context_tokens) == (None, 16_000)


@pytest.mark.parametrize(
    ("own_url", "own_key", "shell", "url", "key"),
    [
        (None, None, {}, "https://api.openai.com/v1", None),
        (None, None, SHELL, "https://api.openai.com/v1", "shell"),
        (None, None, SHELL_A, "https://a.example/v1", "shell"),
        ("https://b.example/v1", None, SHELL, "https://b.example/v1", None),
        ("http://a.example/v1", None, SHELL_A, "http://a.example/v1", None),
        ("https://A.example/v2", None, SHELL_A, "https://A.example/v2", "shell"),
        ("https://b.example/v1", "own", SHELL, "https://b.example/v1", "own"),
        ("http://localhost:8000/v1", None, SHELL, "http://localhost:8000/v1", None),
    ],
)
def test_p11_a_key_for_one_host_is_never_sent_to_another(
    own_url: str | None, own_key: str | None, shell: dict[str, str], url: str, key: str | None
) -> None:
    settings = Settings.load(chat_model="m", chat_base_url=own_url, chat_api_key=own_key)
    endpoint = settings.profile_endpoint("default", shell)
    assert endpoint is not None
    assert endpoint.base_url == url
    assert (endpoint.api_key.get_secret_value() if endpoint.api_key else None) == key
    assert "shell" not in repr(endpoint)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"overview_model": "a"}, "no chat_model"),
        ({"chat_model": "a"}, ""),
        ({"embed_model": "b", "encoder": "none"}, "embedding model"),
        ({"embed_model": "b"}, ""),
    ],
)
def test_a_model_that_is_not_used_is_said_to_be_unused(given: dict[str, str], told: str) -> None:
    notices = " ".join(Settings.load(**given).notices())
    assert told in notices
    assert bool(notices) == bool(told)


def test_f38_dimensions_and_dialect_reach_the_endpoint_only_when_set() -> None:
    plain = Settings.load(embed_model="m").embed_endpoint({})
    assert plain is not None
    assert (plain.dimensions, plain.dialect) == (None, None)
    told = Settings.load(embed_model="m", embed_dimensions="256", embed_dialect="ollama").embed_endpoint({})
    assert told is not None
    assert (told.dimensions, told.dialect) == (256, "ollama")


def test_the_nearest_store_upwards_is_found(tmp_path: Path) -> None:
    outer, inner = tmp_path / "outer", tmp_path / "outer" / "inner"
    (inner / "deep").mkdir(parents=True)
    for folder in (outer, inner):
        store_path(folder).parent.mkdir()
        store_path(folder).touch()
    assert locate_store(inner / "deep") == store_path(inner).resolve()
    assert locate_store(outer) == store_path(outer).resolve()


def test_no_store_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="memu sync FOLDER"):
        locate_store(tmp_path)


def test_scope_fields_are_checked_and_the_callers_dict_is_left_alone() -> None:
    """F43."""
    given = {"user_id": "alice"}
    assert scope_of(WorkspaceScope, given) == Scope.of({"user_id": "alice"})
    assert given == {"user_id": "alice"}
    assert scope_of(WorkspaceScope) == scope_of(WorkspaceScope, {}) == EMPTY_SCOPE


@pytest.mark.parametrize("fields", NO_SCOPES)
def test_p6_a_scope_that_does_not_fit_is_an_error(fields: dict[str, object]) -> None:
    with pytest.raises(ScopeError):
        scope_of(WorkspaceScope, fields)


def test_an_apps_own_scope_model_decides() -> None:
    class Tenant(BaseModel):
        tenant: int

    assert scope_of(Tenant, {"tenant": "7"}) == Scope.of({"tenant": 7})
    with pytest.raises(ScopeError, match="tenant"):
        scope_of(Tenant)


def test_conditions_of_a_search_over_several_scopes() -> None:
    given = {"user_id__in": ["alice", "bob"], "agent_id": "x"}
    assert conditions_of(WorkspaceScope, given) == {"user_id": ("alice", "bob"), "agent_id": ("x",)}
    assert given == {"user_id__in": ["alice", "bob"], "agent_id": "x"}
    assert conditions_of(WorkspaceScope) == {}


@pytest.mark.parametrize(
    "where",
    [
        {"user__in": ["x"]},
        {"user_id__in": []},
        {"user_id__in": "alice"},
        {"user_id__in": [None]},
        {"user_id": "a", "user_id__in": ["b"]},
    ],
)
def test_p6_conditions_that_do_not_fit_are_errors(where: dict[str, object]) -> None:
    with pytest.raises(ScopeError):
        conditions_of(WorkspaceScope, where)


@pytest.mark.parametrize("where", [{"user_id": None}, {"user_id__in": [None]}, {"agent_id__in": ["x", None]}])
@pytest.mark.parametrize(("across", "meant"), [(True, "every scope"), (False, "the scope without it")])
def test_p6_a_none_is_told_what_leaving_it_out_means(where: dict[str, Any], across: bool, meant: str) -> None:
    with pytest.raises(ScopeError, match=f"leave it out to mean {meant}"):
        conditions_of(WorkspaceScope, where, across=across)
