import { describe, expect, it } from "vitest";
import { blocksOf, partsOf } from "./markdown";

describe("a runbook", () => {
  it("is titles, texts and lists", () => {
    expect(blocksOf("# One\n\nA text\nof two lines.\n\n- first\n  goes on\n- second\n")).toEqual([
      { kind: "title", parts: [{ kind: "text", text: "One" }] },
      {
        kind: "text",
        parts: [
          { kind: "text", text: "A text" },
          { kind: "text", text: " of two lines." },
        ],
      },
      {
        kind: "list",
        items: [
          [
            { kind: "text", text: "first" },
            { kind: "text", text: " goes on" },
          ],
          [{ kind: "text", text: "second" }],
        ],
      },
    ]);
    expect(blocksOf("```\nforager up\n```")).toEqual([{ kind: "code", text: "forager up" }]);
  });
  it("has code, and links that are only their words", () => {
    expect(partsOf("see `forager why` and [this](javascript:x)")).toEqual([
      { kind: "text", text: "see " },
      { kind: "code", text: "forager why" },
      { kind: "text", text: " and " },
      { kind: "text", text: "this" },
    ]);
  });
});
