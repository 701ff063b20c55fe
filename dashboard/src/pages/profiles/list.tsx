/** All profiles: named crawl settings for many domains. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { Button, Card, Empty, Field, PageHead, Time } from "../../ui/basic";
import { Dialog } from "../../ui/dialog";
import { number } from "../../ui/format";
import { type Column, List } from "../../ui/list";
import { ProfileLink } from "../crawl_settings/form";
import { errorsOf, readMembers, shortOf } from "../crawl_settings/values";
import { MembersField } from "./members";
import { useProfiles } from "./queries";

type Profile = Schemas["Profile"];

const inShort = (profile: Profile) =>
  Object.entries(profile.settings)
    .map(([name, value]) => `${name} ${shortOf(value)}`)
    .join(", ");

const COLUMNS: Column<Profile>[] = [
  {
    name: "name",
    width: "minmax(7rem,1fr)",
    cell: (profile) => <ProfileLink name={profile.name} className="font-medium text-brand hover:underline" />,
  },
  { name: "domains", width: "5.5rem", isNumber: true, cell: (profile) => number(profile.domains) },
  {
    name: "names and patterns",
    width: "minmax(9rem,1.5fr)",
    isWideOnly: true,
    cell: ({ members }) => (
      <span title={members.slice(0, 50).join("\n")}>{members.slice(0, 20).join(" ") || "none"}</span>
    ),
  },
  {
    name: "settings",
    width: "minmax(9rem,3fr)",
    cell: (profile) => <span title={inShort(profile)}>{inShort(profile) || "none"}</span>,
  },
  {
    name: "changed",
    width: "7.5rem",
    isWideOnly: true,
    cell: (profile) => (
      <span title={`by ${profile.updated_by}`}>
        <Time at={profile.updated_at} />
      </span>
    ),
  },
];

export function Profiles() {
  const navigate = useNavigate();
  const profiles = useProfiles();
  const isAdmin = useIsAdmin();
  const [isOpen, setIsOpen] = useState(false);
  const create = isAdmin && (
    <Button kind="main" onClick={() => setIsOpen(true)}>
      Create a profile
    </Button>
  );
  const open = (name: string) => void navigate({ to: "/profiles/$profile", params: { profile: name } } as never);
  return (
    <>
      <PageHead
        title="Profiles"
        about="Crawl settings for many domains. They win over the defaults; what is chosen for one domain wins over its profile."
      >
        {Boolean(profiles.data?.items.length) && create}
      </PageHead>
      <Card pad={false}>
        <List
          label="Profiles"
          rows={profiles.data?.items ?? []}
          columns={COLUMNS}
          keyOf={(profile) => profile.name}
          query={profiles}
          onOpen={(profile) => open(profile.name)}
          empty={
            <Empty title="There is no profile yet" action={create}>
              A profile gives the same pace, budget or scope to all the domains that it names.
            </Empty>
          }
        />
      </Card>
      {isOpen && <CreateDialog onClose={() => setIsOpen(false)} onCreated={open} />}
    </>
  );
}

function CreateDialog({ onClose, onCreated }: { onClose: () => void; onCreated: (name: string) => void }) {
  const [name, setName] = useState("");
  const [members, setMembers] = useState("");
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [isBusy, setIsBusy] = useState(false);
  const queries = useQueryClient();
  const save = (dry_run: boolean) =>
    ask(
      api.PUT("/api/admin/profiles/{name}", {
        params: { path: { name: name.trim() } },
        body: { settings: {}, domains: readMembers(members), dry_run },
      }),
    );
  const send = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    setErrors({});
    try {
      const { change } = await save(true); // saving would empty a profile that exists
      if (!change.is_new) return setErrors({ name: "There is a profile of this name already." });
      await save(false);
      await queries.invalidateQueries({ queryKey: ["profiles"] });
      onCreated(name.trim());
    } catch (error) {
      const found = errorsOf(error);
      const text = error instanceof Error ? error.message.replace(/^body: /, "") : String(error);
      setErrors(found.name || found.domains ? found : { domains: text });
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Dialog title="Create a profile" onClose={onClose}>
      <form className="flex flex-col gap-4" onSubmit={(event) => void send(event)} noValidate>
        <Field label="Name" hint="Small letters, digits, dots, dashes and underscores." error={errors.name}>
          {(given) => (
            <input
              {...given}
              value={name}
              maxLength={63}
              autoComplete="off"
              spellCheck={false}
              placeholder="shops"
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <MembersField text={members} onChange={setMembers} error={errors.domains} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" type="submit" isBusy={isBusy} disabled={!name.trim()}>
            Create the profile
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
