import { countOf } from '../../../../base/text.ts';
import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { quoteLiteral } from '../../../../postgresql/quote.ts';
import { decodeOptionalText, decodeText, type PostgresqlRow } from '../../../../postgresql/rows.ts';
import { failOutcome, passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import {
  currentZone,
  findLegacyZones,
  findQuotedZones,
  legacyZone,
  type NamedZones,
} from '../function-body/time-zone.ts';
import { isNotMemberSql, namesZoneSql, takesZoneSql } from '../queries/catalog-predicates.ts';
import { featureCondition } from '../queries/database-overview.ts';
import type { PostgresqlQuery } from '../query.ts';

/** An object of a database, or a setting, that names a time zone which the tzdata of a target may lack. */
interface TimeZoneUse extends NamedZones {
  /** What the object is, as reports show it: `column local of public.ev`, `role app in database d1`. */
  readonly place: string;
  /** `rows`: the target evaluates the expression for every copied row, or the setting when it creates the function. */
  readonly need: 'rows' | 'if called' | 'later';
}

/** A stored setting; `database` is undefined if it applies to all. */
interface StoredZone extends TimeZoneUse {
  readonly database: string | undefined;
}

/** Definitions are written by the server, because a node tree has no constants as text. */
const zoneExpressionsQuery: PostgresqlQuery<readonly TimeZoneUse[]> = {
  id: 'time-zone-expressions',
  scope: 'database',
  when: featureCondition('defaults', 'checks', 'expressions'),
  sql: (version) => `
        SELECT 'check' AS kind,
          'constraint ' || quote_ident(k.conname) || ' on '
            || CASE WHEN k.contypid <> '0' THEN k.contypid::regtype::text ELSE k.conrelid::regclass::text END AS place,
          pg_get_expr(k.conbin, k.conrelid) AS text
        FROM pg_constraint k
        WHERE k.contype = 'c' AND k.oid >= '${firstNormalOid}' AND ${takesZoneSql('k.conbin')}
        UNION ALL
        SELECT ${version < 120_000 ? "'default'" : "CASE WHEN a.attgenerated = '' THEN 'default' ELSE 'generated' END"},
          'column ' || quote_ident(a.attname) || ' of ' || d.adrelid::regclass::text,
          pg_get_expr(d.adbin, d.adrelid)
        FROM pg_attrdef d
        JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
        WHERE ${takesZoneSql('d.adbin')}
        UNION ALL
        SELECT 'index', 'index ' || i.indexrelid::regclass::text,
          concat_ws(' ', pg_get_expr(i.indexprs, i.indrelid), pg_get_expr(i.indpred, i.indrelid))
        FROM pg_index i
        WHERE i.indexrelid >= '${firstNormalOid}'
          AND (${takesZoneSql('i.indexprs')} OR ${takesZoneSql('i.indpred')})
        UNION ALL
        SELECT 'domain', 'domain ' || y.oid::regtype::text, pg_get_expr(y.typdefaultbin, '0')
        FROM pg_type y
        WHERE y.oid >= '${firstNormalOid}' AND y.typtype = 'd' AND ${takesZoneSql('y.typdefaultbin')}
  `,
  decode: decodeUses,
  absent: [],
};

/** What has a text of its own, or is written by the server as one. A function is read whole. */
const zoneDefinitionsQuery: PostgresqlQuery<readonly TimeZoneUse[]> = {
  id: 'time-zone-definitions',
  scope: 'database',
  when: featureCondition('functions', 'views', 'relations', 'other-expressions'),
  sql: (version) =>
    [
      `
        SELECT 'view' AS kind, CASE v.relkind WHEN 'm' THEN 'materialized view ' WHEN 'v' THEN 'view ' ELSE 'rule on ' END || v.oid::regclass::text AS place,
          pg_get_ruledef(r.oid) AS text
        FROM pg_rewrite r
        JOIN pg_class v ON v.oid = r.ev_class
        WHERE r.oid >= '${firstNormalOid}' AND ${takesZoneSql('r.ev_action')} AND ${isNotMemberSql('pg_class', 'v.oid')}
      `,
      `
        SELECT 'trigger', 'trigger ' || quote_ident(t.tgname) || ' on ' || t.tgrelid::regclass::text, pg_get_triggerdef(t.oid)
        FROM pg_trigger t
        WHERE ${takesZoneSql('t.tgqual')}
      `,
      `
        SELECT 'policy', 'policy ' || quote_ident(o.polname) || ' on ' || o.polrelid::regclass::text,
          concat_ws(' ', pg_get_expr(o.polqual, o.polrelid), pg_get_expr(o.polwithcheck, o.polrelid))
        FROM pg_policy o
        WHERE ${takesZoneSql('o.polqual')} OR ${takesZoneSql('o.polwithcheck')}
      `,
      ...(version < 100_000
        ? []
        : [
            `
              SELECT 'partition', 'partition key of ' || b.partrelid::regclass::text, pg_get_expr(b.partexprs, b.partrelid)
              FROM pg_partitioned_table b
              WHERE ${takesZoneSql('b.partexprs')}
            `,
          ]),
      ...(version < 140_000
        ? []
        : [
            `
              SELECT 'statistics', 'statistics ' || quote_ident(e.stxname) || ' on ' || e.stxrelid::regclass, pg_get_statisticsobjdef(e.oid)
              FROM pg_statistic_ext e
              WHERE ${takesZoneSql('e.stxexprs')}
            `,
          ]),
      `
        SELECT l.lanname, 'function ' || p.oid::regprocedure::text,
          concat_ws(
            ' ',
            p.prosrc,
            pg_get_expr(p.proargdefaults, '0')${version < 140_000 ? '' : ', pg_get_function_sqlbody(p.oid)'}
          )
        FROM pg_proc p
        JOIN pg_language l ON l.oid = p.prolang
        WHERE ${namesZoneSql(version)} AND ${isNotMemberSql('pg_proc', 'p.oid')}
      `,
      `
        SELECT 'setting', 'function ' || p.oid::regprocedure::text, split_part(g, '=', 2)
        FROM pg_proc p
        CROSS JOIN LATERAL unnest(p.proconfig) g
        WHERE p.oid >= '${firstNormalOid}' AND g ~* '^timezone=' AND ${isNotMemberSql('pg_proc', 'p.oid')}
      `,
    ].join(' UNION ALL '),
  decode: decodeUses,
  absent: [],
};

/** Settings of ALTER ROLE … SET and ALTER DATABASE … SET, of all roles. */
const zoneSettingsQuery: PostgresqlQuery<readonly StoredZone[]> = {
  id: 'time-zone-settings',
  scope: 'server',
  sql: () => `
    SELECT d.datname AS database, r.rolname AS role, quote_ident(d.datname) AS database_name, quote_ident(r.rolname) AS role_name, split_part(g, '=', 2) AS zone
    FROM pg_db_role_setting s
    LEFT JOIN pg_database d ON d.oid = s.setdatabase
    LEFT JOIN pg_roles r ON r.oid = s.setrole
    CROSS JOIN LATERAL unnest(s.setconfig) g
    WHERE g ~* '^timezone='
  `,
  decode: (rows) =>
    rows.flatMap((row) => {
      const legacy = legacyZone(decodeText(row, 'zone'));
      const [role, database] = [decodeOptionalText(row, 'role_name'), decodeOptionalText(row, 'database_name')];
      const of = [
        ...(role === undefined ? [] : [`role ${role}`]),
        ...(database === undefined ? [] : [`database ${database}`]),
      ];
      const place = of.length === 0 ? 'all roles' : of.join(' in ');
      const use = { place, legacy, isVariable: false, need: 'later' as const };
      return legacy.length === 0 ? [] : [{ ...use, database: decodeOptionalText(row, 'database') }];
    }),
  absent: [],
};

function decodeUses(rows: readonly PostgresqlRow[]): readonly TimeZoneUse[] {
  return rows.flatMap((row) => {
    const kind = decodeText(row, 'kind');
    const use = { ...zonesOf(row, kind), place: decodeText(row, 'place'), need: needOf(kind) };
    return use.legacy.length > 0 || (use.need === 'rows' && use.isVariable) ? [use] : [];
  });
}

const kindsOfRows: ReadonlySet<string> = new Set(['check', 'generated', 'index', 'partition', 'setting']);
const laterKinds: ReadonlySet<string> = new Set(['default', 'domain', 'view', 'trigger', 'policy', 'statistics']);

function needOf(kind: string): TimeZoneUse['need'] {
  if (kindsOfRows.has(kind)) return 'rows';
  return laterKinds.has(kind) ? 'later' : 'if called';
}

/** Languages whose body is not SQL; `internal` and `c` have no body. */
const isOtherLanguage = (kind: string) => /^(?!plpgsql$)pl/.test(kind);

function zonesOf(row: PostgresqlRow, kind: string): NamedZones {
  const text = decodeText(row, 'text');
  if (kind === 'setting') return { legacy: legacyZone(text.replace(/^["']|["']$/g, '')), isVariable: false };
  return isOtherLanguage(kind) ? findQuotedZones(text) : findLegacyZones(text);
}

export const timeZonesCheck = declareDatabaseCheck({
  id: 'time-zones',
  title: 'every time zone name is in the tzdata of any target',
  headline: 'A time zone name may be missing on the target',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    expressions: zoneExpressionsQuery,
    definitions: zoneDefinitionsQuery,
    settings: zoneSettingsQuery,
  },
  evaluate({ expressions, definitions, settings }, name, _facts, { target }) {
    const zones = target?.postgresql?.timeZones;
    const stored = settings.filter(({ database }) => database === undefined || database === name);
    const zoneUses = [...expressions, ...definitions, ...stored].flatMap((use) => {
      const legacy = use.legacy.filter((one) => zones?.has(one.toLowerCase()) !== true);
      return legacy.length === 0 && use.legacy.length > 0 ? [] : [{ ...use, legacy }];
    });
    if (zoneUses.length === 0) return passOutcome('none');
    const names = [...new Set(zoneUses.flatMap(({ legacy }) => legacy))].sort();
    const shown = limitObjects(names);
    const known = `SELECT name FROM pg_catalog.pg_timezone_names WHERE name OPERATOR(pg_catalog.=) ANY (ARRAY[${shown.map(quoteLiteral).join(', ')}])`;
    const renamed = shown.flatMap((name) => {
      const current = currentZone(name);
      return current === undefined ? [] : [`${name}: ${current}`];
    });
    const lost =
      names.length === 0
        ? ''
        : ` The tzdata of some systems, such as Debian without the package tzdata-legacy, has only the names in present use (${renamed.join(', ')}). The target knows the names if this query returns ${countOf(shown.length, 'row')} there: ${known}.`;
    const objects = limitObjects(zoneUses).map(({ place, legacy }) => [place, ...legacy.slice(0, 3)].join(': '));
    const fix = { by: 'the schema owner', text: 'Write the names in present use, which have the same rules.' };
    const required = 'names of time zones in present use';
    if (zones !== undefined && names.length > 0) {
      const isNeeded = (need: TimeZoneUse['need']) =>
        zoneUses.some((one) => one.legacy.length > 0 && one.need === need);
      const observed = `${shown.join(', ')} in ${countOf(zoneUses.length, 'object')}`;
      const more = { headline: 'The target does not know a time zone name', required, objects, fix };
      const present = `The names in present use: ${renamed.join(', ')}.${unlistedNote(zoneUses)}`;
      if (isNeeded('rows')) {
        const detail = `Without the name the target rejects the object, the row or the statement: "time zone … not recognized". ${present}`;
        return failOutcome(['continuous', 'dump'], observed, { ...more, detail });
      }
      const detail = `The object is created on the target, and a statement that uses it fails there: "time zone … not recognized". ${present}`;
      const premise = 'no stored expression calls a function that names the time zone';
      return isNeeded('if called')
        ? { ...unknownOutcome(observed), ...more, premise, detail }
        : warnOutcome(observed, { ...more, detail });
    }
    const columns = zoneUses.filter(({ legacy }) => legacy.length === 0);
    const unread = columns.length === 0 ? '' : ' The names in a column are not read.';
    return {
      ...unknownOutcome(
        names.length === 0
          ? `${countOf(columns.length, 'expression')} with the time zone of a column`
          : `${shown.join(', ')} in ${countOf(zoneUses.length - columns.length, 'object')}`,
      ),
      premise:
        names.length === 0
          ? 'the target knows the time zone names in the rows'
          : `the target knows the time zone names ${shown.join(', ')}`,
      required,
      detail: `Without the name the target rejects the object, the row or the statement: "time zone … not recognized".${lost}${unread}${unlistedNote(zoneUses)}`,
      objects,
      fix,
    };
  },
});
