"""An echo server and a client of it over SCTP in UDP on the loopback: no privilege is needed.

Run it with the package installed::

    python python/examples/live_echo.py
"""

from __future__ import annotations

import asyncio

from slantpath import live

LOOPBACK = "127.0.0.1"
PORT = 7
MESSAGES = 1000


async def serve(endpoint: live.Endpoint) -> None:
    """Send back what comes, on as many associations as there are."""
    async with asyncio.TaskGroup() as associations:
        while True:
            associations.create_task(echo(await endpoint.accept()))


async def echo(association: live.Association) -> None:
    """Send every message back until the peer shuts down."""
    async for message in association:
        await association.send(
            message.stream,
            message.payload,
            payload_protocol=message.payload_protocol,
            unordered=message.unordered,
        )


async def main() -> None:
    """Run both ends."""
    async with await live.Endpoint.bind([LOOPBACK], port=PORT, udp=live.Udp(local_port=0)) as server:
        udp_port = server.addresses[0][1]
        print(f"an echo server at SCTP port {PORT}, behind UDP port {udp_port}")
        serving = asyncio.create_task(serve(server))
        udp = live.Udp(local_port=0, remote_port=udp_port)
        async with (
            await live.Endpoint.bind([LOOPBACK], udp=udp) as client,
            await client.connect([LOOPBACK], PORT) as call,
        ):
            print(f"connected, with {call.outbound_streams} streams")

            async def send() -> None:
                for number in range(MESSAGES):
                    # Waits whenever the send buffer is full.
                    await call.send(number % call.outbound_streams, number.to_bytes(4) * 50)

            sending = asyncio.create_task(send())
            for _ in range(MESSAGES):
                await call.receive()
            await sending
            print(f"{MESSAGES} messages have come back")
            for path in call.paths():
                print(f"path to {path['destination']}: SRTT {path['srtt_s'] * 1000:.3f} ms")
        serving.cancel()


if __name__ == "__main__":
    asyncio.run(main())
