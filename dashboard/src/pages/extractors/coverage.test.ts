import { describe, expect, it } from "vitest";
import { coverageLines } from "./coverage";

const row = (day: string, field: string, found: number, valid: number, missing: number) => ({
  ...{ domain: "a.example", extractor: "x", failed: 0, last_error: null, rate: null },
  ...{ day, field, found, valid, missing },
});

describe("coverage of fields", () => {
  it("is one line for each field, over all domains and days", () => {
    const told = coverageLines([
      row("2026-01-02", "price", 4, 3, 1),
      row("2026-01-01", "price", 8, 8, 0),
      row("2026-01-01", "price", 2, 2, 0),
      row("2026-01-01", "", 10, 10, 0),
    ]);
    expect(told.at).toHaveLength(2);
    expect(told.lines.map((line) => [line.name, line.values])).toEqual([
      ["whole records", [1, null]],
      ["price", [1, 0.6]],
    ]);
    expect(told.fields.at(-1)).toMatchObject({ name: "price", found: 14, valid: 13, missing: 1 });
  });
});
