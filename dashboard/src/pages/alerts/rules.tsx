/** Every rule, how patient it is, and whether it is muted. */
import { useQuery } from "@tanstack/react-query";
import { api, ask } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { useAct } from "../../ui/act";
import { Badge, Button, Card, Loaded, State, Time } from "../../ui/basic";
import { Dialog } from "../../ui/dialog";
import { duration, words } from "../../ui/format";
import { partsOf } from "./markdown";
import { Runbook, Words } from "./runbook";

export function Rules({
  read,
  onRead,
  onMute,
}: {
  read: string | undefined;
  onRead: (rule: string | undefined) => void;
  onMute: (rule: string) => void;
}) {
  const isAdmin = useIsAdmin();
  const { act, isBusy } = useAct();
  const rules = useQuery({ queryKey: ["rules"], queryFn: () => ask(api.GET("/api/alerts/rules")), staleTime: 60_000 });
  const mutes = useQuery({
    queryKey: ["mutes"],
    queryFn: () => ask(api.GET("/api/alerts/mutes")),
    refetchInterval: 30_000,
  });
  const unmute = (rule: string, subject: string) =>
    act(
      () => ask(api.DELETE("/api/admin/alerts/rules/{rule}/mute", { params: { path: { rule }, query: { subject } } })),
      () => `People are told of ${words(rule)} again.`,
      "mutes",
      "alerts",
    );
  return (
    <Card pad={false}>
      <Loaded query={rules} lines={10}>
        {(data) => (
          <ul className="divide-y divide-line">
            {data.items.map((rule) => (
              <li key={rule.rule} className="flex flex-col gap-1.5 px-4 py-3">
                <div className="flex flex-wrap items-center gap-2">
                  <span className="font-medium first-letter:uppercase">{words(rule.rule)}</span>{" "}
                  <State of={rule.severity} />
                  <span className="ml-auto flex flex-wrap gap-1.5">
                    <Button
                      kind="quiet"
                      aria-label={`What to do: ${words(rule.rule)}`}
                      onClick={() => onRead(rule.rule)}
                    >
                      What to do
                    </Button>
                    {isAdmin && (
                      <Button aria-label={`Mute ${words(rule.rule)}`} onClick={() => onMute(rule.rule)}>
                        Mute
                      </Button>
                    )}
                  </span>
                </div>
                <p>
                  <Words of={partsOf(rule.says)} />
                </p>
                <p className="text-xs text-soft">
                  raised {rule.hold_s ? `when it holds for ${duration(rule.hold_s)}` : "at once"}, resolved{" "}
                  {rule.quiet_s ? `after ${duration(rule.quiet_s)} of quiet` : "as soon as it is over"}
                </p>
                {mutes.data?.items
                  .filter((mute) => mute.rule === rule.rule)
                  .map((mute) => (
                    <p key={mute.subject} className="flex flex-wrap items-center gap-2 text-soft">
                      <Badge tone="warn">muted</Badge>{" "}
                      <span>
                        {mute.subject || "all of it"}, ends <Time at={mute.muted_until} />, by {mute.muted_by}
                        {mute.reason && `: ${mute.reason}`}
                      </span>
                      {isAdmin && (
                        <Button isBusy={isBusy} onClick={() => void unmute(mute.rule, mute.subject)}>
                          Unmute
                        </Button>
                      )}
                    </p>
                  ))}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {read && (
        <Dialog title={`What to do: ${words(read)}`} isWide onClose={() => onRead(undefined)}>
          <Runbook rule={read} />
        </Dialog>
      )}
    </Card>
  );
}
