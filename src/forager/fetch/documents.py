"""Recognises PDF files among responses: by their content type, or by their first bytes where the type says nothing."""

from forager.fetch.decode import decode_beginning

PDF_TYPES = frozenset(
    ["application/pdf", "application/x-pdf", "application/acrobat", "applications/vnd.pdf", "text/pdf", "text/x-pdf"]
)
UNSURE_TYPES = frozenset(
    [
        "application/octet-stream", "binary/octet-stream", "application/x-octet-stream", "application/octetstream",
        "application/download", "application/x-download", "application/force-download", "application/x-force-download",
        "application/binary", "application/unknown", "application/save", "unknown/unknown", "*/*",
    ]
)  # fmt: skip
"""Types by which a server says no more than that it sends a file."""
MARK = b"%PDF-"
BEFORE_MARK = b"\xef\xbb\xbf \t\r\n\0"
"""A byte order mark and blanks, which some programs write before the mark."""


def is_pdf(body: bytes) -> bool:
    """Returns whether the bytes begin like a PDF."""
    return body[: PdfSniff.most_bytes].lstrip(BEFORE_MARK).startswith(MARK)


class PdfSniff:
    """Lets a PDF through that is sent as a file of any kind."""

    most_bytes = 1024

    def is_possible(self, content_type: str) -> bool:
        return content_type.partition(";")[0].strip().lower() in UNSURE_TYPES

    def is_wanted(self, head: bytes, content_encoding: str) -> bool | None:
        if content_encoding and not (head := decode_beginning(head, content_encoding, self.most_bytes)):
            return None
        head = head.lstrip(BEFORE_MARK)
        if len(head) < len(MARK) and MARK.startswith(head):
            return None
        return head.startswith(MARK)


PDF_SNIFF = PdfSniff()
