import { describe, expect, it } from "vitest";
import { type Held, pagesAt, renew, rowsOf } from "./pages";

interface Row {
  id: number;
  state?: string;
}
const page = (...ids: number[]) => ({ items: ids.map((id): Row => ({ id })), next: String(ids.at(-1)) });
const held: Held<Row>[] = [
  { after: undefined, page: page(9, 8, 7) },
  { after: "7", page: page(6, 5, 4) },
  { after: "4", page: page(3, 2, 1) },
];
const keyOf = (row: Row) => row.id;
const ids = (of: Held<Row>[]) => rowsOf(of, keyOf).map(keyOf);

describe("the pages of a list", () => {
  it("are found by the rows that are seen", () => {
    expect([
      pagesAt(held, 0, 1),
      pagesAt(held, 2, 3),
      pagesAt(held, 7, 8),
      pagesAt(held, 40, 50),
      pagesAt([], 0, 9),
    ]).toEqual([[0], [0, 1], [2], [0], []]);
  });
  it("lose no row when new ones come first", () => {
    expect(ids(renew(held, undefined, page(11, 10, 9), keyOf, true))).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(renew(held, undefined, page(11, 10, 9), keyOf, true)[0]?.page.next).toBe("7");
  });
  it("take what is fresh, and let go what no longer belongs where the order is steady", () => {
    expect(ids(renew(held, "7", page(6, 4, 3), keyOf, false))).toEqual([9, 8, 7, 6, 4, 3, 2, 1]);
    expect(ids(renew(held.slice(0, 1), undefined, page(12, 11, 10), keyOf, true))).toEqual([12, 11, 10]);
  });
  it("leave alone what was not asked for", () => {
    expect(renew(held, "99", page(1), keyOf, true)).toEqual(held);
  });
});
