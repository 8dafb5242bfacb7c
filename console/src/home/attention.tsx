import { CircleAlert, CircleCheck, Columns3, Link2Off, Megaphone, MessageSquareWarning, MessagesSquare, ShieldAlert, Wallet, Waypoints, Webhook, type LucideIcon } from 'lucide-react';
import { currentScope, type Schemas } from '../api/index.ts';
import { Box, ButtonLink, Icon, Name, Shown, plural, relative, rich, t, type Tone } from '../parts/index.ts';
import { exists, hasPage, type NavKey } from '../shell/index.ts';
import { useAttention } from './queries.ts';

type Item = Schemas['AttentionItem'];
interface Shape { readonly tone: Tone; readonly icon: LucideIcon; readonly nav: NavKey; readonly href: (item: Item) => string; readonly act: () => string }

const id = (item: Item): string => item.subject.id ?? '';
const SHAPES: Record<Item['kind'], Shape> = {
  log_broken: { tone: 'bad', icon: ShieldAlert, nav: 'compliance', href: () => '/compliance', act: () => t('See the log') },
  wallet_exhausted: { tone: 'bad', icon: Wallet, nav: 'settings', href: () => '/settings/wallet', act: () => t('Open the wallet') },
  wallet_low: { tone: 'wait', icon: Wallet, nav: 'settings', href: () => '/settings/wallet', act: () => t('Open the wallet') },
  chats_waiting: { tone: 'wait', icon: MessageSquareWarning, nav: 'inbox', href: () => '/inbox?view=waiting', act: () => t('Open the inbox') },
  integration_broken: { tone: 'bad', icon: Link2Off, nav: 'developers', href: () => '/developers', act: () => t('See the systems') },
  number_disconnected: { tone: 'bad', icon: Link2Off, nav: 'numbers', href: () => '/numbers', act: () => t('See the numbers') },
  webhook_failing: { tone: 'bad', icon: Webhook, nav: 'developers', href: (item) => `/developers/endpoints/${id(item)}`, act: () => t('Open its log') },
  campaign_paused: { tone: 'wait', icon: Megaphone, nav: 'campaigns', href: (item) => `/campaigns/${id(item)}`, act: () => t('Open the campaign') },
  stream_stopped: { tone: 'bad', icon: Waypoints, nav: 'streams', href: (item) => `/streams/${id(item)}`, act: () => t('Open the stream') },
  cards_to_review: { tone: 'wait', icon: Columns3, nav: 'boards', href: (item) => `/boards/${id(item)}?review=1`, act: () => t('Review them') },
  template_rejected: { tone: 'wait', icon: MessagesSquare, nav: 'templates', href: (item) => `/templates/${id(item)}`, act: () => t('Open the template') },
};

/** What is the matter, as a sentence with the name of what it is about. */
function Said({ item }: { item: Item }) {
  const name = <Name>{item.subject.name ?? item.subject.id}</Name>;
  const n = item.count;
  switch (item.kind) {
    case 'log_broken': return <>{t('The decision log is broken')}</>;
    case 'wallet_exhausted': return <>{t('The wallet is empty: nobody is called')}</>;
    case 'wallet_low': return <>{t('The wallet is low')}</>;
    case 'chats_waiting': return <>{plural(n, '{n} chat waits for a person', '{n} chats wait for a person')}</>;
    case 'integration_broken': return <>{rich('{name} rejects the credentials', { name })}</>;
    case 'number_disconnected': return <>{rich('{name} is disconnected and cannot send', { name })}</>;
    case 'webhook_failing': return <>{rich('{name} takes no events', { name })}</>;
    case 'campaign_paused': return <>{rich('{name} is paused by the service', { name })}</>;
    case 'stream_stopped': return <>{rich('{name} has stopped', { name })}</>;
    case 'cards_to_review': return <>{plural(n, '{n} card needs a look', '{n} cards need a look')}</>;
    case 'template_rejected': return <>{rich('{name} was rejected by the provider', { name })}</>;
  }
}

function cause(item: Item): string | null {
  if (item.kind === 'webhook_failing') return plural(item.count, '{n} delivery in a row failed.', '{n} deliveries in a row failed.');
  if (item.kind === 'cards_to_review') return t('The model was not sure enough to move them.');
  switch (item.cause) {
    case 'spam_rate_limited': return t('The provider limits the number, because people report its messages.');
    case 'template_unavailable': return t('Its template is not approved any more.');
    case 'template_recategorised': return t('The provider made its template marketing.');
    case 'quality_red': return t('The quality of the number is red.');
    case 'high_failure_rate': return t('Half of the last messages failed.');
    case 'account_restricted': return t('The provider restricted the account.');
    case 'not_connected': return t('The messaging channel is not connected.');
    case 'payment_issue': return t('The provider has a question about the payment.');
    case 'permission_denied': return t('The account lacks a permission at the provider.');
    case 'number_not_registered': return t('The number is not registered at the provider.');
    case 'token_invalid': return t('The access token is rejected.');
    case null: return null;
    default: return item.cause.replaceAll('_', ' ');
  }
}

/** States that need a person, most harmful first. A state that is over is not in it; nothing is dismissed by hand. */
export function Attention() {
  const attention = useAttention();
  const items = attention.data?.data ?? [];
  if (currentScope()?.test) return null;
  return (
    <Box title={t('Needs you')} count={attention.data ? items.length : undefined} inside={false}>
      <Shown of={attention} what={t('What needs you could not be read.')} rows={4}>
        {() => (items.length === 0 ? <p className="calm"><Icon of={CircleCheck} />{t('Nothing needs you.')}</p> : (
          <ul className="needs">
            {items.map((item) => {
              const shape = SHAPES[item.kind] ?? { tone: 'wait', icon: CircleAlert, nav: 'home', href: () => '/', act: () => '' };
              const under = [cause(item), item.since ? t('Since {when}.', { when: relative(item.since) }) : null].filter(Boolean).join(' ');
              return (
                <li key={`${item.kind} ${item.subject.id}`}>
                  <span className="ico" data-tone={shape.tone}><Icon of={shape.icon} /></span>
                  <div className="grow"><p className="medium"><Said item={item} /></p>{under && <p className="dim" dir="auto">{under}</p>}</div>
                  {exists(shape.nav) && hasPage(shape.href(item)) && <ButtonLink small href={shape.href(item)}>{shape.act()}</ButtonLink>}
                </li>
              );
            })}
          </ul>
        ))}
      </Shown>
    </Box>
  );
}
