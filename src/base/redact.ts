// Removes secrets from text that is about to leave the process. The search is made in the text as a terminal, a JSON parser or a
// browser shows it; the replacement is made in the text as it is.

import { escapeSequences, maxTextLength, sanitizeLine } from './sanitize.ts';
import { type Secret, withheldSecrets } from './secret.ts';

/** Removes secrets from text of a server, which may repeat the request that contained them. */
export function redactSecrets(text: string, secrets: readonly Secret[]): string {
  let redactor = redactors.get(secrets);
  if (redactor === undefined) {
    redactor = new Redactor(secrets, false);
    redactors.set(secrets, redactor);
  }
  return redactor.redact(text);
}

/**
 * One line of text of a database server, sanitized, without the passwords that it may quote. A password may be shorter than other
 * secrets, because it is searched only here.
 */
export function redactServerLine(text: string, passwords: readonly (Secret | undefined)[]): string {
  const known = passwords.filter((one) => one !== undefined);
  const line = known.reduce(replaceExactly, sanitizeLine(text, maxTextLength));
  return sanitizeLine(redactSecrets(line, known));
}

/** Passwords of fewer than four characters are not replaced: they would match parts of ordinary words. */
function replaceExactly(text: string, secret: Secret): string {
  const value = secret.reveal();
  return value.length < 4 ? text : text.replaceAll(value, secret.display);
}

/** One list of secrets is searched in the responses to thousands of requests. */
const redactors = new WeakMap<readonly Secret[], Redactor>();

/**
 * Removes the withheld secrets of this run from text for a person: messages, traces and pages. Parts of a secret, which remain
 * when text is truncated, are removed too.
 */
export function redactMessage(text: string): string {
  return redactorOf(messages).redact(text);
}

/**
 * Removes the withheld secrets of this run from data: output for other programs, reports and ledgers. A secret that may be an
 * ordinary word is left, because it would replace words that are no secret.
 */
export function redactData(text: string): string {
  return redactorOf(data).redact(text);
}

/** What is searched in one kind of output: a list of secrets, and the redactor that was made of it. */
interface RunSearch {
  readonly isSearched: (secret: Secret) => boolean;
  secrets?: readonly Secret[];
  redactor?: Redactor;
}

const messages: RunSearch = { isSearched: () => true };
const data: RunSearch = { isSearched: (secret) => isTelling(secret.reveal()) };

/** Making a redactor takes some milliseconds, and most commands print only one kind of output. */
function redactorOf(search: RunSearch): Redactor {
  const secrets = withheldSecrets();
  if (search.redactor === undefined || search.secrets !== secrets) {
    search.secrets = secrets;
    search.redactor = new Redactor(secrets.filter(search.isSearched), true);
  }
  return search.redactor;
}

/** A value of fewer characters is not redacted, because it occurs in any text by chance. */
const minLength = 8;
/** The length of a part of a secret that is redacted if it looks random, and the length of any part. */
const minPart = 12;
const longPart = 64;
/** Every `stride` characters, `gramLength` characters are looked up, so that each run of 8 characters is met once. */
const gramLength = 4;
const stride = minLength - gramLength + 1;
/** Text is decoded this many times: JSON in a form parameter in a string of other JSON, and one to spare. */
const maxRounds = 6;

/** One spelling of a secret, reduced as the searched text is. */
interface Needle {
  readonly codes: Uint8Array;
  readonly secret: Secret;
  /** Base64 or hexadecimal, whose word is replaced to its ends. */
  readonly isEncoded: boolean;
  readonly isTelling: boolean;
}

/** A part of a text, `to` excluded. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly needle: Needle;
}

/** Searches all spellings of all secrets at once; the time depends on the length of the text, not on the number of secrets. */
class Redactor {
  readonly #hasParts: boolean;
  readonly #needles: readonly Needle[];
  /** Secrets with few ASCII characters, which are searched as they are. */
  readonly #others: readonly Secret[];
  /** The needles that contain a gram, with its offset. */
  readonly #places = new Map<number, { readonly needle: Needle; readonly offset: number }[]>();
  /** Whether a gram may be in `places`, by the hash of the gram. */
  readonly #filter = new Uint8Array(1 << filterBits);

