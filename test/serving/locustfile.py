# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the users of a load test do. `--iterations N` ends it after N requests."""

import itertools

import gevent
from locust import HttpUser, constant, events, task
from locust.exception import StopUser

started = itertools.count(1)
limit = None


@events.init_command_line_parser.add_listener
def add_option(parser):
    parser.add_argument("--iterations", type=int, default=1000)


@events.init.add_listener
def read_option(environment, **_):
    global limit
    limit = environment.parsed_options.iterations
    gevent.spawn(end, environment.runner)


def end(runner):
    """Ends the test when all users have. No user can: it would wait for itself."""
    while runner.user_count == 0:
        gevent.sleep(0.1)
    while runner.user_count > 0:
        gevent.sleep(0.1)
    gevent.sleep(2)  # Counts go to the file every second, and not at the end.
    runner.quit()


class User(HttpUser):
    wait_time = constant(0)

    def once(self):
        if next(started) > limit:
            raise StopUser()

    @task(4)
    def complete(self):
        self.once()
        self.client.post("/v1/completions", json={"prompt": "Hello", "max_tokens": 8})

    @task(2)
    def chat(self):
        self.once()
        body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 8, "stream": True}
        with self.client.post("/v1/chat/completions", json=body, catch_response=True) as answer:
            if not answer.text.rstrip().endswith("data: [DONE]"):
                answer.failure("the stream has no end")

    @task(1)
    def embed(self):
        self.once()
        self.client.post("/v1/embeddings", json={"model": "encoder", "input": ["a", "b"]})

    @task(1)
    def rerank(self):
        self.once()
        self.client.post("/v1/rerank", json={"model": "encoder", "query": "a", "documents": ["a", "b"]})

    @task(1)
    def respond(self):
        self.once()
        body = {"input": "Hi", "max_output_tokens": 8, "stream": True}
        with self.client.post("/v1/responses", json=body, catch_response=True) as answer:
            if not any(f"event: response.{end}" in answer.text for end in ("completed", "incomplete")):
                answer.failure("the stream has no end")

    @task(1)
    def models(self):
        self.once()
        self.client.get("/v1/models")
