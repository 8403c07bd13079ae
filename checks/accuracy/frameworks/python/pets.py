"""Pets of FastAPI, for uvicorn. One worker counts with the library limits, two count in the database that they share.

AHEAD names the file with the milliseconds by which its time is ahead of the machine's.
"""
import os
import sqlite3
import time
from contextlib import closing
from email.utils import formatdate
from typing import Annotated, Literal

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

machine = time.time


def now():
    with open(os.environ["AHEAD"]) as ahead:
        return machine() + float(ahead.read()) / 1000


time.time = now


PER_MINUTE = {key: int(limit) for key, limit in (pair.split("=") for pair in os.environ["KEYS"].split())}
IS_SHARED = os.environ["WORKERS"] == "2"
moving = MovingWindowRateLimiter(MemoryStorage())
Status = Literal["available", "pending", "sold"]


def database():
    connection = sqlite3.connect(os.environ["DATABASE"], isolation_level=None, timeout=20)
    # No power cut is survived: each request would wait for the disk.
    connection.execute("PRAGMA synchronous = OFF")
    return closing(connection)


with database() as tables:
    tables.execute("CREATE TABLE IF NOT EXISTS pets (id INTEGER PRIMARY KEY, name TEXT, category INTEGER, status TEXT)")
    tables.execute("CREATE TABLE IF NOT EXISTS windows (id TEXT PRIMARY KEY, start REAL, count INTEGER)")


class NewPet(BaseModel):
    model_config = ConfigDict(strict=True)
    name: str
    categoryId: Annotated[int, Field(ge=-(2**63), lt=2**63)]
    status: Status = "available"


def count_in_database(who, limit):
    at = now()
    with database() as db:
        db.execute("BEGIN IMMEDIATE")
        start, count = db.execute("SELECT start, count FROM windows WHERE id = ?", (who,)).fetchone() or (at, 0)
        if at >= start + 60:
            start, count = at, 0
        if count < limit:
            db.execute("INSERT OR REPLACE INTO windows VALUES (?, ?, ?)", (who, start, count + 1))
        db.execute("COMMIT")
    return count < limit, max(limit - count - 1, 0), start + 60


def count_in_memory(who, limit):
    item = RateLimitItemPerMinute(limit)
    is_admitted = moving.hit(item, who)
    stats = moving.get_window_stats(item, who)
    return is_admitted, stats.remaining, stats.reset_time


counted = count_in_database if IS_SHARED else count_in_memory


def error(status, code, headers=None):
    return JSONResponse({"code": code, "message": code.replace("_", " "), "status": status}, status, headers)


app = FastAPI(openapi_url=None)


@app.middleware("http")
async def limited(request: Request, call_next):
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    is_known = scheme.lower() == "bearer" and key != "" and key in PER_MINUTE
    who = key if is_known else ""
    limit = PER_MINUTE[who]
    is_admitted, left, reset = counted(who, limit)
    if not is_admitted:
        response = error(429, "rate_limited", {"Retry-After": str(int(reset - now()) + 1)})
    elif not is_known:
        response = error(401, "unauthorized")
    else:
        response = await call_next(request)
    response.headers["X-RateLimit-Limit"] = str(limit)
    response.headers["X-RateLimit-Remaining"] = str(left)
    response.headers["X-RateLimit-Reset"] = str(int(reset) + 1)
    response.headers["Date"] = formatdate(now(), usegmt=True)
    return response


@app.exception_handler(RequestValidationError)
async def invalid(request: Request, problem: RequestValidationError):
    if "petId" in request.path_params:
        return error(404, "not_found")
    return error(400, "invalid")


@app.exception_handler(HTTPException)
async def other(_request: Request, problem: HTTPException):
    return error(problem.status_code, "refused")


def shown(row):
    return dict(zip(("id", "name", "categoryId", "status"), row))


@app.get("/v1/pets")
def list_pets(limit: Annotated[int, Query(ge=1, le=100)] = 20, status: Status | None = None):
    with database() as db:
        rows = db.execute("SELECT * FROM pets WHERE ?1 IS NULL OR status = ?1 ORDER BY id DESC LIMIT ?2", (status, limit))
        return [shown(row) for row in rows]


@app.post("/v1/pets", status_code=201)
def create_pet(sent: NewPet):
    with database() as db:
        values = (sent.name, sent.categoryId, sent.status)
        row = db.execute("INSERT INTO pets (name, category, status) VALUES (?, ?, ?) RETURNING id", values).fetchone()
    return shown((row[0], *values))


@app.get("/v1/pets/{petId}", deprecated=True)
def get_pet(petId: Annotated[int, Field(ge=-(2**63), lt=2**63)]):
    with database() as db:
        row = db.execute("SELECT * FROM pets WHERE id = ?", (petId,)).fetchone()
    if row is None:
        raise HTTPException(404, "Not Found")
    return shown(row)
