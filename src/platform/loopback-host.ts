/** Whether the hostname of a parsed URL is a loopback host. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** Whether the other end of a connected socket is on this machine. */
export function isLoopbackPeer(address: string | undefined): boolean {
  return address === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/i.test(address ?? '');
}
