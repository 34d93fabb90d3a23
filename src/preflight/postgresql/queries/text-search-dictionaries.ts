import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import { decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { isNotExtensionMemberSql } from './catalog-predicates.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

export interface TextSearchDictionary {
  readonly name: string;
  /** The template of the text search dictionary: `ispell`, `thesaurus`. */
  readonly template: string;
  /** The options of the dictionary, as pg_ts_dict stores them: `dictfile = 'shop', stopwords = 'english'`. */
  readonly options: string;
}

/** Dictionaries of extensions are left out, because CREATE EXTENSION creates them on the target as well. */
export const textSearchDictionariesQuery: PostgresqlPreflightQuery<readonly TextSearchDictionary[]> = {
  id: 'text-search-dictionaries',
  scope: 'database',
  when: createDatabaseFeatureCondition('dictionaries'),
  sql: () => `
    SELECT o.oid::regdictionary AS name, t.tmplname, o.dictinitoption
    FROM pg_ts_dict o
    JOIN pg_ts_template t ON t.oid = o.dicttemplate
    WHERE o.oid >= '${firstNormalObjectId}'
      AND o.dictinitoption IS NOT NULL
      AND ${isNotExtensionMemberSql('pg_ts_dict', 'o.oid')}
    ORDER BY 1
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeTextColumn(row, 'name'),
      template: decodeTextColumn(row, 'tmplname'),
      options: decodeTextColumn(row, 'dictinitoption'),
    })),
  absent: [],
};
