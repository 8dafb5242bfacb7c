import { ArrowLeft, Moon, Sun } from 'lucide-react';
import { Link } from 'react-aria-components';
import { Router, useLocation } from 'wouter';
import { useMe } from '../api/index.ts';
import { Button, Icon, t, useLanguage } from '../parts/index.ts';
import { NotFound } from './not-found.tsx';
import { pages } from './registry.ts';
import { Pages, Routed } from './shell.tsx';
import { isHere } from './side.tsx';
import { chooseTheme, useTheme } from './theme.ts';

function Frame() {
  const [path] = useLocation();
  const language = useLanguage();
  const theme = useTheme();
  const items = pages(true).flatMap((entry) => (typeof entry.nav === 'object' ? [entry.nav] : []));
  const links = items.map((item) => <Link key={item.href} href={item.href} className="nav" aria-current={isHere(path, item.href) ? 'page' : undefined}><Icon of={item.icon} /><span className="t">{item.text()}</span></Link>);
  return (
    <Routed>
      <div className="app operator" key={language} data-mode="operator">
        <aside className="side" aria-label={t('Operator')}>
          <p className="opname strong">{t('Operator')}</p>
          <nav aria-label={t('Main')}>{links}</nav>
          <div className="foot row"><Link href="~/console/" className="nav grow"><Icon of={ArrowLeft} /><span className="t">{t('Back to your workspaces')}</span></Link><Button kind="bare" small icon={theme === 'dark' ? Sun : Moon} label={theme === 'dark' ? t('Light theme') : t('Dark theme')} onPress={() => chooseTheme(theme === 'dark' ? 'light' : 'dark')} /></div>
        </aside>
        <main className="panel-main" id="main" tabIndex={-1}><Pages operator /></main>
        <nav className="tabbar oplinks" aria-label={t('Main')}>{items.map((item) => <Link key={item.href} href={item.href} aria-current={isHere(path, item.href) ? 'page' : undefined}><Icon of={item.icon} />{item.text()}</Link>)}</nav>
      </div>
    </Routed>
  );
}

/** Everything below /console/operator, for people who are operators. */
export function OperatorShell() {
  const me = useMe();
  if (!me.data?.operator) return <NotFound />;
  return <Router base="/operator"><Frame /></Router>;
}
