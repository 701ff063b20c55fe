/** One's own password, sessions and tokens. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, setCsrf } from "../api/client";
import { useMe } from "../api/session";
import { Badge, Button, Card, Field, Loaded, PageHead, Time } from "../ui/basic";
import { useToast } from "../ui/dialog";
import { browserOf } from "./account/browser";
import { Tokens } from "./tokens";

export function AccountPage() {
  const me = useMe();
  return (
    <div className="flex flex-col gap-4">
      <PageHead
        title={me?.name ?? "Account"}
        about={me?.role === "admin" ? "You are an administrator." : "You may look at everything."}
      />
      <div className="grid gap-4 lg:grid-cols-2">
        <Password />
        <Sessions />
      </div>
      <Tokens />
    </div>
  );
}

function Password() {
  const queries = useQueryClient();
  const toast = useToast();
  const [current, setCurrent] = useState("");
  const [fresh, setFresh] = useState("");
  const change = useMutation({
    mutationFn: () => ask(api.POST("/api/auth/password", { body: { current, new: fresh } })),
    onSuccess: (begun) => {
      setCsrf(begun.csrf_token);
      setCurrent("");
      setFresh("");
      toast("Your password is changed; your other sessions have ended.");
      void queries.invalidateQueries({ queryKey: ["sessions"] });
    },
  });
  return (
    <Card title="Password">
      <form
        className="flex max-w-sm flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        <Field label="Current password">
          {(given) => (
            <input
              {...given}
              type="password"
              autoComplete="current-password"
              required
              value={current}
              onChange={(event) => setCurrent(event.target.value)}
            />
          )}
        </Field>
        <Field label="New password" hint="12 characters or more." error={change.error?.message}>
          {(given) => (
            <input
              {...given}
              type="password"
              autoComplete="new-password"
              required
              minLength={12}
              value={fresh}
              onChange={(event) => setFresh(event.target.value)}
            />
          )}
        </Field>
        <div>
          <Button kind="main" type="submit" isBusy={change.isPending}>
            Change it
          </Button>
        </div>
      </form>
    </Card>
  );
}

function Sessions() {
  const queries = useQueryClient();
  const toast = useToast();
  const sessions = useQuery({ queryKey: ["sessions"], queryFn: () => ask(api.GET("/api/auth/sessions")) });
  const again = () => void queries.invalidateQueries({ queryKey: ["sessions"] });
  const end = useMutation({
    mutationFn: (session: number) => ask(api.DELETE("/api/auth/sessions/{session}", { params: { path: { session } } })),
    onSuccess: () => {
      toast("That session has ended.");
      again();
    },
    onError: (error) => toast(error.message, "bad"),
  });
  return (
    <Card title="Where you are signed in" pad={false}>
      <Loaded query={sessions}>
        {(data) => (
          <ul className="divide-y divide-line">
            {data.items.map((session) => (
              <li key={session.id} className="flex items-center gap-3 px-4 py-2.5">
                <div className="min-w-0 flex-1">
                  <div className="flex flex-wrap items-center gap-2">
                    {session.ip ?? "unknown address"} {session.is_this && <Badge tone="good">this one</Badge>}
                  </div>
                  <div className="truncate text-xs text-soft" title={session.user_agent ?? ""}>
                    {browserOf(session.user_agent)}
                  </div>
                  <div className="text-xs text-soft">
                    used <Time at={session.last_used_at} /> · ends <Time at={session.expires_at} />
                  </div>
                </div>
                {!session.is_this && (
                  <Button kind="quiet" onClick={() => end.mutate(session.id)}>
                    End it
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}
