import type { LucideIcon } from 'lucide-react';
import { Button as KitButton, Dialog, DialogTrigger, ListBox, ListBoxItem, Popover } from 'react-aria-components';
import { useRead, useSend, type Schemas } from '../api/index.ts';
import { Button, Icon, Sheet, Shown, plural, relative, t } from '../parts/index.ts';
import { objectPath } from './objects.ts';

type Notification = Schemas['Notification'];

function said(kind: Notification['kind']): string {
  switch (kind) {
    case 'assigned': return t('A chat was assigned to you');
    case 'mentioned': return t('A teammate named you in a note');
    case 'export_finished': return t('Your export is done');
    case 'import_finished': return t('Your import is done');
    case 'campaign_finished': return t('A campaign that you launched is over');
    case 'campaign_paused': return t('The service paused a campaign that you launched');
  }
}

const useBell = () => useRead('listNotifications', { query: { limit: 20 } }, { every: 120_000 });

/** What happened that concerns the member, with marks of what was read. */
function Notifications({ close }: { close: () => void }) {
  const bell = useBell();
  const read = useSend('readNotifications', { alters: ['listNotifications'] });
  const newest = bell.data?.data[0];
  const unread = bell.data?.data.some((one) => one.readAt === null) ?? false;
  return (
    <>
      <header className="row padded"><h2 className="grow">{t('Notifications')}</h2>{unread && newest && <Button small kind="bare" onPress={() => read.mutate({ body: { upTo: newest.id } })}>{t('Mark all as read')}</Button>}</header>
      <Shown of={bell} what={t('The notifications could not be read.')} rows={3}>
        {(page) => (page.data.length === 0 ? <p className="padded dim">{t('What concerns you comes here: chats that are assigned to you, notes that name you, jobs that are done.')}</p> : (
          <ListBox aria-label={t('Notifications')} className="list" selectionMode="none" onAction={close}>
            {page.data.map((one) => {
              const href = objectPath(one.subject.id);
              return <ListBoxItem key={one.id} id={one.id} textValue={said(one.kind)} className="opt" {...(href ? { href } : {})}><span className={one.readAt ? 'mid' : 'strong'}>{said(one.kind)}</span><span className="n">{relative(one.createdAt)}</span></ListBoxItem>;
            })}
          </ListBox>
        ))}
      </Shown>
    </>
  );
}

export function BellButton({ icon }: { icon: LucideIcon }) {
  const unread = useBell().data?.data.filter((one) => one.readAt === null).length ?? 0;
  return (
    <DialogTrigger>
      <KitButton className="btn bare icon sm belled" aria-label={unread > 0 ? plural(unread, 'Notifications, {n} new', 'Notifications, {n} new') : t('Notifications')}><Icon of={icon} />{unread > 0 && <span className="dot" aria-hidden />}</KitButton>
      <Popover className="pop bell" placement="top end"><Dialog aria-label={t('Notifications')}>{({ close }) => <Notifications close={close} />}</Dialog></Popover>
    </DialogTrigger>
  );
}

/** The same over the whole page, where there is no bell: on a phone. */
export const BellSheet = ({ open, onClose }: { open: boolean; onClose: () => void }) => (
  <Sheet open={open} onClose={onClose} label={t('Notifications')}><div className="bell-sheet"><Notifications close={onClose} /><div className="padded"><Button onPress={onClose}>{t('Close')}</Button></div></div></Sheet>
);
