/** What a row of a domain's history tells. Pure. */
import type { Schemas } from "../../api/client";

type Move = Pick<Schemas["Move"], "from_status" | "to_status" | "is_active">;

/** A row without a move of state is the operator's switch, or an order such as new settings; the older row tells which. */
export function whatMoved(
  move: Move,
  older: Pick<Move, "is_active"> | undefined,
): "state" | "paused" | "resumed" | "changed" {
  if (move.from_status !== move.to_status) return "state";
  if (move.is_active === (older?.is_active ?? true)) return "changed";
  return move.is_active ? "resumed" : "paused";
}
