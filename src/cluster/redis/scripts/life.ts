import { freeScript, frozenAfterMs, graceMs, keepAlive, script } from './script.ts';

/** An emulator that has been silent for this long counts as dead, milliseconds. */
const deadAfterMs = 15_000;

/**
 * Joins the service; the first emulator creates it. KEYS: service, instances, devices, issued, journal. ARGV:
 * a new life, identity (JSON), secrets (JSON), faults (JSON), id of the emulator.
 * If no emulator runs any more, the new one decides on identity and faults. Secrets that no option gives stay, the key
 * only if the algorithm is the same.
 * Answers: `same`, life, identity, secrets, offset, faults and the number of the emulator; or `differs`, life, identity.
 */
export const joinScript = freeScript(`
local t = redis.call('TIME')
local real = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', real - ${deadAfterMs})
local known = redis.call('HMGET', KEYS[1], 'life', 'identity', 'secrets')
if not known[1] then
  redis.call('HSET', KEYS[1], 'life', ARGV[1], 'identity', ARGV[2], 'secrets', ARGV[3], 'faults', ARGV[4],
    'offset', 0, 'opensAt', 0, 'validFrom', 0, 'seq', 0, 'journalBytes', 0, 'numbers', 0, 'faultIds', #cjson.decode(ARGV[4]))
elseif known[2] ~= ARGV[2] or known[3] ~= ARGV[3] then
  if redis.call('ZCARD', KEYS[2]) > 0 then
    if known[2] ~= ARGV[2] then return {'differs', known[1], known[2]} end
  else
    local old, new = cjson.decode(known[3]), cjson.decode(ARGV[3])
    local same = old.algorithm == new.algorithm and new.isGiven == old.isGiven and not new.isGiven
    if same then new.key = old.key end
    if not new.isControlGiven and not old.isControlGiven then new.control = old.control end
    redis.call('HSET', KEYS[1], 'identity', ARGV[2], 'secrets', cjson.encode(new), 'faults', ARGV[4])
  end
end
redis.call('HSET', KEYS[1], 'tick', real)
local number = redis.call('HINCRBY', KEYS[1], 'numbers', 1)
redis.call('HSET', KEYS[1], 'owner ' .. number, ARGV[5])
redis.call('ZADD', KEYS[2], real, ARGV[5])
local all = redis.call('HMGET', KEYS[1], 'life', 'identity', 'secrets', 'offset', 'faults')
${keepAlive}
return {'same', all[1], all[2], all[3], all[4], all[5], number}
`);

/**
 * Takes part again after Redis was away. If Redis has lost its data, the first emulator that returns creates the service
 * again. Then nothing is granted for a moment, in which all emulators register what they know. Tokens from before are
 * refused, because they may have been used. Events get numbers beyond all former ones, because whoever follows the journal
 * shows only newer ones. The emulator keeps its number: another one, that has joined meanwhile and got the same, takes a new
 * one. KEYS: as to join. ARGV: life, new life, identity, secrets, faults, offset, number, id, channel.
 * Answers: `same` or `anew`, life, identity, secrets, offset, faults; or `differs`, life, identity.
 */
