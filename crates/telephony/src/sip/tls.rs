//! TLS configuration: trusted certificate authorities of TLS trunks, and the server certificate.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// What TLS connections are accepted with: the chain and the key of PEM files.
///
/// # Errors
/// A file cannot be read, holds no certificate or key, or they do not belong together.
pub(super) fn acceptor(chain: &Path, key: &Path) -> Result<TlsAcceptor, String> {
    let (chain_name, key_name) = (chain.display(), key.display());
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(chain)
        .and_then(Iterator::collect)
        .map_err(|error| format!("{chain_name}: {error}"))?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| format!("{key_name}: {error}"))?;
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
        .map_err(|error| format!("{chain_name}: {error}"))?;
    Ok(Arc::new(config).into())
}

/// What TLS connections are opened with.
///
/// # Errors
/// As [`verifier`].
pub(super) fn connector(extra: Option<&Path>) -> Result<TlsConnector, String> {
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(verifier(extra)?)
        .with_no_client_auth();
    Ok(Arc::new(config).into())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Trusts the well-known certificate authorities and those of the operator's file.
///
/// # Errors
/// The file cannot be read, or holds no certificate.
fn verifier(extra: Option<&Path>) -> Result<Arc<dyn ServerCertVerifier>, String> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(path) = extra {
        let name = path.display();
        let certificates =
            CertificateDer::pem_file_iter(path).map_err(|error| format!("tls_ca {name}: {error}"))?;
        let mut any = false;
        for certificate in certificates {
            let certificate = certificate.map_err(|error| format!("tls_ca {name}: {error}"))?;
            roots.add(certificate).map_err(|error| format!("tls_ca {name}: {error}"))?;
            any = true;
        }
        if !any {
            return Err(format!("tls_ca {name} holds no certificate"));
        }
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
        .build()
        .map_err(|error| error.to_string())?;
    Ok(verifier)
}
