/** One profile: its settings, its domains, and what a change would do before it is saved. */
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { useAct } from "../../ui/act";
import { Button, Card, Empty, Loaded, PageHead, Time } from "../../ui/basic";
import { useConfirm } from "../../ui/dialog";
import { number } from "../../ui/format";
import { SaveBar, SettingsForm, useSettingFields } from "../crawl_settings/form";
import {
  changesOf,
  type Edits,
  errorsOf,
  mergeMembers,
  mergeSettings,
  readMembers,
  type SettingField,
  settingsOfProfile,
} from "../crawl_settings/values";
import { count } from "../domains/turns";
import { type Review, ReviewDialog } from "./difference";
import { MembersField } from "./members";
import { fetchProfile, useProfile } from "./queries";

type Profile = Schemas["ProfileDetails"];

export function ProfilePage() {
  const { profile: name = "" } = useParams({ strict: false }) as { profile?: string };
  const profile = useProfile(name);
  const fields = useSettingFields();
  if (profile.error instanceof ApiError && profile.error.status === 404)
    return (
      <>
        <PageHead title={name} />
        <Empty
          title="There is no profile of this name"
          action={
            <Link to="/profiles" className="text-brand hover:underline">
              To all profiles
            </Link>
          }
        >
          It may have been deleted.
        </Empty>
      </>
    );
  return (
    <Loaded query={profile} lines={10}>
      {(data) => (
        <>
          <Head profile={data} />
          <Loaded query={fields} lines={10}>
            {(known) => <Edited key={name} profile={data} fields={known} />}
          </Loaded>
        </>
      )}
    </Loaded>
  );
}

function Head({ profile }: { profile: Profile }) {
  const isAdmin = useIsAdmin();
  const confirm = useConfirm();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { act, isBusy } = useAct();
  const remove = async () => {
    const yes = await confirm({
      title: `Delete the profile ${profile.name}?`,
      text: `${count(profile.domains, "domain")} ${profile.domains === 1 ? "returns" : "return"} to the defaults. What was chosen for a single domain stays.`,
      verb: "Delete the profile",
      isDangerous: true,
    });
    if (!yes) return;
    const done = await act(
      () => ask(api.DELETE("/api/admin/profiles/{name}", { params: { path: { name: profile.name } } })),
      (gone) => `The profile ${gone.name} is deleted; ${count(gone.domains, "domain")} left it.`,
      ...SHOWING,
    );
    if (!done) return;
    await navigate({ to: "/profiles" });
    queries.removeQueries({ queryKey: ["profiles", profile.name] });
    void queries.invalidateQueries({ queryKey: ["profiles"] });
  };
  return (
    <PageHead
      title={profile.name}
      about={
        <>
          Profile of {count(profile.domains, "domain")}, changed <Time at={profile.updated_at} /> by{" "}
          {profile.updated_by}
        </>
      }
    >
      {isAdmin && (
        <Button isBusy={isBusy} onClick={() => void remove()}>
          Delete
        </Button>
      )}
    </PageHead>
  );
}

/** Queries that show settings of domains. */
const SHOWING = ["domain", "domains", "why"];

