/** Verbs for many tasks: first how many they would touch, then the question, then the deed. */
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useAct } from "../../ui/act";
import { Button } from "../../ui/basic";
import { useConfirm, useToast } from "../../ui/dialog";
import { number } from "../../ui/format";
import { failedOrder, isClosed, type TaskQuery, type TaskRow, tasksOf, type Verb } from "./filters";
import { PriorityDialog } from "./priority";

type Many = Schemas["BulkResult"];
const MOST = 10_000;
const PAGE = 1_000;
/** Restarts go one by one, so there are fewer of them in one go. */
const MOST_RESTARTS = 500;
const AT_ONCE = 4;

const DONE = { pause: "Paused", resume: "Resumed", cancel: "Cancelled", priority: "Gave another priority to" };

interface BulkProps {
  query: TaskQuery;
  rows: TaskRow[];
  selected: Set<string | number>;
  isAll: boolean;
  setIsAll: (isAll: boolean) => void;
  hasMore: boolean;
  clear: () => void;
}

async function everyMatch(query: TaskQuery): Promise<{ tasks: TaskRow[]; isMore: boolean }> {
  const tasks: TaskRow[] = [];
  let after: string | undefined;
  do {
    const page = await ask(api.GET("/api/tasks", { params: { query: { ...query, limit: PAGE, after } } }));
    tasks.push(...page.items);
    after = page.next ?? undefined;
  } while (after && tasks.length < MOST);
  return { tasks: tasks.slice(0, MOST), isMore: Boolean(after) };
}

const order = (
  verb: Exclude<Verb, "restart">,
  task_ids: number[],
  options: { dry_run: boolean; priority: number; reason?: string },
): Promise<Many> => {
  const { priority, ...rest } = options;
  const body = { task_ids, ...rest, limit: MOST };
  if (verb === "pause") return ask(api.POST("/api/admin/tasks/pause", { body }));
  if (verb === "resume") return ask(api.POST("/api/admin/tasks/resume", { body }));
  if (verb === "cancel") return ask(api.POST("/api/admin/tasks/cancel", { body }));
  return ask(api.POST("/api/admin/tasks/priority", { body: { ...body, priority } }));
};

