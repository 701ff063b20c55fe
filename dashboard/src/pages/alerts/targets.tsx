/** Webhooks that are told of alerts. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { useAct } from "../../ui/act";
import { Badge, Button, Card, Empty, Field, Loaded, State, Time } from "../../ui/basic";
import { useConfirm } from "../../ui/dialog";

type Target = Schemas["Target"];

export function Targets() {
  const isAdmin = useIsAdmin();
  const targets = useQuery({
    queryKey: ["targets"],
    queryFn: () => ask(api.GET("/api/alerts/targets")),
    refetchInterval: 30_000,
  });
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[2fr_1fr]">
      <Card title="Who is told" pad={false}>
        <Loaded query={targets} lines={3}>
          {(data) =>
            data.items.length ? (
              <ul className="divide-y divide-line">
                {data.items.map((target) => (
                  <Row key={target.id} target={target} />
                ))}
              </ul>
            ) : (
              <Empty title="Nobody is told">
                Alerts are shown here only.{" "}
                {isAdmin
                  ? "Add the address of a chat or a pager, and it is called when one is raised or resolved."
                  : "An administrator can add a webhook."}
              </Empty>
            )
          }
        </Loaded>
      </Card>
      {isAdmin && (
        <Card title="Add a webhook">
          <Add />
        </Card>
      )}
    </div>
  );
}

function Row({ target }: { target: Target }) {
  const isAdmin = useIsAdmin();
  const confirm = useConfirm();
  const { act, isBusy } = useAct();
  const remove = async () => {
    const yes = await confirm({
      title: "Remove this webhook?",
      text: `1 webhook, ${target.url}, is told of no alert any more.`,
      verb: "Remove the webhook",
      isDangerous: true,
    });
    if (yes)
      await act(
        () => ask(api.DELETE("/api/admin/alerts/targets/{target}", { params: { path: { target: target.id } } })),
        (gone) => `${gone.url} is told no more.`,
        "targets",
      );
  };
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5">
      <span className="min-w-0 flex-1 basis-56 break-all">{target.url}</span>
      <State
        of={target.severity}
        title={target.severity === "warning" ? "Warnings and what is critical" : "Only what is critical"}
      />
      {!target.is_active && <Badge tone="warn">off</Badge>}
      <span className="text-xs text-soft">
        by {target.created_by}, <Time at={target.created_at} />
      </span>
      {isAdmin && (
        <Button isBusy={isBusy} aria-label={`Remove ${target.url}`} onClick={() => void remove()}>
          Remove
        </Button>
      )}
    </li>
  );
}

function Add() {
  const { act, isBusy } = useAct();
  const [url, setUrl] = useState("");
  const [severity, setSeverity] = useState<Target["severity"]>("warning");
  const add = async () => {
    const done = await act(
      () => ask(api.POST("/api/admin/alerts/targets", { body: { url, severity } })),
      (target) => `${target.url} is told from now on.`,
      "targets",
    );
    if (done) setUrl("");
  };
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <Field label="Address" hint="It is called with JSON, by POST, and again until it was heard.">
        {(given) => (
          <input
            {...given}
            type="url"
            required
            maxLength={8192}
            placeholder="https://chat.example/hook"
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        )}
      </Field>
      <Field label="Told of">
        {(given) => (
          <select
            {...given}
            value={severity}
            onChange={(event) => setSeverity(event.target.value as Target["severity"])}
          >
            <option value="warning">Warnings and what is critical</option>
            <option value="critical">Only what is critical</option>
          </select>
        )}
      </Field>
      <Button kind="main" type="submit" isBusy={isBusy}>
        Add the webhook
      </Button>
    </form>
  );
}
