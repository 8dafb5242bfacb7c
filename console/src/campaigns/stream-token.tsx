import { Copy } from 'lucide-react';
import { Button, Fact, Facts, t, toast } from '../parts/index.ts';

/** A token is shown once: the service keeps only its hash. */
export function OnceToken({ token, address, onClose }: { token: string; address: string | null; onClose: () => void }) {
  const copy = (text: string): void => { void navigator.clipboard.writeText(text).then(() => toast(t('Copied'))); };
  return (
    <div className="form">
      <h2>{t('Copy the token now')}</h2>
      <p>{t('It is shown only here and only once. Who has it can send records.')}</p>
      <Facts>
        {address && <Fact name={t('Address')}><span className="mono" dir="ltr">{address}</span></Fact>}
        <Fact name={t('Token')}><span className="mono" dir="ltr" data-token>{token}</span></Fact>
      </Facts>
      <div className="ends"><Button icon={Copy} onPress={() => copy(token)}>{t('Copy the token')}</Button><Button kind="primary" onPress={onClose}>{t('I have kept it')}</Button></div>
    </div>
  );
}
