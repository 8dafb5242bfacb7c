import { WifiOff } from 'lucide-react';
import { useConnection } from '../api/index.ts';
import { Icon, clockSeconds, t } from '../parts/index.ts';

/** Nothing while all is well; else how old the data is. */
export function ConnectionState() {
  const connection = useConnection();
  const lost = connection.state === 'lost' ? t('Reconnecting, data of {time}', { time: clockSeconds(connection.since) }) : '';
  return <div className="connection" role="status" data-connection={connection.state}>{lost && <span className="tag" data-tone="wait"><Icon of={WifiOff} />{lost}</span>}</div>;
}
