/** Links that would never end: what was found, what is suspected, and letting them through after all. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { Badge, Button, Card, Empty, Facts, Loaded, Time, WebLink } from "../../ui/basic";
import { useConfirm } from "../../ui/dialog";
import { number, words } from "../../ui/format";
import { count } from "./turns";
import { useDeed } from "./verbs";

type Trap = Schemas["Trap"];

export function Traps({ name }: { name: string }) {
  const traps = useQuery({
    queryKey: ["domain", name, "traps"],
    queryFn: () => ask(api.GET("/api/domains/{domain}/traps", { params: { path: { domain: name } } })),
    refetchInterval: 10_000,
  });
  return (
    <Loaded query={traps} lines={8}>
      {(data) =>
        data.items.length ? (
          <div className="grid gap-4 lg:grid-cols-2">
            {data.items.map((trap) => (
              <TrapCard key={trap.id} trap={trap} name={name} />
            ))}
          </div>
        ) : (
          <Card>
            <Empty title="No trap was met">
              Calendars without end, session numbers in links, paths that repeat: when links would never end, they are
              left out and named here.
            </Empty>
          </Card>
        )
      }
    </Loaded>
  );
}

function TrapCard({ trap, name }: { trap: Trap; name: string }) {
  const isAdmin = useIsAdmin();
  const confirm = useConfirm();
  const { act, isBusy } = useDeed();
  const isShut = trap.found_at !== null && trap.released_at === null;
  const release = async () => {
    const yes = await confirm({
      title: "Take these links after all?",
      text: (
        <>
          Links of the trap “{words(trap.rule)}” on {name} are followed from now on, though they may never end.{" "}
          {count(trap.links, "link")} and {count(trap.pages_left_out, "page")} were left out so far.
        </>
      ),
      verb: "Release the trap",
      isDangerous: true,
    });
    if (yes)
      await act(
        () =>
          ask(
            api.POST("/api/admin/domains/{domain}/traps/{trap}/release", {
              params: { path: { domain: name, trap: trap.id } },
            }),
          ),
        (answer) => `The trap is released; ${count(answer.pages, "page")} wait to be visited.`,
      );
  };
  return (
    <Card
      title={<span className="inline-block first-letter:uppercase">{words(trap.rule)}</span>}
      action={
        <span className="flex items-center gap-2">
          {trap.released_at ? (
            <Badge>released</Badge>
          ) : isShut ? (
            <Badge tone="bad">links left out</Badge>
          ) : (
            <Badge tone="warn">suspected</Badge>
          )}
          {isAdmin && isShut && (
            <Button isBusy={isBusy} onClick={() => void release()}>
              Release
            </Button>
          )}
        </span>
      }
    >
      <Facts
        of={[
          [
            "Shape",
            trap.template ? (
              <span className="font-mono text-xs break-all">{trap.template}</span>
            ) : (
              "any page of the domain"
            ),
          ],
          ["Example", <WebLink url={trap.example} />],
          ["Pages taken", number(trap.pages)],
          ["Links left out", number(trap.links)],
          ["Pages left out", number(trap.pages_left_out)],
          ["Noticed", <Time at={trap.noticed_at} />],
          ["Sure since", <Time at={trap.found_at} empty="only suspected, its links are still followed" />],
          ...(trap.released_at
            ? [
                [
                  "Released",
                  <>
                    <Time at={trap.released_at} /> by {trap.released_by}
                  </>,
                ] as [string, ReactNode],
              ]
            : []),
        ]}
      />
    </Card>
  );
}
