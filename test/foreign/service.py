"""A second implementation of the voice streaming service, on aiohttp.

It shares no code, language or library with voicectl and differs from its emulator on purpose, so that the
client is not only checked by its own authors' idea of the service. Tested with Debian 12's python3-aiohttp 3.8.4
on Python 3.11; see --help for what it can do.

When it listens, it prints one line of JSON: {"port", "baseUrl", "wsUrl"}. It ends on SIGTERM or SIGINT. With --many
alone it runs many services, as its standard input says, and ends with that input.
"""

import argparse
import asyncio
import base64
import contextlib
import datetime
import email.utils
import hashlib
import hmac
import itertools
import json
import math
import os
import signal
import socket
import ssl
import struct
import sys
import time
import wave

from aiohttp import WSMsgType, web

TOKEN_PATHS = ["/api/websocket-voice/token", "/api/v1/websocket-voice/token"]
STREAM_PATH = "/voice-stream"
BYTES_PER_SECOND = 32_000
TOKEN_SECONDS = 60
ODD_SIZES = [641, 1, 1279, 640, 3, 1, 959]
TURN_END_SECONDS = 0.7
SPEECH_RMS = 32768 * 10 ** (-45 / 20)
HELD_BYTES = 64 * 1024
FAULT_AFTER_BYTES = 6_400
SHUTDOWN_S = 1


# --- tokens -----------------------------------------------------------------------------------------------------


