import type { Ask } from '../ask.ts';
import { textIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { where } from './overview.ts';

/** Labels of one provider; it is loaded into a server, and no dump brings it. */
export interface LabelProvider {
  readonly provider: string;
  /** `table public.people`: one that has a label. */
  readonly object: string;
}

export const labelProviders: Ask<readonly LabelProvider[]> = {
  id: 'label-providers',
  scope: 'database',
  when: where('labels'),
  sql: () =>
    'SELECT l.provider, min(pg_describe_object(l.classoid, l.objoid, l.objsubid)) AS object FROM pg_seclabel l GROUP BY 1 ORDER BY 1',
  decode: (rows) => rows.map((row) => ({ provider: textIn(row, 'provider'), object: textIn(row, 'object') })),
  absent: [],
  grant: grantMonitor,
};