/** One after the other, a few at a time; what the server refuses is counted, not hidden. */
async function restartEach(tasks: TaskRow[], reason: string): Promise<{ made: number; refused: number }> {
  const rest = [...tasks];
  let made = 0;
  let refused = 0;
  const worker = async () => {
    for (let task = rest.pop(); task; task = rest.pop()) {
      try {
        const state = await ask(
          api.POST("/api/admin/tasks/{task}/restart", {
            params: { path: { task: task.id } },
            body: { reset_retry_count: true, force: false, reason: reason || null },
          }),
        );
        if (state.was_changed) made += 1;
      } catch {
        refused += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { made, refused };
}

export function Bulk({ query, rows, selected, isAll, setIsAll, hasMore, clear }: BulkProps) {
  const confirm = useConfirm();
  const toast = useToast();
  const { act, isBusy } = useAct();
  const [isCounting, setIsCounting] = useState(false);
  const [asksPriority, setAsksPriority] = useState(false);
  const isWhole = rows.length > 0 && rows.every((row) => selected.has(row.id));

  const choose = async () =>
    isAll ? everyMatch(query) : { tasks: rows.filter((row) => selected.has(row.id)), isMore: false };

  const run = async (verb: Verb, priority = 5) => {
    setIsCounting(true);
    try {
      await (verb === "restart" ? restart() : change(verb, priority));
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), "bad");
    } finally {
      setIsCounting(false);
    }
  };

  const change = async (verb: Exclude<Verb, "restart">, priority: number) => {
    const { tasks, isMore } = await choose();
    const ids = tasks.map((task) => task.id);
    const wouldBe = ids.length ? await order(verb, ids, { dry_run: true, priority }) : null;
    const count = wouldBe?.count ?? 0;
    const name = verb === "priority" ? `Set priority ${priority} of` : verb[0]?.toUpperCase() + verb.slice(1);
    if (!count) return toast(`None of these ${tasksOf(ids.length)} is in a state in which that can be done.`, "bad");
    const rest = ids.length - count;
    const yes = await confirm({
      title: `${name} ${tasksOf(count)}?`,
      text: (
        <>
          {name} {tasksOf(count)} of {number(ids.length)} chosen.
          {rest > 0 && ` ${number(rest)} are left as they are: their state does not allow it.`}
          {isMore && ` Only the newest ${number(MOST)} are taken in one go; do it again for the rest.`}
          {verb === "cancel" && " A cancelled task is closed for good; its page can be visited again by a new one."}
        </>
      ),
      verb: `${name} ${tasksOf(count)}`,
      isDangerous: verb === "cancel",
      reason: "Why (kept in the history)",
    });
    if (!yes) return;
    const done = await act(
      () => order(verb, ids, { dry_run: false, priority, reason: yes.reason || undefined }),
      (many) => `${DONE[verb]} ${tasksOf(many.count)}.`,
      "tasks",
      "task-numbers",
    );
    if (done) clear();
  };

  const restart = async () => {
    const failed = isAll ? failedOrder(query) : null;
    if (failed) return restartFailed(failed);
    const { tasks, isMore } = await choose();
    const closed = tasks.filter(isClosed).slice(0, MOST_RESTARTS);
    if (!closed.length) return toast("Only closed tasks can be restarted here, and none of these is closed.", "bad");
    const rest = tasks.length - closed.length;
    const yes = await confirm({
      title: `Restart ${tasksOf(closed.length)}?`,
      text: (
        <>
          The pages of {tasksOf(closed.length)} are visited again, by new tasks. A page that has an open task keeps it.
          {rest > 0 && ` ${number(rest)} are left: they are open, or more than ${number(MOST_RESTARTS)} at once.`}
          {isMore && ` There are more than ${number(MOST)} that match.`}
        </>
      ),
      verb: `Restart ${tasksOf(closed.length)}`,
      reason: "Why (kept in the history)",
    });
    if (!yes) return;
    const done = await act(
      () => restartEach(closed, yes.reason),
      ({ made, refused }) =>
        `${tasksOf(made)} made; ${number(closed.length - made - refused)} had an open one${refused ? `, ${number(refused)} were refused` : ""}.`,
      "tasks",
      "task-numbers",
    );
    if (done) clear();
  };

  const restartFailed = async (which: { domain?: string; error_code?: string }) => {
    const wouldBe = await ask(
      api.POST("/api/admin/tasks/restart-failed", { body: { ...which, limit: MOST, dry_run: true } }),
    );
    if (!wouldBe.count) return toast("Every page of these was visited again since.", "bad");
    const yes = await confirm({
      title: `Restart ${tasksOf(wouldBe.count)}?`,
      text: `${number(wouldBe.count)} pages, whose last visit failed, are visited again by new tasks.${wouldBe.is_all ? "" : " There are more; do it again for the rest."}`,
      verb: `Restart ${tasksOf(wouldBe.count)}`,
      reason: "Why (kept in the history)",
    });
    if (!yes) return;
    const done = await act(
      () =>
        ask(
          api.POST("/api/admin/tasks/restart-failed", {
            body: { ...which, limit: MOST, dry_run: false, reason: yes.reason || null },
          }),
        ),
      (many) => `${tasksOf(many.count)} made.`,
      "tasks",
      "task-numbers",
    );
    if (done) clear();
  };

  return (
    <div
      role="group"
      aria-label="Verbs for the selected tasks"
      className="flex flex-wrap items-center gap-2 border-b border-line bg-info-ground px-3 py-2"
    >
      <span className="mr-1 font-medium" role="status">
        {isAll ? "All that match" : tasksOf(selected.size)} selected
      </span>
      {!isAll && isWhole && hasMore && (
        <Button kind="quiet" onClick={() => setIsAll(true)}>
          Select all that match
        </Button>
      )}
      <span className="flex flex-wrap gap-1.5">
        <Button onClick={() => void run("pause")} disabled={isCounting || isBusy}>
          Pause
        </Button>
        <Button onClick={() => void run("resume")} disabled={isCounting || isBusy}>
          Resume
        </Button>
        <Button onClick={() => void run("restart")} disabled={isCounting || isBusy}>
          Restart
        </Button>
        <Button onClick={() => setAsksPriority(true)} disabled={isCounting || isBusy}>
          Priority
        </Button>
        <Button onClick={() => void run("cancel")} disabled={isCounting || isBusy}>
          Cancel tasks
        </Button>
      </span>
      <Button kind="quiet" className="ml-auto" onClick={clear}>
        Select none
      </Button>
      {asksPriority && (
        <PriorityDialog
          onClose={() => setAsksPriority(false)}
          onChoose={(priority) => {
            setAsksPriority(false);
            void run("priority", priority);
          }}
        />
      )}
    </div>
  );
}
