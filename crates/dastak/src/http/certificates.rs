//! The certificate of the listener, which a running service reads again.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

/// A certificate chain with its key. Connections that are open keep the one with which they began.
#[derive(Debug)]
pub struct Certificates(RwLock<Arc<CertifiedKey>>);

impl Certificates {
    /// Reads PEM files: `tls_cert` and `tls_key`.
    ///
    /// # Errors
    /// The setting whose file is wrong, and why.
    pub fn read(chain: &Path, key: &Path) -> Result<Arc<Self>, String> {
        Ok(Arc::new(Self(RwLock::new(certified(chain, key)?))))
    }

    /// Reads the files again, for connections from now on.
    ///
    /// # Errors
    /// As of [`Certificates::read`]; then the certificate of before goes on.
    pub fn read_again(&self, chain: &Path, key: &Path) -> Result<(), String> {
        let read = certified(chain, key)?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = read;
        Ok(())
    }

    /// An acceptor of connections with whatever certificate is there at the time.
    ///
    /// # Errors
    /// When the TLS library refuses its own defaults.
    pub fn acceptor(self: &Arc<Self>) -> Result<TlsAcceptor, String> {
        let mut config =
            rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(|why| format!("tls: {why}"))?
                .with_no_client_auth()
                .with_cert_resolver(self.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

fn certified(chain: &Path, key: &Path) -> Result<Arc<CertifiedKey>, String> {
    let wrong = |setting: &str, path: &Path, why: String| format!("{setting}: {}: {why}", path.display());
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(chain)
        .map_err(|why| wrong("tls_cert", chain, why.to_string()))?
        .collect();
    let found = found.map_err(|why| wrong("tls_cert", chain, why.to_string()))?;
    if found.is_empty() {
        return Err(wrong("tls_cert", chain, "the file has no certificate".into()));
    }
    let key = PrivateKeyDer::from_pem_file(key).map_err(|why| wrong("tls_key", key, why.to_string()))?;
    CertifiedKey::from_der(found, key, &rustls::crypto::ring::default_provider())
        .map(Arc::new)
        .map_err(|why| format!("tls_cert and tls_key: {why}"))
}
