/** Muting a rule for a time: its alerts are raised and shown, and nobody is called. */
import { useState } from "react";
import { api, ask } from "../../api/client";
import { useAct } from "../../ui/act";
import { Button, Field } from "../../ui/basic";
import { Dialog } from "../../ui/dialog";
import { moment, words } from "../../ui/format";

const HOUR_S = 3_600;
const TIMES: [number, string][] = [
  [HOUR_S, "1 hour"],
  [4 * HOUR_S, "4 hours"],
  [24 * HOUR_S, "1 day"],
  [7 * 24 * HOUR_S, "1 week"],
  [30 * 24 * HOUR_S, "30 days"],
  [90 * 24 * HOUR_S, "90 days, the longest"],
];

export function MuteDialog({ rule, subject, onClose }: { rule: string; subject: string; onClose: () => void }) {
  const { act, isBusy } = useAct();
  const [seconds, setSeconds] = useState(4 * HOUR_S);
  const [isAll, setIsAll] = useState(!subject);
  const [reason, setReason] = useState("");
  const mute = async () => {
    const body = { seconds, subject: isAll ? "" : subject, reason: reason || null };
    const done = await act(
      () => ask(api.POST("/api/admin/alerts/rules/{rule}/mute", { params: { path: { rule } }, body })),
      (muted) => `Nobody is told of ${words(muted.rule)} until ${moment(muted.muted_until)}.`,
      "alerts",
      "alert",
      "mutes",
    );
    if (done) onClose();
  };
  return (
    <Dialog
      title={`Mute ${words(rule)}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button kind="main" type="submit" form="mute" isBusy={isBusy}>
            Mute the rule
          </Button>
        </>
      }
    >
      <form
        id="mute"
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void mute();
        }}
      >
        <p className="text-soft">Its alerts are raised and shown all the same; no webhook is told of them.</p>
        <Field label="For how long">
          {(given) => (
            <select {...given} value={seconds} onChange={(event) => setSeconds(Number(event.target.value))}>
              {TIMES.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        {subject && (
          <Field label="Of what">
            {(given) => (
              <select
                {...given}
                value={isAll ? "all" : "one"}
                onChange={(event) => setIsAll(event.target.value === "all")}
              >
                <option value="one">Only {subject}</option>
                <option value="all">All of the rule</option>
              </select>
            )}
          </Field>
        )}
        <Field label="Why">
          {(given) => (
            <input {...given} maxLength={500} value={reason} onChange={(event) => setReason(event.target.value)} />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
