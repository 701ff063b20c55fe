/** People who may sign in, and every token there is. For administrators. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../api/client";
import { useIsAdmin, useMe } from "../api/session";
import { Badge, Button, Card, Empty, Field, Loaded, PageHead, Time } from "../ui/basic";
import { Dialog, useConfirm, useToast } from "../ui/dialog";
import { Tokens } from "./tokens";

type UserRow = Schemas["UserRow"];

export function UsersPage() {
  const isAdmin = useIsAdmin();
  const users = useQuery({
    queryKey: ["users"],
    queryFn: () => ask(api.GET("/api/admin/users", { params: { query: { limit: 500 } } })),
    enabled: isAdmin,
  });
  const [isInviting, setIsInviting] = useState(false);
  const [link, setLink] = useState<{ name: string; link: string } | null>(null);
  if (!isAdmin) return <Empty title="Only administrators see this" />;
  return (
    <div className="flex flex-col gap-4">
      <PageHead title="Users" about="A user may look at everything; an administrator may also change it.">
        <Button kind="main" onClick={() => setIsInviting(true)}>
          Invite somebody
        </Button>
      </PageHead>
      <Card pad={false}>
        <Loaded query={users}>
          {(data) => (
            <ul className="divide-y divide-line">
              {data.items.map((user) => (
                <Person key={user.id} user={user} onLink={setLink} />
              ))}
            </ul>
          )}
        </Loaded>
      </Card>
      <Tokens isEverybodys />
      {isInviting && <InviteDialog onClose={() => setIsInviting(false)} onLink={setLink} />}
      {link && (
        <Dialog
          title={`A link for ${link.name}`}
          onClose={() => setLink(null)}
          footer={
            <Button kind="main" onClick={() => void navigator.clipboard.writeText(link.link)}>
              Copy the link
            </Button>
          }
        >
          <p className="mb-2">It works once, for 24 hours. It is not shown again.</p>
          <p className="rounded-md bg-raised p-3 font-mono text-xs break-all">{link.link}</p>
        </Dialog>
      )}
    </div>
  );
}

function Person({ user, onLink }: { user: UserRow; onLink: (link: { name: string; link: string }) => void }) {
  const me = useMe();
  const queries = useQueryClient();
  const confirm = useConfirm();
  const toast = useToast();
  const done = (text: string) => {
    toast(text);
    void queries.invalidateQueries({ queryKey: ["users"] });
  };
  const failed = (error: Error) => toast(error.message, "bad");
  const path = { params: { path: { user: user.id } } };
  const change = useMutation({
    mutationFn: (body: Schemas["UserChange"]) => ask(api.PATCH("/api/admin/users/{user}", { ...path, body })),
    onSuccess: () => done(`${user.name} is changed.`),
    onError: failed,
  });
  const remove = useMutation({
    mutationFn: () => ask(api.DELETE("/api/admin/users/{user}", path)),
    onSuccess: () => done(`${user.name} is removed.`),
    onError: failed,
  });
  const reset = useMutation({
    mutationFn: () => ask(api.POST("/api/admin/users/{user}/reset-password", path)),
    onSuccess: (made) => {
      onLink({ name: user.name, link: made.link });
      done(`${user.name} has to choose a new password.`);
    },
    onError: failed,
  });
  const isMe = me?.name === user.name;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-40 flex-1">
        <div className="flex flex-wrap items-center gap-2 font-medium">
          {user.name} <Badge tone={user.role === "admin" ? "info" : "plain"}>{user.role}</Badge>
          {!user.is_active && <Badge tone="warn">switched off</Badge>}
          {!user.has_password && <Badge tone="warn">invited</Badge>}
          {isMe && <Badge>you</Badge>}
        </div>
        <div className="text-xs text-soft">
          last seen <Time at={user.last_login_at} empty="never" /> · {user.sessions}{" "}
          {user.sessions === 1 ? "session" : "sessions"} · {user.tokens} {user.tokens === 1 ? "token" : "tokens"}
        </div>
      </div>
      {!isMe && (
        <div className="flex flex-wrap gap-1.5">
          <Button
            onClick={() => change.mutate({ role: user.role === "admin" ? "user" : "admin" })}
            isBusy={change.isPending}
          >
            {user.role === "admin" ? "Make a user" : "Make an admin"}
          </Button>
          <Button onClick={() => change.mutate({ is_active: !user.is_active })}>
            {user.is_active ? "Switch off" : "Switch on"}
          </Button>
          <Button
            onClick={async () => {
              if (
                await confirm({
                  title: "Reset the password",
                  text: `All sessions of ${user.name} end, and they need the link that is shown next.`,
                  verb: "Reset it",
                })
              )
                reset.mutate();
            }}
          >
            Reset password
          </Button>
          <Button
            kind="quiet"
            onClick={async () => {
              if (
                await confirm({
                  title: "Remove this user",
                  text: `${user.name} can never sign in again, and their tokens end. What they did stays in the audit log.`,
                  verb: `Remove ${user.name}`,
                  isDangerous: true,
                })
              )
                remove.mutate();
            }}
          >
            Remove
          </Button>
        </div>
      )}
    </li>
  );
}

function InviteDialog({
  onClose,
  onLink,
}: {
  onClose: () => void;
  onLink: (link: { name: string; link: string }) => void;
}) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [role, setRole] = useState<"user" | "admin">("user");
  const invite = useMutation({
    mutationFn: () => ask(api.POST("/api/admin/users", { body: { name, role } })),
    onSuccess: (made) => {
      void queries.invalidateQueries({ queryKey: ["users"] });
      onClose();
      onLink({ name, link: made.link });
    },
  });
  return (
    <Dialog
      title="Invite somebody"
      onClose={onClose}
      footer={
        <Button kind="main" isBusy={invite.isPending} disabled={!name.trim()} onClick={() => invite.mutate()}>
          Make the link
        </Button>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate();
        }}
      >
        <Field label="Name" error={invite.error?.message}>
          {(given) => (
            <input {...given} required maxLength={64} value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label="Role">
          {(given) => (
            <select {...given} value={role} onChange={(event) => setRole(event.target.value as "user" | "admin")}>
              <option value="user">user: may look</option>
              <option value="admin">admin: may change</option>
            </select>
          )}
        </Field>
      </form>
    </Dialog>
  );
}
