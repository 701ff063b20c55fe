/** One alert: what it says, what happened to it, what to do, and the verbs for it. */
import { useQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { useAct } from "../../ui/act";
import { Badge, Button, Facts, Loaded, State, Time } from "../../ui/basic";
import { Dialog, useConfirm } from "../../ui/dialog";
import { number, words } from "../../ui/format";
import { Runbook } from "./runbook";

type AlertRow = Schemas["AlertRow"];

export function useAlertVerbs() {
  const confirm = useConfirm();
  const { act, isBusy } = useAct();
  const path = (alert: { id: number }) => ({ path: { alert: alert.id } });
  const keys = ["alerts", "alert"];
  const acknowledge = (alert: AlertRow) =>
    act(
      () => ask(api.POST("/api/admin/alerts/{alert}/ack", { params: path(alert) })),
      (done) => (done.changed.length ? "Acknowledged: it is shown as taken by you." : "It was acknowledged already."),
      ...keys,
    );
  const resolve = async (alert: AlertRow) => {
    const yes = await confirm({
      title: "Resolve this alert?",
      text: `“${alert.message}” is over. If it is still so, its rule raises 1 new alert.`,
      verb: "Resolve the alert",
      reason: "What was done (kept with it)",
    });
    if (yes)
      await act(
        () =>
          ask(
            api.POST("/api/admin/alerts/{alert}/resolve", {
              params: path(alert),
              body: { reason: yes.reason || null },
            }),
          ),
        (done) => (done.changed.length ? "Resolved." : "It was resolved already."),
        ...keys,
      );
  };
  return { acknowledge, resolve, isBusy };
}

export function AlertDetail({
  id,
  onClose,
  onMute,
}: {
  id: number;
  onClose: () => void;
  onMute: (rule: string, subject: string) => void;
}) {
  const isAdmin = useIsAdmin();
  const { acknowledge, resolve, isBusy } = useAlertVerbs();
  const alert = useQuery({
    queryKey: ["alert", id],
    queryFn: () => ask(api.GET("/api/alerts/{alert}", { params: { path: { alert: id } } })),
    refetchInterval: 10_000,
  });
  const found = alert.data;
  const verbs = isAdmin && found && found.status !== "resolved" && (
    <div className="mt-3 flex flex-wrap gap-2">
      <Button kind="main" isBusy={isBusy} onClick={() => void resolve(found)}>
        Resolve
      </Button>
      {found.status === "open" && (
        <Button isBusy={isBusy} onClick={() => void acknowledge(found)}>
          Acknowledge
        </Button>
      )}
      <Button onClick={() => onMute(found.rule, found.subject)}>Mute</Button>
    </div>
  );
  return (
    <Dialog title={`Alert ${id}`} isWide onClose={onClose}>
      <Loaded query={alert} lines={8}>
        {(shown) => (
          <div className="flex flex-col gap-4">
            <div>
              <p className="flex flex-wrap gap-2">
                <State of={shown.status === "open" ? shown.severity : shown.status} />
                {shown.is_muted && <Badge>muted</Badge>}
              </p>
              <p className="mt-2 text-base font-medium break-words">{shown.message}</p>
              {shown.says && <p className="text-soft">{shown.says}</p>}
              {verbs}
            </div>
            <Facts
              of={[
                ["Rule", words(shown.rule)],
                ["About", shown.subject || "the whole instance"],
                [
                  "Value",
                  shown.value == null
                    ? "–"
                    : number(shown.value) === String(shown.value)
                      ? shown.value
                      : shown.value.toFixed(3),
                ],
                ["Raised", <Time key="raised" at={shown.raised_at} isExact />],
                ["Last seen", <Time key="seen" at={shown.seen_at} />],
              ]}
            />
            <section>
              <h3 className="mb-1 font-semibold">What happened to it</h3>
              <ol className="flex flex-col gap-1">
                {shown.events.map((event, index) => (
                  <li key={index} className="flex flex-wrap gap-x-3">
                    <span className="w-48 shrink-0 text-soft">
                      <Time at={event.at} isExact />
                    </span>{" "}
                    <span className="min-w-0 break-words">
                      {words(event.what)}
                      {event.by && ` by ${event.by}`}
                      {event.note && `: ${event.note}`}
                    </span>
                  </li>
                ))}
              </ol>
            </section>
            <section aria-label="Runbook">
              <Runbook rule={shown.rule} />
              {shown.runbook && <p className="mt-3 text-xs text-soft">From {shown.runbook}</p>}
            </section>
          </div>
        )}
      </Loaded>
    </Dialog>
  );
}
