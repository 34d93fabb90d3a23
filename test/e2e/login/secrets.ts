/** Every secret that a test has met, to be searched for in what the program prints. */
export interface SecretLedger {
  add(...secrets: readonly string[]): void;
  /** Takes note of the code or access token in a redirect's address. */
  addFrom(redirect: string): void;
  /** The secrets that stand in a text, as they are or encoded for a URL. */
  foundIn(text: string): readonly string[];
}

export function makeLedger(known: readonly string[]): SecretLedger {
  const secrets = new Set(known);
  const add: SecretLedger['add'] = (...more) => {
    for (const secret of more) secrets.add(secret);
  };
  return {
    add,
    addFrom: (redirect) => {
      const { searchParams, hash } = new URL(redirect);
      const fragment = new URLSearchParams(hash.slice(1));
      add(...[searchParams.get('code'), fragment.get('access_token')].filter((value) => value !== null));
    },
    foundIn: (text) =>
      [...secrets].filter((secret) => [secret, encodeURIComponent(secret)].some((form) => text.includes(form))),
  };
}
