"""The files of ``pddl_eval.integrations`` in the programs that they are for; a test skips where its program is missing.

Nothing is downloaded. What needs torch (verl, OpenRLHF; TRL and lighteval where they are missing) is called as its
sources call it, with a stand-in for torch: TRL 1.16, verl 0.9.1, OpenRLHF 0.11.2, lighteval 0.13; ``test_trl`` and
``test_integrations_of_trainers`` run the trainers' own code. NeMo Gym needs Python 3.12: there its agent asks the
server, elsewhere the server is asked as its agents ask.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.error import HTTPError

import pytest

from tests.support.running import ROOT

HERE = ROOT / "pipeline" / "pddl_eval" / "integrations"
START = "(arm-empty) (clear a) (on-table a) (clear b) (on-table b)"
TOWER = f"(define (problem p) (:domain blocksworld) (:objects a b) (:init {START}) (:goal (on a b)))"
RIGHT = f"Sure!\n```pddl\n{TOWER.replace('(on a b)', '(and (on a b) (clear a))')}\n```"
EASY = TOWER.replace("(on a b)", "(and)")
ANSWERS = [RIGHT, EASY, "I cannot do that.", TOWER.replace("(on a b)", "(on a a)")]
SHARES = {"parseable": 0.75, "solvable": 0.5, "solves_reference": 0.25, "equivalent": 0.25}


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """As many questions as answers, in JSON Lines."""
    row = {"natural_language": "Put a on b.", "problem_pddl": TOWER, "domain": "blocksworld", "is_placeholder": False}
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for _ in ANSWERS), encoding="utf-8")
    return file


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))


def module(name: str) -> ModuleType:
    """The file, executed anew: its imports may be stand-ins."""
    spec = importlib.util.spec_from_file_location(f"fresh_{name}", HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_inspect(pairs: Path, tmp_path: Path) -> None:
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    outputs: list[Any] = [ModelOutput.from_content("mockllm/model", answer) for answer in ANSWERS]
    for output in outputs:
        output.usage = ModelUsage()  # Without it the mock loads a tokenizer from the network.
    (log,) = inspect_ai.eval(
        "pddl_eval/planetarium",  # by the entry point
        task_args={"pairs": str(pairs)},
        model=get_model("mockllm/model", custom_outputs=outputs),
        log_dir=str(tmp_path / "logs"),
        display="none",
        max_samples=1,
    )
    assert log.status == "success", log.error
    assert {each.name: each.metrics["mean"].value for each in log.results.scores} == SHARES
    assert [sample.scores["pddl_problem"].explanation.split(":")[0] for sample in log.samples] == [
        *("equivalent", "goal_differs", "unparseable", "unsolvable")
    ]


def test_lm_evaluation_harness(pairs: Path, tmp_path: Path) -> None:
    pytest.importorskip("lm_eval")
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class Answers(LM):
        def generate_until(self, requests: Any, **_: Any) -> list[str]:
            return ANSWERS

        def loglikelihood(self, requests: Any) -> Any: ...

        def loglikelihood_rolling(self, requests: Any) -> Any: ...

    text = f"include: {HERE / 'planetarium.yaml'}\ntask: local_pairs\ndataset_path: json\n"
    text += f"test_split: train\ndataset_kwargs:\n  data_files: {pairs}\n"
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "local.yaml").write_text(text, encoding="utf-8")
    found = simple_evaluate(
        Answers(),
        tasks=["local_pairs"],
        task_manager=TaskManager(include_path=str(tmp_path / "tasks"), include_defaults=False),
        bootstrap_iters=0,
    )
    results = found["results"]["local_pairs"]
    assert {name: results[f"{name},none"] for name in SHARES} == SHARES


def test_trl_by_its_calling_convention() -> None:
    example = module("trl")
    row = {"natural_language": "Put a on b.", "problem_pddl": TOWER, "domain": "blocksworld", "is_placeholder": False}
    made = row | example.as_example(row)
    assert made["prompt"][0]["role"] == "user"
    rewards = example.pddl_reward(
        prompts=[made["prompt"]] * 4,
        completions=[[{"role": "assistant", "content": answer}] for answer in ANSWERS],
        completion_ids=[[1, 2]] * 4,
        trainer_state=object(),
        log_extra=None,
        log_metric=None,
        reference=[made["reference"]] * 4,
        is_placeholder=[False] * 4,
    )
    assert rewards == [1.0, 0.2, 0.0, 0.1]
    assert all(type(each) is float for each in rewards)
    assert example.pddl_reward.__name__


REWARDS = [1.0, 0.2, 0.0, 0.1]
PLAN = {"kind": "plan", "problem": TOWER, "index": 3, "split": "train"}


def test_verl_by_its_calling_convention() -> None:
    score = module("verl").compute_score
    infos: list[dict[str, Any] | None] = [None, {"index": 1}, {"num_turns": None, "rollout_reward_scores": {}}, {}]
    # The reward loop calls it from threads, one answer at a time.
    with ThreadPoolExecutor(4) as threads:
        given = [{"data_source": "pddl", "ground_truth": TOWER, "extra_info": info} for info in infos]
        calls = [threads.submit(score, solution_str=a, **g) for a, g in zip(ANSWERS, given, strict=True)]
        found = [call.result() for call in calls]
    assert [each["score"] for each in found] == REWARDS
    assert all(type(value) in (int, float) for each in found for value in each.values())
    assert score("pddl", "(pickup a), (stack a b)", None, PLAN)["score"] == 1.0


def test_openrlhf_by_its_calling_convention(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    monkeypatch.setattr(sys.modules["torch"], "tensor", list, raising=False)
    example = module("openrlhf")
    prompt = f"Here is a problem:\n{TOWER}\nWrite it in other words."
    queries = [f"<s><|user|>{prompt}<|end|><|assistant|>{answer}<|end|>" for answer in ANSWERS]
    found = example.reward_func(queries, [prompt] * 4, [TOWER] * 4)
    assert found["rewards"] == found["scores"] == REWARDS
    assert found["extra_logs"]["step"] == [4.0, 2.0, 0.0, 1.0]
    plans = [
        "(pickup a)\n(stack a b)<|im_end|>",
        "(pickup a), (stack a b)</s>",
        "(pickup a)<|eot_id|>",
        "(putdown a)</s>",
    ]
    queries = [f"<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n{plan}" for plan in plans]
    found = example.reward_func(queries, [prompt] * 4, [json.dumps(PLAN)] * 4)
    assert found["rewards"] == [1.0, 1.0, 0.2, 0.1]


def test_verifiers(pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("verifiers.v1")
    from verifiers.v1.configs.task import TaskConfig
    from verifiers.v1.utils.decorators import invoke
    from verifiers.v1.utils.loaders import load_taskset, plugged_fn, taskset_config_type

    file = "from pddl_eval.integrations.verifiers import PlanetariumTaskset\n__all__ = ['PlanetariumTaskset']\n"
    (tmp_path / "planetarium_pddl.py").write_text(file, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    given = {"id": "planetarium_pddl", "dataset": "json", "data_files": str(pairs)}
    taskset = load_taskset(taskset_config_type("planetarium_pddl").model_validate(given))
    found = [
        asyncio.run(invoke(task.pddl, {"trace": SimpleNamespace(last_reply=answer), "task": task}))
        for task, answer in zip(taskset.load(), ANSWERS, strict=True)
    ]
    assert found == REWARDS
    reward = "pddl_eval.integrations.verifiers.task_reward"
    TaskConfig(rewards={"pddl": {"fn": reward}})
    task = SimpleNamespace(data=SimpleNamespace(answer="", info=PLAN))
    calls = {"task": task, "trace": SimpleNamespace(last_reply="(pickup a), (stack a b)"), "runtime": None}
    assert asyncio.run(invoke(plugged_fn(reward), calls)) == 1.0

    from pddl_eval.environment import Environment
    from pddl_eval.integrations.verifiers import NewTasksConfig, NewTasksTaskset

    asked = {"domain": "gripper", "shortest": 2, "longest": 3, "number": 2, "held_out": True}
    new = NewTasksTaskset(NewTasksConfig(id="new", **asked)).load()
    plans = [each.task.reference_plan for each in Environment("gripper", steps=(2, 3)).held_out_tasks(2)]
    traces = [SimpleNamespace(last_reply=plan) for plan in plans]
    rewards = [
        asyncio.run(invoke(task.pddl, {"trace": each, "task": task})) for task, each in zip(new, traces, strict=True)
    ]
    assert rewards == [1.0, 1.0]


def test_nemo_gym_over_http() -> None:
    example = module("nemo_gym")
    params = {"input": [{"role": "user", "content": "Put a on b."}]}

    def ask(place: str, path: str, body: Any) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        with urllib.request.urlopen(f"{place}{path}", data, timeout=60) as answer:
            return json.load(answer)

    with example.ThreadingHTTPServer(("127.0.0.1", 0), example.Resources) as server:
        place = f"http://127.0.0.1:{server.server_address[1]}"
        Thread(target=server.serve_forever, daemon=True).start()
        assert ask(place, "/seed_session", {"responses_create_params": params}) == {}
        for answer, reward in zip(ANSWERS, REWARDS, strict=True):
            message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": answer}]}
            row = {"responses_create_params": params, "reference": TOWER, "is_placeholder": False}
            found = ask(place, "/verify", {**row, "response": {"output": [{"type": "reasoning"}, message]}})
            assert found["reward"] == reward and found["reference"] == TOWER
        for wrong in (b"no", b"{}", b'{"response": {"output": []}}'):
            with pytest.raises(HTTPError, match="422"):
                ask(place, "/verify", wrong)
        with pytest.raises(HTTPError, match="404"):
            ask(place, "/other", {})
        means = ask(place, "/aggregate_metrics", {"verify_responses": [{"reward": 1.0}, {"reward": 0.2}]})
        assert means["key_metrics"] == {"mean/reward": 0.6}
        server.shutdown()


def test_an_agent_of_nemo_gym_asks_the_server() -> None:
    """NeMo Gym's own simple agent, from the session to the mean reward; the model is a stand-in."""
    pytest.importorskip("nemo_gym")
    import aiohttp
    from nemo_gym.config_types import AggregateMetricsRequest, ModelServerRef, ResourcesServerRef
    from nemo_gym.server_utils import ServerClient
    from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig, SimpleAgentRunRequest

    example = module("nemo_gym")
    content = [{"type": "output_text", "text": RIGHT, "annotations": []}]
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
    said = {"id": "r", "created_at": 0, "model": "m", "object": "response", "output": [message], "tools": []}
    said |= {"parallel_tool_calls": True, "tool_choice": "auto"}

    class Model(example.Resources):  # type: ignore[name-defined, misc]
        def do_POST(self) -> None:
            if self.path != "/v1/responses":
                super().do_POST()
                return
            self.rfile.read(int(self.headers["Content-Length"]))
            answer = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    async def rollout(place: str) -> tuple[float, dict[str, Any]]:
        async with aiohttp.ClientSession() as session:

            class Client(ServerClient):
                async def post(self, server_name: str, url_path: str, **asked: Any) -> Any:
                    body = asked["json"]
                    body = body if isinstance(body, dict) else body.model_dump(exclude_unset=True)
                    return await session.post(f"{place}{url_path}", json=body)

            refs = {
                "resources_server": ResourcesServerRef(type="resources_servers", name="pddl"),
                "model_server": ModelServerRef(type="responses_api_models", name="model"),
            }
            config = SimpleAgentConfig(host="127.0.0.1", port=0, entrypoint="", name="agent", **refs)
            agent = SimpleAgent(config=config, server_client=Client.model_construct())
            row = {
                "responses_create_params": {"input": [{"role": "user", "content": "Put a on b."}]},
                "reference": TOWER,
            }
            found = await agent.run(SimpleNamespace(cookies={}), SimpleAgentRunRequest.model_validate(row))
            means = await agent.aggregate_metrics(AggregateMetricsRequest(verify_responses=[{"reward": found.reward}]))
            return found.reward, means.key_metrics

    with example.ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        found = asyncio.run(rollout(f"http://127.0.0.1:{server.server_address[1]}"))
        server.shutdown()
    assert found == (1.0, {"mean/reward": 1.0})


