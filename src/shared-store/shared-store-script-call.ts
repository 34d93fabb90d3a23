import {
  listSharedOperationArguments,
  maxLeaseExcessOverNewLeaseMs,
  type SharedSessionOperation,
} from './shared-session.ts';

/** A Lua script with its arguments; KEYS[1] is the hash of the profile, KEYS[2] its log. */
export interface SharedStoreScriptCall {
  readonly script: string;
  readonly args: readonly string[];
}

/**
 * The script for an operation. No other client runs a command during a script, but the server does not undo the commands of a
 * script that fails. So one HSET stores the whole record of a commit, and an entry that cannot be added to the log is not an
 * error. Scripts use the clock of the server.
 */
export function buildSharedStoreScriptCall(operation: SharedSessionOperation): SharedStoreScriptCall {
  const args = listSharedOperationArguments(operation).map((arg) =>
    String(typeof arg === 'boolean' ? Number(arg) : arg),
  );
  return { script: scripts[operation.op], args };
}

/** Functions that the scripts share. Numbers are kept as text: a Lua number would lose digits when it is printed. */
const prelude = `local key = KEYS[1]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function get(name) local v = redis.call('HGET', key, name) if v == false or v == '' then return nil end return v end
local function set(name, value) redis.call('HSET', key, name, value) end
local function del(...) redis.call('HDEL', key, ...) end
local function ms(value) return string.format('%.0f', value) end
local function reply(applied) return { applied and '1' or '0', ms(now), redis.call('HGETALL', key) } end
local function is_version() return get('epoch') == ARGV[1] and get('sid') == ARGV[2] and get('gen') == ARGV[3] end
local function log(event, by, epoch, gen)
  redis.pcall('XADD', KEYS[2], 'MAXLEN', '~', '10000', '*', 'at_ms', ms(now), 'event', event, 'by', by, 'epoch', epoch, 'gen', gen)
end
`;

function scriptOf(body: string): string {
  return `${prelude}${body}`;
}

/** A replica may be behind its primary. It refuses a command that writes, also one that changes nothing. */
const read = scriptOf(`local tried = redis.pcall('HDEL', key, '')
if type(tried) == 'table' and tried.err and string.find(tried.err, 'READONLY', 1, true) then return tried end
return reply(true)`);

const claim = scriptOf(`local by, attempt = ARGV[4], ARGV[5]
local holder, lease = get('holder'), tonumber(get('lease_ms') or '0')
if not is_version() or get('refused_gen') == get('gen')
  or (holder and holder ~= by and lease >= now and lease <= now + tonumber(ARGV[6]) + ${maxLeaseExcessOverNewLeaseMs}) then
  return reply(false)
end
if get('intent_gen') ~= get('gen') then
  del('previous_by')
elseif get('intent_attempt') ~= attempt and get('intent_by') then
  local before, last = get('previous_by') or '', get('intent_by')
  if not string.find(',' .. before .. ',', ',' .. last .. ',', 1, true) then
    set('previous_by', before == '' and last or before .. ',' .. last)
  end
end
set('holder', by) set('attempt', attempt) set('lease_ms', ms(now + tonumber(ARGV[6])))
set('intent_gen', ARGV[3]) set('intent_by', by) set('intent_attempt', attempt) set('intent_ms', ms(now))
log('claim', by, ARGV[1], ARGV[3])
return reply(true)`);

const renew = scriptOf(`if get('attempt') ~= ARGV[1] then return reply(false) end
set('lease_ms', ms(now + tonumber(ARGV[2])))
return reply(true)`);

const release = scriptOf(`if get('attempt') ~= ARGV[1] then return reply(false) end
del('holder', 'attempt', 'lease_ms')
if ARGV[2] == '1' then
  local before = get('previous_by')
  if before then set('intent_by', before) else del('intent_gen', 'intent_by') end
  del('previous_by')
end
return reply(true)`);

const commit = scriptOf(`local epoch, gen = tonumber(get('epoch') or '-1'), tonumber(get('gen') or '-1')
local new_epoch, new_gen = tonumber(ARGV[1]), tonumber(ARGV[3])
if not (epoch < new_epoch or (epoch == new_epoch and get('sid') == ARGV[2] and gen <= new_gen)) then return reply(false) end
local is_same = epoch == new_epoch and gen == new_gen
-- Another machine has encrypted this version with another key.
if is_same and get('kid') ~= ARGV[4] then return reply(true) end
-- A server that has reached maxmemory accepts HDEL, and then the other commands of the script, too.
if not is_same then del('refused_gen', 'holder', 'attempt', 'lease_ms', 'intent_gen', 'intent_by', 'previous_by') end
redis.call('HSET', key, 'epoch', ARGV[1], 'sid', ARGV[2], 'gen', ARGV[3], 'kid', ARGV[4], 'record', ARGV[5],
  'active_kid', get('active_kid') or ARGV[4])
if not is_same then log(ARGV[7], ARGV[6], ARGV[1], ARGV[3]) end
return reply(true)`);

const refuse = scriptOf(`if not is_version() then return reply(false) end
local is_first = get('refused_gen') ~= get('gen')
if is_first then
  set('refused_gen', ARGV[3]) set('refused_ms', ms(now)) del('holder', 'attempt', 'lease_ms')
  log('refused', ARGV[4], ARGV[1], ARGV[3])
end
local unreported = {}
for name in string.gmatch((get('previous_by') or '') .. ',' .. (get('intent_by') or ''), '[^,]+') do
  if name ~= ARGV[4] then table.insert(unreported, name) end
end
if #unreported > 0 then set('intent_by', table.concat(unreported, ',')) else del('intent_gen', 'intent_by') end
del('previous_by')
return reply(is_first)`);

const reseal = scriptOf(`if not is_version() or get('kid') ~= ARGV[4] then return reply(false) end
set('kid', ARGV[5]) set('active_kid', ARGV[5]) set('record', ARGV[6])
log('rotate', ARGV[7], ARGV[1], ARGV[3])
return reply(true)`);

const scripts = { read, claim, renew, release, commit, refuse, reseal };
