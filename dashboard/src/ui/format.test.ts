import { describe, expect, it } from "vitest";
import { age, bytes, duration, money, percent, rate, safeHref, short, words } from "./format";

describe("numbers", () => {
  it("are exact while they are short", () => {
    expect([short(0), short(1204), short(99_999), short(1_234_567), short(null)]).toEqual([
      "0",
      "1,204",
      "99,999",
      "1.2M",
      "–",
    ]);
    expect([rate(0.04), rate(12.34), rate(848.2)]).toEqual(["0.0", "12.3", "848"]);
    expect([percent(1), percent(0.954), percent(0.012), percent(0), percent(null)]).toEqual([
      "100 %",
      "95 %",
      "1.2 %",
      "0 %",
      "–",
    ]);
  });
  it("have units of a size that fits", () => {
    expect([bytes(0), bytes(999), bytes(1000), bytes(41_400_000), bytes(1.23e9)]).toEqual([
      "0 B",
      "999 B",
      "1.0 KB",
      "41 MB",
      "1.2 GB",
    ]);
  });
});

describe("times", () => {
  it("are told in two units at most", () => {
    expect([
      duration(0.0004),
      duration(0.35),
      duration(3.14),
      duration(59),
      duration(61),
      duration(3_725),
      duration(200_000),
    ]).toEqual(["0 s", "350 ms", "3.1 s", "59 s", "1 min 1 s", "1 h 2 min", "2 d 7 h"]);
  });
  it("lie before or after now", () => {
    const now = Date.UTC(2026, 0, 1);
    expect(age(new Date(now - 180_000), now)).toBe("3 min ago");
    expect(age(new Date(now + 7_200_000), now)).toBe("in 2 h");
    expect([age(new Date(now), now), age(null, now)]).toEqual(["now", "never"]);
  });
});

describe("what came from the web", () => {
  it("is a link only where a browser may follow it", () => {
    expect(safeHref("https://a.example/")).toBe("https://a.example/");
    expect([
      safeHref("javascript:alert(1)"),
      safeHref("data:text/html,x"),
      safeHref(" java\nscript:x"),
      safeHref(null),
    ]).toEqual([undefined, undefined, undefined, undefined]);
  });
  it("may have no currency, or one nobody knows", () => {
    expect(money("12.5", null)).toBe("12.50");
    expect(money(12.5, "nonsense")).toBe("12.50 nonsense");
    expect(money(null, "EUR")).toBe("–");
    expect(words("blocked_robots")).toBe("blocked robots");
  });
});
