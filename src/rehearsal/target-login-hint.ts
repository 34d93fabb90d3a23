import { DatabaseConnectError, DatabaseError, databaseConnectErrorCodes } from '../platform/connect-error.ts';

/** How a command names its target: the option, and the environment variable of the password. */
export interface TargetOptionNames {
  readonly option: string;
  readonly passwordVariable: string;
}

export const migrationTargetInputNames: TargetOptionNames = {
  option: '--target',
  passwordVariable: 'CLOUDCTL_TARGET_PASSWORD',
};

export const rehearsalTargetOptionNames: TargetOptionNames = {
  option: '--into',
  passwordVariable: 'CLOUDCTL_REHEARSE_INTO_PASSWORD',
};

/** What the user does about a target that cannot be connected to. It depends on the reason of the failed connection. */
export function targetLoginHint(error: unknown, { option, passwordVariable }: TargetOptionNames): string {
  const code = error instanceof DatabaseConnectError || error instanceof DatabaseError ? error.code : '';
  if (code === databaseConnectErrorCodes.noTls)
    return `add \`?sslmode=disable\` to the address in \`${option}\`: the target has no TLS`;
  if (code === databaseConnectErrorCodes.cleartextPassword)
    return `add \`sslmode=verify-full&sslrootcert=FILE\` to the address in \`${option}\`, or add \`--allow-cleartext-password\``;
  if (passwordErrors.has(code))
    return `set ${passwordVariable} to the password of the target, and check the user in \`${option}\``;
  return `check the address in \`${option}\` and the access rules of the target`;
}

/** SQLSTATE 28P01 is a wrong password; the errors of Redis are the first words of its responses. */
const passwordErrors: ReadonlySet<string> = new Set([
  databaseConnectErrorCodes.noPassword,
  '28P01',
  'WRONGPASS',
  'NOAUTH',
]);
