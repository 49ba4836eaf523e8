"""redis-py's Lock, as a program of somebody else uses it.

hold PORT NAME VALUE           takes the lock, says "held", and holds it until the key VALUE exists
try PORT NAME                  says "got" or "busy"
turns PORT NAME ROUNDS         says "waits", waits for the lock, and says "held", so often
count PORT NAME FILE ROUNDS    adds one to the number in the file, so often, under the lock
"""
import sys
import time

import redis


def hold(client, name, until):
    with client.lock(name, timeout=60):
        print("held", flush=True)
        while not client.exists(until):
            time.sleep(0.005)
    print("released", flush=True)


def attempt(client, name):
    lock = client.lock(name, timeout=60)
    got = lock.acquire(blocking=False)
    print("got" if got else "busy", flush=True)
    if got:
        lock.release()


def turns(client, name, rounds):
    for _ in range(int(rounds)):
        print("waits", flush=True)
        with client.lock(name, timeout=60):
            print("held", flush=True)


def count(client, name, path, rounds):
    for _ in range(int(rounds)):
        with client.lock(name, timeout=60, sleep=0.001):
            with open(path, encoding="ascii") as file:
                number = int(file.read())
            with open(path, "w", encoding="ascii") as file:
                file.write(str(number + 1))
    print("counted", flush=True)


what, port, *rest = sys.argv[1:]
{"hold": hold, "try": attempt, "turns": turns, "count": count}[what](redis.Redis(port=int(port)), *rest)
