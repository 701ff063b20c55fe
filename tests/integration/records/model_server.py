"""A server that speaks the protocol of OpenAI's chat completions, and answers as a test wrote; what it was sent."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOST = "127.0.0.11"
PAGE = re.compile(r"<page-(\w{16})>\n(.*)\n</page-\1>", re.DOTALL)
Say = Callable[[str], Any]
"""The text of a page → records; or bytes: the whole body; or (status, headers, body)."""


class ModelServer:
    def __init__(self, say: Say) -> None:
        self.say = say
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        ours = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                ours.asked.append(request | {"path": self.path})
                ours.headers.append({name.lower(): value for name, value in self.headers.items()})
                found = PAGE.fullmatch(request["messages"][1]["content"])
                assert found is not None
                said = ours.say(found[2])
                status, headers, body = said if isinstance(said, tuple) else (200, {}, said)
                content = body if isinstance(body, bytes) else completion(body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer((HOST, 0), Handler)
        self.url = f"http://{HOST}:{self.server.server_port}/v1"

    @property
    def texts(self) -> list[str]:
        """What was sent, page by page."""
        return [PAGE.fullmatch(each["messages"][1]["content"])[2] for each in self.asked]  # type: ignore[index]


def completion(records: Any) -> bytes:
    content = records if isinstance(records, str) else json.dumps({"records": records})
    reply = {
        "choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 30},
    }
    return json.dumps(reply).encode()


@contextmanager
def serve_model(say: Say) -> Iterator[ModelServer]:
    model = ModelServer(say)
    thread = threading.Thread(target=model.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield model
    finally:
        model.server.shutdown()
        thread.join()
        model.server.server_close()
