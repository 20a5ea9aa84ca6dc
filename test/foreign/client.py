"""A second client of the voice streaming service, on websockets and http.client.

It shares no code, language or library with voicectl: it checks the emulator from outside, in honest sessions
and in dishonest ones (`--mode`). Tested with Debian 12's python3-websockets 10.4 on Python 3.11.

It prints one JSON object on standard output and exits with 0 whatever the service did: judging is left to the caller.
It exits with 2 on a usage error. With `--each` it reads many runs from standard input.
"""

import argparse
import asyncio
import base64
import collections
import concurrent.futures
import hashlib
import http.client
import itertools
import json
import logging
import multiprocessing
import os
import ssl
import sys
import threading
import time
import urllib.parse
import wave

import websockets
from websockets.exceptions import ConnectionClosed, InvalidStatusCode, WebSocketException

BYTES_PER_SECOND = 32_000
ODD_SIZES = [1, 641, 0, 3, 1279, 2, 639, 0, 0, 5]
CONNECTED = "service_voice_connected"
KIND_FIELDS = ("type", "kind", "event", "name")
SEND_STALL_SECONDS = 5

# websockets gives up its own ping when a stream breaks, and asyncio would print a trace of that.
logging.getLogger("asyncio").setLevel(logging.CRITICAL)


# --- the token --------------------------------------------------------------------------------------------------


def request_token(options):
    """Asks once, follows nothing, retries nothing: {status, headers, body, token?, header?, claims?, ms} or {error}."""
    url = urllib.parse.urlsplit(options.base_url)
    if url.scheme == "https":
        connection = http.client.HTTPSConnection(url.netloc, timeout=options.timeout, context=tls(options))
    else:
        connection = http.client.HTTPConnection(url.netloc, timeout=options.timeout)
    body = json.dumps({"apiKey": options.api_key, "deviceId": options.device})
    headers = {"Content-Type": "application/json", "Accept": "application/json", **dict(options.header)}
    start = time.monotonic()
    try:
        connection.request("POST", url.path.rstrip("/") + options.token_path, body, headers)
        response = connection.getresponse()
        answer = {
            "status": response.status,
            "headers": response.getheaders(),
            "body": response.read().decode("utf-8", "backslashreplace"),
        }
    except (OSError, http.client.HTTPException) as error:
        answer = {"error": describe(error)}
    finally:
        connection.close()
    answer["ms"] = round((time.monotonic() - start) * 1000, 2)
    return {**answer, **read_token(answer.get("body", ""))}


def read_token(body):
    try:
        token = json.loads(body)["token"]
        header, claims, _ = token.split(".")
        return {"token": token, "header": decode_part(header), "claims": decode_part(claims)}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def decode_part(part):
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def encode_part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def tls(options):
    if options.insecure:
        return ssl._create_unverified_context()
    return ssl.create_default_context(cafile=options.cafile)


def describe(error):
    return f"{type(error).__name__}: {error}"


# --- the stream -------------------------------------------------------------------------------------------------


class ConnectOnce(websockets.connect):
    """websockets follows redirects of the upgrade; here they are an error."""

    MAX_REDIRECTS_ALLOWED = 1


