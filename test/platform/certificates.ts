import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Trust } from '../../src/platform/trust.ts';

export interface Certificates {
  /** The authority's certificate (PEM). */
  readonly ca: string;
  readonly key: string;
  /** For localhost and 127.0.0.1, signed by the authority. */
  readonly cert: string;
  /** For another name, signed by the authority. */
  readonly elsewhere: string;
  /** For localhost, out of date since yesterday. */
  readonly expired: string;
}

/** A trust that begins with these authorities (PEM) beside the default ones. */
export function trusting(...authorities: readonly string[]): Trust {
  const folder = mkdtempSync(join(tmpdir(), 'trust-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const bundle = join(folder, 'bundle.pem');
  writeFileSync(bundle, authorities.join(''));
  const trust = new Trust({}, [bundle]);
  // The first certificate of an unknown issuer would add them.
  for (const _ of trust.contexts());
  return trust;
}

/** An authority and what it signed, made by openssl; valid for a day. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  const at = (name: string) => join(folder, name);
  const openssl = (...words: string[]) => execFileSync('openssl', words, { stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    openssl(
      'req',
      '-x509',
      ...fresh,
      '-days',
      '1',
      '-keyout',
      at('ca.key'),
      '-out',
      at('ca.pem'),
      '-subj',
      '/CN=test authority',
    );
    openssl('req', ...fresh, '-keyout', at('key'), '-out', at('request'), '-subj', '/CN=test server');
    const sign = (names: string, days: string): string => {
      writeFileSync(at('names'), `subjectAltName=${names}\n`);
      const by = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'];
      openssl('x509', '-req', '-in', at('request'), ...by, '-days', days, '-extfile', at('names'), '-out', at('cert'));
      return readFileSync(at('cert'), 'utf8');
    };
    return {
      ca: readFileSync(at('ca.pem'), 'utf8'),
      key: readFileSync(at('key'), 'utf8'),
      cert: sign('DNS:localhost,DNS:api.example.test,IP:127.0.0.1', '1'),
      elsewhere: sign('DNS:elsewhere.example', '1'),
      expired: sign('DNS:localhost', '-1'),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
