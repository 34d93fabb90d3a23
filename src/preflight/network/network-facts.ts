/** What the network says about the source, before anybody logs in. */
export interface AddressFacts {
  /** As given, brackets of IPv6 removed. */
  readonly host: string;
  readonly port: number;
  /** `address`: an IP literal; `name`: a DNS name. */
  readonly kind: 'address' | 'name';
  /** Contradictions between a connection string in the host field and the other fields; empty when there are none. */
  readonly contradictions: readonly string[];
  /** What this machine's resolver says (hosts file, VPN and all). */
  readonly lookup: NameLookupResult;
  /** What DNS itself says; for an address literal the literal. */
  readonly dns4: NameLookupResult;
  readonly dns6: NameLookupResult;
  /** One try per address, in the order tried; empty when there was none to try. */
  readonly connects: readonly ConnectAttempt[];
}

export type NameLookupResult =
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  /** `reason` is a clause: `the name does not exist`. */
  | { readonly kind: 'failed'; readonly code: string; readonly reason: string };

export interface ConnectAttempt {
  readonly address: string;
  /** Milliseconds. */
  readonly took: number;
  /** undefined: connected. Otherwise the system's code: ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH. */
  readonly error?: string;
}

export interface TlsFacts {
  /** `not_asked`: the connection failed before. */
  readonly offered: 'yes' | 'no' | 'not_asked';
  readonly version?: string;
  readonly certificate?: {
    readonly subject: string;
    readonly issuer: string;
    /** Milliseconds since the epoch. */
    readonly validTo: number;
    readonly selfSigned: boolean;
  };
  /** Why a handshake that was offered failed. */
  readonly failure?: string;
  /** Whether a connection without TLS got past the host rules; undefined: not tried. */
  readonly plaintext?: 'accepted' | 'refused';
}
