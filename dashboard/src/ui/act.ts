/** Doing something on the server: one note of what came of it, and everything that shows it asks again. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { useToast } from "./dialog";

/** `await act(() => ask(…), (done) => "Paused.", "tasks")`: null when it was refused; the sentence of the server is shown then. */
export function useAct() {
  const toast = useToast();
  const queries = useQueryClient();
  const [isBusy, setIsBusy] = useState(false);
  const act = useCallback(
    async <T>(deed: () => Promise<T>, said: (done: T) => string, ...keys: string[]): Promise<T | null> => {
      setIsBusy(true);
      try {
        const done = await deed();
        toast(said(done));
        for (const key of keys) void queries.invalidateQueries({ queryKey: [key] });
        return done;
      } catch (error) {
        toast(error instanceof Error ? error.message : String(error), "bad");
        return null;
      } finally {
        setIsBusy(false);
      }
    },
    [queries, toast],
  );
  return { act, isBusy };
}
