import { isGivenSqlSymbol, tokenizeSqlFunctionBody } from './tokenize.ts';

/**
 * The first word of a function body whose value belongs to a server, a session or a moment: settings, role, clock, random
 * values, sequences, object ids, catalogs, or a composed query. undefined: none was found. The result is a heuristic over the
 * text.
 */
export function findNonImmutableWord(text: string): string | undefined {
  const tokens = tokenizeSqlFunctionBody(text);
  const found = tokens.find((token, at) => {
    if (token.kind === 'string') return momentNames.test(token.text.trim());
    if (token.kind !== 'word') return false;
    if (!token.quoted && environmentWords.test(token.text)) return true;
    return isGivenSqlSymbol(tokens[at + 1], '(') && environmentFunctions.test(token.text);
  });
  return found?.text;
}

/** Words that PostgreSQL converts to the current date or time when it reads a date or timestamp. */
const momentNames = /^(?:now|today|tomorrow|yesterday)$/i;

const environmentWords =
  /^(?:current_(?:user|role|catalog|schema|date|time|timestamp)|session_user|localtime(?:stamp)?|tableoid|ctid|xmin|xmax|execute|reg(?:class|type|proc|procedure|oper|operator|role|namespace|collation))$/;

/** Excludes pg_typeof, pg_column_size and pg_input_is_valid, whose results depend on their arguments only. */
const environmentFunctions =
  /^(?:current_(?:setting|schemas?|database)|set_config|version|now|(?:clock|statement|transaction)_timestamp|timeofday|random\w*|gen_random_\w+|gen_salt|uuid_generate_v(?:1|1mc|4)|uuidv[47]|nextval|currval|lastval|setval|txid_\w+|inet_\w+|has_\w+_privilege|to_reg\w+|(?:obj|col|shobj)_description|(?:query|table|cursor|schema|database)_to_xml\w*|dblink\w*|lo_\w+|pg_(?!typeof$|column_size$|input_is_valid$)\w+)$/;
