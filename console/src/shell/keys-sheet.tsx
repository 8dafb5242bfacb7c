import { Button, Sheet, t, usePageKeys } from '../parts/index.ts';
import { shownNavigation } from './registry.ts';

function written(key: string): string {
  return key.split('+').map((part) => ({ Mod: 'Ctrl', ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→', ' ': t('Space'), Delete: 'Del' })[part] ?? (part.length === 1 ? part.toUpperCase() : part)).join(' ');
}

/** The keys of the page and of everywhere. */
export function KeysSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const keys = usePageKeys();
  const everywhere = [{ key: 'Mod+k', text: t('Search or jump to') }, { key: '/', text: t('Filter') }, { key: '?', text: t('These keys') }, ...shownNavigation().flatMap((section) => section.items).map((item) => ({ key: `g+${item.letter}`, text: item.text }))];
  const list = (rows: readonly { key: string; text: string }[]) => <dl className="keylist">{rows.map((row) => <div key={row.key + row.text}><dt><kbd>{written(row.key)}</kbd></dt><dd>{row.text}</dd></div>)}</dl>;
  return (
    <Sheet open={open} onClose={onClose} label={t('Keyboard shortcuts')}>
      <div className="form">
        <h2>{t('Keyboard shortcuts')}</h2>
        {keys.length > 0 && <><h3>{t('On this page')}</h3>{list(keys)}</>}
        <h3>{t('In a list')}</h3>{list([{ key: 'j', text: t('Next row') }, { key: 'k', text: t('Row before') }, { key: 'Enter', text: t('Open') }, { key: 'x', text: t('Select') }])}
        <h3>{t('Everywhere')}</h3>{list(everywhere)}
        <div className="ends"><Button onPress={onClose}>{t('Close')}</Button></div>
      </div>
    </Sheet>
  );
}
