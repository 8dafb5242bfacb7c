import { t } from '../parts/index.ts';
import type { Role } from '../api/index.ts';

export function roleName(role: Role): string {
  switch (role) {
    case 'viewer': return t('Viewer');
    case 'editor': return t('Editor');
    case 'admin': return t('Admin');
    case 'owner': return t('Owner');
  }
}
/** As it stands in 'changing it takes …'. */
export function aRole(role: Role): string {
  switch (role) {
    case 'viewer': return t('a viewer');
    case 'editor': return t('an editor');
    case 'admin': return t('an admin');
    case 'owner': return t('an owner');
  }
}
