import { isUtf8 } from 'node:buffer';

interface ByteValidator {
  /** Whether the bytes of a complete row are valid in the encoding. */
  isValid(row: Uint8Array): boolean;
  /**
   * Checks the encoding of a row that arrives in several parts. `onInvalid` receives the field number of each invalid
   * byte sequence.
   */
  scan(part: Uint8Array, onInvalid: (field: number) => void): void;
  /** Begins a row. */
  reset(): void;
}

/** `unknown`: this program has no rules for the encoding. */
type EncodingByteClass = 'any bytes' | 'multibyte' | 'unknown';

/** Single-byte encodings accept every byte but zero, which COPY never sends. */
export function getEncodingByteClass(encoding: string): EncodingByteClass {
  if (rules.has(encoding)) return 'multibyte';
  return singleByte.test(encoding) ? 'any bytes' : 'unknown';
}

const singleByte = /^(SQL_ASCII|LATIN([1-9]|10)|ISO_8859_[5-8]|WIN(866|874|125[0-8])|KOI8[RU])$/;

/**
 * Checks bytes as the server does when it receives rows (src/common/wchar.c). In every server encoding a byte below 128
 * is a complete character. Returns undefined if every byte is valid in the encoding, or if the rules of the encoding
 * are not known.
 */
export function createByteValidator(encoding: string): ByteValidator | undefined {
  const followersOf = rules.get(encoding);
  if (followersOf === undefined) return undefined;
  const table = Array.from({ length: 256 }, (_, lead) => (lead < 0x80 ? none : followersOf(lead)));
  let expected: Followers = none;
  let at = 0;
  let field = 0;
  const reset = () => {
    expected = none;
    at = 0;
    field = 0;
  };
  const scan: ByteValidator['scan'] = (part, onInvalid) => {
    for (const byte of part) {
      if (at < expected.length) {
        const [low, high] = expected[at]!;
        if (byte >= low && byte <= high) {
          at += 1;
          continue;
        }
        onInvalid(field);
        expected = none;
        at = 0;
      }
      if (byte === tab) field += 1;
      const next = table[byte];
      if (next === undefined) onInvalid(field);
      expected = next ?? none;
      at = 0;
    }
  };
  return {
    isValid(row) {
      if (encoding === 'UTF8') return isUtf8(row);
      let valid = true;
      reset();
      scan(row, () => {
        valid = false;
      });
      return valid;
    },
    scan,
    reset,
  };
}

const tab = 0x09;

/** The ranges of the bytes that follow the first byte of a character. */
type Followers = readonly (readonly [low: number, high: number])[];

const none: Followers = [];
const utf8: Followers[number] = [0x80, 0xbf];
const euc: Followers[number] = [0xa1, 0xfe];

/**
 * For each encoding, returns the allowed ranges of the bytes that follow a first byte of 128 or more; undefined if no
 * character begins with this byte.
 */
const rules: ReadonlyMap<string, (lead: number) => Followers | undefined> = new Map([
  ['UTF8', utf8Followers],
  ['EUC_JP', eucJpFollowers],
  ['EUC_JIS_2004', eucJpFollowers],
  ['EUC_KR', eucFollowers],
  ['EUC_CN', eucFollowers],
  ['EUC_TW', (lead: number) => (lead === 0x8e ? [[0xa1, 0xa7], euc, euc] : eucFollowers(lead))],
]);

/** The UTF-8 validation accepts neither overlong forms nor surrogates (RFC 3629, section 4). */
function utf8Followers(lead: number): Followers | undefined {
  if (lead < 0xc2 || lead > 0xf4) return undefined;
  if (lead < 0xe0) return [utf8];
  if (lead < 0xf0) return [lead === 0xe0 ? [0xa0, 0xbf] : lead === 0xed ? [0x80, 0x9f] : utf8, utf8];
  return [lead === 0xf0 ? [0x90, 0xbf] : lead === 0xf4 ? [0x80, 0x8f] : utf8, utf8, utf8];
}

function eucJpFollowers(lead: number): Followers | undefined {
  if (lead === 0x8e) return [[0xa1, 0xdf]];
  return lead === 0x8f ? [euc, euc] : eucFollowers(lead);
}

function eucFollowers(lead: number): Followers | undefined {
  return lead >= 0xa1 && lead <= 0xfe ? [euc] : undefined;
}
