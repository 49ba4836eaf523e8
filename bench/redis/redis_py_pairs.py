"""Acquires and releases locks of redis-py for a while; prints how many pairs per second.

redis_py_pairs.py PORT THREADS SECONDS
"""

import sys
import threading
import time

import redis


def work(client, name, end, counts, index):
    lock = client.lock(name, timeout=30)
    while time.monotonic() < end:
        assert lock.acquire(blocking=False)
        lock.release()
        counts[index] += 1


def main():
    port, threads, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    client = redis.Redis(host="127.0.0.1", port=port)
    counts = [0] * threads
    begin = time.monotonic()
    workers = [
        threading.Thread(target=work, args=(client, f"py:{i}", begin + seconds, counts, i))
        for i in range(threads)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(sum(counts) / (time.monotonic() - begin))


main()
