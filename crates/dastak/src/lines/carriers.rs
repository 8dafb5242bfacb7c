//! The carriers of this node: a list of gateways, each of which dials over the carriers that it names.

use std::sync::Arc;

use domain::ports::{Answer, DialFailed, Leg, LegGateway, LegOrder};
use futures_util::future::join_all;

/// Gateways in the order of the settings. An order that names no carrier goes to the first one; an order that names one goes
/// to the gateway of that carrier and to no other.
pub(super) struct Carriers(pub(super) Vec<Arc<dyn LegGateway>>);

impl Carriers {
    fn of(&self, carrier: Option<&str>) -> Option<&Arc<dyn LegGateway>> {
        let dials_over = |gateway: &&Arc<dyn LegGateway>| match carrier {
            Some(name) => gateway.carriers().iter().any(|own| own == name),
            None => true,
        };
        self.0.iter().find(dials_over)
    }
}

impl LegGateway for Carriers {
    fn carriers(&self) -> Vec<String> {
        self.0.iter().flat_map(|gateway| gateway.carriers()).collect()
    }

    fn dial(&self, order: LegOrder) -> Answer<'_, Result<Leg, DialFailed>> {
        match self.of(order.carrier.as_deref()) {
            Some(gateway) => gateway.dial(order),
            None => {
                let reason = format!("no such carrier; there are: {}", self.carriers().join(", "));
                Box::pin(std::future::ready(Err(DialFailed::ProviderErrorBeforeRing {
                    status: None,
                    reason,
                })))
            }
        }
    }

    fn drain(&self, draining: bool) {
        for gateway in &self.0 {
            gateway.drain(draining);
        }
    }

    fn stop(&self) -> Answer<'_, ()> {
        Box::pin(async {
            join_all(self.0.iter().map(|gateway| gateway.stop())).await;
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::time::Duration;

    use domain::phone::Phone;
    use domain::ports::{IncomingLeg, IncomingLegs};
    use telephony::loopback::{Loopback, Settings};

    use super::*;

    /// Counts the calls that arrive, and declines each as busy.
    #[derive(Default)]
    struct Busy(AtomicUsize);

    impl IncomingLegs for Busy {
        fn incoming(&self, call: Box<dyn IncomingLeg>) {
            self.0.fetch_add(1, SeqCst);
            call.reject(486);
        }
    }

    fn gateway(name: &str, phones: &Arc<Busy>) -> Arc<dyn LegGateway> {
        let settings = Settings {
            carrier: name.into(),
            ring_timeout: Duration::from_secs(30),
            response_timeout: Duration::from_secs(2),
        };
        Arc::new(Loopback::new(settings, phones.clone()))
    }

    fn order(carrier: Option<&str>) -> LegOrder {
        LegOrder {
            id: "call".into(),
            to: Phone::normalize("+919812345678").expect("a number"),
            from: String::new(),
            carrier: carrier.map(str::to_owned),
            ring_timeout: None,
        }
    }

    #[tokio::test]
    async fn a_dial_goes_to_the_gateway_of_its_carrier_only() {
        let (one, other) = (Arc::new(Busy::default()), Arc::new(Busy::default()));
        let carriers = Carriers(vec![gateway("one", &one), gateway("other", &other)]);
        assert_eq!(carriers.carriers(), ["one", "other"]);
        let arrived = || (one.0.load(SeqCst), other.0.load(SeqCst));
        for (carrier, expected) in [(Some("other"), (0, 1)), (None, (1, 1)), (Some("one"), (2, 1))] {
            let leg = carriers.dial(order(carrier)).await.expect("taken");
            assert_eq!((arrived(), leg.control.provider_call()), (expected, "call@loopback"), "{carrier:?}");
        }
        match carriers.dial(order(Some("third"))).await {
            Err(DialFailed::ProviderErrorBeforeRing { status: None, reason }) => {
                assert_eq!(reason, "no such carrier; there are: one, other");
            }
            outcome => panic!("{outcome:?}"),
        }
        carriers.stop().await;
        for carrier in ["one", "other"] {
            let after = carriers.dial(order(Some(carrier))).await;
            assert!(matches!(after, Err(DialFailed::ProviderErrorBeforeRing { .. })), "{carrier}: {after:?}");
        }
        assert_eq!(arrived(), (2, 1), "nobody is dialled any more");
    }
}
