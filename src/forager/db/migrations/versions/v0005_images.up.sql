SELECT;
CREATE TYPE image_status AS ENUM ('found', 'stored', 'moved', 'gone', 'blocked', 'failed', 'broken', 'too_big', 'not_an_image');

CREATE TABLE images (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url_hash        bytea        NOT NULL UNIQUE CHECK (octet_length(url_hash) = 16),
    url             text         NOT NULL,
    domain_id       bigint       NOT NULL,
    status          image_status NOT NULL DEFAULT 'found',
    reason          text,
    -- of the file that was last stored
    format          text,
    width           integer,
    height          integer,
    frames          integer,
    file_size       bigint,
    content_hash    bytea,
    perceptual_hash bigint,
    body_ref        text,
    thumbnail_ref   text,
    moved_to        bigint,
    first_seen_at   timestamptz  NOT NULL DEFAULT now(),
    checked_at      timestamptz,
    stored_at       timestamptz,
    CHECK ((stored_at IS NULL) = (content_hash IS NULL)),
    CHECK ((stored_at IS NULL) = (body_ref IS NULL)),
    CHECK (status <> 'stored' OR stored_at IS NOT NULL)
);
CREATE INDEX images_content ON images (content_hash) WHERE content_hash IS NOT NULL;
COMMENT ON TABLE images IS 'Owner: images. One image URL that pages show, unique by 16 bytes of the SHA-256 of its normalised form.';
COMMENT ON COLUMN images.domain_id IS 'The domain whose page showed it first: its images_stored counts it. No foreign key: forager check looks.';
COMMENT ON COLUMN images.reason IS 'Why it could not be stored, in words.';
COMMENT ON COLUMN images.content_hash IS 'SHA-256 of the file. The same under two URLs is one file in the store.';
COMMENT ON COLUMN images.perceptual_hash IS 'Nearly the same 64 bits for nearly the same picture; NULL where nothing was decoded, such as SVG.';
COMMENT ON COLUMN images.moved_to IS 'The image its URL redirects to.';
COMMENT ON COLUMN images.checked_at IS 'When it was last asked for; NULL: never.';

CREATE TABLE page_images (
    domain_id      bigint       NOT NULL,
    page_id        bigint       NOT NULL,
    image_id       bigint       NOT NULL,
    position       smallint     NOT NULL,
    discovery_type text         NOT NULL,
    image_type     text         NOT NULL,
    alt_text       varchar(512) NOT NULL,
    width          integer,
    height         integer,
    first_seen_at  timestamptz  NOT NULL DEFAULT now(),
    last_seen_at   timestamptz,
    PRIMARY KEY (domain_id, page_id, image_id)
);
CREATE INDEX page_images_image ON page_images (image_id);
COMMENT ON TABLE page_images IS 'Owner: images. Provenance: which page shows which image, since when. No foreign keys: forager check looks instead.';
COMMENT ON COLUMN page_images.discovery_type IS 'How the page names it: img, srcset, picture, lazy, og, twitter, link, jsonld, background.';
COMMENT ON COLUMN page_images.image_type IS 'primary, gallery or thumbnail.';
COMMENT ON COLUMN page_images.width IS 'As the page declares it.';
COMMENT ON COLUMN page_images.last_seen_at IS 'NULL: the page still shows it, so it was last seen when the page was last fetched. Else the last visit that did.';

ALTER TABLE pages ADD COLUMN is_image boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN pages.is_image IS 'It is fetched to be stored as an image, not to be read; counters of pages leave it out, the frontier does not.';
ALTER TABLE domains ADD COLUMN images_policy text CHECK (images_policy IN ('none', 'found', 'download'));
ALTER TABLE domains ADD COLUMN images_only boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN domains.images_policy IS 'What is done with images its pages show; NULL: as the run, or the setting, says.';
COMMENT ON COLUMN domains.images_only IS 'Its run took it for images that pages of other domains show: its own pages are out of reach.';
