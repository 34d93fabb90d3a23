import { Secret } from '../base/secret.ts';

/** One key of a share: 32 random bytes that the store never sees. */
export interface ShareEncryptionKey {
  readonly kid: string;
  readonly key: Secret;
}

/** The id of a share and its keys, newest first. Older keys decrypt files and records that were encrypted before a rotation. */
export interface ShareEncryptionKeys {
  readonly share: string;
  readonly keys: readonly [ShareEncryptionKey, ...ShareEncryptionKey[]];
  /** True if the keys are the value of a variable, so that no stored key is used. */
  readonly isFromVariable?: true;
}

export function generateShareEncryptionKeys(random: (bytes: number) => Uint8Array): ShareEncryptionKeys {
  return { share: Buffer.from(random(8)).toString('hex'), keys: [createShareKey(random)] };
}

/** Adds a new key in front of the others. */
export function addShareEncryptionKey(
  { share, keys }: ShareEncryptionKeys,
  random: (bytes: number) => Uint8Array,
): ShareEncryptionKeys {
  return { share, keys: [createShareKey(random), ...keys] };
}

/**
 * Merges two sets of encryption keys of the same share; each key occurs once. Their order in `second` is kept, so that an old key file does not
 * make an old key the newest key again.
 */
export function mergeShareEncryptionKeys(first: ShareEncryptionKeys, second: ShareEncryptionKeys): ShareEncryptionKeys {
  const kids = second.keys.map(({ kid }) => kid);
  const known = new Set(first.keys.map(({ kid }) => kid));
  const isNew = ({ kid }: ShareEncryptionKey): boolean => !known.has(kid);
  let placed = 0;
  const merged = first.keys.flatMap((key) => {
    const end = Math.max(placed, kids.indexOf(key.kid));
    const inFront = second.keys.slice(placed, end).filter(isNew);
    placed = end;
    return [...inFront, key];
  });
  const [newest = first.keys[0], ...rest] = [...merged, ...second.keys.slice(placed).filter(isNew)];
  return { share: first.share, keys: [newest, ...rest] };
}

/** The text that `auth share join` reads: `cloudctl-share-1.SHARE.KID:KEY[.KID:KEY…]`. */
export function encodeShareEncryptionKeys({ share, keys }: ShareEncryptionKeys): Secret {
  const parts = keys.map(({ kid, key }) => `${kid}:${key.reveal()}`);
  return new Secret([format, share, ...parts].join('.'), '[share key]');
}

/** Decodes the text of `encodeShareEncryptionKeys`; undefined if it is damaged or incomplete. */
export function decodeShareEncryptionKeys(text: string): ShareEncryptionKeys | undefined {
  const [prefix, share = '', ...parts] = text.trim().split('.');
  if (prefix !== format || !/^[0-9a-f]{16}$/.test(share)) return undefined;
  const found = parts.map((part) => /^([0-9a-f]{8}):([A-Za-z0-9_-]{43})$/.exec(part));
  const keys = found.flatMap((match) => (match === null ? [] : [{ kid: match[1]!, key: new Secret(match[2]!) }]));
  const [first, ...rest] = keys;
  if (first === undefined || keys.length !== parts.length) return undefined;
  return { share, keys: [first, ...rest] };
}

export function selectShareEncryptionKeyById({ keys }: ShareEncryptionKeys, kid: string): Secret | undefined {
  return keys.find((one) => one.kid === kid)?.key;
}

const format = 'cloudctl-share-1';

function createShareKey(random: (bytes: number) => Uint8Array): ShareEncryptionKey {
  return {
    kid: Buffer.from(random(4)).toString('hex'),
    key: new Secret(Buffer.from(random(32)).toString('base64url')),
  };
}
