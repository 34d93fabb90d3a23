/** Whether a URL's hostname, as the URL parser writes it, is this machine's loopback interface. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
