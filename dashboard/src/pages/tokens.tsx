/** Tokens for programs: shown once when they are made, and ended here. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../api/client";
import { Badge, Button, Card, Empty, Field, Loaded, Time } from "../ui/basic";
import { Dialog, useConfirm, useToast } from "../ui/dialog";

const DAY_S = 86_400;

export function Tokens({ isEverybodys = false }: { isEverybodys?: boolean }) {
  const queries = useQueryClient();
  const confirm = useConfirm();
  const toast = useToast();
  const [isMaking, setIsMaking] = useState(false);
  const tokens = useQuery({
    queryKey: ["tokens", isEverybodys],
    queryFn: () =>
      ask(
        isEverybodys
          ? api.GET("/api/admin/tokens", { params: { query: { limit: 500 } } })
          : api.GET("/api/tokens", { params: { query: { limit: 500 } } }),
      ),
  });
  const revoke = useMutation({
    mutationFn: (token: number) => ask(api.DELETE("/api/tokens/{token}", { params: { path: { token } } })),
    onSuccess: () => {
      toast("The token has ended.");
      void queries.invalidateQueries({ queryKey: ["tokens"] });
    },
    onError: (error) => toast(error.message, "bad"),
  });
  return (
    <Card
      title={isEverybodys ? "Everybody's tokens" : "Tokens"}
      pad={false}
      action={!isEverybodys && <Button onClick={() => setIsMaking(true)}>Make a token</Button>}
    >
      <Loaded query={tokens}>
        {(data) =>
          data.items.length ? (
            <ul className="divide-y divide-line">
              {data.items.map((token) => (
                <li key={token.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
                  <div className="min-w-40 flex-1">
                    <div className="flex flex-wrap items-center gap-2 font-medium">
                      {token.name} <Badge tone={token.scope === "admin" ? "warn" : "plain"}>{token.scope}</Badge>{" "}
                      {!token.is_valid && <Badge>ended</Badge>}
                    </div>
                    <div className="text-xs text-soft">
                      {isEverybodys && `${token.owner} · `}last used <Time at={token.last_used_at} empty="never" /> ·{" "}
                      {token.expires_at ? (
                        <>
                          ends <Time at={token.expires_at} />
                        </>
                      ) : (
                        "has no end"
                      )}
                    </div>
                  </div>
                  {token.is_valid && (
                    <Button
                      kind="quiet"
                      onClick={async () => {
                        if (
                          await confirm({
                            title: "End this token",
                            text: `Whatever uses “${token.name}” is refused from now on.`,
                            verb: "End it",
                            isDangerous: true,
                          })
                        )
                          revoke.mutate(token.id);
                      }}
                    >
                      End it
                    </Button>
                  )}
                </li>
              ))}
            </ul>
          ) : (
            <Empty title="No tokens">
              A program sends one with each request, as <code>Authorization: Bearer fgr_…</code>
            </Empty>
          )
        }
      </Loaded>
      {isMaking && <MakeDialog onClose={() => setIsMaking(false)} />}
    </Card>
  );
}

function MakeDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Schemas["TokenCreate"]["scope"]>("read");
  const [days, setDays] = useState("90");
  const make = useMutation({
    mutationFn: () =>
      ask(api.POST("/api/tokens", { body: { name, scope, expires_in_s: days ? Number(days) * DAY_S : null } })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ["tokens"] }),
  });
  if (make.data) {
    const { token } = make.data;
    return (
      <Dialog
        title="Your token"
        onClose={onClose}
        footer={
          <Button kind="main" onClick={() => void navigator.clipboard.writeText(token)}>
            Copy it
          </Button>
        }
      >
        <p className="mb-2">Keep it somewhere safe: it is not shown again.</p>
        <p className="rounded-md bg-raised p-3 font-mono text-xs break-all">{token}</p>
      </Dialog>
    );
  }
  return (
    <Dialog
      title="Make a token"
      onClose={onClose}
      footer={
        <Button kind="main" isBusy={make.isPending} disabled={!name.trim()} onClick={() => make.mutate()}>
          Make it
        </Button>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <Field label="What is it for?" error={make.error?.message}>
          {(given) => (
            <input
              {...given}
              required
              maxLength={100}
              value={name}
              onChange={(event) => setName(event.target.value)}
              placeholder="nightly export"
            />
          )}
        </Field>
        <Field label="It may">
          {(given) => (
            <select {...given} value={scope} onChange={(event) => setScope(event.target.value as typeof scope)}>
              <option value="read">read</option>
              <option value="write">read and change</option>
              <option value="admin">everything, also accounts</option>
            </select>
          )}
        </Field>
        <Field label="It ends after">
          {(given) => (
            <select {...given} value={days} onChange={(event) => setDays(event.target.value)}>
              <option value="7">a week</option>
              <option value="90">90 days</option>
              <option value="365">a year</option>
            </select>
          )}
        </Field>
      </form>
    </Dialog>
  );
}
