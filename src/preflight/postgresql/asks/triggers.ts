import type { Ask } from '../ask.ts';
import { textIn, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { overview } from './overview.ts';

/** A trigger that fires where a subscription applies changes. */
export interface ApplyTrigger {
  readonly table: string;
  readonly name: string;
  /** ENABLE ALWAYS; otherwise ENABLE REPLICA, which does not fire in a session of an application. */
  readonly always: boolean;
}

export const applyTriggers: Ask<readonly ApplyTrigger[]> = {
  id: 'apply-triggers',
  scope: 'database',
  when: (known) => known(overview)?.functions ?? true,
  sql: () =>
    "SELECT tgrelid::regclass AS name, tgname, tgenabled = 'A' AS always FROM pg_trigger WHERE (tgenabled = 'A' OR tgenabled = 'R') AND NOT tgisinternal",
  decode: (rows) =>
    rows.map((row) => ({ table: textIn(row, 'name'), name: textIn(row, 'tgname'), always: truthIn(row, 'always') })),
  absent: [],
  grant: grantMonitor,
};

/** Names; those that an extension brings are left out: it brings them on the target too. 3466 is pg_event_trigger. */
export const eventTriggers: Ask<readonly string[]> = {
  id: 'event-triggers',
  scope: 'database',
  when: (known) => known(overview)?.functions ?? true,
  sql: () =>
    "SELECT e.evtname FROM pg_event_trigger e WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = '3466' AND d.objid = e.oid AND d.deptype = 'e')",
  decode: (rows) => rows.map((row) => textIn(row, 'evtname')),
  absent: [],
  grant: grantMonitor,
};
