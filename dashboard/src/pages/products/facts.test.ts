import { describe, expect, it } from "vitest";
import { moved, readEvidence, readRange, readVariant, steps } from "./facts";

it("reads evidence, the best first, and nothing of another shape", () => {
  expect(
    readEvidence({
      name: [
        ["Lamp", "jsonld $.name", 0.95],
        ["lamp", "css h1", 0.5],
      ],
      odd: "text",
      worse: [1, null],
    }),
  ).toEqual([
    { field: "name", value: "Lamp", where: "jsonld $.name", confidence: 0.95, isTaken: true },
    { field: "name", value: "lamp", where: "css h1", confidence: 0.5, isTaken: false },
  ]);
});

it("reads ranges of prices as filters", () => {
  expect(readRange("0–10 EUR")).toEqual({ min_price: undefined, max_price: "10", currency: "EUR" });
  expect(readRange("1,000–2,500 USD")).toEqual({ min_price: "1000", max_price: "2500", currency: "USD" });
  expect(readRange("10,000 and more EUR")).toEqual({ min_price: "10000", max_price: undefined, currency: "EUR" });
  expect(readRange("cheap")).toBeNull();
});

const price = (seen_at: string, value: number | null, currency = "EUR") => ({
  seen_at,
  price: value,
  currency,
  availability: null,
  is_first: false,
  is_correction: false,
  is_backfill: false,
  old_price: null,
  old_currency: null,
  old_availability: null,
  task_id: null,
});

describe("prices over time", () => {
  it("hold until the next was seen, the last until the end", () => {
    const shown = steps([price("2026-01-01T00:00:00Z", 10), price("2026-01-02T00:00:00Z", 8)], "2026-01-03T00:00:00Z");
    expect(shown.lines).toEqual([{ name: "EUR", values: [10, 10, 8, 8] }]);
    expect(shown.at.every((moment, index) => index === 0 || moment > shown.at[index - 1]!)).toBe(true);
    expect(shown.at.at(-1)).toBe(Date.parse("2026-01-03T00:00:00Z") / 1000);
  });
  it("of two currencies are two lines", () => {
    expect(
      steps([price("2026-01-01T00:00:00Z", 10), price("2026-01-02T00:00:00Z", 11, "USD")], "2026-01-02T00:00:00Z")
        .lines,
    ).toEqual([
      { name: "EUR", values: [10, 10, null] },
      { name: "USD", values: [null, null, 11] },
    ]);
  });
  it("may be none", () => expect(steps([], "2026-01-03T00:00:00Z")).toEqual({ at: [], lines: [] }));
});

it("says how much a price moved only where both are of one currency", () => {
  expect(moved({ old_price: 10, price: 8, old_currency: "EUR", currency: "EUR" })).toBeCloseTo(-0.2);
  expect(moved({ old_price: 10, price: 8, old_currency: "EUR", currency: "USD" })).toBeNull();
  expect(moved({ old_price: 0, price: 8, old_currency: "EUR", currency: "EUR" })).toBeNull();
  expect(moved({ old_price: null, price: 8, old_currency: null, currency: "EUR" })).toBeNull();
});

it("reads variants whatever they are called", () => {
  expect(readVariant({ colour: "red", price: 12, size: null, more: { a: 1 } })).toEqual([
    ["colour", "red"],
    ["price", "12"],
    ["more", '{"a":1}'],
  ]);
  expect(readVariant("large")).toEqual([["variant", "large"]]);
});
