import { expect, it } from "vitest";
import { inTurn, sayTurns } from "./turns";

it("goes on after a failure, tells how far it is, and sums up", async () => {
  const seen: number[] = [];
  const turns = await inTurn(["a", "b", "c"], (name) => (name === "b" ? Promise.reject(new Error("It is held.")) : Promise.resolve()), (done) => seen.push(done));
  expect(seen).toEqual([0, 1, 2]);
  expect(turns.done).toEqual(["a", "c"]);
  expect(sayTurns(turns, "paused", "domain")).toBe("2 domains paused; 1 failed: b: It is held.");
  expect(sayTurns({ done: ["a", "b"], failed: [] }, "enabled", "proxy", "proxies")).toBe("2 proxies enabled.");
});
