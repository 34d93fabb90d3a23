import type { Secret } from '../secret.ts';

/** Where a PostgreSQL source is and who enters it. Nothing in it was tried yet. */
export interface PostgresSource {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly dbname: string;
  readonly username: string;
  /** undefined: none was given. */
  readonly password: Secret | undefined;
  readonly ssl: 'require' | 'disable';
  /** Verifies the server's certificate and name; without it `require` only encrypts. */
  readonly ca?: { readonly file: string; readonly pem: string } | undefined;
  /** The address of `host` to dial, so that it is looked up once. */
  readonly address?: string | undefined;
}
