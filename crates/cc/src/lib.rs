//! Round-trip estimation and congestion controllers, pure arithmetic over bytes and time.
