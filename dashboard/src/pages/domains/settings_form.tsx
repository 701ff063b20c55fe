/** How a domain is crawled: what is changed is sent, what is empty takes the default. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "../../api/client";
import { Button, Card, Field } from "../../ui/basic";
import { useToast } from "../../ui/dialog";
import type { Domain } from "./domain";
import { type Changes, changesOf, type Form, formOf, KNOBS, type KnobName } from "./knobs";
import { count } from "./turns";
import { useLookAgain } from "./verbs";

export function DomainSettings({ domain }: { domain: Domain }) {
  const current = formOf(domain);
  const [edits, setEdits] = useState<Partial<Form>>({});
  const now = { ...current, ...edits };
  const { changes, errors } = changesOf(current, now);
  const lookAgain = useLookAgain();
  const toast = useToast();
  const countries = useCountries();
  const changed = Object.keys(changes).length;
  const saving = useMutation({
    mutationFn: (body: Changes) =>
      ask(api.PATCH("/api/admin/domains/{domain}", { params: { path: { domain: domain.name } }, body })),
    onSuccess: async (answer) => {
      const visits = [
        answer.planned && `${count(answer.planned, "visit")} planned`,
        answer.dropped && `${count(answer.dropped, "planned visit")} forgotten`,
      ]
        .filter(Boolean)
        .join(", ");
      toast(
        `${count(Object.keys(answer.changes).length, "setting")} of ${domain.name} changed${visits ? `; ${visits}` : ""}.`,
      );
      await lookAgain(); // only then the edits are let go, so that no field jumps back
      setEdits({});
    },
  });
  const isWrong = Object.keys(errors).length > 0;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (changed && !isWrong) saving.mutate(changes);
      }}
      noValidate
    >
      <div className="grid gap-4 lg:grid-cols-2">
        {KNOBS.map((group) => (
          <Card key={group.title} title={group.title}>
            <div className="grid gap-4 sm:grid-cols-2">
              {group.knobs.map((knob) => {
                const choices = knob.name === "proxy_country" ? [...(knob.choices ?? []), ...countries] : knob.choices;
                const set = (value: string) =>
                  setEdits({ ...edits, [knob.name]: value } as Partial<Record<KnobName, string>>);
                return (
                  <Field key={knob.name} label={knob.label} hint={knob.hint} error={errors[knob.name]}>
                    {(given) =>
                      choices ? (
                        <select {...given} value={now[knob.name]} onChange={(event) => set(event.target.value)}>
                          {choices.map(([value, text]) => (
                            <option key={value} value={value}>
                              {text}
                            </option>
                          ))}
                        </select>
                      ) : (
                        <input
                          {...given}
                          type={knob.kind === "time" ? "time" : "text"}
                          inputMode={knob.kind === "number" || knob.kind === "whole" ? "decimal" : undefined}
                          value={now[knob.name]}
                          onChange={(event) => set(event.target.value)}
                          placeholder={knob.kind === "time" ? undefined : (knob.empty ?? "default")}
                        />
                      )
                    }
                  </Field>
                );
              })}
            </div>
          </Card>
        ))}
      </div>
      <div className="sticky bottom-0 z-10 flex flex-wrap items-center gap-3 rounded-lg border border-line bg-surface px-4 py-3">
        <Button kind="main" type="submit" isBusy={saving.isPending} disabled={!changed || isWrong}>
          {changed ? `Save ${count(changed, "change")}` : "Save changes"}
        </Button>
        <Button
          kind="quiet"
          disabled={!Object.keys(edits).length}
          onClick={() => {
            setEdits({});
            saving.reset();
          }}
        >
          Put back
        </Button>
        <p role="status" className={saving.isError || isWrong ? "text-bad" : "text-soft"}>
          {saving.isError
            ? saving.error.message
            : isWrong
              ? "Some fields need another look."
              : changed
                ? "Not saved yet."
                : "Nothing is changed."}
        </p>
      </div>
    </form>
  );
}

/** Countries a proxy can be chosen in. */
function useCountries(): [string, string][] {
  const proxies = useQuery({ queryKey: ["proxies"], queryFn: () => ask(api.GET("/api/proxies")), staleTime: 60_000 });
  const found = new Set(proxies.data?.items.flatMap((proxy) => proxy.country_code ?? []));
  return [...found].sort().map((country) => [country, country]);
}
