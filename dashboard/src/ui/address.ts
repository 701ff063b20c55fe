/** Filters that live in the address, so that every view can be sent to somebody. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import type { Filters } from "../router";

export function useFilters(): [Filters, (change: Filters) => void] {
  const filters = useSearch({ strict: false }) as Filters;
  const navigate = useNavigate();
  const set = useCallback(
    (change: Filters) => {
      void navigate({
        to: ".",
        replace: true,
        search: (before: Filters) =>
          Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, value]) => value)),
      } as never);
    },
    [navigate],
  );
  return [filters, set];
}
