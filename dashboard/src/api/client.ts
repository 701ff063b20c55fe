/** The API, typed by its own description. Errors carry the sentence the server wrote for a person. */
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
export type Problem = Schemas["Problem"];

export class ApiError extends Error {
  readonly status: number;
  readonly problem: Partial<Problem>;
  constructor(status: number, problem: Partial<Problem>) {
    super(sentenceOf(status, problem));
    this.status = status;
    this.problem = problem;
  }
}

function sentenceOf(status: number, problem: Partial<Problem>): string {
  if (problem.errors?.length) {
    return problem.errors.map((trouble) => `${trouble.where}: ${trouble.what}`).join("; ");
  }
  return problem.detail ?? problem.title ?? `The server answered ${status}.`;
}

let csrf = "";
let onSignedOut: () => void = () => {};

/** What every change is sent with; it comes with the session. */
export const setCsrf = (token: string | null | undefined) => {
  csrf = token ?? "";
};
export const whenSignedOut = (act: () => void) => {
  onSignedOut = act;
};

const guard: Middleware = {
  onRequest({ request }) {
    if (request.method !== "GET" && csrf) request.headers.set("X-CSRF-Token", csrf);
    return request;
  },
  onResponse({ response, request }) {
    if (response.status === 401 && !request.url.includes("/api/auth/")) onSignedOut();
    return response;
  },
};

export const api = createClient<paths>({ baseUrl: "", credentials: "same-origin" });
api.use(guard);

/** The data of an answer, or an error with one sentence. */
export async function ask<T>(asked: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  let answer: { data?: T; error?: unknown; response: Response };
  try {
    answer = await asked;
  } catch {
    throw new ApiError(0, { detail: "Forager does not answer. Is it running?" });
  }
  if (!answer.response.ok) throw new ApiError(answer.response.status, (answer.error ?? {}) as Partial<Problem>);
  return answer.data as T;
}
