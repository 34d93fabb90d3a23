/**
 * The name of this machine in a shared store: the host name and the id of the state folder. CLOUDCTL_MACHINE_NAME replaces
 * the host name, for example in containers. Two state folders on one host count as two machines, because they do not share
 * locks.
 */
export function buildSharedStoreMachineName(given: string | undefined, hostName: string, folderId: string): string {
  const name = (given ?? hostName).replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, 64);
  return `${name === '' ? 'machine' : name}#${folderId}`;
}