function Edited({ profile, fields }: { profile: Profile; fields: SettingField[] }) {
  const isAdmin = useIsAdmin();
  const queries = useQueryClient();
  const { act } = useAct();
  const [edits, setEdits] = useState<Edits>({});
  const [members, setMembers] = useState<string>();
  const [review, setReview] = useState<Review>();
  const [error, setError] = useState<Error>();
  const [isBusy, setIsBusy] = useState(false);
  const settings = settingsOfProfile(fields, profile.settings);
  const { changes, errors } = changesOf(settings, edits);
  const edited = members === undefined ? profile.members : readMembers(members);
  const isMoved = [...edited].sort().join() !== [...profile.members].sort().join();
  const isChanged = Object.keys(changes).length > 0 || isMoved;
  const refused = errorsOf(error);
  const isWrong = Object.keys(errors).length > 0;
  const undo = () => {
    setEdits({});
    setMembers(undefined);
    setError(undefined);
  };
  const send = (body: Review["body"], dry_run: boolean) =>
    ask(
      api.PUT("/api/admin/profiles/{name}", {
        params: { path: { name: profile.name } },
        body: { ...body, dry_run },
      }),
    );
  const show = async () => {
    setIsBusy(true);
    setError(undefined);
    try {
      const before = await fetchProfile(profile.name); // others may have changed it: only the edits here are applied
      const body = {
        settings: mergeSettings(before.settings, changes),
        domains: mergeMembers(profile.members, edited, before.members),
      };
      setReview({ body, difference: (await send(body, true)).change });
    } catch (caught) {
      setError(caught as Error);
    } finally {
      setIsBusy(false);
    }
  };
  const save = async ({ body }: Review) => {
    const done = await act(
      () => send(body, false),
      ({ domains }) =>
        `The profile ${profile.name} is saved${domains ? `; ${count(domains, "domain")} changed profile` : ""}.`,
      ...SHOWING,
    );
    if (done) {
      await queries.invalidateQueries({ queryKey: ["profiles"] });
      undo();
    }
    setReview(undefined);
  };
  return (
    <>
      <form
        className="flex flex-col gap-4"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isChanged && !isWrong) void show();
        }}
      >
        <div className="grid gap-4 lg:grid-cols-2">
          <Card title="Which domains belong to it">
            {isAdmin ? (
              <MembersField
                text={members ?? profile.members.join("\n")}
                onChange={(text) => {
                  setMembers(text);
                  setError(undefined);
                }}
                error={refused.domains}
              />
            ) : (
              <p className="font-mono break-words whitespace-pre-wrap">{profile.members.join("\n") || "none"}</p>
            )}
          </Card>
          <Domains profile={profile} />
        </div>
        <SettingsForm
          settings={settings}
          edits={edits}
          onEdit={(next) => {
            setEdits(next);
            setError(undefined);
          }}
          errors={{ ...errors, ...refused }}
          own="profile"
          beneath={(field) => field.default}
          canEdit={isAdmin}
        />
        {isAdmin && (
          <SaveBar
            hasEdits={Object.keys(edits).length > 0 || members !== undefined}
            onUndo={undo}
            isBad={error !== undefined || isWrong}
            status={
              error
                ? Object.keys(refused).length
                  ? "Not saved: what is marked cannot be taken."
                  : error.message.replace(/^body: /, "")
                : isWrong
                  ? "The marked settings need another value."
                  : isChanged
                    ? "Not saved yet."
                    : "Nothing is changed."
            }
          >
            <Button kind="main" type="submit" isBusy={isBusy} disabled={!isChanged || isWrong}>
              Show difference
            </Button>
          </SaveBar>
        )}
      </form>
      {review && <ReviewDialog review={review} onClose={() => setReview(undefined)} onSave={() => save(review)} />}
    </>
  );
}

const FIRST_DOMAINS = 30;

function Domains({ profile }: { profile: Profile }) {
  const [isAll, setIsAll] = useState(false);
  const names = isAll ? profile.domain_names : profile.domain_names.slice(0, FIRST_DOMAINS);
  const more = profile.domain_names.length - names.length;
  return (
    <Card title={`Its domains (${number(profile.domains)})`}>
      {names.length ? (
        <>
          <ul className="flex max-h-72 flex-wrap gap-x-4 gap-y-1.5 overflow-auto">
            {names.map((name) => (
              <li key={name} className="min-w-0 break-all">
                <Link
                  to="/domains/$domain"
                  params={{ domain: name } as never}
                  search={{ tab: "settings" } as never}
                  className="text-brand hover:underline"
                >
                  {name}
                </Link>
              </li>
            ))}
          </ul>
          {more > 0 && (
            <Button kind="quiet" className="mt-2 -ml-3" onClick={() => setIsAll(true)}>
              Show {number(more)} more
            </Button>
          )}
          {!more && profile.domains > names.length && (
            <p className="mt-2 text-xs text-soft">The first {number(names.length)} are shown.</p>
          )}
        </>
      ) : (
        <p className="text-soft">No known domain belongs to it yet.</p>
      )}
    </Card>
  );
}
