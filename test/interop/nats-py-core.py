"""What programs do with nats.py every day, without JetStream. Prints what came of it as one line of JSON.

    python3 nats-py-core.py nats://127.0.0.1:4222 nats://127.0.0.1:4223

The second address is the same server behind a proxy that resets connections when it is told so on `proxy.reset`.
"""

import asyncio
import json
import sys

import nats
from nats.errors import NoRespondersError


async def main(server: str, through_proxy: str) -> dict:
    seen: dict = {}
    publisher = await nats.connect(server)
    subscriber = await nats.connect(through_proxy, reconnect_time_wait=0.05)

    subscription = await subscriber.subscribe("plant.*.temperature")
    await subscriber.flush()
    await publisher.publish("plant.1.temperature", b"21", reply="answers", headers={"Unit": "C", "Site": "north"})
    await publisher.publish("plant.1.pressure", b"unheard")
    await publisher.publish("plant.2.temperature", bytes(range(256)) * 4000)
    first, second = await subscription.next_msg(2), await subscription.next_msg(2)
    seen["first"] = [first.subject, first.data.decode(), first.reply, first.headers]
    seen["second"] = [second.subject, len(second.data), second.data == bytes(range(256)) * 4000, second.headers]

    async def square(message) -> None:
        await message.respond(str(int(message.data) ** 2).encode())

    await subscriber.subscribe("square", cb=square)
    await subscriber.flush()
    answers = await asyncio.gather(*(publisher.request("square", str(n).encode(), timeout=2) for n in range(5)))
    seen["answers"] = [answer.data.decode() for answer in answers]
    old = await publisher.request("square", b"9", timeout=2, old_style=True)
    seen["old style"] = old.data.decode()
    try:
        await publisher.request("nobody", b"", timeout=2)
    except NoRespondersError as error:
        seen["nobody"] = str(error)

    counts = [0, 0]

    def worker(i: int):
        async def count(_) -> None:
            counts[i] += 1

        return count

    workers = [await nats.connect(server) for _ in counts]
    for i, connection in enumerate(workers):
        await connection.subscribe("jobs", queue="workers", cb=worker(i))
        await connection.flush()
    for _ in range(200):
        await publisher.publish("jobs", b"")
    await publisher.flush()
    for connection in workers:
        await connection.drain()
    seen["jobs"] = [sum(counts), min(counts) > 30, [connection.is_closed for connection in workers]]

    limited = await subscriber.subscribe("limited")
    await limited.unsubscribe(2)
    await subscriber.flush()
    for i in range(4):
        await publisher.publish("limited", str(i).encode())
    await publisher.flush()
    seen["limited"] = [(await limited.next_msg(2)).data.decode() for _ in range(2)]

    reconnected = asyncio.Event()

    async def on_reconnect() -> None:
        reconnected.set()

    subscriber._reconnected_cb = on_reconnect
    await publisher.publish("proxy.reset", b"")
    await asyncio.wait_for(reconnected.wait(), 10)
    await subscriber.flush()
    await publisher.publish("plant.3.temperature", b"after")
    seen["after"] = (await subscription.next_msg(2)).data.decode()
    await subscriber.drain()
    await publisher.close()
    return seen


print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2]))))
