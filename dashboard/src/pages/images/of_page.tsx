/** The pictures one page shows. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, ask } from "../../api/client";
import { Card } from "../../ui/basic";
import { number, pathOf } from "../../ui/format";
import { Thumb } from "./thumb";

const SHOWN = 100;
const DRAWN = 24;

export const useImagesOf = (page: number) =>
  useQuery({
    queryKey: ["images", "of", page],
    queryFn: () => ask(api.GET("/api/images", { params: { query: { page, limit: SHOWN } } })),
    staleTime: 60_000,
  });

export function PicturesOf({ page }: { page: number }) {
  const images = useImagesOf(page).data?.items ?? [];
  if (!images.length) return null;
  return (
    <Card
      title={`Its pictures: ${number(images.length)}${images.length === SHOWN ? " or more" : ""}`}
      className="xl:col-span-3"
    >
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(7rem,1fr))] gap-2">
        {images.slice(0, DRAWN).map((image) => (
          <li key={image.id}>
            <Link
              to="/images/$image"
              params={{ image: String(image.id) } as never}
              title={image.url}
              className="block overflow-hidden rounded-lg border border-line hover:border-brand"
            >
              <Thumb id={image.has_thumbnail ? image.id : null} alt="" why={image.status} className="h-24 w-full" />
              <span className="block truncate px-2 py-1 text-xs">
                <span className="sr-only">Image </span>
                {pathOf(image.url)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}
