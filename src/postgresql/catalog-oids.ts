/**
 * Object ids that every PostgreSQL server shares, because they are assigned in the sources of the server
 * (src/include/catalog/*.dat and src/include/access/transam.h). Queries contain object ids as quoted literals: a quoted
 * literal takes the type of the column, while a bare number is an int4, for which the server must search a matching
 * operator.
 */

/** FirstNormalObjectId: objects with this id or a higher one were created by users or extensions, not by initdb. */
export const firstNormalOid = 16384;

/** FirstGenbkiObjectId: a lower id is assigned by hand in the sources, and is the same in every database of a major version. */
export const firstGenbkiOid = 10000;

/** FirstUnpinnedObjectId: objects with a lower id were created by bootstrap, not by the scripts of initdb. */
export const firstUnpinnedObjectId = 12000;

/** BOOTSTRAP_SUPERUSERID: the role that initdb creates. */
export const firstSuperuserOid = 10;

/** Object ids of system catalogs, as in pg_depend.classid and refclassid. */
export const catalogOids = {
  pg_type: 1247,
  pg_proc: 1255,
  pg_class: 1259,
  pg_amop: 2602,
  pg_amproc: 2603,
  pg_attrdef: 2604,
  pg_cast: 2605,
  pg_constraint: 2606,
  pg_language: 2612,
  pg_opclass: 2616,
  pg_opfamily: 2753,
  pg_operator: 2617,
  pg_rewrite: 2618,
  pg_trigger: 2620,
  pg_policy: 3256,
  pg_database: 1262,
  pg_namespace: 2615,
  pg_statistic_ext: 3381,
  pg_extension: 3079,
  pg_collation: 3456,
  pg_event_trigger: 3466,
  pg_ts_dict: 3600,
  pg_ts_parser: 3601,
  pg_ts_config: 3602,
  pg_ts_template: 3764,
  pg_publication_rel: 6106,
} as const;

export const schemaOids = { pg_catalog: 11, pg_toast: 99, public: 2200 } as const;

export const tablespaceOids = { pg_default: 1663 } as const;

export const languageOids = { internal: 12, sql: 14 } as const;

export const accessMethodOids = { heap: 2, btree: 403, gist: 783 } as const;

export const typeOids = {
  bool: 16,
  bytea: 17,
  char: 18,
  name: 19,
  int8: 20,
  int2: 21,
  int4: 23,
  regproc: 24,
  text: 25,
  oid: 26,
  xml: 142,
  xmlArray: 143,
  pg_node_tree: 194,
  abstime: 702,
  reltime: 703,
  tinterval: 704,
  circle: 718,
  circleArray: 719,
  macaddr8: 774,
  money: 790,
  moneyArray: 791,
  macaddr: 829,
  inet: 869,
  charArray: 1002,
  regprocArray: 1008,
  abstimeArray: 1023,
  reltimeArray: 1024,
  tintervalArray: 1025,
  aclitem: 1033,
  aclitemArray: 1034,
  bpchar: 1042,
  varchar: 1043,
  date: 1082,
  time: 1083,
  timestamp: 1114,
  timestamptz: 1184,
  timetz: 1266,
  timetzArray: 1270,
  bit: 1560,
  varbit: 1562,
  interval: 1186,
  numeric: 1700,
  jsonb: 3802,
  regprocedure: 2202,
  regoper: 2203,
  regoperator: 2204,
  regclass: 2205,
  regtype: 2206,
  regoperArray: 2208,
  regclassArray: 2210,
  record: 2249,
  any: 2276,
  anyarray: 2277,
  trigger: 2279,
  anyelement: 2283,
  anynonarray: 2776,
  uuid: 2950,
  pg_lsn: 3220,
  pg_ndistinct: 3361,
  pg_dependencies: 3402,
  anyenum: 3500,
  tsvector: 3614,
  tsvectorArray: 3643,
  regconfig: 3734,
  regdictionary: 3769,
  anyrange: 3831,
  regnamespace: 4089,
  regrole: 4096,
  regcollation: 4191,
  anymultirange: 4537,
  anycompatiblemultirange: 4538,
  pg_brin_bloom_summary: 4600,
  pg_brin_minmax_multi_summary: 4601,
  pg_mcv_list: 5017,
  anycompatible: 5077,
  anycompatiblearray: 5078,
  anycompatiblenonarray: 5079,
  anycompatiblerange: 5080,
} as const;

export const functionOids = { array_append: 378, array_prepend: 379, array_cat: 383 } as const;

/**
 * Types whose values are written as bare names of functions or operators, which fail to be read if several objects have
 * the name.
 */
export const regprocTypes: readonly number[] = [
  typeOids.regproc,
  typeOids.regoper,
  typeOids.regprocArray,
  typeOids.regoperArray,
];

/** Row types of pg_type, pg_attribute, pg_proc, pg_class and pg_database, and arrays of the first four. */
export const catalogRowTypes: readonly number[] = [71, 75, 81, 83, 1248, 210, 270, 272, 273];

/**
 * Types whose functions write values that their input functions refuse, and arrays of them. PostgreSQL 14 and newer write
 * no empty lexeme, and PostgreSQL 16 and newer write the byte of a "char" in ASCII.
 * @param version server_version_num
 */
export function malformedTypes(version: number): readonly number[] {
  const { xml, xmlArray, circle, circleArray, timetz, timetzArray, tsvector, tsvectorArray, char, charArray } =
    typeOids;
  return [
    ...[xml, xmlArray, circle, circleArray, timetz, timetzArray],
    ...(version < 140_000 ? [tsvector, tsvectorArray] : []),
    ...(version < 160_000 ? [char, charArray] : []),
  ];
}

