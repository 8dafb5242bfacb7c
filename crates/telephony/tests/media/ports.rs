//! Ports, threads and memory come back.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use telephony::media::{Engine, OpenError, Settings, Sources};

use super::peer::{HERE, Notebook, agreed, engine, until};

#[test]
fn every_port_is_used_once_and_comes_back() {
    let engine = engine((31_301, 31_309));
    let mut sockets = Vec::new();
    let mut ports = Vec::new();
    while let Ok(socket) = engine.open(HERE) {
        ports.push(socket.port());
        sockets.push(socket);
    }
    assert_eq!(ports, [31_302, 31_304, 31_306, 31_308]);
    assert!(matches!(engine.open(HERE), Err(OpenError::Exhausted { ports: 4 })));
    assert_eq!((engine.figures().ports_in_use, engine.figures().ports), (4, 4));
    sockets.remove(2);
    assert_eq!(engine.open(HERE).expect("the freed one").port(), 31_306);
    drop(sockets);
    assert_eq!(engine.figures().ports_in_use, 0);
    // A freed port is taken last.
    let first = engine.open(HERE).expect("a port").port();
    let second = engine.open(HERE).expect("a port").port();
    assert_ne!(first, second);
}

#[test]
fn a_port_of_another_program_is_stepped_over() {
    let other = UdpSocket::bind((HERE, 31_320)).expect("a port");
    let engine = engine((31_320, 31_323));
    let ours = engine.open(HERE).expect("a port");
    assert_eq!(ours.port(), 31_322);
    assert!(matches!(engine.open(HERE), Err(OpenError::Exhausted { ports: 2 })));
    assert_eq!(engine.figures().ports_in_use, 1);
    drop(other);
    assert_eq!(engine.open(HERE).expect("free now").port(), 31_320);
}

#[test]
fn an_address_that_is_not_ours_is_an_error_of_its_own() {
    let engine = engine((31_330, 31_333));
    let elsewhere = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 200));
    assert!(matches!(engine.open(elsewhere), Err(OpenError::Address(_))));
    assert_eq!(engine.figures().ports_in_use, 0);
}

#[test]
fn a_range_without_ports_is_refused() {
    for ports in [(0, 0), (31_001, 31_001), (31_010, 31_000), (65_535, 65_535)] {
        assert!(Engine::start(Settings { ports, threads: 1 }).is_err(), "{ports:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_lines_leave_nothing_behind() {
    /// Sockets that hold a port of the range. The table is no snapshot: while other programs open and close sockets, a
    /// reading may miss some, so a count is waited for.
    fn bound() -> usize {
        let table = std::fs::read_to_string("/proc/self/net/udp").expect("the system's table");
        table
            .lines()
            .filter_map(|line| {
                let local = line.split_ascii_whitespace().nth(1)?;
                u16::from_str_radix(local.split(':').nth(1)?, 16).ok()
            })
            .filter(|port| (31_400..=31_599).contains(port))
            .count()
    }
    /// Threads named by this engine: the names of all engines are alike, so they are counted by their number.
    fn threads(number: usize) -> usize {
        std::fs::read_dir("/proc/self/task")
            .expect("the system's table")
            .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
            .filter(|name| name.trim() == format!("sound-{number}"))
            .count()
    }
    let engine = Engine::start(Settings { ports: (31_400, 31_599), threads: 9 }).expect("an engine");
    // No other test starts so many: the ninth is ours.
    until("threads", || threads(8) == 1);
    for _ in 0..3 {
        let notes = Notebook::default();
        let lines: Vec<_> = (0..100)
            .map(|_| {
                let socket = engine.open(HERE).expect("a port");
                engine.connect(socket, agreed(([127, 0, 0, 1], 9).into()), Sources::default(), notes.ear())
            })
            .collect();
        assert!(engine.open(HERE).is_err());
        until("a hundred are bound", || bound() == 100);
        until("all tick", || lines.iter().all(|line| line.figures().ticks > 3));
        assert_eq!(engine.figures().lines, 100);
        // One half is closed, the other dropped.
        for line in &lines[..50] {
            line.close();
        }
        drop(lines);
        until("all closed", || {
            let figures = engine.figures();
            figures.lines == 0 && figures.ports_in_use == 0
        });
        until("none is bound", || bound() == 0);
        assert_eq!(notes.read(|notes| notes.closed), 100);
    }
    let line = {
        let socket = engine.open(HERE).expect("a port");
        engine.connect(
            socket,
            agreed(([127, 0, 0, 1], 9).into()),
            Sources::default(),
            Notebook::default().ear(),
        )
    };
    drop(engine);
    let ticks = line.figures().ticks;
    until("a line outlives the engine", || line.figures().ticks > ticks + 2);
    drop(line);
    until("no thread", || threads(8) == 0);
    assert_eq!(bound(), 0);
}
