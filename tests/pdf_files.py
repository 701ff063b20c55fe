"""Writes small PDF files for tests: pages of text, metadata, links, an outline, a password."""

from collections.abc import Mapping, Sequence


def a_pdf(
    pages: Sequence[str] = ("Hello world",),
    *,
    info: Mapping[str, str] | None = None,
    links: Sequence[str] = (),
    language: str = "",
    outline: Sequence[str] = (),
    is_encrypted: bool = False,
    title_size: int = 0,
) -> bytes:
    """Returns a PDF. `links` are laid over its first page; with `title_size` the first line of each page is larger."""
    objects: list[bytes] = []

    def add(content: str | bytes) -> int:
        objects.append(content.encode("latin-1") if isinstance(content, str) else content)
        return len(objects)

    catalog, tree = add(""), add("")
    font = add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
    kids = []
    for number, text in enumerate(pages):
        notes = ""
        if not number and links:
            made = [
                add(f"<</Type/Annot/Subtype/Link/Rect[70 {700 - 20 * at} 300 {715 - 20 * at}]/A<</S/URI/URI({url})>>>>")
                for at, url in enumerate(links)
            ]
            notes = f"/Annots[{' '.join(f'{each} 0 R' for each in made)}]"
        stream = _draw(text, title_size)
        content = add(b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream))
        kids.append(
            add(
                f"<</Type/Page/Parent {tree} 0 R/MediaBox[0 0 595 842]/Contents {content} 0 R{notes}"
                f"/Resources<</Font<</F1 {font} 0 R>>>>>>"
            )
        )
    root = f"<</Type/Catalog/Pages {tree} 0 R"
    if language:
        root += f"/Lang({language})"
    if outline:
        root += f"/Outlines {_add_outline(add, objects, outline)} 0 R"
    objects[catalog - 1] = (root + ">>").encode("latin-1")
    objects[tree - 1] = f"<</Type/Pages/Kids[{' '.join(f'{kid} 0 R' for kid in kids)}]/Count {len(kids)}>>".encode()
    trailer = f"/Root {catalog} 0 R/Size {len(objects) + 3}"
    if info:
        trailer += f"/Info {add('<<' + ''.join(f'/{key}({value})' for key, value in info.items()) + '>>')} 0 R"
    if is_encrypted:
        wrong = "0" * 64
        trailer += f"/Encrypt {add(f'<</Filter/Standard/V 1/R 2/P -4/O<{wrong}>/U<{wrong}>>>')} 0 R/ID[<00><00>]"
    return _write(objects, trailer)


def _draw(text: str, title_size: int) -> bytes:
    lines = text.split("\n")
    out = ["BT /F1 11 Tf 72 705 Td 20 TL"]
    for at, line in enumerate(lines):
        escaped = line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        size = title_size if title_size and not at else 11
        out.append(f"/F1 {size} Tf ({escaped}) Tj T*")
    return ("\n".join([*out, "ET"]) if text else "").encode("cp1252", "replace")


def _add_outline(add, objects: list[bytes], titles: Sequence[str]) -> int:  # type: ignore[no-untyped-def]
    top = add("")
    items = [add("") for _ in titles]
    for at, (item, title) in enumerate(zip(items, titles, strict=True)):
        following = f"/Next {items[at + 1]} 0 R" if at + 1 < len(items) else ""
        objects[item - 1] = f"<</Title({title})/Parent {top} 0 R{following}>>".encode("latin-1")
    objects[top - 1] = f"<</First {items[0]} 0 R/Last {items[-1]} 0 R/Count {len(items)}>>".encode()
    return int(top)


def _write(objects: Sequence[bytes], trailer: str) -> bytes:
    out, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for place in places:
        out += b"%010d 00000 n \n" % place
    out += f"trailer<<{trailer}>>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)
