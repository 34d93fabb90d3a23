import { Secret } from '../secret.ts';

/** One key of a share: 32 random bytes that the store never sees. */
export interface SharedStoreKey {
  readonly kid: string;
  readonly key: Secret;
}

/** The id of a share and its keys, newest first. Older keys decrypt files and records that were encrypted before a rotation. */
export interface SharedStoreKeys {
  readonly share: string;
  readonly keys: readonly [SharedStoreKey, ...SharedStoreKey[]];
}

export function createSharedStoreKeys(random: (bytes: number) => Uint8Array): SharedStoreKeys {
  return { share: Buffer.from(random(8)).toString('hex'), keys: [createShareKey(random)] };
}

/** Adds a new key in front of the others. */
export function addSharedStoreKey(
  { share, keys }: SharedStoreKeys,
  random: (bytes: number) => Uint8Array,
): SharedStoreKeys {
  return { share, keys: [createShareKey(random), ...keys] };
}

/** The keys of two sets of the same share, the keys of `first` in front. */
export function mergeSharedStoreKeys(first: SharedStoreKeys, second: SharedStoreKeys): SharedStoreKeys {
  const rest = second.keys.filter(({ kid }) => findSharedStoreKey(first, kid) === undefined);
  return { share: first.share, keys: [...first.keys, ...rest] };
}

/** The text that `auth share join` reads: `cloudctl-share-1.SHARE.KID:KEY[.KID:KEY…]`. */
export function encodeSharedStoreKeys({ share, keys }: SharedStoreKeys): Secret {
  const parts = keys.map(({ kid, key }) => `${kid}:${key.reveal()}`);
  return new Secret([format, share, ...parts].join('.'), '[share key]');
}

/** Decodes the text of `encodeSharedStoreKeys`; undefined if it is damaged or incomplete. */
export function decodeSharedStoreKeys(text: string): SharedStoreKeys | undefined {
  const [prefix, share = '', ...parts] = text.trim().split('.');
  if (prefix !== format || !/^[0-9a-f]{16}$/.test(share)) return undefined;
  const found = parts.map((part) => /^([0-9a-f]{8}):([A-Za-z0-9_-]{43})$/.exec(part));
  const keys = found.flatMap((match) => (match === null ? [] : [{ kid: match[1]!, key: new Secret(match[2]!) }]));
  const [first, ...rest] = keys;
  if (first === undefined || keys.length !== parts.length) return undefined;
  return { share, keys: [first, ...rest] };
}

export function findSharedStoreKey({ keys }: SharedStoreKeys, kid: string): Secret | undefined {
  return keys.find((one) => one.kid === kid)?.key;
}

const format = 'cloudctl-share-1';

function createShareKey(random: (bytes: number) => Uint8Array): SharedStoreKey {
  return {
    kid: Buffer.from(random(4)).toString('hex'),
    key: new Secret(Buffer.from(random(32)).toString('base64url')),
  };
}
