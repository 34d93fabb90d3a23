/**
 * The name of this machine in a shared store: the host name, or the text of CLOUDCTL_MACHINE_NAME where host names say nothing
 * (containers), and the id of the state folder. A machine is a state folder: two of them on one host do not share locks.
 */
export function formatMachineName(given: string | undefined, hostName: string, folderId: string): string {
  const name = (given ?? hostName).replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, 64);
  return `${name === '' ? 'machine' : name}#${folderId}`;
}
