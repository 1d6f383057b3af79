//! SCTP (RFC 9260), multihomed and sans-IO: packet codec, association, endpoint.
