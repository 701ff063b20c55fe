/** The door. Also where one lands when a session has ended; the address stays, so that one goes on where one was. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { api, ask } from "../api/client";
import { fetchMe } from "../api/session";
import { Button, Field } from "../ui/basic";

export function Doorstep({ title, about, children }: { title: string; about: ReactNode; children: ReactNode }) {
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <div className="w-full max-w-sm rounded-xl border border-line bg-surface p-6">
        <img src="/icon.svg" alt="" className="mb-4 size-10" />
        <h1 className="text-lg font-semibold">{title}</h1>
        <p className="mt-1 mb-5 text-soft">{about}</p>
        {children}
      </div>
    </main>
  );
}

export function SignIn() {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const entering = useMutation({
    mutationFn: () => ask(api.POST("/api/auth/login", { body: { name, password } })),
    onSuccess: async () => queries.setQueryData(["me"], await fetchMe()),
  });
  return (
    <Doorstep
      title="Sign in to Forager"
      about={
        <>
          Nobody has an account yet? <code>forager up</code> prints a link that makes the first one.
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          entering.mutate();
        }}
      >
        <Field label="Name">
          {(given) => (
            <input
              {...given}
              autoComplete="username"
              autoFocus
              required
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Field label="Password" error={entering.error?.message}>
          {(given) => (
            <input
              {...given}
              type="password"
              autoComplete="current-password"
              required
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          )}
        </Field>
        <Button kind="main" type="submit" isBusy={entering.isPending}>
          Sign in
        </Button>
      </form>
    </Doorstep>
  );
}
