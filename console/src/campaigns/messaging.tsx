import { useRead } from '../api/index.ts';
import { Box, Empty, Fact, Facts, Figure, Figures, Key, Name, StackedBar, When, count, percent, plural, t, type BarTone } from '../parts/index.ts';
import { Link } from 'react-aria-components';
import { reasonWords, type Campaign } from './states.ts';
import { CallingListBox } from './calling-list.tsx';

/** A campaign that sends one template: six states that add up, and the steps of what was sent. */
export function MessagingOverview({ campaign }: { campaign: Campaign }) {
  const chat = campaign.chatapp;
  const stats = chat?.stats;
  const template = useRead('getChannelTemplate', { path: { id: chat?.templateId ?? '' } }, { enabled: Boolean(chat?.templateId) });
  const states: readonly { key: string; text: string; n: number; tone: BarTone; about: string }[] = stats ? [
    { key: 'pending', text: t('To be sent'), n: stats.pending, tone: 'line', about: '' },
    { key: 'sent', text: t('Sent'), n: stats.sent, tone: 'ok', about: plural(stats.replied, '{n} has answered', '{n} have answered') },
    { key: 'frequencyCapped', text: t('Held back by the channel'), n: stats.frequencyCapped, tone: 'wait', about: '' },
    { key: 'skipped', text: t('Skipped'), n: stats.skipped, tone: 'rule', about: Object.entries(stats.skippedByReason).map(([code, n]) => `${count(n)} ${reasonWords(code)}`).join(', ') },
    { key: 'failed', text: t('Failed'), n: stats.failed, tone: 'bad', about: Object.entries(stats.failedByCode).map(([code, n]) => t('{n} with {code}', { n: count(n), code })).join(', ') },
    { key: 'deliveryUnknown', text: t('Unknown'), n: stats.deliveryUnknown, tone: 'mute', about: '' },
  ] : [];
  const of = (n: number): string | undefined => (stats && stats.sent > 0 ? percent(n / stats.sent) : undefined);
  return (
    <div className="camp">
      <div className="pad tight">
        {!stats ? <Empty title={t('Nothing is sent yet')}>{t('Give it a list and launch it.')}</Empty> : (
          <>
            <div className="cgrid">
              <Box title={t('Where the list is')} extra={<span className="dim num">{plural(stats.total, '{n} person', '{n} people')}</span>}>
                <StackedBar large label={t('Progress')} parts={states.map((one) => ({ name: one.text, value: one.n, tone: one.tone }))} />
                <dl className="prog">{states.map((one) => <div key={one.key}><dt><Key tone={one.tone}>{one.text}</Key></dt><dd className="num"><b data-count={one.key}>{count(one.n)}</b></dd><dd className="dim cut">{one.about}</dd></div>)}</dl>
              </Box>
              <Box title={t('What is sent')}>
                <Facts>
                  <Fact name={t('Template')}><Link href={`/templates/${chat.templateId}`} className="link"><Name>{template.data?.data.name ?? chat.templateId}</Name></Link></Fact>
                  <Fact name={t('How fast')}>{plural(chat.ratePerMinute, '{n} message a minute', '{n} messages a minute')}</Fact>
                  {chat.launchedAt && <Fact name={t('Launched')}><When at={chat.launchedAt} /></Fact>}
                  {chat.finishedAt && <Fact name={t('Finished')}><When at={chat.finishedAt} /></Fact>}
                </Facts>
              </Box>
            </div>
            <Figures>
              <Figure name={t('Delivered')} value={count(stats.delivered)} unit={of(stats.delivered)} under={t('of the sent')} />
              <Figure name={t('Read by them')} value={count(stats.read)} unit={of(stats.read)} under={t('of the sent')} />
              <Figure name={t('Answered')} value={count(stats.replied)} unit={of(stats.replied)} under={t('of the sent')} />
              <Figure name={t('Reached the goal')} value={count(stats.converted)} under={t('cards in a won column')} />
              <Figure name={t('Said STOP')} value={count(stats.optedOutAfter)} under={t('after the message')} />
            </Figures>
          </>
        )}
      </div>
      <CallingListBox campaign={campaign} />
    </div>
  );
}
