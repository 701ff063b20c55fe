/** Proxies are added, looked at, changed, switched and deleted here. Passwords go in and never come back. */
import { type FormEvent, useState } from "react";
import { ApiError, api, ask } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { Badge, Button, Facts, Field, Time } from "../../ui/basic";
import { Dialog, useConfirm, useToast } from "../../ui/dialog";
import { duration, money, number, percent } from "../../ui/format";
import { count, inTurn, sayTurns } from "../domains/turns";
import { useDeed, useLookAgain } from "../domains/verbs";
import {
  addressesIn,
  addressOf,
  type FactErrors,
  type FactsForm,
  factsOf,
  healthOf,
  TONES,
  wrongFacts,
} from "./health";
import type { Proxy as ListedProxy } from "./list";

const EMPTY: FactsForm = {
  country: "",
  city: "",
  provider: "",
  monthly_cost: "",
  max_requests_per_hour: "",
  is_forwarding: false,
};

function FactFields({ form, set, errors }: { form: FactsForm; set: (form: FactsForm) => void; errors: FactErrors }) {
  const text = (
    name: Exclude<keyof FactsForm, "is_forwarding">,
    label: string,
    hint?: string,
    extra: { maxLength?: number; inputMode?: "decimal" } = {},
  ) => (
    <Field label={label} hint={hint} error={errors[name]}>
      {(given) => (
        <input
          {...given}
          {...extra}
          value={form[name]}
          onChange={(event) => set({ ...form, [name]: event.target.value })}
        />
      )}
    </Field>
  );
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {text("country", "Country", "Two letters, such as DE.", { maxLength: 2 })}
      {text("city", "City", undefined, { maxLength: 100 })}
      {text("provider", "Provider", undefined, { maxLength: 100 })}
      {text("monthly_cost", "Cost a month", "In whatever money you count.", { inputMode: "decimal" })}
      {text("max_requests_per_hour", "Requests an hour at most", undefined, { inputMode: "decimal" })}
      <label className="flex items-start gap-2 self-center">
        <input
          type="checkbox"
          className="mt-1"
          checked={form.is_forwarding}
          onChange={(event) => set({ ...form, is_forwarding: event.target.checked })}
        />
        <span>
          It forwards plain http requests <span className="text-soft">instead of opening a tunnel</span>
        </span>
      </label>
    </div>
  );
}

