import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client";
import { router } from "./router";
import "./styles.css";
import { Dialogs } from "./ui/dialog";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      // What the server refused it will refuse again; what was lost on the way may come the second time.
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});

const root = document.getElementById("root");
if (!root) throw new Error("The page has no place for the dashboard.");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Dialogs>
        <RouterProvider router={router} />
      </Dialogs>
    </QueryClientProvider>
  </StrictMode>,
);