/**
 * Types whose values another server may not accept: money depends on lc_monetary, aclitem on roles, regclass on object ids, and
 * the other types have no input function at all.
 */
export const serverSpecificTypes: readonly number[] = [
  typeOids.money,
  typeOids.moneyArray,
  typeOids.aclitem,
  typeOids.aclitemArray,
  typeOids.regclass,
  typeOids.regclassArray,
  typeOids.pg_node_tree,
  typeOids.pg_ndistinct,
  typeOids.pg_dependencies,
  typeOids.pg_mcv_list,
  typeOids.pg_brin_bloom_summary,
  typeOids.pg_brin_minmax_multi_summary,
];

/*
 * Built-in functions as patterns over node trees (`:funcid 1299 `), in which an expression refers to functions by
 * object id.
 */

/**
 * Functions that read the clock: now() is 1299; transaction_timestamp, statement_timestamp and clock_timestamp are 2647 to
 * 2649; age() with one argument 1386 and 2059.
 */
export const clockFunctions = '1299|1386|2059|264[789]';

/**
 * Names of functions that are not IMMUTABLE, and depend on no more than their arguments, settings that other checks compare,
 * time zone rules (`timeZoneFunctions`), or the name, the encoding and the enums of the database.
 */
export const argumentFunctions =
  'aclexplode convert convert_from convert_to current_database enum_first enum_last enum_range getdatabaseencoding json_populate_record json_populate_recordset json_to_record json_to_recordset json_to_tsvector jsonb_populate_record jsonb_populate_record_valid jsonb_populate_recordset jsonb_to_record jsonb_to_recordset jsonb_to_tsvector length make_timestamptz numeric money pg_char_to_encoding pg_encoding_to_char pg_input_error_info pg_input_is_valid pg_options_to_table pg_typeof phraseto_tsquery plainto_tsquery timezone to_tsquery to_tsvector websearch_to_tsquery xml xml_is_well_formed';

/**
 * Functions with the name of a time zone among their arguments: timezone (1159, 2037, 2069), date_trunc (1284),
 * make_timestamptz (3463), date_add (6222), date_subtract (6273), generate_series (6274), set_config (2078).
 */
export const timeZoneFunctions = '1159|1284|2037|2069|2078|3463|6222|627[34]';

/** Functions that read a value as a type whose name is a text: pg_input_is_valid, pg_input_error_info. */
export const inputFunctions = '621[01]';

/** Functions that return the id of the transaction: txid_current, pg_current_xact_id, and those if it has one. */
export const transactionIdFunctions = '2943|3348|5059|5060';

/** Types of transaction ids and snapshots, and arrays of them: xid, xid8, txid_snapshot, pg_snapshot. */
export const transactionIdTypes: readonly number[] = [28, 1011, 5069, 271, 2970, 2949, 5038, 5039];

/** Functions whose result depends on TimeZone, DateStyle or IntervalStyle. */
export const settingFunctions =
  '1171|1174|1176|1178|1189|1190|1217|130[5-7]|1386|1388|1768|1770|1778|1780|2019|202[78]|2047|2049|2059|235[1-7]|237[7-9]|238[0-3]|252[0-9]|253[0-3]|2549|3462|4135|6203|622[13]|633[4-6]';

/**
 * Functions that no release declares IMMUTABLE: to_char, to_number, now, array_to_string, quote_literal, concat, format,
 * || with any type, JSON functions, to_tsvector without a configuration, and those that depend on settings.
 */
export const mutableFunctions = `1181|1284|1285|1290|1299|177[2-7]|2003|2004|384|395|305[89]|315[3-6]|3176|319[89]|320[01]|327[1-4]|3539|3540|3749|375[01]|3787|${settingFunctions}`;

/** Functions of PostgreSQL that write a value of any type: quote_literal, concat, format, array_to_string, to_json … */
export const writingFunctions = '1285|1290|3058|3059|3539|384|395|315[3-6]|3176|319[89]|320[01]|327[1-4]|3787';

/** Operators that write a value of any type: `||` with a text. */
export const writingOperators = '2779|2780';

/** Letter case, and regular expressions (also in JSON paths): of ASCII letters only with the collation C. */
export const letterFunctionOidPattern =
  '87[0-2]|6412|79|125[246]|165[89]|207[34]|228[45]|276[3-8]|339[67]|625[1-9]|626[0-9]|400[5-9]|401[01]';

/**
 * Functions whose results PostgreSQL changes between major releases, or takes from a library of the operating system:
 * text search, letter case, regular expressions (also in JSON paths), Unicode normalization, power and transcendental functions,
 * quote_ident (reserved words), and timezone with a name.
 */
export const releaseFunctions = [
  '371[3-6]|3723|374[3-7]|3749|375[0145]|420[1-9]|421[0-6]|500[1679]',
  letterFunctionOidPattern,
  '435[01]|6105',
  '23[1-4]|1194|1339|134[0156]|1347|1368|1481|160[0-7]|173[2-9]|1741|2169|246[2-7]|273[1-8]|62(19|20)|638[34]',
  '1282',
  '1159|2037|2069',
].join('|');

/** Comparisons of text, character and name values by their order: `<`, `<=`, `>`, `>=`. */
export const textOrderFunctions = '65[5-8]|74[0-3]|1049|105[0-2]';

/** The collation that stands for the one of the database. */
export const defaultCollation = 100;

/** The collations C and POSIX, whose order is that of the bytes. */
export const byteOrderCollations = [950, 951];
