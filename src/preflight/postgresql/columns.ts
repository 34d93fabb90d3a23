import { fail, info, type Outcome, pass, unknown } from '../finding.ts';
import { columns } from './asks/columns.ts';
import { type FunctionBody, functionBodies, functionUses, type Use } from './asks/evaluated-functions.ts';
import { goesByMoment } from './body/moments.ts';
import { databaseCheck } from './check.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const generatedColumns = databaseCheck({
  id: 'generated-columns',
  title: 'there are no generated columns',
  asks: { columns, functionUses, functionBodies },
  judge({ columns: { generated }, functionUses, functionBodies }, database) {
    if (generated.length === 0) return pass('none');
    const moody = madeAnew(functionUses, functionBodies);
    if (moody.length > 0) return otherValues(moody, database);
    const virtual = generated.filter((column) => column.virtual).length;
    const needed = virtual === 0 ? '' : ' Virtual ones need PostgreSQL 18 or newer on the target.';
    return info(`${generated.length - virtual} stored, ${virtual} virtual`, {
      detail: `They are not sent: the target computes them itself.${needed}${unlisted(generated)}`,
      objects: shown(generated).map(({ table, column }) => `${table}.${column}`),
    });
  },
});

interface MoodyColumn {
  readonly column: string;
  readonly signature: string;
  readonly how: 'surely' | 'perhaps';
}

/** Stored columns with rows, whose function gives another value when it is asked again. */
function madeAnew(uses: readonly Use[], bodies: readonly FunctionBody[]): readonly MoodyColumn[] {
  const byOid = new Map(bodies.map((body) => [body.oid, body]));
  return uses.flatMap(({ calls, kind, filled, name }) => {
    const body = byOid.get(calls);
    const how = body === undefined ? undefined : goesByMoment(`${body.text} ${body.bound}`);
    if (kind !== 'generated' || !filled || body === undefined || how === undefined) return [];
    return [{ column: name.replace(/^column /, ''), signature: body.signature, how }];
  });
}

function otherValues(moody: readonly MoodyColumn[], database: string): Outcome {
  const sure = moody.filter(({ how }) => how === 'surely');
  const named = sure.length > 0 ? sure : moody;
  const observed = `${count(named.length, 'column')} by a function that asks for the time or makes up a value`;
  const more = {
    required: 'functions that give the same value for the same row',
    detail: `Generated columns are not sent: the target computes them itself. These functions are said to be immutable and are not, so that the rows differ there, and nobody says so.${unlisted(named)}`,
    objects: shown(named).map(({ column, signature }) => `${column} (${signature})`),
    fix: {
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'Make plain columns of them, whose values are sent (ALTER TABLE … ALTER COLUMN … DROP EXPRESSION, 13 and newer), and let a trigger fill them.',
    },
  };
  return sure.length > 0 ? fail(['continuous', 'dump'], observed, more) : { ...unknown(observed), ...more };
}

export const identityColumns = databaseCheck({
  id: 'identity-columns',
  title: 'there are no identity columns',
  asks: { columns },
  judge({ columns: { identity } }) {
    if (identity.length === 0) return pass('none');
    return info(count(identity.length, 'column'), {
      detail: `Their values arrive; the sequences behind them do not and have to be set at the cut-over, as all sequences.${unlisted(identity)}`,
      objects: shown(identity),
    });
  },
});
