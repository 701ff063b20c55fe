import { expect, it } from "vitest";
import { groupItems, hintOf, nameOf, partsOf, unwrap } from "./items";

const item = (types: string[], properties: Record<string, unknown> = {}) => ({
  syntax: "json-ld" as const,
  types,
  properties,
});

it("groups items by their type, in the order of the page", () => {
  const groups = groupItems([item(["Recipe"]), item(["Person"]), item(["Recipe"]), item([]), item(["Product", "Car"])]);
  expect(groups.map((group) => [group.type, group.items.length])).toEqual([
    ["Recipe", 2],
    ["Person", 1],
    ["without a type", 1],
    ["Product, Car", 1],
  ]);
});

it("names an item by what tells it from others", () => {
  expect(nameOf(item(["Recipe"], { name: "Soup" }))).toBe("Soup");
  expect(nameOf(item(["Recipe"], { name: ["Soup", "Broth"] }))).toBe("Soup");
  expect(nameOf(item(["Thing"], { name: { "@value": "x" }, url: "http://a.example/" }))).toBe("http://a.example/");
  expect(nameOf(item(["website"], { "og:title": " A title " }))).toBe("A title");
  expect(nameOf(item(["Thing"], { name: 7 }))).toBe("");
});

it("takes values apart, and leaves plain ones", () => {
  expect(partsOf({ a: 1, b: [2] })).toEqual([
    ["a", 1],
    ["b", [2]],
  ]);
  expect(partsOf(["x", "y"])).toEqual([
    ["1", "x"],
    ["2", "y"],
  ]);
  expect([partsOf("x"), partsOf(3), partsOf(null), partsOf(undefined), partsOf(false)]).toEqual([
    null,
    null,
    null,
    null,
    null,
  ]);
  expect(unwrap([["only"]])).toBe("only");
  expect(unwrap([])).toEqual([]);
});

it("says what a closed branch is", () => {
  expect(hintOf({ "@type": "Offer", price: 1 })).toBe("Offer");
  expect(hintOf({ "@type": ["Offer", "Demand"] })).toBe("Offer, Demand");
  expect(hintOf({ price: 1 })).toBe("1 value");
  expect(hintOf([1, 2, 3])).toBe("3 values");
});
