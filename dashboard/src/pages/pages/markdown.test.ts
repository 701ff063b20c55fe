import { describe, expect, it } from "vitest";
import { readInline, readMarkdown } from "./markdown";

const kinds = (text: string) => readMarkdown(text).map((block) => block.kind);

describe("blocks", () => {
  it("are told apart", () => {
    const text =
      "# A\n\na\\\nb\n\n---\n\n> c\n>\n> d\n\n- e\n  - f\n\n  g\n- h\n\n* i\n\n| j | k |\n| --- | --- |\n| l\\|m |  |\n\n```py\n# n\n```";
    expect(kinds(text)).toEqual(["heading", "paragraph", "rule", "quote", "list", "list", "table", "code"]);
  });
  it("of lists hold others", () => {
    expect(readMarkdown("3. a\n   - b\n\n   c\n4. d")).toMatchObject([
      { kind: "list", start: 3, items: [[{ kind: "paragraph" }, { kind: "list" }, { kind: "paragraph" }], [{}]] },
    ]);
  });
});

describe("marks", () => {
  it("are read, and text stays text", () => {
    expect(readInline("a \\*b\\* **c *d*** ~~e~~ `f*` [g \\[h\\]](https://i.example/(j)) ![k](l.png)")).toMatchObject([
      { kind: "text", text: "a *b* " },
      { kind: "strong" },
      { kind: "text" },
      { kind: "del" },
      { kind: "text" },
      { kind: "code", text: "f*" },
      { kind: "text" },
      { kind: "link", url: "https://i.example/(j)", inside: [{ text: "g [h]" }] },
      { kind: "text" },
      { kind: "image", alt: "k", url: "l.png" },
    ]);
  });
  it("that are not closed are text", () => {
    expect(readInline("*a [b](c **d `e")).toEqual([
      { kind: "text", text: "*a [b](c **d " },
      { kind: "text", text: "`" },
      { kind: "text", text: "e" },
    ]);
  });
  it("of an image in a link", () => {
    expect(readInline("[![a](b)](c)")).toEqual([
      { kind: "link", url: "c", inside: [{ kind: "image", alt: "a", url: "b" }] },
    ]);
  });
});
