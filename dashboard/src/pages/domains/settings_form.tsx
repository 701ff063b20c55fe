/** The crawl settings of a domain: those in force, where each comes from, and changes of the domain's own. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { Button, CONTROL, Loaded } from "../../ui/basic";
import { useToast } from "../../ui/dialog";
import { ProfileLink, SaveBar, SettingsForm, useSettingFields } from "../crawl_settings/form";
import { changesOf, type Edits, errorsOf, type SettingField, settingsOfDomain } from "../crawl_settings/values";
import { useProfile } from "../profiles/queries";
import { count } from "./turns";
import { useLookAgain } from "./verbs";

type Changes = Schemas["DomainChanges"];

export const useDomainSettings = (name: string) =>
  useQuery({
    queryKey: ["domain", name, "settings"],
    queryFn: () => ask(api.GET("/api/domains/{domain}/settings", { params: { path: { domain: name } } })),
    refetchInterval: 15_000,
  });

export function DomainSettings({ name }: { name: string }) {
  const fields = useSettingFields();
  const settings = useDomainSettings(name);
  return (
    <Loaded query={fields} lines={10}>
      {(known) => (
        <Loaded query={settings} lines={10}>
          {(data) => <Edited key={name} fields={known} effective={data} />}
        </Loaded>
      )}
    </Loaded>
  );
}

function Edited({ fields, effective }: { fields: SettingField[]; effective: Schemas["EffectiveSettings"] }) {
  const { name, profile } = effective;
  const settings = settingsOfDomain(fields, effective.settings);
  const isAdmin = useIsAdmin();
  const [edits, setEdits] = useState<Edits>({});
  const [reason, setReason] = useState("");
  const chosen = useProfile(profile).data?.settings ?? {};
  const { changes, errors } = changesOf(settings, edits);
  const lookAgain = useLookAgain();
  const toast = useToast();
  const changed = Object.keys(changes).length;
  const saving = useMutation({
    mutationFn: (body: Changes) =>
      ask(api.PATCH("/api/admin/domains/{domain}", { params: { path: { domain: name } }, body })),
    onSuccess: async (answer) => {
      const visits = [
        answer.planned && `${count(answer.planned, "visit")} scheduled`,
        answer.dropped && `${count(answer.dropped, "scheduled visit")} removed`,
      ]
        .filter(Boolean)
        .join(", ");
      toast(
        `${count(Object.keys(answer.changes).length, "setting")} of ${name} changed${visits ? `; ${visits}` : ""}.`,
      );
      await lookAgain(); // only then the edits are dropped, so that no field shows the old value in between
      setEdits({});
      setReason("");
    },
  });
  const needsReason = changes.obey_robots === false;
  const refused = errorsOf(saving.error);
  const isWrong = Object.keys(errors).length > 0;
  const edit = (next: Edits) => {
    setEdits(next);
    saving.reset();
  };
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (changed && !isWrong) saving.mutate({ ...changes, ...(needsReason ? { reason } : {}) } as Changes);
      }}
      noValidate
    >
      <p className="text-soft">
        {profile ? (
          <>
            This domain belongs to the profile <ProfileLink name={profile} className="text-brand underline" />. What is
            chosen here wins over the profile.
          </>
        ) : (
          "This domain belongs to no profile. What is chosen here wins over the defaults of the instance."
        )}
      </p>
      <SettingsForm
        settings={settings}
        edits={edits}
        onEdit={edit}
        errors={{ ...errors, ...refused }}
        own="domain"
        beneath={(field) => (field.name in chosen ? chosen[field.name] : field.default)}
        canEdit={isAdmin}
      />
      {isAdmin && (
        <SaveBar
          hasEdits={Object.keys(edits).length > 0}
          onUndo={() => edit({})}
          isBad={saving.isError || isWrong}
          status={
            saving.isError
              ? Object.keys(refused).length
                ? "Not saved: the marked settings cannot be taken."
                : saving.error.message
              : isWrong
                ? "The marked settings need another value."
                : changed
                  ? "Not saved yet."
                  : "Nothing is changed."
          }
        >
          {needsReason && (
            <label className="flex w-full flex-col gap-1">
              <span className="font-medium">Why is robots.txt not obeyed?</span>
              <input
                className={CONTROL}
                value={reason}
                maxLength={500}
                placeholder="we own this site"
                aria-invalid={refused.reason ? true : undefined}
                onChange={(event) => setReason(event.target.value)}
              />
              <span className={`text-xs ${refused.reason ? "text-bad" : "text-soft"}`}>
                {refused.reason ?? "Stored in the domain's history."}
              </span>
            </label>
          )}
          <Button
            kind="main"
            type="submit"
            isBusy={saving.isPending}
            disabled={!changed || isWrong || (needsReason && !reason.trim())}
          >
            {changed ? `Save ${count(changed, "change")}` : "Save changes"}
          </Button>
        </SaveBar>
      )}
    </form>
  );
}
