/** Crawl settings as a form: every setting with its value in force, where that comes from, and a control to change it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { api, ask } from "../../api/client";
import { Badge, Button, Card, CONTROL, Empty } from "../../ui/basic";
import { Again, Search } from "../../ui/icons";
import {
  type Edits,
  type FieldErrors,
  groupsOf,
  HIDDEN,
  isFound,
  type Setting,
  type SettingField,
  shortOf,
  textOf,
} from "./values";

/** What can be set. It changes only with the instance's own settings. */
export const useSettingFields = () =>
  useQuery({
    queryKey: ["crawl-settings"],
    queryFn: () => ask(api.GET("/api/crawl-settings")),
    staleTime: 300_000,
    select: (answer) => answer.items,
  });

export const ProfileLink = ({ name, className }: { name: string; className: string }) => (
  <Link to="/profiles/$profile" params={{ profile: name } as never} className={className}>
    {name}
  </Link>
);

interface FormProps {
  settings: Setting[];
  edits: Edits;
  onEdit: (edits: Edits) => void;
  errors: FieldErrors;
  /** The layer that is edited: values that come from it can be taken back. */
  own: "domain" | "profile";
  /** The value in force when the own one is taken back. */
  beneath: (field: SettingField) => unknown;
  canEdit: boolean;
}

export function SettingsForm({ settings, edits, onEdit, errors, own, beneath, canEdit }: FormProps) {
  const [search, setSearch] = useState("");
  const [onlyChosen, setOnlyChosen] = useState(false);
  const form = useRef<HTMLDivElement>(null);
  const wrong = Object.keys(errors).join();
  useEffect(() => {
    if (wrong) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.scrollIntoView({ block: "center" });
  }, [wrong]);
  const shown = settings.filter(
    ({ field, origin }) =>
      errors[field.name] || ((!onlyChosen || origin !== "default" || field.name in edits) && isFound(field, search)),
  );
  const chosen = settings.filter(({ origin }) => origin !== "default").length;
  const set = (name: string, edit: string | null | undefined) => {
    const { [name]: _, ...others } = edits;
    onEdit(edit === undefined ? others : { ...others, [name]: edit });
  };
  return (
    <div ref={form} className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="relative min-w-0 flex-1 sm:max-w-xs">
          <Search className="pointer-events-none absolute top-2.5 left-2.5 size-4 text-soft" />
          <input
            type="search"
            aria-label="Find a setting"
            placeholder="Find a setting"
            className={`${CONTROL} pl-8`}
            value={search}
            onChange={(event) => setSearch(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter") event.preventDefault(); // it would save
            }}
          />
        </div>
        <label className="flex min-h-9 items-center gap-2">
          <input type="checkbox" checked={onlyChosen} onChange={(event) => setOnlyChosen(event.target.checked)} />
          Only chosen values <span className="text-soft">({chosen})</span>
        </label>
      </div>
      {!shown.length && (
        <Empty title={search ? "No setting has these words" : "Nothing is chosen"}>
          {search ? "Try fewer words." : "All settings have their defaults."}
        </Empty>
      )}
      <div className="gap-4 xl:columns-2">
        {groupsOf(shown).map(([title, group]) => (
          <Card key={title} title={title} pad={false} className="mb-4 break-inside-avoid">
            <div className="divide-y divide-line">
              {group.map((setting) => (
                <Row
                  key={setting.field.name}
                  setting={setting}
                  edit={edits[setting.field.name]}
                  onEdit={(edit) => set(setting.field.name, edit)}
                  error={errors[setting.field.name]}
                  own={own}
                  beneath={beneath(setting.field)}
                  canEdit={canEdit}
                />
              ))}
            </div>
          </Card>
        ))}
      </div>
    </div>
  );
}

interface RowProps {
  setting: Setting;
  edit: string | null | undefined;
  /** Undefined: the edit is undone. */
  onEdit: (edit: string | null | undefined) => void;
  error: string | undefined;
  own: "domain" | "profile";
  beneath: unknown;
  canEdit: boolean;
}

