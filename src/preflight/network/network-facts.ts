/** What is known about the source before the login: its addresses and connections. */
export interface AddressFacts {
  /** As given, without the brackets of IPv6. */
  readonly host: string;
  readonly port: number;
  /** `address`: an IP literal; `name`: a DNS name. */
  readonly kind: 'address' | 'name';
  /** Contradictions between a connection string in the host field and the other fields; empty when there are none. */
  readonly contradictions: readonly string[];
  /** The result of this machine's resolver, including hosts file and VPN. */
  readonly lookup: NameLookupResult;
  /** The result of DNS itself; for an address literal the literal. */
  readonly dns4: NameLookupResult;
  readonly dns6: NameLookupResult;
  /** One attempt for each address, in order; empty when there is no address. */
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
  /** undefined: connected. Otherwise the error code of the system: ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH. */
  readonly error?: string;
}

export interface TlsFacts {
  /** `not_asked`: the connection failed before TLS was requested. */
  readonly offered: 'yes' | 'no' | 'not_asked';
  readonly version?: string;
  readonly certificate?: {
    readonly subject: string;
    readonly issuer: string;
    /** Milliseconds since the epoch. */
    readonly validTo: number;
    readonly selfSigned: boolean;
  };
  /** The chain ends at an authority that is trusted without a CA file; undefined: not determined. */
  readonly isPubliclyTrusted?: boolean;
  /** The certificate proved which server answered. */
  readonly verified?: boolean;
  /** Why the handshake failed, although the server offered TLS. */
  readonly failure?: string;
  /** Whether the host rules accepted a connection without TLS; undefined: not tried. */
  readonly plaintext?: 'accepted' | 'refused';
}
