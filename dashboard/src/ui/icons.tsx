/** Line icons, 24 units wide, drawn for us; each takes the colour of its text. */
import type { ReactNode } from "react";

const draw = (paths: ReactNode) =>
  function Icon({ className = "size-4" }: { className?: string }) {
    return (
      <svg
        viewBox="0 0 24 24"
        className={`${className} shrink-0`}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        {paths}
      </svg>
    );
  };

export const Gauge = draw(
  <>
    <path d="M4 18a9 9 0 1 1 16 0" />
    <path d="m12 14 4-5" />
  </>,
);
export const Globe = draw(
  <>
    <circle cx="12" cy="12" r="9" />
    <path d="M3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18" />
  </>,
);
export const ListChecks = draw(<path d="m3 6 2 2 3-4M3 14l2 2 3-4M12 6h9M12 14h9M12 20h9" />);
export const FileText = draw(
  <>
    <path d="M6 3h8l4 4v14H6z" />
    <path d="M14 3v4h4M9 12h6M9 16h6" />
  </>,
);
export const Crosshair = draw(<path d="M12 3v5M12 16v5M3 12h5M16 12h5M12 12h.01M5 12a7 7 0 1 0 14 0a7 7 0 1 0-14 0" />);
export const Tag = draw(
  <>
    <path d="M3 12V4h8l10 10-8 8z" />
    <circle cx="8" cy="8" r="1.2" />
  </>,
);
export const Picture = draw(
  <>
    <rect x="3" y="4" width="18" height="16" rx="2" />
    <circle cx="9" cy="10" r="1.6" />
    <path d="m4 18 5-5 4 4 3-3 4 4" />
  </>,
);
export const Shuffle = draw(<path d="M3 7h4l10 10h4M3 17h4l3-3M14 10l3-3h4M18 4l3 3-3 3M18 14l3 3-3 3" />);
export const Play = draw(<path d="M7 4v16l13-8z" />);
export const Clock = draw(
  <>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 7v5l3 2" />
  </>,
);
export const Cpu = draw(
  <>
    <rect x="6" y="6" width="12" height="12" rx="2" />
    <path d="M10 10h4v4h-4zM9 2v4M15 2v4M9 18v4M15 18v4M2 9h4M2 15h4M18 9h4M18 15h4" />
  </>,
);
export const Bell = draw(
  <>
    <path d="M6 17V11a6 6 0 1 1 12 0v6l2 2H4z" />
    <path d="M10 21h4" />
  </>,
);
export const Bug = draw(
  <>
    <rect x="8" y="8" width="8" height="11" rx="4" />
    <path d="M9 8a3 3 0 0 1 6 0M4 11l4 1M20 11l-4 1M4 19l4-2M20 19l-4-2M3 15h5M16 15h5" />
  </>,
);
export const Cog = draw(
  <>
    <circle cx="12" cy="12" r="3" />
    <path d="M12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M5.6 18.4l2.1-2.1M16.3 7.7l2.1-2.1" />
  </>,
);
export const Users = draw(
  <>
    <circle cx="9" cy="8" r="3.5" />
    <path d="M3 20c0-4 2.5-6 6-6s6 2 6 6M16 5a3.5 3.5 0 0 1 0 6.5M17.5 14.5c2.3.7 3.5 2.6 3.5 5.5" />
  </>,
);
export const Scroll = draw(
  <>
    <path d="M6 3h11v15a3 3 0 0 0 3 3H8a2 2 0 0 1-2-2z" />
    <path d="M9 8h5M9 12h5" />
  </>,
);
export const Sprout = draw(<path d="M12 21v-9M12 12C12 8 9 6 4 6c0 4 3 6 8 6M12 10c0-4 3-6 8-6 0 4-3 6-8 6" />);
export const Search = draw(
  <>
    <circle cx="11" cy="11" r="6.5" />
    <path d="m16 16 5 5" />
  </>,
);
export const Sun = draw(
  <>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5" />
  </>,
);
export const Moon = draw(<path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z" />);
export const Menu = draw(<path d="M4 6h16M4 12h16M4 18h16" />);
export const Cross = draw(<path d="M6 6l12 12M18 6 6 18" />);
export const Check = draw(<path d="m5 12 5 5L20 7" />);
export const Sliders = draw(<path d="M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4" />);
export const Pause = draw(<path d="M8 5v14M16 5v14" />);
export const Again = draw(
  <>
    <path d="M20 11a8 8 0 1 0-2.3 6.3" />
    <path d="M20 5v6h-6" />
  </>,
);
export const Alert = draw(
  <>
    <path d="M12 3 2 20h20z" />
    <path d="M12 10v4M12 17.5v.01" />
  </>,
);
export const Out = draw(<path d="M9 4H5v16h4M14 8l4 4-4 4M18 12H9" />);
export const Arrow = draw(<path d="M5 12h14M13 6l6 6-6 6" />);
export const External = draw(<path d="M14 4h6v6M20 4l-9 9M10 6H5v13h13v-5" />);
export const Key = draw(
  <>
    <circle cx="8" cy="15" r="4" />
    <path d="m11 12 9-9M16 7l3 3" />
  </>,
);
export const Question = draw(
  <>
    <circle cx="12" cy="12" r="9" />
    <path d="M9.5 9a2.5 2.5 0 1 1 3.5 2.4c-.8.4-1 .8-1 1.6M12 16.5v.01" />
  </>,
);
