"""Makes a shared library with CUDA code small enough to carry: keeps the code of one compute capability.

    python3 fatbin.py LIBRARY CAPABILITY OUTPUT     e.g. libnccl.so.2 90 libnccl.so.2.xz

The payloads of all other code are overwritten with zeros and the file is compressed (xz): offsets, and with them
everything that a loader or a debugger reads, stay as they are. A GPU of another capability then has no code in it.

Layout: section .nv_fatbin holds images of {u32 0xba55ed50, u16 version, u16 header size, u64 size} followed by entries of
{u16 kind (1 PTX, 2 code), u16, u32 header size, u64 payload size, ..., u32 capability at offset 28} and their payload.
Section __nv_relfatbin is what a device linker has read before and nothing reads at run time.
"""
import lzma
import struct
import sys

IMAGE = 0xBA55ED50
CODE = 2


def sections(elf):
    """Name -> (offset, size) of a 64-bit ELF file."""
    table, = struct.unpack_from("<Q", elf, 0x28)
    entry_size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + i * entry_size) for i in range(count)]
    text = headers[names][4]
    found = {}
    for name, _, _, _, offset, size in headers:
        end = elf.index(0, text + name)
        found[elf[text + name:end].decode()] = (offset, size)
    return found


def entries(elf, offset, size):
    """(kind, capability, offset of the payload, its size) of each entry of .nv_fatbin."""
    at, end = offset, offset + size
    while at + 16 <= end:
        magic, _, header, length = struct.unpack_from("<IHHQ", elf, at)
        if magic != IMAGE:  # images are aligned, with zeros between them
            at += 8
            continue
        entry, stop = at + header, at + header + length
        while entry < stop:
            kind, _, header, payload = struct.unpack_from("<HHIQ", elf, entry)
            capability, = struct.unpack_from("<I", elf, entry + 28)
            yield kind, capability, entry + header, payload
            entry += header + payload
        at = stop


def thin(elf, capability):
    """Overwrites in place; the number of entries that are kept."""
    found = sections(elf)
    kept = 0
    for kind, of, offset, size in list(entries(elf, *found[".nv_fatbin"])):
        if (kind, of) == (CODE, capability):
            kept += 1
        else:
            elf[offset:offset + size] = bytes(size)
    offset, size = found.get("__nv_relfatbin", (0, 0))
    elf[offset:offset + size] = bytes(size)
    return kept


def main(library, capability, output):
    with open(library, "rb") as file:
        elf = bytearray(file.read())
    if thin(elf, int(capability)) == 0:
        sys.exit(f"{library}: no code for compute capability {capability}")
    with lzma.open(output, "wb", preset=1) as file:
        file.write(elf)


if __name__ == "__main__":
    main(*sys.argv[1:])
