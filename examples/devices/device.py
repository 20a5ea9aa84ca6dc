#!/usr/bin/env python3
"""A voice device in Python. It needs `websockets` (Debian: python3-websockets):

    npx voicectl drill -- python3 device.py

Replace microphone() and Speaker with your audio input and output.
"""
import array
import asyncio
import http.client
import json
import math
import os
import random
import signal
import ssl
import sys
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime

import websockets

BASE_URL = os.environ.get("VOICECTL_BASE_URL", "http://127.0.0.1:8787")
WS_URL = os.environ.get("VOICECTL_WS_URL", "ws" + BASE_URL[4:])
API_KEY = os.environ.get("VOICECTL_API_KEY", "voicectl-development-key")
DEVICE_ID = os.environ.get("VOICECTL_DEVICE", "python-device")
CERTIFICATES = os.environ.get("VOICECTL_CA")  # None: those of the system

FRAME_SECONDS = 0.02
SAMPLES_PER_FRAME = 320  # 16 kHz, 16-bit, mono
PING_EVERY = 4
ANSWER_WITHIN = 5
FIRST_WAIT = 0.5
LONGEST_WAIT = 30
HEALTHY = 10
LARGEST_MESSAGE = 16 * 1024 * 1024


class NoToken(Exception):
    def __init__(self, message, retry_after=0):
        super().__init__(message)
        self.retry_after = retry_after


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key is only for this address."""

    def redirect_request(self, *args):
        return None


def trusted():
    return ssl.create_default_context(cafile=CERTIFICATES)


def seconds_to_wait(retry_after):
    """Retry-After is in seconds, or a date."""
    if retry_after.isdigit():
        return int(retry_after)
    try:
        return parsedate_to_datetime(retry_after).timestamp() - time.time()
    except (TypeError, ValueError):
        return 0


def request_token():
    """A token for one connection: use it at once."""
    body = json.dumps({"apiKey": API_KEY, "deviceId": DEVICE_ID}).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    request = urllib.request.Request(f"{BASE_URL}/api/websocket-voice/token", body, headers)
    opener = urllib.request.build_opener(NoRedirect, urllib.request.HTTPSHandler(context=trusted()))
    try:
        with opener.open(request, timeout=ANSWER_WITHIN) as answer:
            token = json.load(answer)["token"] if answer.status == 200 else None
    except urllib.error.HTTPError as error:
        raise NoToken(f"status {error.code}", seconds_to_wait(error.headers.get("Retry-After", ""))) from error
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
        raise NoToken(str(error)) from error
    if not isinstance(token, str):
        raise NoToken("the answer has no token")
    return token


def microphone():
    """A tone in place of a microphone: frames of 20 ms, s16le."""
    at = 0
    while True:
        samples = (8000 * math.sin(2 * math.pi * 440 * (at + i) / 16000) for i in range(SAMPLES_PER_FRAME))
        frame = array.array("h", map(round, samples))
        if sys.byteorder == "big":
            frame.byteswap()
        yield frame.tobytes()
        at += SAMPLES_PER_FRAME


class Speaker:
    """A message may end within a sample: the half is kept for the next one."""

    def __init__(self):
        self.half = b""

    def play(self, data):
        pcm = self.half + data
        whole = len(pcm) - len(pcm) % 2
        self.half = pcm[whole:]
        # Here pcm[:whole] goes to the loudspeaker.


def kind_of(text):
    """Unknown kinds are ignored: later versions may add them."""
    try:
        message = json.loads(text)
    except ValueError:
        return None
    return message.get("type") if isinstance(message, dict) else None


async def speak(socket):
    """Sends a frame every 20 ms, and catches up after a delay."""
    started = time.monotonic()
    for number, frame in enumerate(microphone()):
        await asyncio.sleep(max(0, started + number * FRAME_SECONDS - time.monotonic()))
        await socket.send(frame)


async def listen(socket, confirmed):
    speaker = Speaker()
    async for message in socket:
        if isinstance(message, bytes):
            speaker.play(message)
        elif kind_of(message) == "service_voice_connected":
            confirmed.set()


async def converse(token):
    """Talks until the connection ends, for whatever reason."""
    context = trusted() if WS_URL.startswith("wss") else None
    async with websockets.connect(
        f"{WS_URL}/voice-stream",
        ssl=context,
        open_timeout=ANSWER_WITHIN,
        ping_interval=PING_EVERY,
        ping_timeout=PING_EVERY,
        close_timeout=1,
        max_size=LARGEST_MESSAGE,
        compression=None,
    ) as socket:
        await socket.send(token)
        confirmed = asyncio.Event()
        listening = asyncio.create_task(listen(socket, confirmed))
        speaking = None
        try:
            await asyncio.wait_for(confirmed.wait(), ANSWER_WITHIN)
            speaking = asyncio.create_task(speak(socket))
            await asyncio.wait({listening, speaking}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # When the device is stopped, too, the connection is closed with 1000.
            for task in (listening, speaking):
                if task:
                    task.cancel()
            await asyncio.gather(listening, *([speaking] if speaking else []), return_exceptions=True)


async def run():
    failures = 0
    while True:
        retry_after = 0
        started = time.monotonic()
        try:
            # A token is for one connection, and is used at once.
            await converse(await asyncio.to_thread(request_token))
        except NoToken as error:
            retry_after = error.retry_after
            print(f"No token: {error}", file=sys.stderr)
        except (OSError, asyncio.TimeoutError, websockets.exceptions.WebSocketException) as error:
            print(f"The connection ended: {error!r}", file=sys.stderr)
        if time.monotonic() - started >= HEALTHY:
            failures = 0
        # Exponential backoff with jitter, but never sooner than the service allows.
        backoff = min(LONGEST_WAIT, FIRST_WAIT * 2**failures) * random.uniform(1, 1.25)
        failures += 1
        await asyncio.sleep(max(backoff, retry_after))


async def main():
    device = asyncio.create_task(run())
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, device.cancel)
    try:
        await device
    except asyncio.CancelledError:
        pass


asyncio.run(main())
