import { expect, it } from "vitest";
import { whatMoved } from "./moves";

it("a row of history is a move, the switch, or another order", () => {
  const rest = { from_status: "active", to_status: "active" } as const;
  expect(whatMoved({ from_status: "pending", to_status: "active", is_active: true }, undefined)).toBe("state");
  expect(whatMoved({ ...rest, is_active: false }, { is_active: true })).toBe("paused");
  expect(whatMoved({ ...rest, is_active: true }, { is_active: false })).toBe("resumed");
  expect([
    whatMoved({ ...rest, is_active: false }, { is_active: false }),
    whatMoved({ ...rest, is_active: true }, undefined),
  ]).toEqual(["changed", "changed"]);
});
