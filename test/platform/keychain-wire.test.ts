import { describe, expect, it } from 'vitest';
import { classifyError, decodeReply } from '../../src/platform/keychain-wire.ts';

it.each([
  { kind: 'found', value: 'x' },
  { kind: 'absent' },
  { kind: 'done' },
  { kind: 'unavailable', why: 'locked', reason: 'because' },
])('a reply of the helper is decoded: %j', (reply) => {
  expect(decodeReply(JSON.stringify({ ...reply, more: 1 }))).toEqual(reply);
});

it.each([
  '',
  'null',
  '{"kind":"found"}',
  '{"kind":"found","value":7}',
  '{"kind":"unavailable","why":"bored","reason":"x"}',
  '{"kind":"unavailable","why":"hung"}',
  '{"kind":"new"}',
  'Segmentation fault',
])('what is no reply is never taken for absent: %s', (line) => {
  expect(decodeReply(line)).toBeUndefined();
});

describe('the kind of an error', () => {
  describe("the keychain library's words", () => {
    it.each([
      ["Couldn't access platform storage: Secret Service: unlock prompt was dismissed", 'locked'],
      ['org.freedesktop.Secret.Error.IsLocked', 'locked'],
      ['User interaction is not allowed.', 'locked'],
      ["Couldn't access platform storage: Secret Service: no result found", 'missing'],
      ['Platform failure: DBus error: Failed to connect to socket /nonexistent: No such file or directory', 'missing'],
      ['Platform failure: DBus error: Using X11 for dbus-daemon autolaunch was disabled at compile time', 'missing'],
      [
        'Platform failure: DBus error: The name org.freedesktop.secrets was not provided by any .service files',
        'missing',
      ],
      ['org.freedesktop.DBus.Error.ServiceUnknown', 'missing'],
      ['connect ENOENT /run/user/1000/bus', 'missing'],
      ['Platform failure: A default keychain could not be found.', 'missing'],
      ['No keychain is available. You may need to restart your computer.', 'missing'],
      ["Couldn't access platform storage: Windows ERROR_NO_SUCH_LOGON_SESSION", 'missing'],
      ['The user name or passphrase you entered is not correct.', 'locked'],
      ['User canceled the operation.', 'locked'],
      [
        'Platform failure: DBus error: Did not receive a reply. Possible causes include: the remote application',
        'hung',
      ],
      [
        'org.freedesktop.DBus.Error.NoReply: Message recipient disconnected from message bus without replying',
        'failed',
      ],
      ['something nobody has seen yet', 'failed'],
    ])('%s: %s', (reason, why) => {
      expect(classifyError(new Error(reason))).toEqual({ kind: 'unavailable', why, reason });
    });

    it('are cleaned before a person reads them', () => {
      expect(classifyError(new Error(`bad\u001b[31m\n\u202eword${'x'.repeat(400)}`)).reason).toMatch(
        /^bad wordx{200,300}…$/,
      );
    });
  });
});
