/** Facts about the source that are known before the login: its addresses and connections. */
export interface SourceAddressFacts {
  /** The host as the user gave it, without the brackets of IPv6. */
  readonly host: string;
  readonly port: number;
  /** `address`: an IP literal; `name`: a DNS name. */
  readonly kind: 'address' | 'name';
  /** Contradictions between a connection string in the host field and the other fields; empty when there are none. */
  readonly contradictions: readonly string[];
  /** The result of the resolver of this machine, which uses the hosts file and the name servers of a VPN. */
  readonly lookup: HostNameLookupResult;
  /** The result of a DNS query; for an address literal the literal itself. */
  readonly dns4: HostNameLookupResult;
  readonly dns6: HostNameLookupResult;
  /** One connection attempt for each address, in order; empty when there is no address. */
  readonly connects: readonly ConnectAttempt[];
}

export type HostNameLookupResult =
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  /** `reason` is a clause: `the name does not exist`. */
  | { readonly kind: 'failed'; readonly code: string; readonly reason: string };

export interface ConnectAttempt {
  readonly address: string;
  /** Milliseconds. */
  readonly took: number;
  /**
   * undefined if the connection succeeded, else the error code of the operating system: ECONNREFUSED, ETIMEDOUT,
   * EHOSTUNREACH.
   */
  readonly error?: string;
}

/** The address that the connection was made to, as the report shows it. */
export function getConnectedSourceAddress({ connects }: SourceAddressFacts): { readonly address?: string } {
  const connected = connects.find(({ error }) => error === undefined);
  return connected === undefined ? {} : { address: connected.address };
}

export interface TlsFacts {
  /** Whether the server offers TLS; `not_asked`: the connection failed before TLS was requested. */
  readonly offered: 'yes' | 'no' | 'not_asked';
  readonly version?: string;
  readonly certificate?: {
    readonly subject: string;
    readonly issuer: string;
    /** End of the validity of the certificate, in milliseconds since the epoch. */
    readonly validTo: number;
    readonly selfSigned: boolean;
  };
  /**
   * Whether the certificate chain ends at an authority that is trusted without a CA file; undefined if not determined.
   */
  readonly isPubliclyTrusted?: boolean;
  /** Whether the certificate was verified, which proves which server responded. */
  readonly verified?: boolean;
  /** Why the TLS handshake failed, although the server offered TLS. */
  readonly failure?: string;
  /** Whether pg_hba.conf accepts a connection without TLS; undefined if that was not tried. */
  readonly plaintext?: 'accepted' | 'refused';
}
