/** Visiting the page of a task again: when, how soon, and with how many tries. */
import { useState } from "react";
import { api, ask } from "../../api/client";
import { useAct } from "../../ui/act";
import { Button, Field } from "../../ui/basic";
import { Dialog } from "../../ui/dialog";
import type { Task } from "./life";
import { PRIORITIES, priorityText } from "./priority";

export function RestartDialog({
  task,
  onClose,
  onDone,
}: {
  task: Task;
  onClose: () => void;
  onDone: (made: number) => void;
}) {
  const isOpen = task.outcome == null;
  const { act, isBusy } = useAct();
  const [when, setWhen] = useState("");
  const [priority, setPriority] = useState("");
  const [resets, setResets] = useState(true);
  const [reason, setReason] = useState("");
  const restart = async () => {
    const body = {
      reset_retry_count: resets,
      priority: priority ? Number(priority) : null,
      scheduled_for: when ? new Date(when).toISOString() : null,
      force: isOpen,
      reason: reason || null,
    };
    const done = await act(
      () => ask(api.POST("/api/admin/tasks/{task}/restart", { params: { path: { task: task.id } }, body })),
      (state) => `Task ${state.task_id}: ${state.message}`,
      "task",
      "tasks",
    );
    if (done) onDone(done.task_id);
  };
  return (
    <Dialog
      title={`Restart task ${task.id}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button kind={isOpen ? "danger" : "main"} type="submit" form="restart" isBusy={isBusy}>
            {isOpen ? "Cancel and restart" : "Restart"}
          </Button>
        </>
      }
    >
      <form
        id="restart"
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void restart();
        }}
      >
        <p className="text-soft">
          {isOpen
            ? "This task is open: it is cancelled first, then a new task visits its page."
            : "The page is visited again by a new task; this one stays as history."}
        </p>
        <Field label="When" hint="In your local time. Empty: as soon as its domain's turn comes.">
          {(given) => (
            <input {...given} type="datetime-local" value={when} onChange={(event) => setWhen(event.target.value)} />
          )}
        </Field>
        <Field label="Priority">
          {(given) => (
            <select {...given} value={priority} onChange={(event) => setPriority(event.target.value)}>
              <option value="">As it was ({task.priority})</option>
              {PRIORITIES.map((each) => (
                <option key={each} value={each}>
                  {priorityText(each)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={resets} onChange={(event) => setResets(event.target.checked)} /> Count its
          tries from the beginning
        </label>
        <Field label="Why (kept in the history)">
          {(given) => (
            <input {...given} maxLength={500} value={reason} onChange={(event) => setReason(event.target.value)} />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
