/** One thing after the other, for verbs the API has only for one: how far it is, and what came of it. Pure but for the verb. */

export interface Turns {
  done: string[];
  failed: { name: string; why: string }[];
}

export async function inTurn(
  names: string[],
  act: (name: string) => Promise<unknown>,
  progress: (done: number) => void,
): Promise<Turns> {
  const turns: Turns = { done: [], failed: [] };
  for (const [index, name] of names.entries()) {
    progress(index);
    try {
      await act(name);
      turns.done.push(name);
    } catch (error) {
      turns.failed.push({ name, why: error instanceof Error ? error.message : String(error) });
    }
  }
  return turns;
}

/** Many in one request, at most so many each: what the server told of each, and of those in a request that failed, why. */
export async function inParts(
  names: string[],
  most: number,
  send: (part: string[]) => Promise<readonly { name: string; is_done: boolean; message: string }[]>,
  progress: (done: number) => void,
): Promise<Turns> {
  const turns: Turns = { done: [], failed: [] };
  for (let begin = 0; begin < names.length; begin += most) {
    progress(begin);
    const part = names.slice(begin, begin + most);
    try {
      for (const told of await send(part)) {
        if (told.is_done) turns.done.push(told.name);
        else turns.failed.push({ name: told.name, why: told.message });
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      turns.failed.push(...part.map((name) => ({ name, why })));
    }
  }
  return turns;
}

export const count = (amount: number, one: string, many = `${one}s`) =>
  `${amount.toLocaleString("en")} ${amount === 1 ? one : many}`;

/** `3 domains paused`, `2 domains paused; 1 failed: shop.example: …`. */
export function sayTurns(turns: Turns, past: string, one: string, many?: string): string {
  const first = turns.failed[0];
  const done = `${count(turns.done.length, one, many)} ${past}`;
  return first
    ? `${done}; ${turns.failed.length.toLocaleString("en")} failed: ${first.name}: ${first.why}`
    : `${done}.`;
}
