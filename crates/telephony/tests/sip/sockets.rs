//! Which ports of this machine are taken, read from the kernel's table. A test that binds a port to see whether
//! it is free can keep it from the next user: a process that another test starts at that moment has a copy of the
//! socket until it runs its own program.

/// Whether something holds this port, by datagram (`udp`) or stream (`tcp`).
pub fn taken(protocol: &str, port: u16) -> bool {
    [protocol.to_owned(), format!("{protocol}6")].iter().any(|table| {
        let table = match std::fs::read_to_string(format!("/proc/net/{table}")) {
            // A machine without IPv6 has no second table.
            Err(why) if why.kind() == std::io::ErrorKind::NotFound && table.ends_with('6') => return false,
            read => read.expect("the table of sockets"),
        };
        table.lines().skip(1).any(|line| {
            let local = line.split_whitespace().nth(1).unwrap_or_default();
            local.rsplit(':').next().is_some_and(|hex| u16::from_str_radix(hex, 16) == Ok(port))
        })
    })
}

/// Whether nothing holds this port.
pub fn is_free(port: u16) -> bool {
    !taken("udp", port) && !taken("tcp", port)
}
