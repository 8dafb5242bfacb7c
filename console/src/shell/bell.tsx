import type { LucideIcon } from 'lucide-react';
import { Button as KitButton, Dialog, DialogTrigger, ListBox, ListBoxItem, Popover } from 'react-aria-components';
import { useRead, useSend, type Schemas } from '../api/index.ts';
import { Button, Icon, Shown, plural, relative, t } from '../parts/index.ts';
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

/** What happened that concerns the member, with marks of what was read. */
export function BellButton({ icon }: { icon: LucideIcon }) {
  const bell = useRead('listNotifications', { query: { limit: 20 } }, { every: 120_000 });
  const read = useSend('readNotifications', { alters: ['listNotifications'] });
  const unread = bell.data?.data.filter((one) => one.readAt === null).length ?? 0;
  const newest = bell.data?.data[0];
  return (
    <DialogTrigger>
      <KitButton className="btn bare icon sm belled" aria-label={unread > 0 ? plural(unread, 'Notifications, {n} new', 'Notifications, {n} new') : t('Notifications')}><Icon of={icon} />{unread > 0 && <span className="dot" aria-hidden />}</KitButton>
      <Popover className="pop bell" placement="top end">
        <Dialog aria-label={t('Notifications')}>
          <header className="row padded"><h2 className="grow">{t('Notifications')}</h2>{unread > 0 && newest && <Button small kind="bare" onPress={() => read.mutate({ body: { upTo: newest.id } })}>{t('Mark all as read')}</Button>}</header>
          <Shown of={bell} what={t('The notifications could not be read.')} rows={3}>
            {(page) => (page.data.length === 0 ? <p className="padded dim">{t('What concerns you comes here: chats that are assigned to you, notes that name you, jobs that are done.')}</p> : (
              <ListBox aria-label={t('Notifications')} className="list" selectionMode="none">
                {page.data.map((one) => <ListBoxItem key={one.id} id={one.id} textValue={said(one.kind)} className="opt" {...(objectPath(one.subject.id) ? { href: objectPath(one.subject.id) ?? '' } : {})}><span className={one.readAt ? 'mid' : 'strong'}>{said(one.kind)}</span><span className="n">{relative(one.createdAt)}</span></ListBoxItem>)}
              </ListBox>
            ))}
          </Shown>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