def encode_part(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def make_token(algorithm, device):
    """A JWT. Only the HS* ones are really signed: a client has no key with which to check any."""
    now = int(time.time())
    header = {"typ": "JWT", "alg": algorithm, "kid": "foreign-1"}
    claims = {
        "iss": "foreign-service",
        "aud": "voice-api",
        "sub": device,
        "iat": now,
        "exp": now + TOKEN_SECONDS,
        "jti": os.urandom(8).hex(),
    }
    signed = ".".join(encode_part(json.dumps(part).encode()) for part in (header, claims))
    if algorithm.startswith("HS"):
        digest = getattr(hashlib, "sha" + algorithm[2:])
        signature = hmac.new(b"a key of the foreign service", signed.encode(), digest).digest()
    else:
        signature = os.urandom(256 if algorithm.startswith(("RS", "PS")) else 64)
    return f"{signed}.{encode_part(signature)}", now + TOKEN_SECONDS


def reset_value(form, at):
    """`at`, in seconds since 1970, in one of the forms in which services send X-RateLimit-Reset."""
    if form == "milliseconds":
        return str(round(at * 1000))
    if form == "iso":
        moment = datetime.datetime.fromtimestamp(at, datetime.timezone.utc)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if form == "http-date":
        return email.utils.formatdate(math.ceil(at), usegmt=True)
    if form == "delta":
        return str(max(0, math.ceil(at - time.time())))
    return str(math.ceil(at))


ERROR_TEXT = "The foreign service refused this request."


def error_answer(status, body_kind, headers):
    code = {401: "UNAUTHORIZED", 403: "FORBIDDEN", 429: "RATE_LIMITED"}.get(status, f"HTTP_{status}")
    if body_kind == "html":
        page = f"<!doctype html><title>{status}</title><h1>{ERROR_TEXT}</h1>\n"
        return web.Response(status=status, text=page, content_type="text/html", headers=headers)
    if body_kind == "empty":
        return web.Response(status=status, headers=headers)
    bodies = {
        "spec": {"error": {"code": code, "message": ERROR_TEXT}},
        "other": {"status": status, "errors": [{"title": code, "detail": ERROR_TEXT}]},
    }
    return web.json_response(bodies[body_kind], status=status, headers=headers)


# --- what arrived -----------------------------------------------------------------------------------------------


class Recorder:
    """Appends a line of JSON to FILE for everything that arrives, and all received PCM to FILE.pcm."""

    def __init__(self, path):
        self.path = path
        self.lines = open(path, "a", buffering=1, encoding="utf-8") if path else None

    def note(self, what, **fields):
        if self.lines:
            line = {"t": round(time.monotonic(), 6), "what": what, **fields}
            self.lines.write(json.dumps(line) + "\n")

    def keep_audio(self, pcm):
        if self.path:
            with open(self.path + ".pcm", "ab") as file:
                file.write(pcm)

    def close(self):
        if self.lines:
            self.lines.close()


def header_list(request):
    return [[name.decode("latin1"), value.decode("latin1")] for name, value in request.raw_headers]


# --- the token endpoint -----------------------------------------------------------------------------------------


class TokenEndpoint:
    def __init__(self, options, recorder):
        self.options = options
        self.recorder = recorder
        self.requests = 0
        self.issued = {}
        self.windows = {}

    async def handle(self, request):
        body = await request.read()
        self.requests += 1
        self.recorder.note(
            "token-request",
            method=request.method,
            path=request.path,
            query=request.query_string,
            headers=header_list(request),
            body=body.decode("utf-8", "backslashreplace"),
        )
        if request.method != "POST":
            return web.Response(status=405, headers={"Allow": "POST"})
        return self.answer(request, body)

    def answer(self, request, body):
        options = self.options
        mode, argument = options.reply
        if mode == "redirect":
            target = options.redirect_to or f"{request.scheme}://{request.host}/elsewhere/token"
            return web.Response(status=int(argument or 307), headers={"Location": target})
        if self.requests <= options.fail_first:
            return error_answer(429, "spec", {**self.limits(time.time() + 1), "Retry-After": "1"})
        if options.token_error:
            status, body_kind, retry_after = options.token_error
            headers = {"Retry-After": retry_after} if retry_after else {}
            return error_answer(status, body_kind, headers)

        device, problem = read_token_request(body)
        if problem:
            return web.json_response({"error": problem}, status=400)
        reset, remaining = self.take(device)
        if remaining < 0:
            wait = str(max(1, math.ceil(reset - time.time())))
            return error_answer(429, "spec", {**self.limits(reset), "Retry-After": wait})
        token, expires = make_token(options.alg, device)
        self.issued[token] = expires
        answer = {"token": token}
        if options.token_status == 201:
            answer = {"device": {"id": device}, "expires_in": TOKEN_SECONDS, "token": token}
        headers = {
            "Cache-Control": "no-cache, no-store, must-revalidate",
            **self.limits(reset, remaining),
        }
        return web.json_response(answer, status=options.token_status, headers=headers)

    def take(self, device):
        """Takes a request from the device's window: when the window ends, and how many are left (−1: none was)."""
        now = time.time()
        ends, used = self.windows.get(device, (now + 60, 0))
        if now >= ends:
            ends, used = now + 60, 0
        self.windows[device] = (ends, min(used + 1, self.options.rate_limit + 1))
        return ends, self.options.rate_limit - used - 1

    def limits(self, reset, remaining=0):
        return {
            "X-RateLimit-Limit": str(self.options.rate_limit),
            "X-RateLimit-Remaining": str(max(0, remaining)),
            "X-RateLimit-Reset": reset_value(self.options.reset, reset),
        }

    def spend(self, token):
        """None if the token is good, which is then used up; otherwise why it is not."""
        expires = self.issued.pop(token, None)
        if expires is None:
            return "token unknown or used"
        return None if time.time() < expires else "token expired"


def read_token_request(body):
    """The device, or what is wrong with the request, in the specification's error shape."""
    try:
        fields = json.loads(body)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        return None, {"code": "INVALID_REQUEST", "message": "The body is not a JSON object."}
    for field in ("apiKey", "deviceId"):
        if not isinstance(fields.get(field), str) or not fields[field]:
            message = f"Missing required field: {field}"
            details = {"field": field, "expected": "string"}
            return None, {"code": "INVALID_REQUEST", "message": message, "details": details}
    return fields["deviceId"], None


# --- the voice stream -------------------------------------------------------------------------------------------


class Voice:
    """The service's side of the audio of one stream: what it says is sent in order, at the requested pace."""

    def __init__(self, socket, options):
        self.socket = socket
        self.odd = options.odd
        self.sizes = itertools.cycle(ODD_SIZES)
        self.size = next(self.sizes)
        self.queue = asyncio.Queue()
        self.waiting = b""
        self.flush = None
        self.bytes_out = 0

    def say(self, pcm, paced):
        self.queue.put_nowait((pcm, paced))

    async def run(self):
        while True:
            pcm, paced = await self.queue.get()
            if not paced:
                await self.send(pcm)
                continue
            start = time.monotonic()
            for offset in range(0, len(pcm), 640):
                await asyncio.sleep(max(0, start + offset / BYTES_PER_SECOND - time.monotonic()))
                await self.send(pcm[offset : offset + 640])

    async def send(self, pcm):
        if not self.odd:
            await self.send_now(pcm)
            return
        if self.flush:
            self.flush.cancel()
        if pcm is None:
            pcm, self.waiting = self.waiting, b""
            await self.send_now(pcm)
            return
        self.waiting += pcm
        while len(self.waiting) >= self.size:
            await self.send_now(self.waiting[: self.size])
            self.waiting = self.waiting[self.size :]
            self.size = next(self.sizes)
        if self.waiting:
            # Audio that waits for a message of an odd size is sent when nothing else has come for a while.
            self.flush = asyncio.get_running_loop().call_later(0.1, self.say, None, False)

    async def send_now(self, pcm):
        await self.socket.send_bytes(pcm)
        self.bytes_out += len(pcm)


class TurnTaker:
    """Calls `on_turn(pcm)` when speech has been followed by silence, or by nothing at all, for 700 ms."""

    def __init__(self, on_turn):
        self.on_turn = on_turn
        self.utterance = bytearray()
        self.rest = b""
        self.quiet = 0.0
        self.timer = None

    def hear(self, pcm):
        pcm = self.rest + pcm
        whole = len(pcm) - len(pcm) % 2
        pcm, self.rest = pcm[:whole], pcm[whole:]
        for start in range(0, whole, 640):
            self.hear_frame(pcm[start : start + 640])
        self.watch()

    def hear_frame(self, frame):
        if loudness(frame) >= SPEECH_RMS:
            self.quiet = 0.0
        elif not self.utterance:
            return
        else:
            self.quiet += len(frame) / BYTES_PER_SECOND
        self.utterance += frame
        if self.quiet >= TURN_END_SECONDS:
            self.end_turn()

    def watch(self):
        if self.timer:
            self.timer.cancel()
        self.timer = asyncio.get_running_loop().call_later(TURN_END_SECONDS, self.end_turn)

    def end_turn(self):
        spoken, self.utterance, self.quiet = bytes(self.utterance), bytearray(), 0.0
        if spoken:
            self.on_turn(spoken)


def loudness(pcm):
    samples = struct.unpack(f"<{len(pcm) // 2}h", pcm)
    return math.sqrt(sum(sample * sample for sample in samples) / max(1, len(samples)))


class VoiceStream:
    """One connection: the token, the connected message, then whatever --reply says."""

    def __init__(self, socket, request, tokens, recorder, options, number):
        self.socket = socket
        self.request = request
        self.tokens = tokens
        self.recorder = recorder
        self.options = options
        self.number = number
        self.voice = Voice(socket, options)
        self.turns = TurnTaker(self.answer_turn)
        self.received = bytearray()
        self.held = []
        self.connected = False
        self.fault_done = False

    async def run(self):
        speaking = asyncio.create_task(self.voice.run())
        try:
            await self.listen()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            if self.turns.timer:
                self.turns.timer.cancel()
            speaking.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await speaking
            self.recorder.keep_audio(bytes(self.received))
            self.recorder.note(
                "end",
                connection=self.number,
                bytesIn=len(self.received),
                bytesOut=self.voice.bytes_out,
                closeCode=self.socket.close_code,
            )

    async def listen(self):
        async for message in self.socket:
            if message.type == WSMsgType.TEXT:
                self.note("text", len(message.data.encode()), text=message.data)
                await self.on_text(message.data)
            elif message.type == WSMsgType.BINARY:
                self.note("binary", len(message.data))
                self.received += message.data
                await self.on_audio(message.data)
            elif message.type == WSMsgType.ERROR:
                self.note("error", 0, text=str(message.data))

    def note(self, kind, size, **fields):
        self.recorder.note("message", connection=self.number, type=kind, size=size, **fields)

    async def on_text(self, text):
        if self.connected:
            await self.tell("warning", {"detail": "text is not expected here"})
            return
        mode, argument = self.options.reply
        if mode == "reject-token":
            code, _, reason = (argument or "4401").partition(":")
            await self.close(int(code), reason or "token refused")
            return
        problem = self.tokens.spend(text)
        if problem:
            await self.tell("error", {"error": {"code": "UNAUTHORIZED", "message": problem}})
            await self.close(3000, problem)
            return
        self.connected = True
        await self.tell("service_voice_connected", {"session": {"n": self.number}, "server": "foreign"})
        if mode == "stall":
            await asyncio.sleep(86_400)
        held, self.held = self.held, []
        for pcm in held:
            await self.reply(pcm)

    async def on_audio(self, pcm):
        if self.connected:
            await self.reply(pcm)
            return
        self.held.append(pcm)
        if sum(map(len, self.held)) > HELD_BYTES:
            await self.close(1008, "audio without a token")

    async def reply(self, pcm):
        mode, argument = self.options.reply
        if mode in ("echo", "error-event", "abnormal"):
            self.voice.say(pcm, paced=False)
        if mode in ("parrot-after-silence", "fixed"):
            self.turns.hear(pcm)
        if mode in ("error-event", "abnormal") and not self.fault_done:
            if len(self.received) >= FAULT_AFTER_BYTES:
                self.fault_done = True
                await self.fail(mode, argument)

    def answer_turn(self, spoken):
        mode, argument = self.options.reply
        pcm = spoken if mode == "parrot-after-silence" else argument
        self.voice.say(pcm, paced=self.options.reply_pace == "realtime")

    async def fail(self, mode, argument):
        if mode == "abnormal":
            await self.close(1006, "")
            return
        text = "The foreign service is unwell."
        await self.tell("error", {"error": {"code": "UNWELL", "message": text}})
        await self.tell("error", {"code": "UNWELL", "message": text})
        await self.tell("error", {"error": text})
        if argument:
            await self.close(int(argument), "unwell")

    async def tell(self, kind, fields):
        await self.socket.send_str(json.dumps({self.options.kind_field: kind, **fields}))

    async def close(self, code, reason):
        """1005 is a close frame without a code, 1006 half a frame and then a reset of the connection."""
        transport = self.request.transport
        if code == 1005:
            # aiohttp has no public way to omit the code.
            await self.socket._writer._send_frame(b"", WSMsgType.CLOSE)
            await asyncio.sleep(0.2)
            transport.close()
        elif code == 1006:
            transport.write(b"\x82\x7e\x02\x80half a frame")
            await asyncio.sleep(0.02)
            at_once = struct.pack("ii", 1, 0)
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            transport.abort()
        else:
            await self.socket.close(code=code, message=reason.encode())


# --- putting it together ----------------------------------------------------------------------------------------


def make_application(options, recorder, streams):
    """The request handler; the tasks of its streams are in `streams` as long as they run."""
    tokens = TokenEndpoint(options, recorder)
    numbers = itertools.count(1)

    async def stream(request):
        number = next(numbers)
        recorder.note("upgrade", connection=number, path=request.path_qs, headers=header_list(request))
        mode, argument = options.reply
        if mode == "upgrade-status":
            return web.Response(status=int(argument or 503), headers={"Location": "/elsewhere"}, text="no\n")
        response = web.WebSocketResponse(max_msg_size=16 * 2**20)
        await response.prepare(request)
        task = asyncio.current_task()
        streams.add(task)
        try:
            await VoiceStream(response, request, tokens, recorder, options, number).run()
        finally:
            streams.discard(task)
        return response

    async def elsewhere(request):
        body = (await request.read()).decode("utf-8", "backslashreplace")
        recorder.note(
            "stray-request",
            method=request.method,
            path=request.path_qs,
            headers=header_list(request),
            body=body,
        )
        return web.Response(status=404, text="nothing here\n")

    application = web.Application(client_max_size=64 * 1024)
    for path in TOKEN_PATHS:
        application.router.add_route("*", path, tokens.handle)
    application.router.add_get(STREAM_PATH, stream)
    application.router.add_route("*", "/{tail:.*}", elsewhere)
    return application


async def start(options):
    """Starts one service: returns what stops it, and its addresses."""
    secure = None
    if options.cert:
        secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        secure.load_cert_chain(options.cert, options.key)
    recorder = Recorder(options.record)
    streams = set()
    runner = web.AppRunner(make_application(options, recorder, streams))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", options.port, ssl_context=secure, shutdown_timeout=SHUTDOWN_S)
    await site.start()

    async def stop():
        await runner.cleanup()
        # aiohttp knows nothing about a stream whose connection is gone, but it may still have something to record.
        if streams:
            _, late = await asyncio.wait(set(streams), timeout=SHUTDOWN_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        recorder.close()

    port = site._server.sockets[0].getsockname()[1]
    mark = "s" if secure else ""
    host = f"127.0.0.1:{port}"
    return stop, {"port": port, "baseUrl": f"http{mark}://{host}", "wsUrl": f"ws{mark}://{host}"}


async def serve(options):
    stop, addresses = await start(options)
    print(json.dumps(addresses), flush=True)
    stopped = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stopped.set)
    await stopped.wait()
    await stop()


async def serve_many():
    """Starts a service for each line {"id", "arguments"}, and stops it at a line {"id"}; each line is answered by a line."""
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    stops = {}
    tasks = set()

    async def obey(order):
        name = order["id"]
        if "arguments" in order:
            stops[name], answer = await start(parse_options(order["arguments"]))
        else:
            await stops.pop(name)()
            answer = {"stopped": True}
        print(json.dumps({"id": name, **answer}), flush=True)

    async for line in lines:
        task = asyncio.create_task(obey(json.loads(line)))
        tasks.add(task)
        task.add_done_callback(tasks.discard)


def read_audio(path):
    if path.endswith(".wav"):
        with wave.open(path) as file:
            return file.readframes(file.getnframes())
    with open(path, "rb") as file:
        return file.read()


REPLIES = {
    "echo": "every message at once",
    "parrot-after-silence": "repeats each turn after 700 ms of silence",
    "fixed": "FILE (raw PCM, or a WAV in the right format), after each turn",
    "none": "nothing",
    "reject-token": "CODE[:REASON], a close in answer to any token; 1005 has no code, 1006 is a reset",
    "error-event": "[CODE], echo, and after 200 ms of audio three errors in three shapes; with CODE closes then",
    "redirect": "STATUS, answer of the token endpoint; Location is --redirect-to",
    "upgrade-status": "STATUS, answer to the upgrade instead of 101",
    "stall": "connects, and then neither reads nor writes",
    "abnormal": "echo, and after 200 ms of audio resets the connection in the middle of a frame",
}


def parse_reply(text):
    mode, _, argument = text.partition(":")
    if mode not in REPLIES:
        raise argparse.ArgumentTypeError(f"{mode}: not one of {', '.join(REPLIES)}")
    if mode == "fixed":
        return mode, read_audio(argument)
    return mode, argument or None


def parse_token_error(text):
    status, _, rest = text.partition(":")
    body_kind, _, retry_after = rest.partition(":")
    body_kind = body_kind or "spec"
    if not status.isdigit() or body_kind not in ("spec", "other", "html", "empty"):
        raise argparse.ArgumentTypeError("expected a status and one of spec, other, html, empty")
    return int(status), body_kind, retry_after


def parse_options(arguments):
    parser = argparse.ArgumentParser(
        description="A foreign voice streaming service.",
        epilog="--reply is one of: " + "; ".join(f"{mode}: {meaning}" for mode, meaning in REPLIES.items()),
    )
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument("--cert", help="certificate (PEM): serves TLS")
    parser.add_argument("--key", help="its key (PEM)")
    parser.add_argument("--alg", default="RS256", help="alg of the tokens; anything, but only HS* is really signed")
    parser.add_argument("--token-status", type=int, choices=[200, 201], default=200)
    parser.add_argument("--token-error", type=parse_token_error, metavar="STATUS:BODYKIND[:RETRY-AFTER]")
    parser.add_argument("--fail-first", type=int, default=0, metavar="N", help="429 for the first N token requests")
    parser.add_argument("--rate-limit", type=int, default=60, metavar="N", help="token requests per minute and device")
    parser.add_argument("--reset", default="seconds", choices=["seconds", "milliseconds", "iso", "http-date", "delta"])
    parser.add_argument("--kind-field", default="type", choices=["type", "kind", "event", "name"])
    parser.add_argument("--reply", type=parse_reply, default=("echo", None), metavar="MODE[:ARGUMENT]")
    parser.add_argument("--reply-pace", default="realtime", choices=["realtime", "burst"])
    parser.add_argument("--redirect-to", metavar="URL", help="default: a path of this service that records what it gets")
    parser.add_argument("--odd", action="store_true", help=f"audio in messages of {ODD_SIZES} bytes, in turn")
    parser.add_argument("--record", metavar="FILE", help="a line of JSON for everything that arrives; PCM goes to FILE.pcm")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    asyncio.run(serve_many() if sys.argv[1:] == ["--many"] else serve(parse_options(sys.argv[1:])))
