import { clientSideDatabaseErrorCodes, DatabaseConnectError, DatabaseError } from '../../platform/connect-error.ts';

/** How a command names its target: the option, and the environment variable of the password. */
export interface TargetInputNames {
  readonly option: string;
  readonly passwordVariable: string;
}

export const migrationTargetInputNames: TargetInputNames = {
  option: '--target',
  passwordVariable: 'CLOUDCTL_TARGET_PASSWORD',
};

export const rehearsalTargetInputNames: TargetInputNames = {
  option: '--into',
  passwordVariable: 'CLOUDCTL_REHEARSE_INTO_PASSWORD',
};

/** What the user does about a target that cannot be connected to. It depends on the reason of the failed connection. */
export function targetLoginHint(error: unknown, { option, passwordVariable }: TargetInputNames): string {
  const code = error instanceof DatabaseConnectError || error instanceof DatabaseError ? error.code : '';
  if (code === clientSideDatabaseErrorCodes.noTls)
    return `add \`?sslmode=disable\` to the address in \`${option}\`: the target has no TLS`;
  if (code === clientSideDatabaseErrorCodes.cleartextPassword)
    return `add \`sslmode=verify-full&sslrootcert=FILE\` to the address in \`${option}\`, or add \`--allow-cleartext-password\``;
  if (passwordErrors.has(code))
    return `set ${passwordVariable} to the password of the target, and check the user in \`${option}\``;
  return `check the address in \`${option}\` and the access rules of the target`;
}

/** SQLSTATE 28P01 is a wrong password; the errors of Redis are the first words of its responses. */
const passwordErrors: ReadonlySet<string> = new Set([
  clientSideDatabaseErrorCodes.noPassword,
  '28P01',
  'WRONGPASS',
  'NOAUTH',
]);
