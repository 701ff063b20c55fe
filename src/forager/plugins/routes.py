"""Plug-ins: what is loaded, and what failed in it."""

from fastapi import APIRouter, Request, Response

from forager.api.access import Admin, User
from forager.api.database import change, get_forager, look
from forager.api.errors import responses
from forager.api.paging import Listed
from forager.api.reply import listed, reply
from forager.plugins import schemas as models
from forager.plugins.service import PluginRow, clear_errors, find_plugins, list_plugins

router = APIRouter(tags=["system"])


@router.get("/api/admin/plugins", response_model=Listed[PluginRow], responses=responses())
async def show_plugins(request: Request, _who: User) -> Response:
    """Every plug-in with its hooks and errors. All are imported, in a process of their own."""
    found = await find_plugins(get_forager(request).settings)
    async with look(request) as conn:
        rows = await list_plugins(conn, found)
    return listed([row.to_dict() for row in rows])


@router.post("/api/admin/plugins/clear", response_model=models.PluginsCleared, responses=responses())
async def clear_plugin_errors(request: Request, who: Admin, body: models.PluginsClear) -> Response:
    """Forgets the errors of a plug-in, or of all."""
    async with change(request, who) as deed:
        cleared = await clear_errors(deed.conn, body.plugin)
        await deed.note("plugin.clear", "plugin", body.plugin, hooks=cleared)
    return reply({"cleared": cleared})
