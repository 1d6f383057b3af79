//! Bytes on the wire: packets, readers and writers, TLVs, checksums, IP, UDP and ICMP headers, pcapng.
