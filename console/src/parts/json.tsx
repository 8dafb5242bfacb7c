import { useState } from 'react';
import { addressOf } from '../api/client.ts';
import type { OperationId } from '../api/operations.ts';
import { Button } from './button.tsx';
import type { MenuEntry } from './menu.tsx';
import { Sheet } from './sheet.tsx';
import { toast } from './toast.tsx';
import { t } from './words.ts';

export const Json = ({ value }: { value: unknown }) => <pre className="raw" tabIndex={0} translate="no">{JSON.stringify(value, null, 2)}</pre>;

/** The request that answers the same to a key of the API. */
export function asCurl(operation: OperationId, input: { path?: Record<string, string>; query?: object }): string {
  const path = addressOf(operation, input).replace(/^\/console\/api\/[^/]+\/(live|test)/, '');
  return `curl -H "Authorization: Bearer $DASTAK_KEY" '${location.origin}${path.replaceAll("'", '%27')}'`;
}

/** 'Open as JSON' and 'Copy as curl' for the '…' of a page; `sheet` goes anywhere into the page. */
export function useRaw(operation: OperationId, input: { path?: Record<string, string>; query?: object }, value: unknown): { entries: readonly MenuEntry[]; sheet: React.ReactNode } {
  const [open, setOpen] = useState(false);
  const copy = (text: string): void => { void navigator.clipboard.writeText(text).then(() => toast(t('Copied'))); };
  return {
    entries: value === undefined ? [] : [
      { text: t('Open as JSON'), act: () => setOpen(true) },
      { text: t('Copy as curl'), act: () => copy(asCurl(operation, input)) },
    ],
    sheet: (
      <Sheet open={open} onClose={() => setOpen(false)} label={t('As JSON')}>
        <div className="form"><h2>{t('As JSON')}</h2><Json value={value} /><div className="ends"><Button onPress={() => copy(JSON.stringify(value, null, 2))}>{t('Copy')}</Button><Button onPress={() => setOpen(false)}>{t('Close')}</Button></div></div>
      </Sheet>
    ),
  };
}
