import type { Ask } from '../ask.ts';
import { textIn, truthIn } from './decode.ts';
import { dependentsOn, usesOf } from './evaluated-functions.ts';
import { grantMonitor } from './grants.ts';
import { where } from './overview.ts';

/** Something that calls a function of earthdistance for each row. */
export interface EarthUse {
  /** `index i on public.t`. */
  readonly name: string;
  /** Made with the schema, or called for rows that are there. */
  readonly needed: boolean;
}

/** Of its functions earth() alone calls no other; its domain calls nothing else. */
const ofEarthdistance =
  "EXISTS (SELECT FROM pg_depend e JOIN pg_extension x ON x.oid = e.refobjid JOIN pg_proc p ON p.oid = e.objid WHERE e.classid = '1255' AND e.objid = d.refobjid AND e.refclassid = '3079' AND e.deptype = 'e' AND x.extname = 'earthdistance' AND p.proname <> 'earth')";

export const earthUses: Ask<readonly EarthUse[]> = {
  id: 'earth-uses',
  scope: 'database',
  when: where('called-functions'),
  sql: (version) =>
    `${dependentsOn(ofEarthdistance)} SELECT u.name, u.filled OR u.kind IN ('index', 'unique', 'generated', 'partition') AS needed FROM (${usesOf(version)}) u`,
  decode: (rows) => rows.map((row) => ({ name: textIn(row, 'name'), needed: truthIn(row, 'needed') })),
  absent: [],
  grant: grantMonitor,
};