class Stream:
    """One connection, and a report of everything that happened on it; times are in milliseconds since its start."""

    def __init__(self, options):
        self.options = options
        self.start = time.monotonic()
        self.socket = None
        self.reader = None
        self.connected = asyncio.Event()
        self.closed_by_us = False
        self.last_arrival = None
        self.sent = hashlib.sha256()
        self.heard = bytearray()
        self.report = {
            "handshakeStatus": None,
            "handshakeHeaders": [],
            "extensions": [],
            "connected": False,
            "connectedMs": None,
            "messages": [],
            "audio": [],
            "audioBytesIn": 0,
            "audioMessagesOut": 0,
            "audioBytesOut": 0,
            "sentMs": None,
            "closeCode": None,
            "closeReason": None,
            "closedBy": None,
            "closedMs": None,
            "error": None,
        }

    def ms(self):
        return round((time.monotonic() - self.start) * 1000, 2)

    async def open(self, read=True):
        """Whether the service accepted the upgrade."""
        options = self.options
        url = options.ws_url.rstrip("/") + options.stream_path
        settings = {
            "ssl": tls(options) if url.startswith("wss:") else None,
            "compression": "deflate" if options.compression else None,
            "extra_headers": options.header,
            "open_timeout": options.timeout,
            "close_timeout": 2,
            "ping_interval": None,
            "max_size": None,
        }
        try:
            self.socket = await ConnectOnce(url, **settings)
        except InvalidStatusCode as error:
            self.report["handshakeStatus"] = error.status_code
            self.report["handshakeHeaders"] = list(error.headers.raw_items())
            return False
        except (OSError, WebSocketException, asyncio.TimeoutError) as error:
            self.report["error"] = describe(error)
            return False
        self.report["handshakeStatus"] = 101
        self.report["handshakeHeaders"] = list(self.socket.response_headers.raw_items())
        self.report["extensions"] = [extension.name for extension in self.socket.extensions]
        if read:
            self.begin_reading()
        return True

    def begin_reading(self):
        self.reader = asyncio.create_task(self.read())

    async def read(self):
        try:
            while True:
                message = await self.socket.recv()
                self.last_arrival = time.monotonic()
                if isinstance(message, str):
                    self.on_text(message)
                else:
                    self.report["audio"].append({"ms": self.ms(), "bytes": len(message)})
                    self.report["audioBytesIn"] += len(message)
                    self.heard += message
        except ConnectionClosed:
            self.note_close()

    def on_text(self, text):
        self.report["messages"].append({"ms": self.ms(), "text": text})
        if kind_of(text) == CONNECTED and not self.connected.is_set():
            self.report["connected"] = True
            self.report["connectedMs"] = self.ms()
            self.connected.set()

    def note_close(self):
        report = self.report
        if report["closedMs"] is None:
            report["closedMs"] = self.ms()
            report["closeCode"] = self.socket.close_code
            report["closeReason"] = self.socket.close_reason
            report["closedBy"] = "client" if self.closed_by_us else "service"

    async def send_text(self, text):
        await self.attempt(self.socket.send(text))

    async def send_audio(self, pcm, fragments=None):
        """Whether it was accepted. `fragments` are the parts of one message, each in its own frame."""
        taken = await self.attempt(self.socket.send(fragments or pcm))
        if taken:
            self.sent.update(pcm)
            self.report["audioMessagesOut"] += 1
            self.report["audioBytesOut"] += len(pcm)
        return taken

    async def attempt(self, sending):
        try:
            await asyncio.wait_for(sending, SEND_STALL_SECONDS)
            return True
        except ConnectionClosed:
            self.note_close()
        except asyncio.TimeoutError:
            self.report["error"] = f"the service took nothing for {SEND_STALL_SECONDS} s"
            # A close would block as well.
            self.socket.transport.abort()
        return False

    async def wait_connected(self):
        """Whether the connected message came before the stream ended or --timeout passed."""
        waiting = asyncio.create_task(self.connected.wait())
        await asyncio.wait([waiting, self.reader], timeout=self.options.timeout, return_when="FIRST_COMPLETED")
        waiting.cancel()
        return self.connected.is_set()

    async def wait_closed(self, seconds):
        """Whether the service closed the stream within this time."""
        done, _ = await asyncio.wait([self.reader], timeout=seconds)
        return bool(done)

    async def wait_quiet(self):
        """Reads until --until-bytes have arrived, or nothing for --quiet, or no audio within --wait, or the stream has ended."""
        begun = time.monotonic()
        while not self.reader.done():
            if self.options.until_bytes is not None and len(self.heard) >= self.options.until_bytes:
                return
            patience = self.options.quiet if self.report["audio"] else self.options.wait
            if time.monotonic() - max(begun, self.last_arrival or begun) >= patience:
                return
            await asyncio.sleep(0.02)

    async def close(self):
        if self.socket is None:
            return
        if self.report["closedMs"] is None:
            self.closed_by_us = not self.socket.closed
            await self.socket.close()
        if self.reader:
            await asyncio.wait([self.reader], timeout=3)
        self.note_close()

    def summary(self):
        return {
            **self.report,
            "sentSha256": self.sent.hexdigest(),
            "heardSha256": hashlib.sha256(self.heard).hexdigest(),
        }


