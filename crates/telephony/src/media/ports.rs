//! RTP port pool: even ports of a range; the odd (RTCP) port above each stays reserved (RFC 3550 section 11).

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};

/// Why no port could be opened.
#[derive(Debug)]
pub enum OpenError {
    /// Every port of the range is in use, by calls or by other programs.
    Exhausted {
        /// Even ports in the range.
        ports: usize,
    },
    /// The address cannot be bound on this machine.
    Address(io::Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Exhausted { ports } => write!(f, "all {ports} RTP ports are in use"),
            OpenError::Address(why) => write!(f, "an RTP port cannot be bound: {why}"),
        }
    }
}

impl std::error::Error for OpenError {}

/// A bound RTP port; free again when dropped.
#[derive(Debug)]
pub struct Socket {
    // Closed before the lease ends: fields are dropped in order.
    pub(super) udp: UdpSocket,
    address: SocketAddr,
    _lease: Lease,
}

impl Socket {
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The address it is bound to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

#[derive(Debug)]
struct Lease {
    pool: Arc<Pool>,
    index: usize,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut slots = self.pool.lock();
        if let Some(slot) = slots.taken.get_mut(self.index)
            && *slot
        {
            *slot = false;
            slots.count -= 1;
        }
    }
}

#[derive(Debug)]
struct Slots {
    taken: Vec<bool>,
    count: usize,
    next: usize,
}

/// Which ports are in use.
#[derive(Debug)]
pub(super) struct Pool {
    first: u16,
    slots: Mutex<Slots>,
}

impl Pool {
    /// Ports `first..=last`; an empty range is an error.
    pub(super) fn new((first, last): (u16, u16)) -> io::Result<Arc<Pool>> {
        let even = first.checked_add(first % 2);
        let ports =
            even.filter(|even| *even > 0 && *even <= last).map_or(0, |even| usize::from(last - even) / 2 + 1);
        let (Some(first), true) = (even, ports > 0) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("no even port from {first} to {last}"),
            ));
        };
        let slots = Slots { taken: vec![false; ports], count: 0, next: 0 };
        Ok(Arc::new(Pool { first, slots: Mutex::new(slots) }))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ports in use, and ports there are.
    pub(super) fn used(&self) -> (usize, usize) {
        let slots = self.lock();
        (slots.count, slots.taken.len())
    }

    /// The next free port in turn: a port just freed is used last, so that stray packets of the former call
    /// reach no other.
    fn lease(self: &Arc<Pool>) -> Option<Lease> {
        let mut slots = self.lock();
        let ports = slots.taken.len();
        let index = (0..ports).map(|step| (slots.next + step) % ports).find(|index| !slots.taken[*index])?;
        slots.taken[index] = true;
        slots.count += 1;
        slots.next = (index + 1) % ports;
        Some(Lease { pool: self.clone(), index })
    }

    /// Binds a port of `ip`. One that another program holds is stepped over.
    pub(super) fn open(self: &Arc<Pool>, ip: IpAddr) -> Result<Socket, OpenError> {
        let (_, ports) = self.used();
        // Kept until one binds: a port held by another program is not tried twice.
        let mut skipped = Vec::new();
        while let Some(lease) = self.lease() {
            let offset = u16::try_from(lease.index * 2).unwrap_or(u16::MAX);
            let address = SocketAddr::new(ip, self.first.saturating_add(offset));
            let bound = UdpSocket::bind(address).and_then(|udp| {
                udp.set_nonblocking(true)?;
                Ok(udp)
            });
            match bound {
                Ok(udp) => {
                    return Ok(Socket { udp, address, _lease: lease });
                }
                Err(why)
                    if matches!(why.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied) =>
                {
                    skipped.push(lease);
                }
                Err(why) => return Err(OpenError::Address(why)),
            }
        }
        Err(OpenError::Exhausted { ports })
    }
}
