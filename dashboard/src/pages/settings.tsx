/** Every setting with its value and what it means. They are changed in forager.toml or the environment, not here. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "../api/client";
import { Card, Empty, Loaded, PageHead } from "../ui/basic";

export function SettingsPage() {
  const [wanted, setWanted] = useState("");
  const settings = useQuery({ queryKey: ["settings"], queryFn: () => ask(api.GET("/api/settings")) });
  return (
    <>
      <PageHead
        title="Settings"
        about="As this instance runs with them. Change them in forager.toml or as FORAGER_… in the environment, and start it again."
      />
      <Card pad={false}>
        <div className="border-b border-line p-3">
          <input
            type="search"
            aria-label="Find a setting"
            placeholder="Find a setting"
            value={wanted}
            onChange={(event) => setWanted(event.target.value)}
            className="min-h-9 w-full max-w-sm rounded-md border border-line bg-surface px-2.5"
          />
        </div>
        <Loaded query={settings} lines={12}>
          {(data) => {
            const shown = data.items.filter((setting) =>
              `${setting.name} ${setting.description ?? ""}`.toLowerCase().includes(wanted.toLowerCase()),
            );
            if (!shown.length) return <Empty title="No setting has these words" />;
            return (
              <dl className="divide-y divide-line">
                {shown.map((setting) => (
                  <div key={setting.name} className="grid gap-x-6 gap-y-1 px-4 py-2.5 md:grid-cols-[16rem_14rem_1fr]">
                    <dt className="font-mono text-[0.8125rem] break-all">{setting.name}</dt>
                    <dd className={`font-mono text-[0.8125rem] break-all ${isUnset(setting.value) ? "text-soft" : ""}`}>
                      {shownValue(setting.value)}
                    </dd>
                    <dd className="text-soft">{setting.description}</dd>
                  </div>
                ))}
              </dl>
            );
          }}
        </Loaded>
      </Card>
    </>
  );
}

const isUnset = (value: unknown) => value === null || value === undefined || (Array.isArray(value) && !value.length);

export function shownValue(value: unknown): string {
  if (value === null || value === undefined) return "not set";
  if (Array.isArray(value)) return value.length ? value.join(", ") : "none";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
