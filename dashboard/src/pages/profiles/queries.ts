/** Profiles as the API gives them. */
import { useQuery } from "@tanstack/react-query";
import { api, ask } from "../../api/client";

export const fetchProfile = (name: string) => ask(api.GET("/api/profiles/{name}", { params: { path: { name } } }));

export const useProfiles = () =>
  useQuery({
    queryKey: ["profiles"],
    queryFn: () => ask(api.GET("/api/profiles")),
    refetchInterval: 15_000,
  });

export const useProfile = (name: string | null) =>
  useQuery({
    queryKey: ["profiles", name],
    queryFn: () => fetchProfile(name ?? ""),
    enabled: name !== null,
    refetchInterval: 15_000,
  });
