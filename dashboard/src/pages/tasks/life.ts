/** The life of a task as steps with their evidence, oldest first. Pure. */
import type { Schemas } from "../../api/client";
import type { Tone } from "../../ui/basic";
import { bytes, duration, words } from "../../ui/format";

export type Task = Schemas["Task"];

export interface Step {
  at: string;
  title: string;
  facts: string[];
  tone: Tone;
  /** It has not happened yet. */
  isAhead?: boolean;
  link?: { to: "task" | "run" | "worker"; id: number };
  /** Pages this step leads to, or came from. */
  pages?: { id: number; text: string }[];
}

const NOT_ASKED = new Set(["robots_denied", "robots_unreachable", "address_refused", "called_off"]);
/** Due this much later than ordered: it was put off on purpose. */
const PUT_OFF_MS = 1_000;

const toneOf = (outcome: Task["outcome"]): Tone =>
  outcome === "success" ? "good" : outcome === "cancelled" ? "plain" : outcome === "blocked_robots" ? "warn" : "bad";

export function lifeOf(task: Task, now = Date.now()): Step[] {
  const steps: Step[] = [ordered(task)];
  for (const order of task.orders) {
    const facts = [
      order.from_status && order.from_status !== order.to_status
        ? `${words(order.from_status)} → ${words(order.to_status)}`
        : "",
      order.reason ?? "",
    ];
    steps.push({
      at: order.ordered_at,
      title: `${capital(words(order.verb))} by ${order.ordered_by}`,
      facts: facts.filter(Boolean),
      tone: "info",
    });
  }
  if (Date.parse(task.scheduled_for) - Date.parse(task.created_at) > PUT_OFF_MS || !task.requested_at) {
    const isAhead = Date.parse(task.scheduled_for) > now && task.outcome == null;
    steps.push({
      at: task.scheduled_for,
      title: isAhead ? "Becomes due" : "Due",
      facts: dueFacts(task),
      tone: "plain",
      isAhead,
    });
  }
  if (task.locked_at)
    steps.push({
      at: task.locked_at,
      title: `Taken by worker ${task.locked_by ?? "that is gone"}`,
      facts: [],
      tone: "info",
      link: task.locked_by ? { to: "worker", id: task.locked_by } : undefined,
    });
  if (task.requested_at) {
    const via = task.proxy_id ? `through proxy ${task.proxy_id}` : "asked directly, without a proxy";
    steps.push({ at: task.requested_at, title: "Requested", facts: ["robots.txt allowed it", via], tone: "info" });
  }
  if (task.requested_at && (task.status_code != null || task.response_time_ms != null)) steps.push(answered(task));
  const onward = task.redirects.filter((each) => each.is_onward);
  if (onward.length)
    steps.push({
      at: answered(task).at,
      title: "Sent on",
      facts: ["the other page is visited by a task of its own, and meets the same gates"],
      tone: "info",
      pages: onward.map((each) => ({ id: each.page_id, text: `to ${each.url}` })),
    });
  if (task.completed_at) steps.push(ended(task));
  steps.push(...called(task, now));
  return steps
    .map((step, index) => ({ step, index }))
    .sort((one, other) => Date.parse(one.step.at) - Date.parse(other.step.at) || one.index - other.index)
    .map(({ step }) => step);
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function ordered(task: Task): Step {
  const facts = [`priority ${task.priority}`];
  if (task.retry_count)
    facts.push(`try ${task.retry_count + 1}${task.max_retries != null ? ` of ${task.max_retries + 1}` : ""}`);
  if (task.recrawl_count) facts.push(`revisit ${task.recrawl_count}`);
  if (task.revisit_every_s) facts.push(`again every ${duration(task.revisit_every_s)}`);
  if (task.batch) facts.push(`batch ${task.batch}`);
  return {
    at: task.created_at,
    title: task.created_by === "system" ? "Ordered by Forager itself" : `Ordered by ${task.created_by}`,
    facts,
    tone: "plain",
    pages: task.redirects
      .filter((each) => !each.is_onward)
      .map((each) => ({ id: each.page_id, text: `redirected from ${each.url}` })),
    link: task.parent_task_id
      ? { to: "task", id: task.parent_task_id }
      : task.run_id
        ? { to: "run", id: task.run_id }
        : undefined,
  };
}

function dueFacts(task: Task): string[] {
  if (task.is_waiting && task.depends_on) return [`waits for task ${task.depends_on}`];
  if (task.retry_count) return ["after a pause, because the try before failed"];
  return [];
}

function answered(task: Task): Step {
  const took = task.response_time_ms;
  const at =
    took != null && task.requested_at
      ? new Date(Date.parse(task.requested_at) + took).toISOString()
      : (task.completed_at ?? task.requested_at ?? task.created_at);
  const facts = [
    took != null ? `after ${duration(took / 1000)}` : "",
    task.bytes ? bytes(task.bytes) : "",
    task.is_changed == null ? "" : task.is_changed ? "changed since the last visit" : "unchanged since the last visit",
  ];
  const code = task.status_code;
  return {
    at,
    title: code != null ? `Answered ${code}` : "Answered",
    facts: facts.filter(Boolean),
    tone: code == null ? "info" : code < 300 ? "good" : code < 400 ? "info" : "bad",
  };
}

function ended(task: Task): Step {
  const isRefused = task.error_code != null && NOT_ASKED.has(task.error_code);
  const facts = [
    task.error_message ?? "",
    task.error_code ? `error ${task.error_code}` : "",
    task.blame && task.outcome !== "success" ? blameOf(task.blame) : "",
    isRefused ? "no request was made" : "",
  ];
  if (task.body_ref) facts.push("its body is kept");
  return {
    at: task.completed_at ?? task.created_at,
    title: `Ended: ${words(task.outcome)}`,
    facts: facts.filter(Boolean),
    tone: toneOf(task.outcome),
  };
}

export const blameOf = (blame: string) =>
  blame === "us" ? "our own fault" : blame === "nobody" ? "nobody's fault" : `the ${blame}'s fault`;

function called(task: Task, now: number): Step[] {
  const tries = task.webhook_tries ? [`${task.webhook_tries} tries`] : [];
  if (task.webhook_delivered_at)
    return [{ at: task.webhook_delivered_at, title: "Its webhook was called", facts: tries, tone: "good" }];
  if (task.webhook_died_at)
    return [
      {
        at: task.webhook_died_at,
        title: "Its webhook was given up",
        facts: [...tries, task.webhook_error ?? ""].filter(Boolean),
        tone: "bad",
      },
    ];
  if (task.webhook_next_try_at)
    return [
      {
        at: task.webhook_next_try_at,
        title: "Its webhook is called",
        facts: [...tries, task.webhook_error ?? ""].filter(Boolean),
        tone: "warn",
        isAhead: Date.parse(task.webhook_next_try_at) > now,
      },
    ];
  return [];
}
