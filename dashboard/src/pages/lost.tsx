import { Link } from "@tanstack/react-router";
import { Empty } from "../ui/basic";

export const Lost = () => (
  <Empty
    title="There is no such page"
    action={
      <Link to="/" className="text-brand hover:underline">
        To the overview
      </Link>
    }
  >
    The address may be misspelled, or from another version.
  </Empty>
);
