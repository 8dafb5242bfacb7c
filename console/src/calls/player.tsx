// Two lanes of the service's peaks under a slider. The sound comes by ranges from a link of five minutes and is never read whole.
import { Pause, Play } from 'lucide-react';
import { useCallback, useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { Slider, SliderThumb, SliderTrack } from 'react-aria-components';
import type { Schemas } from '../api/index.ts';
import { Button, span, t } from '../parts/index.ts';

export interface Sound { readonly position: number; readonly length: number; readonly playing: boolean; readonly failed: boolean; readonly toggle: () => void; readonly seek: (seconds: number, play?: boolean) => void; readonly element: React.ReactNode }
const LINK_LIVES = 240_000;
/** The recording comes from where the page comes from, whatever the link calls that place. */
const pathOf = (link: string): string => { const url = new URL(link, location.origin); return url.pathname + url.search; };

/** The sound of a call. `renew` reads the call again for a new link. */
export function useSound(link: string | null, length: number, renew: () => Promise<string | null>): Sound {
  const audio = useRef<HTMLAudioElement>(null);
  const [source, setSource] = useState<{ path: string; at: number } | null>(null);
  const [position, setPosition] = useState(0);
  const [playing, setPlaying] = useState(false);
  const [failed, setFailed] = useState(false);
  const retried = useRef(false);
  useEffect(() => { if (link && !source) setSource({ path: pathOf(link), at: Date.now() }); if (!link) setSource(null); }, [link, source]);

  useEffect(() => {
    if (!playing) return;
    let frame = requestAnimationFrame(function follow() { if (audio.current) setPosition(audio.current.currentTime); frame = requestAnimationFrame(follow); });
    return () => cancelAnimationFrame(frame);
  }, [playing]);

  const start = useCallback(async (from: number): Promise<void> => {
    const element = audio.current;
    if (!element || !source) return;
    setFailed(false);
    if (Date.now() - source.at > LINK_LIVES || element.error) {
      const fresh = await renew();
      if (!fresh) return setFailed(true);
      setSource({ path: pathOf(fresh), at: Date.now() });
      element.src = pathOf(fresh);
    }
    element.currentTime = from;
    try { await element.play(); retried.current = false; } catch (cause) { if (!(cause instanceof DOMException && cause.name === 'AbortError')) setFailed(true); }
  }, [source, renew]);

  const seek = useCallback((seconds: number, play = false): void => {
    const to = Math.max(0, Math.min(length, seconds));
    setPosition(to);
    if (play) void start(to); else if (audio.current) audio.current.currentTime = to;
  }, [length, start]);
  const toggle = useCallback((): void => {
    if (playing) audio.current?.pause(); else void start(position >= length - 0.05 ? 0 : position);
  }, [playing, position, length, start]);
  const element = source && (
    <audio ref={audio} src={source.path} preload="metadata" data-playing={playing} onPlay={() => setPlaying(true)} onPause={() => setPlaying(false)} onEnded={() => { setPlaying(false); setPosition(length); }}>
      <track kind="captions" />
    </audio>
  );
  return { position, length, playing, failed, toggle, seek, element };
}

/** The player. `cuts` are the seconds at which the customer spoke over the agent. */
export function Player({ sound, peaks, cuts }: { sound: Sound; peaks: Schemas['Peaks'] | null; cuts: readonly number[] }) {
  const keys = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -5, ArrowRight: 5, ArrowDown: -5, ArrowUp: 5 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    sound.seek(sound.position + step, sound.playing);
  };
  return (
    <section className="player" aria-label={t('Recording')} data-playing={sound.playing}>
      <Button kind="primary" icon={sound.playing ? Pause : Play} label={sound.playing ? t('Pause') : t('Play')} tip={t('Space')} onPress={sound.toggle} />
      <div className="grow" onKeyDownCapture={keys}>
        <div className="lanes meta" aria-hidden><span>{t('Customer')}</span><span>{t('Agent')}</span></div>
        <Slider className="wave" value={sound.position} minValue={0} maxValue={Math.max(0.1, sound.length)} step={0.1} aria-label={t('Position')} onChange={(value) => sound.seek(value as number, sound.playing)}>
          <SliderTrack className="track"><Lanes peaks={peaks} position={sound.position} length={sound.length} cuts={cuts} /><SliderThumb className="thumb" aria-label={t('Position')} /></SliderTrack>
        </Slider>
        <div className="row meta num times"><span data-position={sound.position.toFixed(1)}>{span(sound.position)}</span><span className="grow" />{sound.failed && <span className="fault" role="alert">{t('The sound did not come. Press Play once more.')}</span>}<span>{span(sound.length)}</span></div>
      </div>
      {sound.element}
    </section>
  );
}

function Lanes({ peaks, position, length, cuts }: { peaks: Schemas['Peaks'] | null; position: number; length: number; cuts: readonly number[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const paint = (): void => draw(element, peaks, position, length, cuts);
    paint();
    const size = new ResizeObserver(paint);
    size.observe(element);
    const theme = new MutationObserver(paint);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    return () => { size.disconnect(); theme.disconnect(); };
  }, [peaks, position, length, cuts]);
  return <canvas ref={canvas} aria-hidden />;
}

const STEP = 3;
function draw(element: HTMLCanvasElement, peaks: Schemas['Peaks'] | null, position: number, length: number, cuts: readonly number[]): void {
  const context = element.getContext('2d');
  if (!context) return;
  const [width, height, ratio] = [element.clientWidth, element.clientHeight, devicePixelRatio];
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  [element.width, element.height] = [width * ratio, height * ratio];
  context.scale(ratio, ratio);
  context.fillStyle = colour('--line-2');
  context.fillRect(0, height / 2 - 0.5, width, 1);
  context.fillStyle = colour('--wait-solid');
  for (const at of cuts) context.fillRect((at / length) * width, 0, 2, height);
  if (!peaks) return;
  const loudest = (lane: readonly number[], x: number): number => {
    const from = Math.floor((x / width) * length * 1000 / peaks.stepMs);
    const to = Math.max(from + 1, Math.floor(((x + STEP) / width) * length * 1000 / peaks.stepMs));
    return Math.max(0, ...lane.slice(from, to)) / 255;
  };
  for (let x = 0; x < width; x += STEP) {
    context.globalAlpha = (x / width) * length <= position ? 1 : 0.42;
    const [above, below] = [loudest(peaks.customer, x), loudest(peaks.agent, x)].map((loud) => Math.sqrt(loud) * (height / 2 - 3)) as [number, number];
    context.fillStyle = colour('--text-2');
    context.fillRect(x, height / 2 - 1.5 - above, 2, above);
    context.fillStyle = colour('--accent');
    context.fillRect(x, height / 2 + 1.5, 2, below);
  }
  context.globalAlpha = 1;
}
