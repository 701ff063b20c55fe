/** Trying again what failed for good: first how much that is, then the question, then the deed. */
import { api, ask } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { useAct } from "../../ui/act";
import { Button } from "../../ui/basic";
import { useConfirm, useToast } from "../../ui/dialog";
import { number } from "../../ui/format";
import { ALL_S } from "./words";

const MOST = 10_000;

export function Redrive({
  fingerprint,
  since_s = ALL_S,
  text,
}: {
  fingerprint?: string;
  since_s?: number;
  text: string;
}) {
  const isAdmin = useIsAdmin();
  const confirm = useConfirm();
  const toast = useToast();
  const { act, isBusy } = useAct();
  if (!isAdmin) return null;
  const order = (dry_run: boolean) =>
    ask(
      api.POST("/api/admin/errors/redrive", {
        body: { fingerprint: fingerprint ?? null, since_s, limit: MOST, dry_run },
      }),
    );
  const redrive = async () => {
    const wouldBe = await order(true).catch((error: unknown) => {
      toast(error instanceof Error ? error.message : String(error), "bad");
      return null;
    });
    if (!wouldBe) return;
    if (!wouldBe.count)
      return toast("Nothing is left to try again: every page of these was visited since, or waits for a visit.");
    const things = `${number(wouldBe.count)} ${wouldBe.count === 1 ? "thing" : "things"}`;
    const yes = await confirm({
      title: `Try ${things} again?`,
      text: `${things} that failed ${fingerprint ? "with this problem" : "for good"} ${wouldBe.count === 1 ? "is" : "are"} tried again, pages by new tasks. Do it when the cause is gone, else they fail once more.`,
      verb: `Try ${things} again`,
    });
    if (yes)
      await act(
        () => order(false),
        (done) => `${number(done.count)} ${done.count === 1 ? "is" : "are"} tried again.`,
        "errors",
        "error",
        "dead",
        "error-counts",
        "tasks",
      );
  };
  return (
    <Button isBusy={isBusy} onClick={() => void redrive()}>
      {text}
    </Button>
  );
}