def test_a_client_of_openenv_plays_an_episode() -> None:
    """OpenEnv's own client, over its own server: a wrong answer with feedback, then the right one."""
    pytest.importorskip("openenv")
    import uvicorn
    from openenv.core.generic_client import GenericEnvClient
    from pddl_eval.environment import Environment
    from pddl_eval.integrations.open_env import application

    settings: dict[str, Any] = {"domain": "blocksworld", "steps": (2, 3), "seed": 7}
    plan = next(Environment(**settings).stream()).task.reference_plan
    server = uvicorn.Server(uvicorn.Config(application(attempts=2, **settings), port=0, log_level="error"))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    with GenericEnvClient(base_url=f"http://127.0.0.1:{port}").sync() as client:
        asked = client.reset()
        assert not asked.done and "Find a plan" in asked.observation["messages"][0]["content"]
        wrong = client.step({"answer": "(pickup nothing)"})
        assert wrong.reward == 0.1 and not wrong.done and "no object nothing" in wrong.observation["feedback"]
        right = client.step({"answer": plan})
        assert right.reward == 1 and right.done
        assert client.state()["step_count"] == 2
    server.should_exit = True
    thread.join(10)


def _stand_in_for_lighteval(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {
        "lighteval.metrics.metrics_sample": ["SampleLevelComputation"],
        "lighteval.metrics.utils.metric_utils": ["SampleLevelMetricGrouping"],
        "lighteval.tasks.lighteval_task": ["LightevalTaskConfig"],
        "lighteval.tasks.requests": ["Doc", "SamplingMethod"],
    }
    for name, classes in names.items():
        stand_in = ModuleType(name)
        for each in classes:
            setattr(stand_in, each, object if each == "SampleLevelComputation" else SimpleNamespace)
        monkeypatch.setitem(sys.modules, name, stand_in)
    monkeypatch.setattr(sys.modules["lighteval.tasks.requests"], "SamplingMethod", SimpleNamespace(GENERATIVE=1))


def test_lighteval_by_its_calling_convention(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own classes where it is installed, with torch; else stand-ins."""
    if not importlib.util.find_spec("lighteval"):
        _stand_in_for_lighteval(monkeypatch)
    example = module("lighteval")
    (task,) = example.TASKS_TABLE
    (metric,) = task.metrics
    row = {"natural_language": "Put a on b.", "problem_pddl": TOWER, "domain": "blocksworld", "is_placeholder": 0}
    doc = task.prompt_function(row, "planetarium")
    found = [metric.sample_level_fn.compute(doc, SimpleNamespace(final_text=[answer])) for answer in ANSWERS]
    assert {name: metric.corpus_level_fn[name]([each[name] for each in found]) for name in SHARES} == SHARES
