"""Starts `voicectl load` on many machines with Locust: each worker runs one shard, the master merges the results.

    locust -f locustfile.py --headless --master --expect-workers 2     # on one machine
    locust -f locustfile.py --worker --master-host MASTER              # on each of the others

VOICECTL (default: voicectl) is the program. VOICECTL_LOAD has the flags of the load, the same for all shards, and
VOICECTL_MERGE those of the merge, such as --threshold. Each worker needs its own VOICECTL_API_KEY: the master sends
no key. The exit code of the master is that of `voicectl load merge`: 9 if a worker was lost.
"""
import os
import shlex
import tempfile
import time
from datetime import datetime, timezone

import gevent
from gevent import subprocess
from locust import User, constant, events, runners, task
from locust.runners import MasterRunner, WorkerRunner

PROGRAM = shlex.split(os.environ.get("VOICECTL", "voicectl"))
LOAD = shlex.split(os.environ.get("VOICECTL_LOAD", ""))
MERGE = shlex.split(os.environ.get("VOICECTL_MERGE", ""))
# The Debian 12 package has no version, and a master refuses workers without one.
runners.__version__ = runners.__version__ or "unknown"
# All workers get their orders before the load starts.
LEAD_SECONDS = float(os.environ.get("VOICECTL_LEAD", "5"))


class Idle(User):
    """Locust requires a user, but this one generates no load."""

    wait_time = constant(1)

    @task
    def wait(self):
        pass


results = {}
shards = {}


def run_shard(environment, msg, **_):
    """On a worker: runs one shard of the load, and sends its result to the master."""
    gevent.spawn(make_load, environment, msg.data)


def make_load(environment, order):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        shard = ["--shard", order["shard"], "--start-at", order["start"], "--out", path]
        code = subprocess.call(PROGRAM + ["load", "--output", "plain"] + LOAD + shard)
        text = open(path, encoding="utf8").read() if os.path.exists(path) else None
    environment.runner.send_message("load-result", {"shard": order["shard"], "code": code, "result": text})


def take_result(environment, msg, **_):
    results[msg.data["shard"]] = msg.data


def command(environment):
    """On the master: gives each worker its shard, waits for the results, and merges them."""
    runner = environment.runner
    workers = list(runner.clients.keys())
    start = datetime.fromtimestamp(time.time() + LEAD_SECONDS, timezone.utc).isoformat().replace("+00:00", "Z")
    for number, worker in enumerate(workers, 1):
        shards[worker] = f"{number}/{len(workers)}"
        runner.send_message("load", {"shard": shards[worker], "start": start}, worker)
    while any(shard not in results for shard in shards.values()):
        # Only workers that are still alive can send a result.
        alive = {client.id for client in runner.clients.values() if client.state != "missing"}
        if not any(worker in alive and shard not in results for worker, shard in shards.items()):
            break
        gevent.sleep(0.2)
    for worker, shard in shards.items():
        if shard not in results:
            print(f"Worker {worker} was lost with shard {shard}", flush=True)
    environment.process_exit_code = merge([one["result"] for one in results.values() if one["result"]])
    runner.quit()


def merge(texts):
    if not texts:
        return 9
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{number}.json") for number in range(len(texts))]
        for path, text in zip(paths, texts):
            with open(path, "w", encoding="utf8") as file:
                file.write(text)
        return subprocess.call(PROGRAM + ["load", "merge"] + paths + MERGE)


@events.init.add_listener
def on_init(environment, **_):
    if isinstance(environment.runner, WorkerRunner):
        environment.runner.register_message("load", run_shard)
    if isinstance(environment.runner, MasterRunner):
        environment.runner.register_message("load-result", take_result)
        events.test_start.add_listener(lambda environment, **_: gevent.spawn(command, environment))
