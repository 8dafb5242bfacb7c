import { Eye } from 'lucide-react';
import { useState } from 'react';
import { useMutation } from '@tanstack/react-query';
import { call, type ApiError } from '../api/client.ts';
import { useMay } from '../api/session.ts';
import { Button } from './button.tsx';
import { sentence } from './problem.tsx';
import { t } from './words.ts';

type Revealing = 'revealContact' | 'revealCall' | 'revealConversation';

/** A masked number. Who may, sees it whole after 'Show', which is written to the log. */
export function MaskedNumber({ masked, reveal, id }: { masked: string; reveal: Revealing; id: string }) {
  const may = useMay(reveal);
  const [whole, setWhole] = useState<string | null>(null);
  const asked = useMutation<string, ApiError>({ mutationFn: async () => (await call(reveal, { path: { id } })).data.number, onSuccess: setWhole });
  return (
    <span className="row nowrap"><span className="num" data-number={whole === null ? 'masked' : 'whole'}>{whole ?? masked}</span>
      {may && whole === null && <Button kind="bare" small icon={Eye} isPending={asked.isPending} onPress={() => asked.mutate()} tip={t('Writes to the log that you have seen it')}>{t('Show')}</Button>}
      {asked.error && <span className="fault" role="alert">{sentence(asked.error)}</span>}
    </span>
  );
}
