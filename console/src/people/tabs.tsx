import type { ReactNode } from 'react';
import { Tabs, t } from '../parts/index.ts';

/** Contacts and the do-not-call list are two addresses of one place. */
export const PeopleTabs = ({ at, children }: { at: 'contacts' | 'do-not-call'; children: ReactNode }) => (
  <Tabs label={t('Contacts')} value={at} items={[{ id: 'contacts', text: t('Everybody'), href: '/contacts' }, { id: 'do-not-call', text: t('Do not call'), href: '/contacts/do-not-call' }]}>{children}</Tabs>
);
