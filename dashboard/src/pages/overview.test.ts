import { describe, expect, it } from "vitest";
import { alertTone, sumsOf } from "./overview";

describe("the overview", () => {
  it("adds up what was counted in the period, by label", () => {
    expect(
      sumsOf([
        { label: "200", value: 3 },
        { label: "404", value: 1 },
        { label: "200", value: 2 },
        { label: "500", value: null },
      ]),
    ).toEqual({ 200: 5, 404: 1 });
  });
  it("paints an acknowledged alert calmly, and a warning unlike a critical one", () => {
    const tones = [
      { severity: "critical" },
      { severity: "warning" },
      { severity: "critical", acknowledged_at: "2026-01-01T00:00:00Z" },
    ].map(alertTone);
    expect(new Set(tones).size).toBe(3);
    expect(tones[2]).not.toContain("bad");
  });
});