  /** @param hasParts whether parts of a secret are redacted too, for text that may be truncated */
  constructor(secrets: readonly Secret[], hasParts: boolean) {
    this.#hasParts = hasParts;
    const long = secrets.filter((secret) => secret.reveal().length >= minLength);
    this.#others = long.filter((secret) => reduce(secret.reveal()).length < minLength);
    this.#needles = long.flatMap((secret) => needlesOf(secret));
    for (const needle of this.#needles) this.#index(needle);
  }

  redact(printed: string): string {
    const text = this.#others.reduce(replaceExactly, printed);
    if (this.#needles.length === 0 || text.length < minLength) return text;
    // Positions are computed only when there is something to replace.
    if (!layersOf({ text }).some((layer) => this.#search(layer.text, reduce(layer.text)).length > 0)) return text;
    const starts = Int32Array.from({ length: text.length }, (_, index) => index);
    const ends = starts.map((start) => start + 1);
    return replaceSpans(
      text,
      layersOf({ text, starts, ends }).flatMap((layer) => this.#spansIn(layer)),
    );
  }

  #spansIn({ text, starts, ends }: Layer): readonly Span[] {
    return this.#search(text, reduce(text), indexesOfReduced(text)).map(({ from, to, needle }) => ({
      from: starts?.[from] ?? from,
      to: ends?.[to - 1] ?? to,
      needle,
    }));
  }

  #index(needle: Needle): void {
    const { codes } = needle;
    const isPartial = this.#hasParts && needle.isTelling;
    const last = isPartial ? codes.length - gramLength : stride - 1;
    for (let offset = 0; offset <= last; offset++) {
      const gram = gramAt(codes, offset);
      const places = this.#places.get(gram) ?? [];
      // A repeated gram says little about the place; the other grams of the secret find it.
      if (places.length < 16) places.push({ needle, offset });
      this.#places.set(gram, places);
      this.#filter[hashOf(gram)] = 1;
    }
  }

  /** @param at the index in `text` of each code; without it, a span has no positions and may be none */
  #search(text: string, codes: Uint8Array, at?: Int32Array): readonly Span[] {
    const spans: Span[] = [];
    for (let index = 0; index + gramLength <= codes.length; index += stride) {
      const gram = gramAt(codes, index);
      if (this.#filter[hashOf(gram)] === 0) continue;
      let end = 0;
      for (const { needle, offset } of this.#places.get(gram) ?? []) {
        const run = this.#runAt(codes, index, needle, offset);
        if (run === undefined) continue;
        // Without positions, a secret that is a word may be met by chance; the second search decides.
        if (at === undefined) return [{ ...run, needle }];
        const span = spanOf(text, { from: at[run.from] ?? 0, to: (at[run.to - 1] ?? 0) + 1, needle });
        if (span === undefined) continue;
        spans.push(span);
        end = Math.max(end, run.to);
      }
      // Another secret may begin in the last characters of the run.
      index = Math.max(index, end - minPart - stride);
    }
    return spans;
  }

  /** The run of codes around `index` that are those of the needle, if it is the secret or a telling part of it. */
  #runAt(codes: Uint8Array, index: number, needle: Needle, offset: number): Omit<Span, 'needle'> | undefined {
    const wanted = needle.codes;
    let from = index;
    let to = index + gramLength;
    while (from > 0 && from > index - offset && codes[from - 1] === wanted[offset - (index - from) - 1]) from--;
    while (to < codes.length && to - index + offset < wanted.length && codes[to] === wanted[to - index + offset]) to++;
    const length = to - from;
    if (length === wanted.length) return { from, to };
    if (!this.#hasParts || !needle.isTelling || length < minPart) return undefined;
    return length >= longPart || looksRandom(codes.subarray(from, to)) ? { from, to } : undefined;
  }
}

/** Few grams of other text have the hash of a gram of a secret. */
const filterBits = 18;

function hashOf(gram: number): number {
  return Math.imul(gram, 0x9e3779b1) >>> (32 - filterBits);
}

function gramAt(codes: Uint8Array, at: number): number {
  return codes[at]! | (codes[at + 1]! << 8) | (codes[at + 2]! << 16) | (codes[at + 3]! << 24);
}

/** Whether a text is a secret by its looks; others may be words, such as `postgres` or `client-secret`. */
function isTelling(value: string): boolean {
  return new Set(value).size >= 6 && (value.length >= 16 || (/\d/.test(value) && /[a-z]/i.test(value)));
}

/**
 * Whether letters and digits are mixed, as in no word of a name: a client ID and its secret may both begin with
 * `cloudctl-client-2024`.
 */
function looksRandom(codes: Uint8Array): boolean {
  const words =
    Buffer.from(codes)
      .toString('latin1')
      .match(/[a-z0-9]{12,}/g) ?? [];
  return words.some((word) => /\d.*\d/.test(word) && /[a-z]/.test(word));
}

