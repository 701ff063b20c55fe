import { describe, expect, it } from "vitest";
import { failedOrder, toQuery, verbsOf } from "./filters";

describe("the address of the tasks page", () => {
  it("says what the API is asked, and nonsense is left out", () => {
    expect(toQuery({ domain: "a.example", status: "paused", run: "3", is_open: "true" })).toEqual({
      domain: "a.example",
      status: "paused",
      run: 3,
      is_open: true,
    });
    expect(toQuery({ status: "lost", outcome: "maybe", run: "-1", is_open: "perhaps", other: "x" })).toEqual({});
  });
  it("is an order for failed pages only where that means the same", () => {
    expect(failedOrder({ status: "failed", domain: "a.example" })).toEqual({ domain: "a.example" });
    expect(failedOrder({ status: "failed", is_open: false, error_code: "timeout" })).toEqual({ error_code: "timeout" });
    expect(failedOrder({ status: "failed", run: 2 })).toBeNull();
    expect(failedOrder({ outcome: "timeout" })).toBeNull();
    expect(failedOrder({})).toBeNull();
  });
});

describe("verbs of a task", () => {
  it("follow from its state", () => {
    expect(verbsOf({ status: "pending" })).toContain("pause");
    expect(verbsOf({ status: "paused" })).toEqual(["resume", "cancel", "priority"]);
    expect(verbsOf({ status: "paused", is_waiting: true })).not.toContain("resume");
    expect(verbsOf({ status: "failed", outcome: "timeout" })).toEqual(["restart"]);
  });
});
