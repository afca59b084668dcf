"""A resources server for NeMo Gym, without its packages: ``python -m pddl_eval.integrations.nemo_gym [PORT]``.

A row of the data has ``responses_create_params`` and what ``pddl_eval.reward`` takes: ``reference``, and where needed
``kind``, ``problem``, ``domain`` and ``is_placeholder``. It listens on this machine alone. Requests have threads of
their own; an answer that takes long delays no other.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pddl_eval
from pddl_eval.integrations import reward_columns


def rows(environment: pddl_eval.Environment) -> Iterator[dict[str, Any]]:
    """Rows of training data without end: the tasks of an environment, as the server verifies them."""
    for episode in environment.stream():
        yield {"responses_create_params": {"input": [*episode.messages]}, **episode.row}


MOST_BYTES = 64 * 2**20


class Resources(BaseHTTPRequestHandler):
    """``/seed_session`` has nothing to do; ``/verify`` answers with the request and its reward.

    ``/aggregate_metrics`` (NeMo Gym 0.4 asks for it after a run) has the mean of the rewards.
    """

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        answered = PATHS.get(self.path)
        if answered is None or length > MOST_BYTES:
            self.send_error(404 if length <= MOST_BYTES else 413)
            return
        try:
            body = answered(json.loads(self.rfile.read(length)))
        except (ValueError, KeyError, TypeError) as error:
            self.send_error(422, "what is asked cannot be verified", str(error))
            return
        answer = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def _verified(body: dict[str, Any]) -> dict[str, Any]:
    messages = [each["content"] for each in body["response"]["output"] if each["type"] == "message"]
    answers = [messages[-1] if messages else None]
    found = pddl_eval.reward(answers, body.get("reference"), **reward_columns(body), workers=2, details=True)[0]
    return body | {"reward": found.reward, "step": found.reached, "failure_reason": found.error}


def _aggregated(body: dict[str, Any]) -> dict[str, Any]:
    rewards = [float(each["reward"]) for each in body["verify_responses"]]
    metrics = {"mean/reward": sum(rewards) / len(rewards)} if rewards else {}
    return {"group_level_metrics": [], "agent_metrics": metrics, "key_metrics": metrics}


PATHS = {"/seed_session": lambda _: {}, "/verify": _verified, "/aggregate_metrics": _aggregated}


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", int((sys.argv[1:] or ["8000"])[0])), Resources) as server:
        server.serve_forever()
