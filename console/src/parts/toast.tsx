import { X } from 'lucide-react';
import { UNSTABLE_Toast as KitToast, UNSTABLE_ToastContent as ToastContent, UNSTABLE_ToastQueue as ToastQueue, UNSTABLE_ToastRegion as ToastRegion, Button as KitButton, Text } from 'react-aria-components';
import { Icon } from './icon.tsx';
import { t } from './words.ts';

interface Content { readonly text: string; readonly undo?: (() => void) | undefined }
const queue = new ToastQueue<Content>({ maxVisibleToasts: 2 });
const SHOWN = 6_000;

/** The result of what the person just did, with Undo where there is one. Errors are no toast. Returns what closes it. */
export function toast(text: string, options: { undo?: () => void; forMs?: number; gone?: () => void } = {}): () => void {
  const key = queue.add({ text, undo: options.undo }, { timeout: options.forMs ?? SHOWN, ...(options.gone ? { onClose: options.gone } : {}) });
  return () => queue.close(key);
}

export const Toasts = () => (
  <ToastRegion queue={queue} className="toasts" aria-label={t('Results')}>
    {({ toast: shown }) => (
      <KitToast toast={shown} className="toast">
        <ToastContent className="row"><Text slot="title" dir="auto">{shown.content.text}</Text></ToastContent>
        {shown.content.undo && <KitButton className="btn sm" onPress={() => { shown.content.undo?.(); queue.close(shown.key); }}>{t('Undo')}</KitButton>}
        <KitButton slot="close" className="btn sm icon" aria-label={t('Close')}><Icon of={X} small /></KitButton>
      </KitToast>
    )}
  </ToastRegion>
);
