"""Both ends of a WebSocket, to see what something between them does to the traffic.

`service` is on aiohttp, `client` on websockets; they share only the generator of random messages. The client prints one
JSON object: what differed. Ran with Debian 12's python3-aiohttp 3.8.4 and python3-websockets 10.4 on Python 3.11.
"""

import argparse
import asyncio
import hashlib
import json
import math
import random
import time
import urllib.request

LARGEST = 1024 * 1024


def messages(seed, count):
    """Random messages, text and binary: most are small, the largest 1 MiB, some empty."""
    source = random.Random(seed)
    for index in range(count):
        size = int(math.exp(source.random() * math.log(LARGEST)))
        if index % 97 == 0:
            size = (0, LARGEST, 1, 125, 126, 65535, 65536)[index // 97 % 7]
        if source.random() < 0.3:
            yield "é" * (size // 2) + "a" * (size % 2)
        else:
            yield source.randbytes(size)


def digest(message):
    kind = "text" if isinstance(message, str) else "binary"
    data = message.encode() if isinstance(message, str) else message
    return f"{kind} {len(data)} {hashlib.sha256(data).hexdigest()}"


def difference(expected, got):
    for index, (one, other) in enumerate(zip(expected, got)):
        if one != other:
            return f"message {index}: expected {one}, got {other}"
    return None if len(expected) == len(got) else f"expected {len(expected)} messages, got {len(got)}"


# --- the service ------------------------------------------------------------------------------------------------


def serve():
    from aiohttp import WSMsgType, web

    seen = {}

    async def stream(request):
        query = request.query
        socket = web.WebSocketResponse(max_msg_size=2 * LARGEST, compress=False, autoping=False)
        await socket.prepare(request)
        mode = query["mode"]
        if mode == "close":
            code = int(query["code"])
            if code == 1006:
                request.transport.abort()
            elif code == 1005:
                await socket._writer._send_frame(b"", 8)
                await socket.receive()
            else:
                await socket.close(code=code, message=query["reason"].encode())
        elif mode == "closed":
            message = await socket.receive()
            if message.type == WSMsgType.CLOSE:
                seen[query["id"]] = [message.data or 1005, message.extra or ""]
            else:
                seen[query["id"]] = [1006, ""]
        elif mode == "ping":
            message = await socket.receive()
            await socket.ping(message.data)
            answer = await socket.receive()
            seen[query["id"]] = [str(message.type), answer.data.decode()]
            await socket.pong(b"unasked")
            await socket.receive()
        else:
            await exchange(socket, query, WSMsgType)
        return socket

    async def exchange(socket, query, kinds):
        count = int(query["count"])
        sent = list(messages(query["seed"] + "service", count))
        got = []

        async def receive():
            while len(got) < count:
                message = await socket.receive()
                if message.type not in (kinds.TEXT, kinds.BINARY):
                    return
                got.append(digest(message.data))

        receiving = asyncio.ensure_future(receive())
        for message in sent:
            if isinstance(message, str):
                await socket.send_str(message)
            else:
                await socket.send_bytes(message)
        await receiving
        expected = [digest(one) for one in messages(query["seed"] + "client", count)]
        seen[query["id"]] = difference(expected, got)
        await socket.close(code=1000)

    async def report(request):
        for _ in range(200):
            if request.match_info["id"] in seen:
                break
            await asyncio.sleep(0.01)
        return web.json_response(seen.get(request.match_info["id"], "nothing seen"))

    async def run():
        app = web.Application()
        app.router.add_get("/voice-stream", stream)
        app.router.add_get("/seen/{id}", report)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]
        base = f"127.0.0.1:{port}"
        print(json.dumps({"baseUrl": f"http://{base}", "wsUrl": f"ws://{base}"}), flush=True)
        await asyncio.Event().wait()

    asyncio.run(run())


# --- the client -------------------------------------------------------------------------------------------------


async def check(options):
    import websockets

    base = options.url
    ids = iter(range(1_000_000))

    def connect(query):
        url = f"{base.replace('http', 'ws')}/voice-stream?{query}"
        return websockets.connect(url, max_size=2 * LARGEST, ping_interval=None, compression="deflate", close_timeout=5)

    async def seen(one):
        def ask():
            with urllib.request.urlopen(f"{base}/seen/{one}") as answer:
                return json.load(answer)

        return await asyncio.to_thread(ask)

    wrong = []

    async def exchange():
        one = next(ids)
        async with connect(f"mode=exchange&id={one}&count={options.count}&seed={options.seed}") as socket:
            got = []

            async def receive():
                async for message in socket:
                    got.append(digest(message))

            receiving = asyncio.ensure_future(receive())
            for message in messages(options.seed + "client", options.count):
                await socket.send(message)
            await receiving
            if socket.extensions:
                wrong.append(f"extensions were negotiated: {socket.extensions}")
        expected = [digest(one) for one in messages(options.seed + "service", options.count)]
        for side, found in (("client", difference(expected, got)), ("service", await seen(one))):
            if found:
                wrong.append(f"the {side}: {found}")

    async def closes():
        for code in options.codes:
            reason = f"because {code}" if code not in (1005, 1006) else ""
            async with connect(f"mode=close&code={code}&reason=because%20{code}") as socket:
                await socket.wait_closed()
                if [socket.close_code, socket.close_reason] != [code, reason]:
                    wrong.append(f"the service closed with {code}: {socket.close_code} {socket.close_reason!r}")
            one = next(ids)
            async with connect(f"mode=closed&id={one}") as socket:
                if code == 1006:
                    socket.transport.abort()
                elif code == 1005:
                    await socket.write_close_frame(websockets.frames.Close(1005, ""), b"")
                else:
                    await socket.close(code, reason)
            told = await seen(one)
            if told != [code, reason]:
                wrong.append(f"the client closed with {code}: the service saw {told}")

    async def pings():
        one = next(ids)
        async with connect(f"mode=ping&id={one}") as socket:
            await asyncio.wait_for(await_pong(socket), 5)
        told = await seen(one)
        if told != ["9", "from the client"]:
            wrong.append(f"a ping: the service saw {told}")

    async def await_pong(socket):
        # The service answers with a ping of the same text, which this library answers by itself.
        await socket.ping("from the client")
        await asyncio.sleep(0.2)

    began = time.monotonic()
    if options.count:
        await exchange()
    await closes()
    await pings()
    print(json.dumps({"wrong": wrong, "seconds": round(time.monotonic() - began, 1)}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("end", choices=["service", "client"])
    parser.add_argument("--url")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--codes", type=lambda text: [int(one) for one in text.split(",") if one], default=[])
    options = parser.parse_args()
    if options.end == "service":
        serve()
    else:
        asyncio.run(check(options))


if __name__ == "__main__":
    main()
