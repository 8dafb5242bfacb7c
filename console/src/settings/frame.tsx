import type { ReactNode } from 'react';
import { Head, Tabs, t } from '../parts/index.ts';
import './page.css';

export type Tab = 'workspace' | 'members' | 'wallet' | 'hours' | 'labels' | 'tools' | 'packs' | 'profile' | 'sessions';

/** The page around a tab: what is the workspace's first, then what is yours. */
export function Frame({ tab, actions, children }: { tab: Tab; actions?: ReactNode; children: ReactNode }) {
  return (
    <>
      <Head title={t('Settings')}>{actions}</Head>
      <Tabs label={t('Settings')} value={tab} items={[
        { id: 'workspace', text: t('Workspace'), href: '/settings' },
        { id: 'members', text: t('Members'), href: '/settings/members' },
        { id: 'wallet', text: t('Wallet'), href: '/settings/wallet' },
        { id: 'hours', text: t('Business hours'), href: '/settings/hours' },
        { id: 'labels', text: t('Labels'), href: '/settings/labels' },
        { id: 'tools', text: t('Tools'), href: '/settings/tools' },
        { id: 'packs', text: t('Packs'), href: '/settings/packs' },
        { id: 'profile', text: t('Your profile'), href: '/settings/profile' },
        { id: 'sessions', text: t('Your sessions'), href: '/settings/sessions' },
      ]}>{children}</Tabs>
    </>
  );
}
