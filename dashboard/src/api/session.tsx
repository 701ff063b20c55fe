/** Who is signed in, and what they may do. What is shown follows from it; what is possible the server decides. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect } from "react";
import { ApiError, api, ask, type Schemas, setCsrf, whenSignedOut } from "./client";

export type Me = Schemas["Me"];
const Session = createContext<Me | null>(null);

export const useMe = () => useContext(Session);
/** Whether changes may be offered. */
export const useIsAdmin = () => useContext(Session)?.role === "admin";

export async function fetchMe(): Promise<Me | null> {
  try {
    const me = await ask(api.GET("/api/auth/me"));
    setCsrf(me.csrf_token);
    return me;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

export function SessionProvider({
  children,
}: {
  children: (me: Me | null, state: "pending" | "error" | "done", again: () => void) => ReactNode;
}) {
  const queries = useQueryClient();
  const me = useQuery({
    queryKey: ["me"],
    queryFn: fetchMe,
    staleTime: 60_000,
    retry: 1,
    refetchInterval: (query) => (query.state.status === "error" ? 3_000 : false),
  });
  useEffect(() => whenSignedOut(() => queries.setQueryData(["me"], null)), [queries]);
  const state = me.isPending ? "pending" : me.isError ? "error" : "done";
  return (
    <Session.Provider value={me.data ?? null}>
      {children(me.data ?? null, state, () => void me.refetch())}
    </Session.Provider>
  );
}
