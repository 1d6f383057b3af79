//! Satellites, sites, contacts, handover and routes over time: pure arithmetic that ends in a contact plan.