export function AddDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [form, setForm] = useState(EMPTY);
  const [refusal, setRefusal] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const toast = useToast();
  const lookAgain = useLookAgain();
  const urls = addressesIn(text);
  const errors = wrongFacts(form);
  const isWrong = Object.keys(errors).length > 0;
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (!urls.length || isWrong) return;
    setIsBusy(true);
    try {
      const { proxies } = await ask(api.POST("/api/admin/proxies", { body: { urls, ...factsOf(form) } }));
      const fresh = proxies.filter((proxy) => proxy.is_new).length;
      toast(
        `${count(fresh, "proxy", "proxies")} added${fresh < proxies.length ? `, ${number(proxies.length - fresh)} known already` : ""}.`,
      );
      await lookAgain();
      onClose();
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error));
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Dialog title="Add proxies" onClose={onClose} isWide>
      <form className="flex flex-col gap-4" onSubmit={(event) => void send(event)}>
        <Field
          label="Addresses"
          hint="One on each line; all of them are added, or none. Passwords are kept encrypted and never shown."
          error={refusal}
        >
          {(given) => (
            <textarea
              {...given}
              className={`${given.className} py-2 font-mono`}
              rows={4}
              required
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                setRefusal(undefined);
              }}
              placeholder={"http://user:password@proxy.example:3128\nsocks5://proxy.example:1080"}
              spellCheck={false}
              autoComplete="off"
            />
          )}
        </Field>
        <FactFields form={form} set={setForm} errors={errors} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button kind="main" type="submit" isBusy={isBusy} disabled={!urls.length || isWrong}>
            Add {count(urls.length, "proxy", "proxies")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function ProxyDialog({ proxy, onClose }: { proxy: ListedProxy; onClose: () => void }) {
  const isAdmin = useIsAdmin();
  const [isEditing, setIsEditing] = useState(false);
  const { act, isBusy } = useDeed();
  const remove = useRemove();
  const params = { params: { path: { proxy: proxy.id } } };
  const turn = () =>
    proxy.is_active
      ? act(
          () => ask(api.POST("/api/admin/proxies/{proxy}/disable", params)),
          () => "It is not used until somebody enables it.",
        )
      : act(
          () => ask(api.POST("/api/admin/proxies/{proxy}/enable", params)),
          () => "It is used again, and its failures are forgotten.",
        );
  const probe = () =>
    act(
      () => ask(api.POST("/api/proxies/{proxy}/probe", params)),
      (probed) => (probed.works ? "It works." : `It does not work: ${probed.error}`),
    );
  const share = () =>
    act(
      () => ask(api.PATCH("/api/admin/proxies/{proxy}", { ...params, body: { is_default: !proxy.is_default } })),
      (row) =>
        row.is_default ? "It serves all domains without a pool." : "It serves only domains that it is assigned to.",
    );
  if (isEditing) return <EditDialog proxy={proxy} onClose={() => setIsEditing(false)} />;
  return (
    <Dialog
      title={`Proxy ${proxy.id}`}
      onClose={onClose}
      footer={
        isAdmin && (
          <>
            <Button onClick={() => void remove([proxy]).then((isDone) => isDone && onClose())}>Delete</Button>
            <Button isBusy={isBusy} onClick={() => void turn()}>
              {proxy.is_active ? "Disable" : "Enable"}
            </Button>
            <Button isBusy={isBusy} onClick={() => void probe()}>
              Try it now
            </Button>
            <Button isBusy={isBusy} onClick={() => void share()}>
              {proxy.is_default ? "Leave the default pool" : "To the default pool"}
            </Button>
            <Button kind="main" onClick={() => setIsEditing(true)}>
              Edit
            </Button>
          </>
        )
      }
    >
      <Facts
        of={[
          ["Address", <span className="break-all">{addressOf(proxy)}</span>],
          ["Password", proxy.has_password ? "kept, encrypted" : "none"],
          ["Health", <Badge tone={TONES[healthOf(proxy)]}>{healthOf(proxy)}</Badge>],
          [
            "Requests",
            `${number(proxy.successes)} good, ${number(proxy.failures)} failed (${percent(proxy.success_rate_percent === null ? null : proxy.success_rate_percent / 100)} good)`,
          ],
          ["Failures in a row", number(proxy.consecutive_failures)],
          ["Answers in", duration(proxy.avg_response_time_ms === null ? null : proxy.avg_response_time_ms / 1000)],
          [
            "This hour",
            `${number(proxy.hour_requests)} of ${proxy.max_requests_per_hour === null ? "any number" : number(proxy.max_requests_per_hour)}`,
          ],
          ["Place", [proxy.city, proxy.country_code].filter(Boolean).join(", ") || "–"],
          ["Provider", proxy.provider ?? "–"],
          ["Cost a month", money(proxy.monthly_cost, null)],
          ["Plain http", proxy.is_forwarding ? "forwarded" : "through a tunnel"],
          ["Default pool", proxy.is_default ? "serves all domains without a pool" : "no"],
          ["In pools of", count(proxy.domains, "domain")],
          ["Last success", <Time at={proxy.last_success_at} empty="never" />],
          ["Last failure", <Time at={proxy.last_failure_at} empty="never" />],
          ["Last error", proxy.last_error ?? "none"],
          ["Probed again", <Time at={proxy.probe_at} />],
          ["Added", <Time at={proxy.created_at} isExact />],
        ]}
      />
    </Dialog>
  );
}

function EditDialog({ proxy, onClose }: { proxy: ListedProxy; onClose: () => void }) {
  const [form, setForm] = useState<FactsForm>({
    country: proxy.country_code ?? "",
    city: proxy.city ?? "",
    provider: proxy.provider ?? "",
    monthly_cost: proxy.monthly_cost?.toString() ?? "",
    max_requests_per_hour: proxy.max_requests_per_hour?.toString() ?? "",
    is_forwarding: proxy.is_forwarding,
  });
  const [password, setPassword] = useState("");
  const { act, isBusy } = useDeed();
  const errors = wrongFacts(form);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    const done = await act(
      () =>
        ask(
          api.PATCH("/api/admin/proxies/{proxy}", {
            params: { path: { proxy: proxy.id } },
            body: { ...factsOf(form), ...(password ? { password } : {}) },
          }),
        ),
      () => `${addressOf(proxy)} is changed.`,
    );
    if (done) onClose();
  };
  return (
    <Dialog title={`Edit ${addressOf(proxy)}`} onClose={onClose} isWide>
      <form className="flex flex-col gap-4" onSubmit={(event) => void send(event)}>
        <FactFields form={form} set={setForm} errors={errors} />
        <Field
          label="New password"
          hint={`An empty field changes nothing.${proxy.username ? "" : " The address has no user name."}`}
        >
          {(given) => (
            <input
              {...given}
              type="password"
              autoComplete="new-password"
              maxLength={255}
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          )}
        </Field>
        <p className="text-xs text-soft">A field that is emptied keeps what it had.</p>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button kind="main" type="submit" isBusy={isBusy} disabled={Object.keys(errors).length > 0}>
            Save the proxy
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Deletes after a question; where a domain would then be asked directly, the server refuses and a second question says so. */
export function useRemove() {
  const confirm = useConfirm();
  const toast = useToast();
  const lookAgain = useLookAgain();
  const removeOne = (id: number, force: boolean) =>
    ask(api.DELETE("/api/admin/proxies/{proxy}", { params: { path: { proxy: id }, query: { force } } }));
  return async (proxies: ListedProxy[]): Promise<boolean> => {
    const many = count(proxies.length, "proxy", "proxies");
    const first = proxies[0];
    if (!first) return false;
    const yes = await confirm({
      title: `Delete ${many}?`,
      text:
        proxies.length === 1
          ? `${addressOf(first)} and its numbers are forgotten. The history of visits keeps its number.`
          : `${many} and their numbers are forgotten. The history of visits keeps their numbers.`,
      verb: `Delete ${many}`,
      isDangerous: true,
    });
    if (!yes) return false;
    const byName = new Map(proxies.map((proxy) => [addressOf(proxy), proxy.id]));
    const held: string[] = [];
    let refusal = "";
    const turns = await inTurn(
      [...byName.keys()],
      (name) =>
        removeOne(byName.get(name) ?? 0, false).catch((error: unknown) => {
          if (!(error instanceof ApiError && error.status === 409)) throw error;
          held.push(name);
          refusal = error.message;
          throw error;
        }),
      () => {},
    );
    if (held.length) {
      const sure = await confirm({
        title: `Delete ${count(held.length, "proxy", "proxies")} anyway?`,
        text: refusal,
        verb: `Delete ${count(held.length, "proxy", "proxies")} anyway`,
        isDangerous: true,
      });
      if (sure) {
        const again = await inTurn(
          held,
          (name) => removeOne(byName.get(name) ?? 0, true),
          () => {},
        );
        turns.failed = [...turns.failed.filter((each) => !held.includes(each.name)), ...again.failed];
        turns.done.push(...again.done);
      }
    }
    toast(sayTurns(turns, "deleted", "proxy", "proxies"), turns.failed.length ? "bad" : "good");
    await lookAgain();
    return turns.failed.length === 0;
  };
}
