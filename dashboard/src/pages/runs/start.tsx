/** Ordering a crawl: addresses, how far to go, when to stop; tried first without doing anything. */
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, api, ask, type Schemas } from "../../api/client";
import { useAct } from "../../ui/act";
import { Button, Field } from "../../ui/basic";
import { Dialog } from "../../ui/dialog";
import { number } from "../../ui/format";
import { linesOf } from "./order";

type Scope = Schemas["Scope"];
const SCOPES: [Scope, string][] = [
  ["page", "Only these pages"],
  ["prefix", "What lies below these addresses"],
  ["host", "The same host"],
  ["domain", "The whole domain, with subdomains"],
  ["any", "Anywhere the links lead"],
];

export function StartRun({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const { act, isBusy } = useAct();
  const [text, setText] = useState("");
  const [scope, setScope] = useState<Scope>("host");
  const [limits, setLimits] = useState({ max_depth: "", max_pages: "", max_pages_per_domain: "", delay_s: "" });
  const [include, setInclude] = useState("");
  const [exclude, setExclude] = useState("");
  const [checked, setChecked] = useState<Schemas["Ordered"] | null>(null);
  const [trouble, setTrouble] = useState<string>();
  const urls = linesOf(text);

  const body = (dry_run: boolean) => ({
    urls,
    scope,
    include: linesOf(include),
    exclude: linesOf(exclude),
    max_depth: numberOf(limits.max_depth),
    max_pages: numberOf(limits.max_pages),
    max_pages_per_domain: numberOf(limits.max_pages_per_domain),
    delay_s: numberOf(limits.delay_s),
    dry_run,
  });
  const tryIt = async () => {
    setTrouble(undefined);
    setChecked(null);
    try {
      setChecked(await ask(api.POST("/api/admin/runs", { body: body(true) })));
    } catch (error) {
      setTrouble(error instanceof ApiError ? error.message : String(error));
    }
  };
  const start = async () => {
    const done = await act(
      () => ask(api.POST("/api/admin/runs", { body: body(false) })),
      (ordered) =>
        `Run ${ordered.run} begins with ${seedsOf(ordered.seeds.length)}${ordered.visited.length ? `, of which ${number(ordered.visited.length)} were read before and are not visited again` : ""}.`,
      "runs",
    );
    if (done?.run) void navigate({ to: "/runs/$run", params: { run: String(done.run) } } as never);
  };
  const limit = (name: keyof typeof limits, label: string, hint: string, step = "1", min = "1") => (
    <Field label={label} hint={hint}>
      {(given) => (
        <input
          {...given}
          type="number"
          min={min}
          step={step}
          value={limits[name]}
          onChange={(event) => {
            setLimits({ ...limits, [name]: event.target.value });
            setChecked(null);
          }}
        />
      )}
    </Field>
  );

  return (
    <Dialog
      title="Start a run"
      isWide
      onClose={onClose}
      footer={
        <>
          <Button disabled={!urls.length} onClick={() => void tryIt()}>
            Try it, without starting
          </Button>
          <Button kind="main" type="submit" form="start-run" disabled={!urls.length} isBusy={isBusy}>
            Start with {number(urls.length)} {urls.length === 1 ? "address" : "addresses"}
          </Button>
        </>
      }
    >
      <form
        id="start-run"
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <Field label="Addresses" hint="One per line." error={trouble}>
          {(given) => (
            <textarea
              {...given}
              required
              rows={5}
              className={`${given.className} py-2 font-mono`}
              placeholder="https://shop.example/"
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                setChecked(null);
                setTrouble(undefined);
              }}
            />
          )}
        </Field>
        <Field label="How far it may go">
          {(given) => (
            <select {...given} value={scope} onChange={(event) => setScope(event.target.value as Scope)}>
              {SCOPES.map(([key, words]) => (
                <option key={key} value={key}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          {limit("max_pages", "Pages at most", "Empty: no limit.")}
          {limit("max_pages_per_domain", "Pages of each domain at most", "Empty: no limit.")}
          {limit("max_depth", "Links from a seed at most", "Empty: as the settings say.", "1", "0")}
          {limit("delay_s", "Seconds between requests", "Empty: as each domain says.", "any", "0")}
        </div>
        <details>
          <summary className="text-soft">Patterns of addresses</summary>
          <div className="mt-3 grid gap-4 sm:grid-cols-2">
            <Field label="Only those like" hint="One pattern per line.">
              {(given) => (
                <textarea
                  {...given}
                  rows={3}
                  className={`${given.className} py-2 font-mono`}
                  value={include}
                  onChange={(event) => setInclude(event.target.value)}
                />
              )}
            </Field>
            <Field label="Not those like" hint="One pattern per line.">
              {(given) => (
                <textarea
                  {...given}
                  rows={3}
                  className={`${given.className} py-2 font-mono`}
                  value={exclude}
                  onChange={(event) => setExclude(event.target.value)}
                />
              )}
            </Field>
          </div>
        </details>
        {checked && <Foreseen order={checked} />}
      </form>
    </Dialog>
  );
}

/** What the run would do. A page that was read is not visited again by a run, so an order may come to nothing. */
function Foreseen({ order }: { order: Schemas["Ordered"] }) {
  const fresh = order.seeds.length - order.visited.length;
  const isEmpty = fresh === 0 && order.waiting === 0;
  const sentence = isEmpty
    ? "This run would visit nothing: every seed was read before, and nothing of their sites waits."
    : fresh
      ? `${seedsOf(fresh)} would be visited. Nothing was started.`
      : `Every seed was read before; ${number(order.waiting)} pages of their sites wait and would be visited. Nothing was started.`;
  return (
    <div
      role="status"
      className={`rounded-md p-3 ${isEmpty ? "bg-warn-ground text-warn" : "bg-good-ground text-good"}`}
    >
      <p className="font-medium">{sentence}</p>
      {order.visited.length > 0 && (
        <p className="mt-1">
          {seedsOf(order.visited.length)} of {number(order.seeds.length)} {order.visited.length === 1 ? "was" : "were"}{" "}
          read before and {order.visited.length === 1 ? "is" : "are"} not visited again by a run. To visit a page again,
          open it and choose “Visit it now”, or reset its domain.
        </p>
      )}
      <ul className="mt-1 max-h-32 overflow-auto text-xs">
        {order.seeds.slice(0, 50).map((seed) => (
          <li key={seed} className="break-all">
            {seed}
            {order.visited.includes(seed) && " (read before)"}
          </li>
        ))}
      </ul>
    </div>
  );
}

const seedsOf = (count: number) => `${number(count)} ${count === 1 ? "seed" : "seeds"}`;
const numberOf = (text: string) => (text.trim() === "" ? null : Number(text));
