"""Profiles: named crawl settings for many domains; and the effective settings of a domain."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import Field

from forager.api.access import Admin, User
from forager.api.database import change, get_forager, look
from forager.api.errors import responses
from forager.api.paging import Listed
from forager.api.reply import listed, reply
from forager.api.types import Body, Flag, PathName, Text
from forager.config.crawl_layers import defaults_of
from forager.config.crawl_settings import describe_fields
from forager.config.keys import get_cipher
from forager.domains import profiles
from forager.domains import schemas as models
from forager.domains.queries import effective_settings

router = APIRouter(tags=["profiles"])
APPLY_WITHIN_S = 300.0
"""Each domain of a profile is changed, and its next visits are rescheduled."""
Member = Annotated[Text, Field(min_length=1, max_length=260)]


class ProfileBody(Body):
    """A profile as a whole: settings and domains that are not named are taken out."""

    settings: dict[str, Any] = Field(default={}, examples=[{"delay": "2s", "revisit_every": "1d"}])
    domains: Annotated[list[Member], Field(max_length=profiles.MAX_MEMBERS)] = Field(
        default=[], description="Names, or patterns such as *.example.org.", examples=[["shop.example"]]
    )
    dry_run: Flag = Field(default=False, description="Only say what would change.")


@router.get("/api/profiles", response_model=Listed[models.Profile], responses=responses())
async def list_profiles(request: Request, _who: User) -> Response:
    """All profiles, with the number of their domains. Secrets are hidden."""
    cipher = get_cipher(get_forager(request).settings)
    async with look(request) as conn:
        return listed(await profiles.list_profiles(conn, cipher))


@router.get("/api/profiles/{name}", response_model=models.ProfileDetails, responses=responses(404))
async def show_profile(request: Request, _who: User, name: PathName) -> Response:
    """One profile with the names of its domains, up to 1,000."""
    cipher = get_cipher(get_forager(request).settings)
    async with look(request) as conn:
        return reply(await profiles.show_profile(conn, name, cipher))


@router.put("/api/admin/profiles/{name}", response_model=models.ProfileApplied, responses=responses(409))
async def save_profile(request: Request, who: Admin, name: PathName, body: ProfileBody) -> Response:
    """Make a profile as declared. Its domains get the settings at once; the same body again changes nothing."""
    settings = get_forager(request).settings
    cipher = get_cipher(settings, creates=True)
    async with change(request, who, APPLY_WITHIN_S) as deed:
        spec = await profiles.read_spec(deed.conn, name, body.settings, body.domains, cipher)
        done = await profiles.apply_profiles(
            deed.conn,
            [spec],
            by=deed.by,
            cipher=cipher,
            refresh_every_s=settings.refresh.interval if settings.refresh.enabled else None,
            is_dry_run=body.dry_run,
        )
        told = asdict(done.changes[0])
        if not body.dry_run:
            changed = {"settings": told["settings"], "before": told["before"], "joined": told["joined"][:100]}
            await deed.note("profile.change", "profile", name, **changed)
    return reply({"change": told, "domains": done.domains, "dry_run": body.dry_run})


@router.delete("/api/admin/profiles/{name}", response_model=models.ProfileDeleted, responses=responses(404))
async def delete_profile(request: Request, who: Admin, name: PathName) -> Response:
    """Delete a profile; what was chosen for its domains stays."""
    settings = get_forager(request).settings
    async with change(request, who, APPLY_WITHIN_S) as deed:
        left = await profiles.delete_profile(
            deed.conn,
            name,
            by=deed.by,
            cipher=get_cipher(settings),
            refresh_every_s=settings.refresh.interval if settings.refresh.enabled else None,
        )
        await deed.note("profile.delete", "profile", name)
    return reply({"name": name, "domains": left})


@router.get("/api/crawl-settings", response_model=Listed[models.CrawlSettingField], responses=responses())
async def list_crawl_settings(request: Request, _who: User) -> Response:
    """Every crawl setting: what kind of value it has, what it does, the default of this instance."""
    return listed(describe_fields(defaults_of(get_forager(request).settings)))


@router.get("/api/domains/{domain}/settings", response_model=models.EffectiveSettings, responses=responses(404))
async def show_domain_settings(request: Request, _who: User, domain: PathName) -> Response:
    """Every crawl setting in force for a domain, and where each comes from. Secrets are hidden."""
    async with look(request) as conn:
        return reply(await effective_settings(conn, domain, get_forager(request).settings))
