import { expect, it } from "vitest";
import { inParts, inTurn, sayTurns } from "./turns";

it("goes on after a failure, tells how far it is, and sums up", async () => {
  const seen: number[] = [];
  const turns = await inTurn(
    ["a", "b", "c"],
    (name) => (name === "b" ? Promise.reject(new Error("It is held.")) : Promise.resolve()),
    (done) => seen.push(done),
  );
  expect(seen).toEqual([0, 1, 2]);
  expect(turns.done).toEqual(["a", "c"]);
  expect(sayTurns(turns, "paused", "domain")).toBe("2 domains paused; 1 failed: b: It is held.");
  expect(sayTurns({ done: ["a", "b"], failed: [] }, "enabled", "proxy", "proxies")).toBe("2 proxies enabled.");
});

it("sends many in parts, and a part that failed stops no other", async () => {
  const sent: string[][] = [];
  const send = async (part: string[]) => {
    sent.push(part);
    if (part.includes("c")) throw new Error("The database is away.");
    return part.map((name) => ({ name, is_done: name !== "b", message: "It is held." }));
  };
  const turns = await inParts(["a", "b", "c", "d", "e"], 2, send, () => {});
  expect(sent).toEqual([["a", "b"], ["c", "d"], ["e"]]);
  expect(turns.done).toEqual(["a", "e"]);
  expect(turns.failed).toEqual([
    { name: "b", why: "It is held." },
    { name: "c", why: "The database is away." },
    { name: "d", why: "The database is away." },
  ]);
});
