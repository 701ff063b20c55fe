"""A site of a few answers that a test wrote, and what it was asked for."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answers = Mapping[str, tuple[int, list[tuple[str, str]], bytes]]
"""Path → status code, headers, body; robots.txt is empty and the rest is not found, where not said."""
HOST = "127.0.0.9"


class StaticSite:
    def __init__(self, answers: Answers) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                status_code, headers, body = answers.get(
                    self.path, (200 if self.path == "/robots.txt" else 404, [], b"")
                )
                self.send_response(status_code)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer((HOST, 0), Handler)
        self.url = f"http://{HOST}:{self.server.server_port}"


@contextmanager
def serve_answers(answers: Answers) -> Iterator[StaticSite]:
    site = StaticSite(answers)
    thread = threading.Thread(target=site.server.serve_forever)
    thread.start()
    try:
        yield site
    finally:
        site.server.shutdown()
        site.server.server_close()
        thread.join()
