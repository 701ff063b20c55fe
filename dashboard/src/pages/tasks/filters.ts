/** Which tasks are looked at: what the address says, what the API is asked, what a bulk verb is for. Pure. */
import type { Schemas } from "../../api/client";
import type { Filters } from "../../router";

export type TaskRow = Schemas["TaskRow"];
export type Status = TaskRow["status"];
export type Outcome = NonNullable<TaskRow["outcome"]>;

export const OPEN_STATES = ["pending", "crawling", "paused"] as const satisfies readonly Status[];
export const OUTCOMES = [
  "success",
  "failed",
  "timeout",
  "blocked_robots",
  "blocked_4xx",
  "blocked_5xx",
  "cancelled",
] as const satisfies readonly Outcome[];

export interface TaskQuery {
  domain?: string;
  status?: Status;
  outcome?: Outcome;
  error_code?: string;
  run?: number;
  is_open?: boolean;
}

const ALL_STATES: readonly string[] = [...OPEN_STATES, "completed", "failed", "cancelled"];

/** Words of the address that mean nothing are left out, so that an old link still opens. */
export function toQuery(filters: Filters): TaskQuery {
  const query: TaskQuery = {};
  if (filters.domain) query.domain = filters.domain;
  if (filters.status && ALL_STATES.includes(filters.status)) query.status = filters.status as Status;
  if (filters.outcome && (OUTCOMES as readonly string[]).includes(filters.outcome))
    query.outcome = filters.outcome as Outcome;
  if (filters.error_code) query.error_code = filters.error_code.slice(0, 60);
  const run = Number(filters.run);
  if (Number.isSafeInteger(run) && run > 0) query.run = run;
  if (filters.is_open === "true" || filters.is_open === "false") query.is_open = filters.is_open === "true";
  return query;
}

/** Whether the API's own order for failed pages means exactly what is shown; null: task by task. */
export function failedOrder(query: TaskQuery): { domain?: string; error_code?: string } | null {
  const { domain, error_code, status, ...rest } = query;
  if (status !== "failed" || Object.values(rest).some((value) => value !== undefined && value !== false)) return null;
  return { ...(domain ? { domain } : {}), ...(error_code ? { error_code } : {}) };
}

export type Verb = "pause" | "resume" | "cancel" | "restart" | "priority";

export const isClosed = (task: { outcome?: unknown }) => task.outcome != null;

/** Verbs one task takes in its state; a closed one never changes, it can only be followed by another. */
export function verbsOf(task: { status: Status; outcome?: Outcome | null; is_waiting?: boolean }): Verb[] {
  if (isClosed(task)) return ["restart"];
  if (task.status === "paused")
    return task.is_waiting ? ["pause", "cancel", "priority"] : ["resume", "cancel", "priority"];
  return ["pause", "cancel", "priority", "restart"];
}

export const tasksOf = (count: number) => `${count.toLocaleString("en")} ${count === 1 ? "task" : "tasks"}`;