export const returnScript = freeScript(`
local t = redis.call('TIME')
local real = t[1] * 1000 + math.floor(t[2] / 1000)
local known = redis.call('HMGET', KEYS[1], 'life', 'identity', 'restored')
local how = 'same'
if known[1] ~= ARGV[1] then
  how = 'anew'
  if not known[1] then
    redis.call('HSET', KEYS[1], 'life', ARGV[2], 'identity', ARGV[3], 'secrets', ARGV[4], 'faults', ARGV[5],
      'seq', 0, 'journalBytes', 0, 'numbers', 0, 'faultIds', 1000000, 'offset', 0)
  elseif known[2] ~= ARGV[3] then
    return {'differs', known[1], known[2]}
  end
  local offset = math.max(tonumber(ARGV[6]), tonumber(redis.call('HGET', KEYS[1], 'offset')))
  local seq = math.max(real, tonumber(redis.call('HGET', KEYS[1], 'seq')))
  redis.call('HSET', KEYS[1], 'offset', offset, 'seq', string.format('%.0f', seq))
  if not known[3] then
    local opens = math.ceil((real + offset + ${graceMs}) / 1000)
    redis.call('HSET', KEYS[1], 'restored', 1, 'validFrom', opens, 'opensAt', opens * 1000 - offset)
  end
elseif known[2] ~= ARGV[3] then
  return {'differs', known[1], known[2]}
elseif real - redis.call('HGET', KEYS[1], 'tick') > ${frozenAfterMs} then
  redis.call('HSET', KEYS[1], 'opensAt', real + ${graceMs})
end
local number = math.max(tonumber(ARGV[7]), tonumber(redis.call('HGET', KEYS[1], 'numbers')))
local owner = redis.call('HGET', KEYS[1], 'owner ' .. ARGV[7])
redis.call('HSET', KEYS[1], 'tick', real, 'numbers', number, 'owner ' .. ARGV[7], ARGV[8])
if owner and owner ~= ARGV[8] then redis.call('PUBLISH', ARGV[9], '{"op":"pulse","args":null}') end
redis.call('ZADD', KEYS[2], real, ARGV[8])
local all = redis.call('HMGET', KEYS[1], 'life', 'identity', 'secrets', 'offset', 'faults')
${keepAlive}
return {how, all[1], all[2], all[3], all[4], all[5]}
`);

/**
 * Reports that an emulator runs. KEYS: as to join. ARGV: life, id, number. Answers: time of Redis, offset, number: a new one
 * if the number is that of an emulator that has returned; the active faults.
 */
export const pulseScript = script(`
local number = ARGV[3]
if redis.call('HGET', KEYS[1], 'owner ' .. number) ~= ARGV[2] then
  number = redis.call('HINCRBY', KEYS[1], 'numbers', 1)
  redis.call('HSET', KEYS[1], 'owner ' .. number, ARGV[2])
end
redis.call('HSET', KEYS[1], 'tick', real)
redis.call('ZADD', KEYS[2], real, ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', real - ${deadAfterMs})
${keepAlive}
return {1, real, meta[2], tonumber(number), redis.call('HGET', KEYS[1], 'faults')}
`);

/** An emulator stops. KEYS: service, instances. ARGV: life, id, number. */
export const leaveScript = script(`
redis.call('ZREM', KEYS[2], ARGV[2])
if redis.call('HGET', KEYS[1], 'owner ' .. ARGV[3]) == ARGV[2] then redis.call('HDEL', KEYS[1], 'owner ' .. ARGV[3]) end
return {1}
`);

/** Moves the clock, and tells all emulators the new offset. KEYS: service. ARGV: life, milliseconds, channel. */
export const advanceScript = script(`
local offset = redis.call('HINCRBYFLOAT', KEYS[1], 'offset', ARGV[2])
redis.call('PUBLISH', ARGV[3], '{"op":"clock","args":' .. offset .. '}')
return {1}
`);

/**
 * Changes the active faults, and tells all emulators: adds one, removes one or all, or replaces all. KEYS: service. ARGV: life,
 * channel; `add` and the fault, `clear` and its number or `all`, or `replace` and all faults. A fault is JSON, which Redis
 * does not read. Answers: the number of the new fault, or how many were removed.
 */
export const faultsScript = script(`
local all = cjson.decode(redis.call('HGET', KEYS[1], 'faults'))
local how, result = ARGV[3], 0
local function add(text)
  result = redis.call('HINCRBY', KEYS[1], 'faultIds', 1)
  all[#all + 1] = {result, text}
end
if how == 'add' then
  add(ARGV[4])
elseif how == 'clear' then
  local kept = {}
  for _, one in ipairs(all) do
    if ARGV[4] ~= 'all' and one[1] ~= tonumber(ARGV[4]) then kept[#kept + 1] = one else result = result + 1 end
  end
  all = kept
else
  all = {}
  for i = 4, #ARGV do add(ARGV[i]) end
end
local now = #all == 0 and '[]' or cjson.encode(all)
redis.call('HSET', KEYS[1], 'faults', now)
redis.call('PUBLISH', ARGV[2], '{"op":"faults","args":' .. now .. '}')
return {1, result}
`);
