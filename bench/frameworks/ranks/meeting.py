"""Where ranks of a job meet without a library: rank 0 listens at MASTER_ADDR and MASTER_PORT, and passes values on."""

import fcntl
import ipaddress
import json
import os
import socket
import struct
import time

LONGEST_WAIT = 60
SIOCGIFADDR = 0x8915
LOOPBACK = "127.0.0.1"


def own_place():
    """The interface and the address of this host in HBENCH_NETWORK, by which the other ranks reach it."""
    networks = os.environ["HBENCH_NETWORK"].split(",")
    subnets = [ipaddress.ip_network(each, strict=False) for each in networks if "/" in each]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, interface in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(asked, SIOCGIFADDR, struct.pack("256s", interface.encode()))
            except OSError:  # it has no address
                continue
            address = socket.inet_ntoa(answer[20:24])
            if interface in networks or any(ipaddress.ip_address(address) in each for each in subnets):
                return interface, address
    raise ConnectionError(f"{socket.gethostname()} has no address in the network {','.join(networks)}")


def connect(address):
    """Rank 0 may listen only later."""
    end = time.monotonic() + LONGEST_WAIT
    while True:
        try:
            return socket.create_connection(address, LONGEST_WAIT)
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def free_address():
    """An address of this host, with a port at which nobody listens."""
    with socket.create_server((own_place()[1], 0)) as listener:
        return "{}:{}".format(*listener.getsockname())


class Meeting:
    """The ranks of one job. Each calls the same methods in the same order, and waits in them for all others."""

    def __init__(self, rank, ranks):
        self.rank, self.files = rank, []
        address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
        if rank > 0:
            self.files = [self.open(connect(address))]
            self.write(self.files[0], rank)
            return
        # Its own host may know another address by its name than others do.
        with socket.create_server(address if address[0] == LOOPBACK else ("", address[1])) as listener:
            listener.settimeout(LONGEST_WAIT)
            arrived = [self.open(listener.accept()[0]) for _ in range(1, ranks)]
        self.files = [file for _, file in sorted(((self.read(file), file) for file in arrived), key=lambda one: one[0])]

    def gather(self, value):
        """Returns the values of all ranks, in their order, on all ranks."""
        if self.rank > 0:
            self.write(self.files[0], value)
            return self.read(self.files[0])
        values = [value] + [self.read(file) for file in self.files]
        for file in self.files:
            self.write(file, values)
        return values

    def agree(self, value):
        """Returns rank 0's value on all ranks."""
        return self.gather(value)[0]

    def leave(self):
        """Rank 0 waits until all others have ended: libraries take a rank that has gone before them for a lost one."""
        if self.rank > 0:
            return
        for file in self.files:
            file.read()

    @staticmethod
    def open(connection):
        connection.settimeout(None)
        return connection.makefile("rw", encoding="utf-8")

    @staticmethod
    def read(file):
        line = file.readline()
        if not line:
            raise ConnectionError("another rank has gone")
        return json.loads(line)

    @staticmethod
    def write(file, value):
        file.write(json.dumps(value) + "\n")
        file.flush()
