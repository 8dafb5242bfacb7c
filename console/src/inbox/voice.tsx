import { Pause, Play } from 'lucide-react';
import { useRef, useState } from 'react';
import { Button as KitButton } from 'react-aria-components';
import { Icon, span, t } from '../parts/index.ts';

/** A voice note. Nothing is fetched before it is played. */
export function Voice({ address, available, may }: { address: string; available: boolean; may: boolean }) {
  const sound = useRef<HTMLAudioElement>(null);
  const [playing, setPlaying] = useState(false);
  const [at, setAt] = useState(0);
  const [length, setLength] = useState<number | null>(null);
  const [fault, setFault] = useState(false);
  const toggle = (): void => {
    const one = sound.current;
    if (!one) return;
    if (playing) one.pause(); else one.play().catch(() => setFault(true));
  };
  if (!available) return <p className="voice meta">{may ? t('Voice note, not fetched from the channel yet') : t('Voice note')}</p>;
  return (
    <div className="voice">
      <KitButton className="vbtn" onPress={toggle} aria-label={playing ? t('Stop the voice note') : t('Play the voice note')}><Icon of={playing ? Pause : Play} small /></KitButton>
      <progress className="vbar" max={length ?? 1} value={at} aria-label={t('Voice note')} />
      <span className="num meta">{fault ? t('It cannot be played') : length === null ? t('Voice note') : span(playing || at > 0 ? at : length)}</span>
      <audio ref={sound} src={address} preload="none" onPlay={() => setPlaying(true)} onPause={() => setPlaying(false)} onEnded={() => { setPlaying(false); setAt(0); }} onError={() => setFault(true)}
        onTimeUpdate={(event) => setAt(event.currentTarget.currentTime)} onLoadedMetadata={(event) => { const found = event.currentTarget.duration; setLength(Number.isFinite(found) ? found : null); }} />
    </div>
  );
}
