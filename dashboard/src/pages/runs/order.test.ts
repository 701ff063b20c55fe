import { describe, expect, it } from "vitest";
import { linesOf, orderOf, outcomesOf, progressOf } from "./order";

describe("the order of a run", () => {
  it("is named by its seeds", () => {
    expect(orderOf({ seeds: [], seeds_digest: "standing" })).toMatchObject({
      title: "Everything that is due",
      isStanding: true,
    });
    expect(orderOf({ seeds: ["https://a.example/"], seeds_total: 1 }).title).toBe("https://a.example/");
    expect(orderOf({ seeds: ["https://a.example/"], seeds_total: 1200 }).title).toBe(
      "https://a.example/ and 1,199 more",
    );
    expect(orderOf({})).toMatchObject({ title: "No seeds of its own", maxPages: null, scope: "–" });
  });
  it("is read from lines, and an anchor is no comment", () => {
    expect(linesOf("https://a.example/#top\n\n# all of it\n b.example # later")).toEqual([
      "https://a.example/#top",
      "b.example",
    ]);
  });
});

describe("progress", () => {
  it("is of the limit, or of what is known", () => {
    expect(progressOf({ pages_done: 50, frontier: 150, status: "running" }, null)).toEqual({ share: 0.25, of: 200 });
    expect(progressOf({ pages_done: 50, frontier: 150, status: "running" }, 100)).toEqual({ share: 0.5, of: 100 });
    expect(progressOf({ pages_done: 0, frontier: 0, status: "running" }, null).share).toBe(0);
    expect(progressOf({ pages_done: 0, frontier: 0, status: "finished" }, null).share).toBe(1);
  });
  it("knows how long a visit took, where there was one", () => {
    expect(
      outcomesOf([
        { outcome: "success", reason: "200", pages: 10, wire_bytes: 5, time_ms: 1000 },
        { outcome: "failed", pages: 0, time_ms: 0 },
      ]).map((row) => row.averageS),
    ).toEqual([0.1, null]);
  });
});
