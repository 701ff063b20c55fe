import { expect, it } from "vitest";
import { detailsOf, whoOf } from "./words";

it("tells who changed what in words", () => {
  expect(whoOf("api:alice")).toEqual({ name: "alice", way: "" });
  expect(whoOf("cli:root")).toEqual({ name: "root", way: "command line" });
  expect(whoOf("forager up")).toEqual({ name: "forager up", way: "" });
  expect(
    detailsOf({ seeds: 1200, first: ["http://a.example/", "http://b.example/"], reason: null, dry_run: false }),
  ).toBe("seeds 1,200 · first http://a.example/ and 1 more · dry run no");
  expect(detailsOf({ changes: { crawl_delay_s: 2, rendering: null } })).toBe(
    "changes crawl delay s 2, rendering default",
  );
  expect([detailsOf(null), detailsOf({ tasks: [] })]).toEqual(["", "tasks none"]);
});