function needlesOf(secret: Secret): readonly Needle[] {
  const value = secret.reveal();
  const bytes = Buffer.from(value);
  const plain = bytes.toString();
  // Long text, such as user data, is not repeated in base64. Most secrets are their own percent-encoding.
  const sent = bytes.length > 8192 ? [] : [...new Set([plain, encodeURIComponent(plain)])];
  const encoded = sent.map((one) => Buffer.from(one)).flatMap((one) => [...base64Of(one), one.toString('hex')]);
  const spellings = [
    ...layersOf({ text: value }).map(({ text }) => ({ text, isEncoded: false })),
    ...[...sent, asciiJson(value)].map((text) => ({ text, isEncoded: false })),
    ...encoded.map((text) => ({ text, isEncoded: true })),
  ];
  const needles = new Map<string, Needle>();
  for (const { text, isEncoded } of spellings) {
    const codes = reduce(text);
    const key = Buffer.from(codes).toString('latin1');
    if (codes.length >= minLength && !needles.has(key))
      needles.set(key, { codes, secret, isEncoded, isTelling: isEncoded || isTelling(value) });
  }
  return [...needles.values()];
}

/** The text between the quotes of JSON that is written in ASCII. */
function asciiJson(value: string): string {
  return JSON.stringify(value)
    .slice(1, -1)
    .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The base64 characters that the bytes determine, at each of the three places where they can begin in longer data. */
function base64Of(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const all = Buffer.concat([Buffer.alloc(before), bytes]);
    const [from, to] = [Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6)];
    return [all.toString('base64').slice(from, to), all.toString('base64url').slice(from, to)];
  });
}

/** A text, and where each of its characters begins and ends in the original text; without that, only the text is needed. */
interface Layer {
  readonly text: string;
  readonly starts?: Int32Array | undefined;
  readonly ends?: Int32Array | undefined;
}

/**
 * The text as it is and, while it changes, decoded again and again; each of them also as a terminal shows it, if that differs. The
 * text as it is comes first, because decoding could take the beginning of a secret for the end of an escape.
 */
function layersOf(original: Layer): readonly Layer[] {
  const layers: Layer[] = [];
  let kept = original;
  let shown = erase(original);
  for (let round = 0; round < maxRounds; round++) {
    layers.push(...(shown === kept ? [kept] : [kept, shown]));
    const decoded = decode(kept);
    const both = shown === kept ? erase(decoded) : erase(decode(shown));
    if (decoded === kept && both === shown) break;
    kept = decoded;
    shown = both;
  }
  return layers;
}

/** Removes escape sequences of terminals, and characters that a backspace deletes. */
function erase(layer: Layer): Layer {
  let left = rewrite(layer, escapeSequences, () => '');
  if (!left.text.includes('\b')) return left;
  // Several characters can be deleted by as many backspaces.
  for (let round = 0; round < 100; round++) {
    const shorter = rewrite(left, deletedCharacters, () => '');
    if (shorter === left) break;
    left = shorter;
  }
  return left;
}

const deletedCharacters = /[^\b\r\n]\u0008/g;

function decode(layer: Layer): Layer {
  return ['\\', '%', '&'].some((first) => layer.text.includes(first)) ? rewrite(layer, escapes, decodeEscape) : layer;
}

/**
 * Escapes of JSON and of program text, percent-encoding, and references of HTML; `~` stands for invisible characters between theirs.
 * The escapes of one character, such as `\/`, need no decoding, because a backslash is left out of the search.
 */
const escapes = new RegExp(
  String.raw`\\~(?:\\|u~\{~(?:[0-9a-f]~){1,6}\}|u~(?:[0-9a-f]~){3}[0-9a-f]|x~[0-9a-f]~[0-9a-f]|[nrtbf])|%~[0-9a-f]~[0-9a-f]|&~(?:#~x~(?:[0-9a-f]~){1,8}|#~(?:\d~){1,8}|(?:[a-z]~){2,31});`.replaceAll(
    '~',
    '[^!-~]*',
  ),
  'gi',
);

function decodeEscape(written: string): string {
  const found = written.replace(/[^!-~]+/g, '');
  if (found === '\\\\') return '\\';
  if (/^\\[bnrtf]$/i.test(found)) return found.endsWith('b') ? '\b' : ' ';
  const named = /^&(\w+);/.exec(found)?.[1];
  if (named !== undefined) return htmlNames[named.toLowerCase()] ?? '';
  const decimal = /^&#(\d+)/.exec(found)?.[1];
  const hexadecimal = /^(?:&#x|%|\\[ux]\{?)([0-9a-f]+)/i.exec(found)?.[1];
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  return code > 0x10ffff ? '' : String.fromCodePoint(code);
}

/** Names of printable ASCII characters (https://html.spec.whatwg.org/multipage/named-characters.html); others are left out. */
const htmlNames: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", sol: '/', bsol: '\\', equals: '=', lowbar: '_', period: '.' },
  ...{ colon: ':', semi: ';', comma: ',', excl: '!', num: '#', dollar: '$', percnt: '%', lpar: '(', rpar: ')' },
  ...{ ast: '*', quest: '?', commat: '@', lsqb: '[', lbrack: '[', rsqb: ']', rbrack: ']', hat: '^', grave: '`' },
  ...{ lcub: '{', lbrace: '{', rcub: '}', rbrace: '}', verbar: '|', vert: '|' },
};

