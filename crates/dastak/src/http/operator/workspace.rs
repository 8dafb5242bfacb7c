//! The workspace in the path of an operator request.

use domain::ids::Workspace;
use domain::tenant::Tenant;

use crate::app::Failure;
use crate::http::handler::Request;

pub(super) fn workspace(request: &Request) -> Result<Tenant, Failure> {
    request.id_in_path::<Workspace>("ws", "workspace")
}
