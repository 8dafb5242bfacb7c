import type { ReactNode } from 'react';
import { useHasRole } from '../api/index.ts';
import { Head, Tabs, count, t } from '../parts/index.ts';
import { useEndpoints } from './queries.ts';
import './page.css';

/** The page around a tab. Events and keys are an admin's. */
export function Frame({ tab, actions, children }: { tab: 'endpoints' | 'events' | 'keys'; actions?: ReactNode; children: ReactNode }) {
  const admin = useHasRole('admin');
  const endpoints = useEndpoints();
  const items = [
    { id: 'endpoints', text: t('Endpoints'), count: endpoints.data ? count(endpoints.data.data.length) : undefined, href: '/developers/endpoints' },
    ...(admin ? [{ id: 'events', text: t('Events'), href: '/developers/events' }, { id: 'keys', text: t('Keys'), href: '/developers/keys' }] : []),
  ];
  return (
    <>
      <Head title={t('Developers')} sub={<span className="dim wide cut">{t('What other systems are told, and with which keys they ask')}</span>}>{actions}</Head>
      <Tabs label={t('Developers')} value={tab} items={items}>{children}</Tabs>
    </>
  );
}