/** Returns the same layer when the pattern occurs nowhere. */
function rewrite(layer: Layer, pattern: RegExp, replacement: (found: string) => string): Layer {
  const { text, starts, ends } = layer;
  let done = 0;
  const [newStarts, newEnds]: [number[], number[]] = [[], []];
  const keep = (to: number): void => {
    for (; done < to; done++) {
      newStarts.push(starts?.[done] ?? 0);
      newEnds.push(ends?.[done] ?? 0);
    }
  };
  let isChanged = false;
  const written = text.replace(pattern, (found: string, ...rest: readonly unknown[]) => {
    isChanged = true;
    const replaced = replacement(found);
    if (starts === undefined || ends === undefined) return replaced;
    const at = rest.find((one) => typeof one === 'number') ?? 0;
    keep(at);
    done += found.length;
    for (const _ of replaced.split('')) {
      newStarts.push(starts[at] ?? 0);
      newEnds.push(ends[done - 1] ?? 0);
    }
    return replaced;
  });
  if (!isChanged) return layer;
  if (starts === undefined) return { text: written };
  keep(text.length);
  return { text: written, starts: Int32Array.from(newStarts), ends: Int32Array.from(newEnds) };
}

/** The span to replace; undefined for a word with a gap in it, which is not the secret but two words. */
function spanOf(text: string, { from, to, needle }: Span): Span | undefined {
  const isGapped = !needle.isTelling && !/\s/.test(needle.secret.reveal()) && /\s/.test(text.slice(from, to));
  if (isGapped) return undefined;
  if (!needle.isEncoded) return { from, to, needle };
  let [first, end] = [from, to];
  while (first > 0 && /[\w+/-]/.test(text.charAt(first - 1))) first--;
  while (end < text.length && /[\w+/=-]/.test(text.charAt(end))) end++;
  return { from: first, to: end, needle };
}

function replaceSpans(text: string, spans: readonly Span[]): string {
  const sorted = [...spans].sort((one, other) => one.from - other.from || other.to - one.to);
  const escaped = text.matchAll(/\\(?:u[0-9a-f]{4}|.)/gis);
  let whole = escaped.next().value;
  let result = '';
  let done = 0;
  for (const { from, to, needle } of sorted) {
    if (to <= done) continue;
    // Half an escape would damage the JSON around it.
    const widened = [from, to].map((at, side) => {
      while (whole !== undefined && whole.index + whole[0].length <= at) whole = escaped.next().value;
      if (whole === undefined || whole.index >= at) return at;
      return whole.index + side * whole[0].length;
    });
    const [first = from, end = to] = widened;
    if (first >= done) result += `${text.slice(done, first)}${needle.secret.display}`;
    done = Math.max(done, end);
  }
  return result + text.slice(done);
}

/** For each byte of UTF-8, 0 when it is left out of the search, otherwise the searched character. */
const reduced = Uint8Array.from({ length: 256 }, (_, code) => {
  // A form writes a space as `+`, and base64 may be folded.
  if (code <= 0x20 || code >= 0x7f || code === 0x2b || code === 0x5c) return 0;
  // A URL has its host name in lower case.
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
});

/**
 * The visible ASCII characters of a text in lower case. Everything else is left out: controls, line breaks with their indents, and
 * all other characters, so that nothing invisible has to be known by name.
 */
function reduce(text: string): Uint8Array {
  // In UTF-8 every byte of another character is above 127. A loop over bytes takes half the time of one over a string.
  const codes = Buffer.from(text);
  let length = 0;
  for (let index = 0; index < codes.length; index++) {
    const code = reduced[codes[index]!]!;
    if (code !== 0) codes[length++] = code;
  }
  return codes.subarray(0, length);
}

/** The index in the text of each code that `reduce` returns. */
function indexesOfReduced(text: string): Int32Array {
  const indexes = new Int32Array(text.length);
  let length = 0;
  for (let index = 0; index < text.length; index++)
    if ((reduced[text.charCodeAt(index)] ?? 0) !== 0) indexes[length++] = index;
  return indexes;
}
