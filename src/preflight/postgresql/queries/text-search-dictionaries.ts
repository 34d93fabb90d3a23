import { catalogOid, firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { whenPresent } from './database-overview.ts';
import { decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** A text search dictionary with options. */
export interface TextSearchDictionary {
  readonly name: string;
  /** What it is made of: `ispell`, `thesaurus`. */
  readonly template: string;
  /** As the server keeps them: `dictfile = 'shop', stopwords = 'english'`. */
  readonly options: string;
}

/** Without those of extensions, which make their own on the target too. 3600 is pg_ts_dict. */
export const textSearchDictionariesQuery: PostgresqlQuery<readonly TextSearchDictionary[]> = {
  id: 'dictionaries',
  scope: 'database',
  when: whenPresent('dictionaries'),
  sql: () => `
    SELECT o.oid::regdictionary AS name, t.tmplname, o.dictinitoption
    FROM pg_ts_dict o
    JOIN pg_ts_template t ON t.oid = o.dicttemplate
    WHERE o.oid >= '${firstNormalObjectId}'
      AND o.dictinitoption IS NOT NULL
      AND NOT EXISTS (
        SELECT FROM pg_depend d
        WHERE d.classid = '${catalogOid.pg_ts_dict}'
          AND d.objid = o.oid
          AND d.deptype = 'e'
      )
    ORDER BY 1
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeText(row, 'name'),
      template: decodeText(row, 'tmplname'),
      options: decodeText(row, 'dictinitoption'),
    })),
  absent: [],
  grant: grantMonitorRole,
};
