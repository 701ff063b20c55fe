import { describe, expect, it } from "vitest";
import { lifeOf, type Task } from "./life";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const task = (given: Partial<Task>) =>
  ({
    created_at: at(0),
    scheduled_for: at(0),
    created_by: "system",
    priority: 5,
    retry_count: 0,
    recrawl_count: 0,
    orders: [],
    history: [],
    redirects: [],
    ...given,
  }) as unknown as Task;
const titles = (given: Partial<Task>, now = Date.UTC(2026, 0, 2)) => lifeOf(task(given), now).map((step) => step.title);

describe("the life of a task", () => {
  it("is told in the order it happened", () => {
    const life = titles({
      requested_at: at(10),
      response_time_ms: 500,
      status_code: 200,
      bytes: 700,
      completed_at: at(11),
      outcome: "success",
      orders: [
        { verb: "pause", ordered_at: at(5), ordered_by: "alice", from_status: "pending", to_status: "paused" },
      ] as Task["orders"],
    });
    expect(life).toEqual([
      "Ordered by Forager itself",
      "Pause by alice",
      "Requested",
      "Answered 200",
      "Ended: success",
    ]);
  });
  it("has no request where robots.txt forbade it", () => {
    const life = lifeOf(
      task({
        completed_at: at(3),
        outcome: "blocked_robots",
        error_code: "robots_denied",
        error_message: "line 2 says so",
        blame: "nobody",
      }),
      Date.UTC(2026, 0, 2),
    );
    expect(life.map((step) => step.title)).toEqual(["Ordered by Forager itself", "Due", "Ended: blocked robots"]);
    expect(life.at(-1)?.facts).toContain("no request was made");
  });
  it("tells redirects to and from its page", () => {
    const redirects = [
      { is_onward: true, page_id: 2, url: "http://a.example/new" },
      { is_onward: false, page_id: 1, url: "http://a.example/older" },
    ];
    const life = lifeOf(
      task({
        requested_at: at(1),
        response_time_ms: 5,
        status_code: 301,
        completed_at: at(2),
        outcome: "success",
        redirects,
      }),
      Date.UTC(2026, 0, 2),
    );
    expect(life.map((step) => step.title)).toEqual([
      "Ordered by Forager itself",
      "Requested",
      "Answered 301",
      "Sent on",
      "Ended: success",
    ]);
    expect(life[0]?.pages).toEqual([{ id: 1, text: "redirected from http://a.example/older" }]);
    expect(life[3]?.pages).toEqual([{ id: 2, text: "to http://a.example/new" }]);
  });
  it("may lie ahead", () => {
    const life = lifeOf(task({ scheduled_for: at(50), retry_count: 2 }), Date.UTC(2026, 0, 1));
    expect(life.at(-1)).toMatchObject({ title: "Becomes due", isAhead: true });
  });
});
