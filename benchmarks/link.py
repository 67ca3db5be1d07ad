#!/usr/bin/env python3
"""A link between two network namespaces, with a delay, a rate and a loss, in user space.

    benchmarks/link.py --delay 40 --rate 100 --loss 0.1

makes the namespaces "near" and "far" (--names), each with one device: 10.99.0.1 is near, 10.99.0.2 is far.
What one sends arrives at the other after --delay milliseconds, at --rate megabits a second at most (0: no
limit), and of a hundred packets --loss are lost. Start programs by "ip netns exec near ...". It runs until
SIGTERM or SIGINT, and removes the namespaces. Needs root, /dev/net/tun and iproute2; the kernel needs no netem.

A packet that would wait longer than --queue milliseconds for the link is lost, as in a router with a small
buffer. Without a rate, packets are large (--mtu), so that the program is not the limit.
"""
import argparse
import collections
import fcntl
import os
import random
import select
import signal
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
SOME = 64  # packets that are read at once


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class End:
    """One namespace's device."""

    def __init__(self, namespace, device, address, mtu):
        self.namespace = namespace
        run("ip", "netns", "add", namespace)
        self.fd = -1
        try:
            self.attach(device, address, mtu)
        except BaseException:
            self.close()
            raise

    def attach(self, device, address, mtu):
        namespace = self.namespace
        self.fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.fd, TUNSETIFF, struct.pack("16sH", device.encode(), IFF_TUN | IFF_NO_PI))
        inside = ("ip", "-n", namespace)
        run("ip", "link", "set", device, "netns", namespace)
        run(*inside, "link", "set", "lo", "up")
        run(*inside, "addr", "add", address + "/30", "dev", device)
        run(*inside, "link", "set", device, "mtu", str(mtu), "txqueuelen", "10000", "up")

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
        subprocess.run(("ip", "netns", "del", self.namespace), check=False)


class Direction:
    """Packets on their way from one end to the other."""

    def __init__(self, source, sink, delay, rate, loss, queue, chance):
        self.source, self.sink = source.fd, sink.fd
        self.delay, self.rate, self.loss, self.queue = delay, rate, loss, queue
        self.chance = chance
        self.free = 0.0  # when the link has sent what it took
        self.flying = collections.deque()
        self.packets = self.lost = self.dropped = 0

    def take(self):
        for _ in range(SOME):
            try:
                packet = os.read(self.source, 65536)
            except BlockingIOError:
                return
            self.packets += 1
            now = time.monotonic()
            begins = max(now, self.free)
            if begins - now > self.queue:
                self.dropped += 1
                continue
            self.free = begins + (len(packet) * 8 / self.rate if self.rate else 0)
            if self.chance.random() < self.loss:
                self.lost += 1
            else:
                self.flying.append((self.free + self.delay, packet))

    def deliver(self):
        now = time.monotonic()
        while self.flying and self.flying[0][0] <= now:
            try:
                os.write(self.sink, self.flying.popleft()[1])
            except (BlockingIOError, OSError):
                self.dropped += 1

    def due(self):
        return self.flying[0][0] if self.flying else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, default=40, help="milliseconds, one way")
    parser.add_argument("--rate", type=float, default=0, help="megabits a second")
    parser.add_argument("--loss", type=float, default=0, help="percent of the packets, in both directions")
    parser.add_argument("--queue", type=float, default=50, help="milliseconds")
    parser.add_argument("--mtu", type=int, default=0, help="default: 1500 with a rate, else 60000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--names", default="near,far")
    given = parser.parse_args()
    names = given.names.split(",")
    mtu = given.mtu or (1500 if given.rate else 60000)
    chance = random.Random(given.seed)
    ends, stop = [], []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.append(1))
    try:
        for number, name in enumerate(names):
            ends.append(End(name, f"link{os.getpid() % 100000}{number}", f"10.99.0.{number + 1}", mtu))
        options = (given.delay / 1e3, given.rate * 1e6, given.loss / 100, given.queue / 1e3, chance)
        ways = [Direction(ends[0], ends[1], *options), Direction(ends[1], ends[0], *options)]
        print("ready", flush=True)
        while not stop:
            due = [way.due() for way in ways if way.due() is not None]
            wait = max(0.0, min(due) - time.monotonic()) if due else 1.0
            ready = select.select([way.source for way in ways], [], [], wait)[0]
            for way in ways:
                if way.source in ready:
                    way.take()
                way.deliver()
        for name, way in zip(names, ways):
            print(f"from {name}: {way.packets} packets, {way.lost} lost, {way.dropped} dropped", file=sys.stderr)
    finally:
        for end in ends:
            end.close()


if __name__ == "__main__":
    main()
