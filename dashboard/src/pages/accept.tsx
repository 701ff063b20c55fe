/** Where a one-time link leads: choose a name and a password. The secret stands behind the #, so no server log has it. */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "../api/client";
import { Button, Field } from "../ui/basic";
import { Doorstep } from "./sign_in";

export function Accept() {
  const [secret] = useState(() => location.hash.slice(1));
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const accepting = useMutation({
    mutationFn: () => ask(api.POST("/api/auth/accept", { body: { secret, name: name || null, password } })),
    onSuccess: () => location.assign("/"),
  });
  if (!secret) {
    return (
      <Doorstep title="This link is not whole" about="Copy all of it, also what stands behind the #.">
        <a href="/" className="text-brand hover:underline">
          To the dashboard
        </a>
      </Doorstep>
    );
  }
  return (
    <Doorstep title="Welcome to Forager" about="Choose how you sign in from now on. The link works once.">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          accepting.mutate();
        }}
      >
        <Field label="Name" hint="Leave it empty if somebody invited you by name.">
          {(given) => (
            <input
              {...given}
              autoComplete="username"
              autoFocus
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Field label="Password" hint="12 characters or more; a few words are good." error={accepting.error?.message}>
          {(given) => (
            <input
              {...given}
              type="password"
              autoComplete="new-password"
              required
              minLength={12}
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          )}
        </Field>
        <Button kind="main" type="submit" isBusy={accepting.isPending}>
          Begin
        </Button>
      </form>
    </Doorstep>
  );
}
