import { isSqlKeyword, isSqlSymbol, type SqlToken, tokenizeBody } from './tokenize.ts';

/**
 * Whether the result of a function declared IMMUTABLE depends on the time zone, because it converts between types with
 * and without time zone and names no zone. The result is a guess from the text of the function body.
 */
export function usesZone(text: string, types: readonly string[]): boolean {
  const words = text
    .toLowerCase()
    .replace(/--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, ' ')
    // Seconds since the epoch do not depend on the time zone.
    .replace(/\b(extract\s*\(\s*|date_part\s*\(\s*')epoch\b/g, ' ');
  if (/\bat\s+time\s+zone\b|\bat\s+local\b|\btimezone\s*\(/.test(words) || zoned.test(words)) return false;
  const takes = (...names: readonly string[]) => types.some((type) => names.includes(type));
  return (takes('timestamptz', 'timetz') && loses.test(words)) || (takes('timestamp', 'date') && gains.test(words));
}

/** The third argument of date_trunc is the time zone. */
const zoned = /\bdate_trunc\s*\(\s*'[^']*'\s*,[^,()]*,/;

const loses =
  /(::\s*|\bas\s+)(date|time|timestamp|text|varchar)\b(?!\s*(\(\d\)\s*)?with\s+time)|\b(to_char|date_trunc|date_part|extract|date)\s*\(/;

const gains = /(::\s*|\bas\s+)(timestamptz|timestamp\s*(\(\d\)\s*)?with\s+time\s+zone)\b/;

/** The time zones that an expression or a function body names. */
export interface NamedZones {
  /** Names that the tzdata of a target may lack, as IANA writes them. */
  readonly legacy: readonly string[];
  /** Whether a name comes from a column or a variable. */
  readonly isVariable: boolean;
}

/**
 * Finds names of IANA's file `backward` where SQL expects a time zone: after AT TIME ZONE, in the arguments of functions
 * that take a zone, after SET timezone, and at the end of a timestamp. Elsewhere `Japan` is a word like any other.
 */
export function findLegacyZones(text: string, depth = 0): NamedZones {
  // Each level is read again: without a limit, quotes in quotes take quadratic time and overflow the stack.
  if (depth > 4) return { legacy: [], isVariable: true };
  const tokens = tokenizeBody(text);
  const operands = tokens.flatMap((_token, at) => zoneOperandAt(tokens, at));
  const isVariable = operands.some(({ isConstant }) => !isConstant);
  const texts = tokens.flatMap((token) => (token.kind === 'string' ? [token.text] : []));
  const found = [
    ...operands.flatMap(({ names }) => names),
    ...texts.flatMap((one) => /^\s*\d[-\d/.:T\s]*\s([A-Za-z][\w/+-]*)\s*$/.exec(one)?.[1] ?? []),
    // A zone in a variable: a name such as `US/Pacific` has no other meaning, `Japan` has.
    ...(isVariable ? texts.filter((one) => one.includes('/')) : []),
  ];
  const inner = texts
    .filter((one) => one !== text && /\btime\s*zone|\bdate_trunc\b/i.test(one))
    .map((one) => findLegacyZones(one, depth + 1));
  return {
    legacy: [...new Set([...found.flatMap(legacyZone), ...inner.flatMap(({ legacy }) => legacy)])],
    isVariable: isVariable || inner.some((one) => one.isVariable),
  };
}

/** As `findLegacyZones`, for languages other than SQL, in which only a quoted name with a slash is certain. */
export function findQuotedZones(text: string): NamedZones {
  const quoted = [...text.matchAll(/['"]([A-Za-z][\w+-]*\/[\w/+-]+)\\?['"]/g)].map(([, name = '']) => name);
  const named = [...text.matchAll(/\btime\s*zone\s*(?:(?:\(|=|\bto\b)\s*)?\\?['"]+([A-Za-z][\w+-]*)/gi)];
  const found = [...quoted, ...named.map(([, name = '']) => name)];
  return { legacy: [...new Set(found.flatMap(legacyZone))], isVariable: false };
}

/** The name as IANA writes it; empty if it is no name of `backward`. */
export function legacyZone(name: string): readonly string[] {
  const key = name.trim().toLowerCase();
  const [, folder = ''] = /^(posix|right)\//.exec(key) ?? [];
  // The folders posix and right, and the names of SystemV, belong to the same package or were removed.
  if (folder !== '' || key.startsWith('systemv/') || key === 'us/pacific-new') return [name.trim()];
  const proper = properNames.get(key);
  return proper === undefined ? [] : [proper];
}

/** The name in present use of the same time zone; undefined for a name that is not of `backward`. */
export function currentZone(legacy: string): string | undefined {
  return currentNames.get(legacy);
}

interface ZoneOperand {
  readonly names: readonly string[];
  readonly isConstant: boolean;
}

/** The zone whose keyword or function begins at the token. */
function zoneOperandAt(tokens: readonly SqlToken[], at: number): readonly ZoneOperand[] {
  const is = (offset: number, word: string) => isSqlKeyword(tokens[at + offset], word);
  if (is(0, 'at') && is(1, 'time') && is(2, 'zone')) {
    // PostgreSQL knows the abbreviations UCT and ZULU without tzdata.
    return [withoutAbbreviations(operandAfter(tokens, at + 3))];
  }
  const token = tokens[at];
  if (token?.kind !== 'word') return [];
  if (zoneFunctions.has(token.text) && isSqlSymbol(tokens[at + 1], '(')) {
    const all = tokens.slice(at + 2, closingAt(tokens, at + 1));
    const args = token.text === 'timezone' ? all.slice(0, firstCommaIn(all)) : all;
    const operand = withoutAbbreviations(operandOf(args));
    return token.text === 'timezone' ? [operand] : [{ ...operand, isConstant: true }];
  }
  if (is(0, 'set_config') && isSqlSymbol(tokens[at + 1], '(')) {
    const args = tokens.slice(at + 2, closingAt(tokens, at + 1));
    return args.some((one) => one.kind === 'string' && one.text.toLowerCase() === 'timezone') ? [operandOf(args)] : [];
  }
  const from = is(0, 'set') ? at + (is(1, 'local') || is(1, 'session') ? 2 : 1) : undefined;
  return from === undefined ? [] : assignedZone(tokens, from);
}

/** `TIME ZONE 'x'`, `timezone TO 'x'` or `timezone = x`; a name without quotes is a word. */
function assignedZone(tokens: readonly SqlToken[], from: number): readonly ZoneOperand[] {
  const isLong = isSqlKeyword(tokens[from], 'time') && isSqlKeyword(tokens[from + 1], 'zone');
  const short = tokens[from];
  if (!isLong && !(short?.kind === 'word' && short.text.toLowerCase() === 'timezone')) return [];
  const next = tokens[from + (isLong ? 2 : 1)];
  const isSign = isSqlKeyword(next, 'to') || isSqlSymbol(next, '=');
  const value = tokens[from + (isLong ? 2 : 1) + (isSign ? 1 : 0)];
  return value === undefined || value.kind === 'symbol' ? [] : [{ names: [value.text], isConstant: true }];
}

/** The operand of AT TIME ZONE: a constant, an expression in parentheses, a CASE, a function call or a name. */
function operandAfter(tokens: readonly SqlToken[], from: number): ZoneOperand {
  if (isSqlKeyword(tokens[from], 'case')) {
    const most = tokens.slice(from, from + maxOperand);
    const end = most.findIndex((token) => isSqlKeyword(token, 'end'));
    return operandOf(end < 0 ? most : most.slice(0, end));
  }
  const isName = tokens[from]?.kind === 'word';
  if (isName && tokens[from + 1]?.kind === 'string') return operandOf(tokens.slice(from + 1, from + 2));
  let open = isName ? from + 1 : from;
  while (isName && isSqlSymbol(tokens[open], '.')) open += 2;
  const end = isSqlSymbol(tokens[open], '(') ? closingAt(tokens, open) : from + 1;
  return operandOf(tokens.slice(from, end));
}

/** Every string in the operand may be the zone, such as that of coalesce(zone, 'US/Pacific'). */
function operandOf(tokens: readonly SqlToken[]): ZoneOperand {
  const names = tokens.flatMap((token) => (token.kind === 'string' ? [token.text] : []));
  const first = tokens.find((token) => !isSqlSymbol(token, '('));
  return { names, isConstant: first?.kind === 'string' || isSqlKeyword(first, 'interval') };
}

function withoutAbbreviations({ names, isConstant }: ZoneOperand): ZoneOperand {
  return { names: names.filter((name) => !/^(uct|zulu)$/i.test(name.trim())), isConstant };
}

/** An operand ends after so many tokens, because nested calls are read once for each level. */
const maxOperand = 500;

/** The position of the parenthesis that closes the one at `open`; the end of the operand if there is none. */
function closingAt(tokens: readonly SqlToken[], open: number): number {
  const most = Math.min(tokens.length, open + maxOperand);
  let depth = 0;
  for (let at = open; at < most; at += 1) {
    if (isSqlSymbol(tokens[at], '(')) depth += 1;
    if (isSqlSymbol(tokens[at], ')')) depth -= 1;
    if (depth === 0) return at;
  }
  return most;
}

function firstCommaIn(tokens: readonly SqlToken[]): number {
  let depth = 0;
  const at = tokens.findIndex((token) => {
    if (isSqlSymbol(token, '(')) depth += 1;
    if (isSqlSymbol(token, ')')) depth -= 1;
    return depth === 0 && isSqlSymbol(token, ',');
  });
  return at < 0 ? tokens.length : at;
}

const zoneFunctions: ReadonlySet<string> = new Set([
  'timezone',
  'date_trunc',
  'make_timestamptz',
  'date_add',
  'date_subtract',
  'generate_series',
]);

/**
 * The links of IANA's file `backward` and the names in present use, without the names of zone.tab, which every tzdata
 * has, and those that PostgreSQL reads as abbreviations or POSIX rules (EST5EDT, GMT0).
 * https://github.com/eggert/tz/blob/main/backward
 */
const backward = `
  Africa/Asmera=Africa/Asmara Africa/Timbuktu=Africa/Abidjan
  America/Argentina/ComodRivadavia=America/Argentina/Catamarca America/Atka=America/Adak
  America/Buenos_Aires=America/Argentina/Buenos_Aires America/Catamarca=America/Argentina/Catamarca
  America/Coral_Harbour=America/Panama America/Cordoba=America/Argentina/Cordoba America/Ensenada=America/Tijuana
  America/Fort_Wayne=America/Indiana/Indianapolis America/Godthab=America/Nuuk
  America/Indianapolis=America/Indiana/Indianapolis America/Jujuy=America/Argentina/Jujuy
  America/Knox_IN=America/Indiana/Knox America/Louisville=America/Kentucky/Louisville
  America/Mendoza=America/Argentina/Mendoza America/Montreal=America/Toronto America/Nipigon=America/Toronto
  America/Pangnirtung=America/Iqaluit America/Porto_Acre=America/Rio_Branco America/Rainy_River=America/Winnipeg
  America/Rosario=America/Argentina/Cordoba America/Santa_Isabel=America/Tijuana America/Shiprock=America/Denver
  America/Thunder_Bay=America/Toronto America/Virgin=America/St_Thomas America/Yellowknife=America/Edmonton
  Antarctica/South_Pole=Pacific/Auckland Asia/Ashkhabad=Asia/Ashgabat Asia/Calcutta=Asia/Kolkata
  Asia/Choibalsan=Asia/Ulaanbaatar Asia/Chongqing=Asia/Shanghai Asia/Chungking=Asia/Shanghai Asia/Dacca=Asia/Dhaka
  Asia/Harbin=Asia/Shanghai Asia/Istanbul=Europe/Istanbul Asia/Kashgar=Asia/Urumqi Asia/Katmandu=Asia/Kathmandu
  Asia/Macao=Asia/Macau Asia/Rangoon=Asia/Yangon Asia/Saigon=Asia/Ho_Chi_Minh Asia/Tel_Aviv=Asia/Jerusalem
  Asia/Thimbu=Asia/Thimphu Asia/Ujung_Pandang=Asia/Makassar Asia/Ulan_Bator=Asia/Ulaanbaatar
  Atlantic/Faeroe=Atlantic/Faroe Atlantic/Jan_Mayen=Europe/Berlin Australia/ACT=Australia/Sydney
  Australia/Canberra=Australia/Sydney Australia/Currie=Australia/Hobart Australia/LHI=Australia/Lord_Howe
  Australia/NSW=Australia/Sydney Australia/North=Australia/Darwin Australia/Queensland=Australia/Brisbane
  Australia/South=Australia/Adelaide Australia/Tasmania=Australia/Hobart Australia/Victoria=Australia/Melbourne
  Australia/West=Australia/Perth Australia/Yancowinna=Australia/Broken_Hill Brazil/Acre=America/Rio_Branco
  Brazil/DeNoronha=America/Noronha Brazil/East=America/Sao_Paulo Brazil/West=America/Manaus
  Canada/Atlantic=America/Halifax Canada/Central=America/Winnipeg Canada/Eastern=America/Toronto
  Canada/Mountain=America/Edmonton Canada/Newfoundland=America/St_Johns Canada/Pacific=America/Vancouver
  Canada/Saskatchewan=America/Regina Canada/Yukon=America/Whitehorse Chile/Continental=America/Santiago
  Chile/EasterIsland=Pacific/Easter Cuba=America/Havana Egypt=Africa/Cairo Eire=Europe/Dublin Etc/Greenwich=Etc/GMT
  Etc/UCT=Etc/UTC Etc/Universal=Etc/UTC Etc/Zulu=Etc/UTC Europe/Belfast=Europe/London Europe/Kiev=Europe/Kyiv
  Europe/Nicosia=Asia/Nicosia Europe/Tiraspol=Europe/Chisinau Europe/Uzhgorod=Europe/Kyiv
  Europe/Zaporozhye=Europe/Kyiv GB=Europe/London GB-Eire=Europe/London Greenwich=Etc/GMT Hongkong=Asia/Hong_Kong
  Iceland=Atlantic/Reykjavik Iran=Asia/Tehran Israel=Asia/Jerusalem Jamaica=America/Jamaica Japan=Asia/Tokyo
  Kwajalein=Pacific/Kwajalein Libya=Africa/Tripoli Mexico/BajaNorte=America/Tijuana Mexico/BajaSur=America/Mazatlan
  Mexico/General=America/Mexico_City NZ=Pacific/Auckland NZ-CHAT=Pacific/Chatham Navajo=America/Denver
  PRC=Asia/Shanghai Pacific/Enderbury=Pacific/Kanton Pacific/Johnston=Pacific/Honolulu Pacific/Ponape=Pacific/Pohnpei
  Pacific/Samoa=Pacific/Pago_Pago Pacific/Truk=Pacific/Chuuk Pacific/Yap=Pacific/Port_Moresby Poland=Europe/Warsaw
  Portugal=Europe/Lisbon ROC=Asia/Taipei ROK=Asia/Seoul Singapore=Asia/Singapore Turkey=Europe/Istanbul UCT=Etc/UTC
  US/Alaska=America/Anchorage US/Aleutian=America/Adak US/Arizona=America/Phoenix US/Central=America/Chicago
  US/East-Indiana=America/Indiana/Indianapolis US/Eastern=America/New_York US/Hawaii=Pacific/Honolulu
  US/Indiana-Starke=America/Indiana/Knox US/Michigan=America/Detroit US/Mountain=America/Denver
  US/Pacific=America/Los_Angeles US/Samoa=Pacific/Pago_Pago Universal=Etc/UTC W-SU=Europe/Moscow Zulu=Etc/UTC
`;

const currentNames: ReadonlyMap<string, string> = new Map(
  backward
    .trim()
    .split(/\s+/)
    .map((link) => {
      const [name = '', current = ''] = link.split('=');
      return [name, current];
    }),
);

const properNames: ReadonlyMap<string, string> = new Map(
  [...currentNames.keys()].map((name) => [name.toLowerCase(), name]),
);

/** A regular expression of PostgreSQL that finds every text that may name a zone of `backward`, and others. */
export const legacyZonePattern = (() => {
  const names = [...properNames.keys(), 'posix/', 'right/', 'systemv/'];
  const folders = new Set(names.flatMap((name) => (name.includes('/') ? [name.slice(0, name.indexOf('/'))] : [])));
  const words = names.filter((name) => !name.includes('/'));
  return `[[:<:]]((${[...folders].join('|')})/[a-z]|(${words.join('|')})[[:>:]])`;
})();
