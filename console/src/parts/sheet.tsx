import { useId, useState, type ReactNode } from 'react';
import { Dialog, Form, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { ApiError } from '../api/client.ts';
import { Button } from './button.tsx';
import { ErrorNote } from './problem.tsx';
import { TextInput } from './field.tsx';
import { t } from './words.ts';

/** A dialog over the page: only to confirm or to fill a short form. Escape closes it and gives the focus back. */
export function Sheet({ open, onClose, label, children, fixed }: { open: boolean; onClose: () => void; label: string; children: ReactNode; fixed?: boolean }) {
  return (
    <ModalOverlay className="scrim" isOpen={open} onOpenChange={(now) => { if (!now) onClose(); }} isDismissable={!fixed} isKeyboardDismissDisabled={fixed ?? false}>
      <Modal className="modal"><Dialog aria-label={label}>{children}</Dialog></Modal>
    </ModalOverlay>
  );
}

interface ConfirmProps {
  open: boolean;
  onClose: () => void;
  /** What will happen, as a sentence. */
  title: string;
  children?: ReactNode;
  /** The button names the effect and the number: 'Call 46,235 people'. */
  action: string;
  danger?: boolean;
  /** What must be typed first: the last four digits, or the name. */
  typed?: { label: string; text: string } | undefined;
  act: () => Promise<unknown>;
}

/** Asks before something dials, charges, erases or publishes. A refusal of the service stays in the dialog. */
export function Confirm({ open, onClose, title, children, action, danger, typed, act }: ConfirmProps) {
  const heading = useId();
  const [text, setText] = useState('');
  const [missing, setMissing] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const close = (): void => { setText(''); setMissing(false); setError(null); onClose(); };
  const submit = async (): Promise<void> => {
    if (typed && text.trim() !== typed.text) return setMissing(true);
    setBusy(true);
    setError(null);
    try {
      await act();
      close();
    } catch (cause) {
      setError(cause instanceof ApiError ? cause : new ApiError({ status: 0, code: 'failed', message: String(cause) }));
    } finally {
      setBusy(false);
    }
  };
  return (
    <ModalOverlay className="scrim" isOpen={open} onOpenChange={(now) => { if (!now) close(); }} isDismissable={!busy}>
      <Modal className="modal">
        <Dialog aria-labelledby={heading}>
          <Form className="form" onSubmit={(event) => { event.preventDefault(); void submit(); }}>
            <Heading slot="title" id={heading} level={2}>{title}</Heading>
            {children}
            {typed && <TextInput label={typed.label} value={text} onChange={(value) => { setText(value); setMissing(false); }} fault={missing ? t('Type “{text}” to go on.', { text: typed.text }) : null} autoComplete="off" autoFocus />}
            {error && <ErrorNote error={error} />}
            <div className="ends">
              <Button onPress={close}>{t('Cancel')}</Button>
              <Button type="submit" kind={danger ? 'danger-full' : 'primary'} isPending={busy}>{action}</Button>
            </div>
          </Form>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
