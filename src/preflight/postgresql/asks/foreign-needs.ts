import type { Ask } from '../ask.ts';
import { textIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { notOfExtension } from './outdated.ts';
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

/** A dictionary of text search that reads a file of the server. */
export interface DictionaryFile {
  /** Qualified and quoted. */
  readonly dictionary: string;
  /** As the option has it: `stopwords = 'mine'`. */
  readonly option: string;
}

/** What every server has in its folder tsearch_data: stop words by language, and the examples. */
const usual =
  '(danish|dutch|english|finnish|french|german|hungarian|italian|nepali|norwegian|portuguese|russian|spanish|swedish|turkish|unaccent|(synonym|thesaurus|ispell|hunspell|xsyn)_sample(_long|_num)?)';

export const dictionaryFiles: Ask<readonly DictionaryFile[]> = {
  id: 'dictionary-files',
  scope: 'database',
  when: where('dictionaries'),
  sql: () =>
    `SELECT quote_ident(n.nspname) || '.' || quote_ident(o.dictname) AS dictionary, f.found[1] || ' = ''' || f.found[2] || '''' AS option FROM pg_ts_dict o JOIN pg_namespace n ON n.oid = o.dictnamespace CROSS JOIN LATERAL regexp_matches(o.dictinitoption, '(stopwords|dictfile|afffile|synonyms|rules) = ''([^'']*)''', 'gi') f(found) WHERE o.oid >= '16384' AND ${notOfExtension('3600', 'o.oid')} AND f.found[2] !~ '^${usual}$' ORDER BY 1, 2`,
  decode: (rows) => rows.map((row) => ({ dictionary: textIn(row, 'dictionary'), option: textIn(row, 'option') })),
  absent: [],
  grant: grantMonitor,
};