function Row({ setting, edit, onEdit, error, own, beneath, canEdit }: RowProps) {
  const id = useId();
  const { field, value, origin } = setting;
  const isTakenBack = edit === null;
  const text = edit ?? textOf(field, isTakenBack ? beneath : value);
  return (
    <div data-setting={field.name} className="grid gap-x-4 gap-y-2 px-4 py-3 sm:grid-cols-2">
      <div className="min-w-0">
        <label htmlFor={canEdit ? id : undefined} className="font-mono text-sm font-medium break-words">
          {field.name}
        </label>
        <p id={`${id}-about`} className="mt-0.5 text-xs text-soft">
          <Marked text={field.description} />
        </p>
      </div>
      <div className="flex min-w-0 flex-col gap-1.5">
        {canEdit ? (
          <Control
            id={id}
            field={field}
            text={text}
            isSet={field.is_secret && (isTakenBack ? beneath : value) !== null}
            onChange={onEdit}
            disabled={isTakenBack}
            isWrong={Boolean(error)}
          />
        ) : (
          <span className="break-words whitespace-pre-wrap">
            {Array.isArray(value) && value.length ? value.join("\n") : shortOf(value)}
          </span>
        )}
        {error && (
          <p id={`${id}-error`} className="text-xs text-bad">
            {error}
          </p>
        )}
        <div className="flex min-h-6 flex-wrap items-center gap-x-2 gap-y-1 text-xs">
          {edit === undefined ? (
            <Origin of={origin} />
          ) : (
            <Badge tone="warn">{isTakenBack ? "taken back, not saved yet" : "not saved yet"}</Badge>
          )}
          {canEdit && (edit !== undefined || origin === own) && (
            <button
              type="button"
              className="inline-flex min-h-6 items-center gap-1 rounded px-1 text-brand hover:underline"
              aria-label={`${edit === undefined ? "Take back" : "Undo"} ${field.name}`}
              title={edit === undefined ? `Returns to ${shortOf(beneath)}` : undefined}
              onClick={() => onEdit(edit === undefined ? null : undefined)}
            >
              <Again className="size-3" /> {edit === undefined ? "Take back" : "Undo"}
            </button>
          )}
        </div>
      </div>
    </div>
  );
}

export function Origin({ of }: { of: string }) {
  const profile = /^profile (.+)$/.exec(of)?.[1];
  if (profile)
    return (
      <Badge tone="good">
        profile <ProfileLink name={profile} className="underline" />
      </Badge>
    );
  return <Badge tone={of === "default" ? "plain" : "info"}>{of}</Badge>;
}

/** Text in which `names` are marked. */
const Marked = ({ text }: { text: string }) =>
  text
    .split("`")
    .map((part, index) => (
      <Fragment key={index}>{index % 2 ? <code className="text-ink">{part}</code> : part}</Fragment>
    ));

interface ControlProps {
  id: string;
  field: SettingField;
  text: string;
  /** A secret is stored that is not shown. */
  isSet: boolean;
  onChange: (text: string) => void;
  disabled: boolean;
  isWrong: boolean;
}

const FLAGS = [
  ["true", "on"],
  ["false", "off"],
] as const;

function Control({ id, field, text, isSet, onChange, disabled, isWrong }: ControlProps) {
  const given = {
    id,
    disabled,
    value: text,
    "aria-invalid": isWrong || undefined,
    "aria-describedby": `${id}-about${isWrong ? ` ${id}-error` : ""}`,
    className: `${CONTROL} disabled:opacity-60 ${isWrong ? "!border-bad" : ""}`,
  };
  if (field.kind === "flag" || field.kind === "choice") {
    const choices = field.kind === "flag" ? FLAGS : field.choices.map((choice) => [choice, choice] as const);
    return (
      <select {...given} onChange={(event) => onChange(event.target.value)}>
        {field.may_be_none && <option value="">none</option>}
        {choices.map(([value, shown]) => (
          <option key={value} value={value}>
            {shown}
          </option>
        ))}
      </select>
    );
  }
  if (field.kind === "list" || field.kind === "mapping")
    return (
      <textarea
        {...given}
        className={`${given.className} py-1.5 font-mono`}
        rows={Math.min(Math.max(text.split("\n").length, 1), 8)}
        placeholder={field.kind === "list" ? "none; one on each line" : "none; Name: value"}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
      />
    );
  return (
    <input
      {...given}
      type={field.is_secret ? "password" : "text"}
      inputMode={field.kind === "number" ? "decimal" : undefined}
      autoComplete={field.is_secret ? "new-password" : "off"}
      spellCheck={false}
      placeholder={isSet ? HIDDEN : field.kind === "duration" && !field.may_be_none ? "such as 2s" : "none"}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** Below a form: what is not saved yet, and the buttons for it. */
export function SaveBar({
  children,
  status,
  isBad,
  onUndo,
  hasEdits,
}: {
  children: ReactNode;
  status: string;
  isBad: boolean;
  onUndo: () => void;
  hasEdits: boolean;
}) {
  return (
    <div className="sticky bottom-0 z-10 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-line bg-surface px-4 py-3">
      {children}
      <Button kind="quiet" disabled={!hasEdits} onClick={onUndo}>
        Undo all
      </Button>
      <p role="status" className={`min-w-0 break-words ${isBad ? "text-bad" : "text-soft"}`}>
        {status}
      </p>
    </div>
  );
}