def kind_of(text):
    """The kind of a service message, wherever this service keeps it."""
    try:
        message = json.loads(text)
    except ValueError:
        return None
    if not isinstance(message, dict):
        return None
    return next((message[field] for field in KIND_FIELDS if isinstance(message.get(field), str)), None)


# --- audio ------------------------------------------------------------------------------------------------------


def read_audio(options):
    """--file (raw PCM, or a WAV in the right format), else a second of silence; then --tail-ms of silence."""
    if options.file is None:
        pcm = bytes(BYTES_PER_SECOND)
    elif options.file.endswith(".wav"):
        with wave.open(options.file) as file:
            pcm = file.readframes(file.getnframes())
    else:
        with open(options.file, "rb") as file:
            pcm = file.read()
    return pcm + bytes(options.tail_ms * BYTES_PER_SECOND // 1000)


def cut(pcm, sizes):
    offset = 0
    while offset < len(pcm):
        size = next(sizes)
        yield pcm[offset : offset + size]
        offset += size


async def send_paced(stream, pcm, sizes=None):
    """Sends everything, in messages of --frame-bytes by default. Returns whether everything was accepted."""
    options = stream.options
    start, sent = time.monotonic(), 0
    for message in cut(pcm, itertools.repeat(options.frame_bytes) if sizes is None else sizes):
        if options.pace == "realtime":
            await asyncio.sleep(max(0, start + sent / BYTES_PER_SECOND - time.monotonic()))
        if not await stream.send_audio(message):
            return False
        sent += len(message)
    stream.report["sentMs"] = stream.ms()
    return True


# --- modes: each returns what goes into the report beside the mode ------------------------------------------------


async def obtain_token(options):
    if options.token is not None:
        return {"status": None, "token": options.token}
    return await asyncio.to_thread(request_token, options)


async def with_stream(options, talk, first=None):
    """Token, upgrade, `first`, the token as the first text, the connected message, then `talk(stream, pcm)`."""
    token = await obtain_token(options)
    if "token" not in token:
        return {"token": token, "stream": None}
    stream = Stream(options)
    pcm = read_audio(options)
    if await stream.open():
        if first:
            pcm = await first(stream, pcm)
        await stream.send_text(token["token"])
        if await stream.wait_connected():
            await talk(stream, pcm)
        elif not stream.reader.done():
            stream.report["error"] = "no connected message"
    await stream.close()
    if options.out:
        with open(options.out, "wb") as file:
            file.write(stream.heard)
    return {"token": token, "stream": stream.summary()}


async def session(options, _count):
    async def talk(stream, pcm):
        await send_paced(stream, pcm)
        await stream.wait_quiet()

    return await with_stream(options, talk)


async def odd(options, _count):
    async def talk(stream, pcm):
        await send_paced(stream, pcm, itertools.cycle(ODD_SIZES))
        await stream.wait_quiet()

    return await with_stream(options, talk)


async def audio_first(options, count):
    """`count` messages of audio (10) before the token, the rest after the connected message."""

    async def first(stream, pcm):
        early = (count or 10) * options.frame_bytes
        await send_paced(stream, pcm[:early])
        return pcm[early:]

    async def talk(stream, pcm):
        await send_paced(stream, pcm)
        await stream.wait_quiet()

    return await with_stream(options, talk, first)


async def text_after(options, _count):
    """Texts after the token, then the audio: the audio that comes back shows whether the stream goes on."""
    texts = ["hello", "", '{"type":"stop"}', "[]", "null", '{"type":', "\u202e\u001b[2J", "x" * 10_000]

    async def talk(stream, pcm):
        for text in texts:
            await stream.send_text(text)
        await send_paced(stream, pcm)
        await stream.wait_quiet()

    return {"texts": len(texts), **await with_stream(options, talk)}


async def fragments(options, count):
    """One message in `count` frames with 2 bytes of audio each; the last is empty, as websockets sends it."""

    async def talk(stream, _pcm):
        parts = [index.to_bytes(2, "little") for index in range(max(1, (count or 2) - 1))]
        await stream.send_audio(b"".join(parts), parts)
        await stream.wait_quiet()

    return {"fragments": count or 2, **await with_stream(options, talk)}


async def big(options, count):
    """One unfragmented message of `count` bytes (1 MiB)."""
    size = count or 2**20

    async def talk(stream, _pcm):
        await stream.send_audio(os.urandom(size))
        await stream.wait_quiet()

    return {"bytes": size, **await with_stream(options, talk)}


async def no_token(options, _count):
    """Sends nothing after the upgrade, and waits up to --timeout for the service to give up."""
    stream = Stream(options)
    if await stream.open():
        await stream.wait_closed(options.timeout)
    await stream.close()
    return {"stream": stream.summary()}


async def ping(options, _count):
    """Whether a ping is answered within --hold seconds."""

    async def talk(stream, _pcm):
        pong = await stream.socket.ping()
        done, _ = await asyncio.wait([pong], timeout=options.hold)
        stream.report["pong"] = bool(done)

    return await with_stream(options, talk)


async def no_read(options, count):
    """Sends up to `count` bytes (32 MiB) as fast as they are accepted, and reads nothing until that has ended."""

    # Silence would be compressed to almost nothing.
    options.compression = False
    most = count or 2**25

    async def talk(stream, _pcm):
        # The library goes on reading by itself, up to the size of its buffers: the socket must be paused.
        stream.socket.transport.pause_reading()
        start, ended = time.monotonic(), "limit-reached"
        for message in cut(os.urandom(most), itertools.repeat(32_000)):
            if not await stream.send_audio(message):
                ended = "not-taken" if stream.report["closedMs"] is None else "closed"
                break
        stream.report["noRead"] = {"ended": ended, "ms": round((time.monotonic() - start) * 1000, 2)}
        if ended == "limit-reached":
            # A cut cannot be seen here while unread data precedes it: the reading below finds it.
            await asyncio.sleep(options.hold)
        if not stream.socket.transport.is_closing():
            stream.socket.transport.resume_reading()
        await stream.wait_closed(2)

    return await with_stream(options, talk)


async def connect_many(options, count):
    """`count` (11) connections at once, each with a fresh token, kept until all are decided, or for --hold seconds."""
    decided = Decided(count or 11)

    async def one():
        return await present(options, await obtain_token(options), options.hold, decided=decided)

    return many_report(await asyncio.gather(*(one() for _ in range(count or 11))))


async def replay(options, count):
    """One token, presented by `count` (2) connections at once."""
    token = await obtain_token(options)
    everyone = asyncio.Barrier(count or 2)
    outcomes = [present(options, token, options.hold, everyone) for _ in range(count or 2)]
    return many_report(await asyncio.gather(*outcomes))


class Decided:
    """Set once each of `count` connections has been accepted or refused."""

    def __init__(self, count):
        self.left = count
        self.all = asyncio.Event()

    def one(self):
        self.left -= 1
        if self.left == 0:
            self.all.set()


async def present(options, token, hold, everyone=None, decided=None):
    """
    Opens a stream, shows a token, holds on. With `everyone`, the token is shown when all have their upgrade; with
    `decided`, it is held until all know whether they were accepted.
    """
    if "token" not in token:
        if decided:
            decided.one()
        if everyone:
            await everyone.wait()
        return {"tokenStatus": token.get("status"), "connected": False}
    stream = Stream(options)
    opened = await stream.open()
    if everyone:
        await everyone.wait()
    if opened:
        await stream.send_text(token["token"])
        accepted = await stream.wait_connected()
        if decided:
            decided.one()
        if accepted and decided:
            all_decided = asyncio.create_task(decided.all.wait())
            await asyncio.wait([all_decided, stream.reader], timeout=hold, return_when="FIRST_COMPLETED")
            all_decided.cancel()
        elif accepted:
            await stream.wait_closed(hold)
    elif decided:
        decided.one()
    await stream.close()
    kept = ("handshakeStatus", "connected", "connectedMs", "closeCode", "closeReason", "closedBy", "error")
    texts = [message["text"] for message in stream.report["messages"]]
    outcome = {key: stream.report[key] for key in kept}
    return {"tokenStatus": token.get("status"), **outcome, "messages": texts}


def many_report(outcomes):
    refused = [outcome for outcome in outcomes if not outcome["connected"]]
    return {
        "attempts": len(outcomes),
        "connected": len(outcomes) - len(refused),
        "tokenStatuses": histogram(outcome.get("tokenStatus") for outcome in outcomes),
        "refusedCloseCodes": histogram(outcome.get("closeCode") for outcome in refused),
        "cutWhileHeld": sum(outcome["connected"] and outcome["closedBy"] == "service" for outcome in outcomes),
        "outcomes": outcomes,
    }


async def token_many(options, count):
    """`count` (61) token requests at once, each on its own thread and connection."""
    count = count or 61
    barrier = threading.Barrier(count)

    def one():
        barrier.wait()
        return request_token(options)

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        loop = asyncio.get_running_loop()
        answers = await asyncio.gather(*(loop.run_in_executor(pool, one) for _ in range(count)))
    tokens = [answer["token"] for answer in answers if "token" in answer]
    refused = next((answer for answer in answers if "token" not in answer), None)
    return {
        "attempts": count,
        "statuses": histogram(answer.get("status") for answer in answers),
        "errors": histogram(answer["error"] for answer in answers if "error" in answer),
        "distinctTokens": len(set(tokens)),
        "slowestMs": max(answer["ms"] for answer in answers),
        "firstRefused": refused,
    }


async def bad_tokens(options, _count):
    """Each forgery of a good token on its own connection, and at the end the good one."""
    token = await obtain_token(options)
    if "token" not in token:
        return {"token": token, "forgeries": None}
    outcomes = {}
    for name, forged in forgeries(token["token"]).items():
        outcomes[name] = await present(options, {"token": forged}, 0.2)
    good = await present(options, token, 0.2)
    accepted = [name for name, outcome in outcomes.items() if outcome["connected"]]
    return {"accepted": accepted, "goodAccepted": good["connected"], "forgeries": outcomes}


def forgeries(token):
    header, claims, signature = token.split(".")
    claimed = decode_part(claims)
    flipped = ("B" if signature[0] == "A" else "A") + signature[1:]

    def claiming(**changes):
        return f"{header}.{encode_part({**claimed, **changes})}.{signature}"

    return {
        "alg-none": f"{encode_part({'alg': 'none', 'typ': 'JWT'})}.{claims}.",
        "alg-none-kept-signature": f"{encode_part({'alg': 'None', 'typ': 'JWT'})}.{claims}.{signature}",
        "signature-flipped": f"{header}.{claims}.{flipped}",
        "signature-missing": f"{header}.{claims}.",
        "signature-short": token[:-4],
        "two-parts": f"{header}.{claims}",
        "four-parts": f"{token}.{signature}",
        "other-device": claiming(sub="somebody-else"),
        "expires-later": claiming(exp=claimed["exp"] + 3600),
        "other-audience": claiming(aud="another-api"),
        "other-issuer": claiming(iss="somebody-else"),
        "bearer-prefix": f"Bearer {token}",
        "json-wrapped": json.dumps({"token": token}),
        "leading-space": f" {token}",
        "empty": "",
        "not-a-token": "hello",
        "huge": token + "A" * 100_000,
    }


def histogram(values):
    return dict(sorted(collections.Counter(str(value) for value in values).items()))


# --- the command ------------------------------------------------------------------------------------------------

MODES = {
    "session": session,
    "connect-many": connect_many,
    "token-many": token_many,
    "replay": replay,
    "audio-first": audio_first,
    "no-token": no_token,
    "text-after": text_after,
    "odd": odd,
    "fragments": fragments,
    "big": big,
    "no-read": no_read,
    "ping": ping,
    "bad-tokens": bad_tokens,
}


def parse_options(arguments):
    parser = argparse.ArgumentParser(description="A foreign voice streaming client.")
    parser.add_argument("--base-url", required=True, help="http(s)://HOST[:PORT]")
    parser.add_argument("--ws-url", help="ws(s)://HOST[:PORT]; default: that of --base-url")
    parser.add_argument("--token-path", default="/api/websocket-voice/token")
    parser.add_argument("--stream-path", default="/voice-stream")
    parser.add_argument("--api-key", default="foreign-client-key")
    parser.add_argument("--device", default="foreign-client")
    parser.add_argument("--token", help="present this instead of requesting a token")
    parser.add_argument("--file", help="raw 16 kHz s16le mono, or such a WAV; default: 1 s of silence")
    parser.add_argument("--tail-ms", type=int, default=0, help="silence after the file")
    parser.add_argument("--pace", choices=["realtime", "max"], default="realtime")
    parser.add_argument("--frame-bytes", type=int, default=640)
    parser.add_argument("--out", help="write all received audio to this file, raw")
    parser.add_argument("--wait", type=float, default=5, help="seconds to wait for a reply to begin")
    parser.add_argument("--quiet", type=float, default=1, help="seconds without a message that end a reply")
    parser.add_argument("--until-bytes", type=int, help="this much audio ends a session at once")
    parser.add_argument("--hold", type=float, default=2, help="seconds to hold connections (connect-many, replay, no-read)")
    parser.add_argument("--timeout", type=float, default=10, help="seconds for each of the other steps")
    parser.add_argument("--header", action="append", default=[], type=split_header, metavar="NAME:VALUE")
    parser.add_argument("--no-compression", dest="compression", action="store_false", help="offer no compression")
    parser.add_argument("--cafile", help="certificates to trust (PEM)")
    parser.add_argument("--insecure", action="store_true", help="trust any certificate")
    parser.add_argument("--json", action="store_true", help="print the object on one line")
    parser.add_argument(
        "--mode", nargs="+", default=["session"], metavar=("MODE", "N"), help=f"one of {', '.join(MODES)}"
    )
    options = parser.parse_args(arguments)
    mode, count = [*options.mode, None][:2]
    if mode not in MODES or len(options.mode) > 2 or (count is not None and not count.isdigit()):
        parser.error(f"--mode takes one of {', '.join(MODES)}, and for some of them a number")
    options.mode, options.count = mode, None if count is None else int(count)
    options.ws_url = options.ws_url or "ws" + options.base_url.removeprefix("http")
    return options


def split_header(text):
    name, _, value = text.partition(":")
    return name, value.strip()


def run(options):
    report = asyncio.run(MODES[options.mode](options, options.count))
    return json.dumps({"mode": options.mode, **report}, indent=None if options.json else 2)


def run_each(lines, processes=8):
    """Runs each line {"id", "arguments"} in its own process, several at a time, and prints a line {"id", "report"} or
    {"id", "error"} when it is done. Loading all this takes longer than most sessions."""
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        for line in lines:
            request = json.loads(line)

            def tell(outcome, id=request["id"]):
                print(json.dumps({"id": id, **outcome}), flush=True)

            pool.apply_async(try_run, [request["arguments"]], callback=tell)


def try_run(arguments):
    try:
        return {"report": json.loads(run(parse_options(arguments)))}
    except (Exception, SystemExit) as error:
        return {"error": describe(error)}


if __name__ == "__main__":
    if sys.argv[1:] == ["--each"]:
        run_each(sys.stdin)
    else:
        print(run(parse_options(sys.argv[1:])))
