import { type CheckOutcome, fail, info, pass, unknown } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { detectVolatility } from '../function-body/volatility.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { type FunctionBody, functionBodiesQuery } from '../queries/function-bodies.ts';
import { type FunctionUse, functionUsesQuery } from '../queries/function-uses.ts';
import { generatedColumnsQuery } from '../queries/generated-columns.ts';
import { countText } from '../units.ts';

export const generatedColumnsCheck = databaseCheck({
  id: 'generated-columns',
  title: 'the database has no generated columns',
  headline: 'The database has generated columns',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { columns: generatedColumnsQuery, functionUses: functionUsesQuery, functionBodies: functionBodiesQuery },
  evaluate({ columns: { generated }, functionUses, functionBodies }, database) {
    if (generated.length === 0) return pass('none');
    const moody = madeAnew(functionUses, functionBodies);
    if (moody.length > 0) return otherValues(moody, database);
    const virtual = generated.filter((column) => column.virtual).length;
    const needed = virtual === 0 ? '' : ' Virtual ones need PostgreSQL 18 or newer on the target.';
    return info(`${generated.length - virtual} stored, ${virtual} virtual`, {
      detail: `They are not sent: the target computes them itself.${needed}${unlistedNote(generated)}`,
      objects: firstObjects(generated).map(({ table, column }) => `${table}.${column}`),
    });
  },
});

interface MoodyColumn {
  readonly column: string;
  readonly signature: string;
  readonly how: 'surely' | 'perhaps';
}

/** Stored columns with rows, whose function gives another value when it is asked again. */
function madeAnew(uses: readonly FunctionUse[], bodies: readonly FunctionBody[]): readonly MoodyColumn[] {
  const byOid = new Map(bodies.map((body) => [body.oid, body]));
  return uses.flatMap(({ calls, kind, filled, name }) => {
    const body = byOid.get(calls);
    const how = body === undefined ? undefined : detectVolatility(`${body.text} ${body.bound}`);
    if (kind !== 'generated' || !filled || body === undefined || how === undefined) return [];
    return [{ column: name.replace(/^column /, ''), signature: body.signature, how }];
  });
}

function otherValues(moody: readonly MoodyColumn[], database: string): CheckOutcome {
  const sure = moody.filter(({ how }) => how === 'surely');
  const named = sure.length > 0 ? sure : moody;
  const observed = `${countText(named.length, 'column')} by a function that asks for the time or makes up a value`;
  const more = {
    required: 'functions that give the same value for the same row',
    detail: `Generated columns are not sent: the target computes them itself. These functions are said to be immutable and are not, so that the rows differ there, and nobody says so.${unlistedNote(named)}`,
    objects: firstObjects(named).map(({ column, signature }) => `${column} (${signature})`),
    fix: {
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'Make plain columns of them, whose values are sent (ALTER TABLE … ALTER COLUMN … DROP EXPRESSION, 13 and newer), and let a trigger fill them.',
    },
  };
  return sure.length > 0 ? fail(['continuous', 'dump'], observed, more) : { ...unknown(observed), ...more };
}
