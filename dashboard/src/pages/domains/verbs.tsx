/** What an operator may do to domains, one or many: asked for first, told afterwards. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { Button, Field } from "../../ui/basic";
import { Dialog, useConfirm, useToast } from "../../ui/dialog";
import { duration, number } from "../../ui/format";
import { count, inParts, sayTurns } from "./turns";

export type Verb = Schemas["BulkOrder"]["verb"];

/** The server takes no more names in one order. */
const MOST_AT_ONCE = 200;

export const VERBS: Record<Verb, { text: string; past: string; about: string; hasReason: boolean }> = {
  pause: {
    text: "Pause",
    past: "paused",
    about: "No visits until somebody resumes them. What is under way is finished.",
    hasReason: true,
  },
  resume: { text: "Resume", past: "resumed", about: "Visits go on where they stopped.", hasReason: true },
  reset: {
    text: "Reset",
    past: "reset",
    about: "Whatever held them back is forgotten: they are due now, and pages that failed are tried again.",
    hasReason: true,
  },
  reset_breaker: {
    text: "Close the breaker of",
    past: "may be asked again",
    about: "Requests may leave again at their pace. Where a server still fails, its breaker opens again.",
    hasReason: true,
  },
  rescore: {
    text: "Re-score",
    past: "re-scored",
    about: "The score decides which domain is crawled first. It is computed every hour anyway; nothing else changes.",
    hasReason: false,
  },
};

const order = (verb: Verb, names: string[], reason: string) =>
  ask(api.POST("/api/admin/domains/bulk", { body: { verb, names, reason: reason || null } }));

/** One verb on one domain; what the server says of it, or refuses it with. */
export async function orderOne(verb: Verb, name: string, reason = ""): Promise<string> {
  const [told] = (await order(verb, [name], reason)).domains;
  if (!told?.is_done) throw new Error(told?.message ?? "Nothing was done.");
  return told.message;
}

/** Everything that shows domains looks again. */
export function useLookAgain() {
  const queries = useQueryClient();
  return useCallback(
    () =>
      Promise.all(["domains", "domain", "why", "proxies"].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
    [queries],
  );
}

/** One verb on many domains; answers with those that failed. */
export function useBulk() {
  const [progress, setProgress] = useState<{ done: number; of: number } | null>(null);
  const confirm = useConfirm();
  const toast = useToast();
  const lookAgain = useLookAgain();
  const run = async (verb: Verb, domains: string[]): Promise<string[]> => {
    const { text, past, about, hasReason } = VERBS[verb];
    const yes = await confirm({
      title: `${text} ${count(domains.length, "domain")}?`,
      text: about,
      verb: `${text} ${count(domains.length, "domain")}`,
      reason: hasReason ? "Why (kept in their history)" : undefined,
    });
    if (!yes) return domains;
    setProgress({ done: 0, of: domains.length });
    const turns = await inParts(
      domains,
      MOST_AT_ONCE,
      async (part) => (await order(verb, part, yes.reason)).domains,
      (done) => setProgress({ done, of: domains.length }),
    );
    setProgress(null);
    toast(sayTurns(turns, past, "domain"), turns.failed.length ? "bad" : "good");
    void lookAgain();
    return turns.failed.map((each) => each.name);
  };
  return { run, progress };
}

/** A change of one domain: the note afterwards, or the server's sentence. */
export function useDeed() {
  const [isBusy, setIsBusy] = useState(false);
  const toast = useToast();
  const lookAgain = useLookAgain();
  const act = async <T,>(deed: () => Promise<T>, say: (answer: T) => string): Promise<boolean> => {
    setIsBusy(true);
    try {
      toast(say(await deed()));
      return true;
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), "bad");
      return false;
    } finally {
      setIsBusy(false);
      void lookAgain();
    }
  };
  return { act, isBusy };
}

export function ResetDialog({ domain, gone, onClose }: { domain: string; gone: number; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const [alsoGone, setAlsoGone] = useState(false);
  const { act, isBusy } = useDeed();
  const send = async () => {
    const done = await act(
      () =>
        ask(
          api.POST("/api/admin/domains/{domain}/reset", {
            params: { path: { domain } },
            body: { reason: reason || null, also_gone: alsoGone },
          }),
        ),
      (answer) =>
        `${domain} is ${answer.status} again: ${count(answer.reopened, "failed page")} and ${count(answer.revisited, "read page")} will be visited.`,
    );
    if (done) onClose();
  };
  return (
    <Dialog
      title={`Reset ${domain}?`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button kind="main" isBusy={isBusy} onClick={() => void send()}>
            Reset the domain
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <p>
          Whatever held it back is forgotten: blocks, rests, breaker and error counts. It is due now, and pages that
          failed are tried again.
        </p>
        {gone > 0 && (
          <label className="flex items-start gap-2">
            <input
              type="checkbox"
              className="mt-1"
              checked={alsoGone}
              onChange={(event) => setAlsoGone(event.target.checked)}
            />
            <span>
              Also try the {count(gone, "page")} again that {gone === 1 ? "is" : "are"} gone (404, 410)
            </span>
          </label>
        )}
        <Field label="Why" hint="Kept in its history.">
          {(given) => (
            <input {...given} maxLength={500} value={reason} onChange={(event) => setReason(event.target.value)} />
          )}
        </Field>
      </div>
    </Dialog>
  );
}

const RESTS: [string, string][] = [
  ["", "until somebody resets it"],
  ["3600", "for an hour"],
  ["86400", "for a day"],
  ["604800", "for a week"],
  ["2592000", "for 30 days"],
];

export function BlockDialog({ domain, onClose }: { domain: string; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const [rest, setRest] = useState("");
  const { act, isBusy } = useDeed();
  const send = async () => {
    const done = await act(
      () =>
        ask(
          api.POST("/api/admin/domains/{domain}/block", {
            params: { path: { domain } },
            body: { reason: reason.trim(), rest_s: rest ? Number(rest) : null },
          }),
        ),
      (answer) =>
        `${domain} is blocked ${answer.rest_s ? `for ${duration(answer.rest_s)}` : "until it is reset"}${answer.was_leased ? "; the worker that held it stops" : ""}.`,
    );
    if (done) onClose();
  };
  return (
    <Dialog title={`Block ${domain}?`} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p>It is not visited any more; a worker that crawls it now stops at once.</p>
        <Field label="Why" hint="Shown beside the state, and kept in its history.">
          {(given) => (
            <input
              {...given}
              required
              maxLength={500}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          )}
        </Field>
        <Field label="How long">
          {(given) => (
            <select {...given} value={rest} onChange={(event) => setRest(event.target.value)}>
              {RESTS.map(([seconds, text]) => (
                <option key={seconds} value={seconds}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button kind="danger" type="submit" isBusy={isBusy} disabled={!reason.trim()}>
            Block the domain
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export const sayProgress = (progress: { done: number; of: number }) =>
  `${number(progress.done)} of ${number(progress.of)} done`;
