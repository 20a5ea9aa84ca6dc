import { grantScript, script } from './script.ts';

/** A slot outlives its lease in Redis, so that its emulator can renew it after Redis was stopped. */
const keepSlots = `redis.call('PEXPIRE', KEYS[2], 120000)`;

/**
 * Takes a slot if one is free. Slots whose lease has expired are free. KEYS: service, slots, devices. ARGV: life, most,
 * lease ms, device, id. Answers: the connections of the device, including this one; 0 if none is free.
 */
export const leaseScript = grantScript(`
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', real)
local count = redis.call('ZCARD', KEYS[2])
if count >= tonumber(ARGV[2]) then return {1, 0} end
redis.call('ZADD', KEYS[2], real + ARGV[3], ARGV[5])
${keepSlots}
redis.call('ZADD', KEYS[3], real + 120000, ARGV[4])
return {1, count + 1}
`);

/**
 * Renews the leases of a device, and reacquires those that expired. KEYS: service, slots, devices. ARGV: life, most,
 * lease ms, device, ids… Answers: the ids for which no slot is left.
 */
export const renewScript = script(`
local untilMs = real + ARGV[3]
local missing = {}
for i = 5, #ARGV do
  if redis.call('ZSCORE', KEYS[2], ARGV[i]) then
    redis.call('ZADD', KEYS[2], untilMs, ARGV[i])
  else
    missing[#missing + 1] = ARGV[i]
  end
end
local lost = {1}
if #missing > 0 and isOpen then redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', real) end
for _, id in ipairs(missing) do
  if redis.call('ZCARD', KEYS[2]) < tonumber(ARGV[2]) then
    redis.call('ZADD', KEYS[2], untilMs, id)
  else
    lost[#lost + 1] = id
  end
end
${keepSlots}
redis.call('ZADD', KEYS[3], real + 120000, ARGV[4])
return lost
`);

/** Gives slots back. KEYS: service, slots. ARGV: life, ids… */
export const releaseScript = script(`
redis.call('ZREM', KEYS[2], unpack(ARGV, 2))
return {1}
`);

/**
 * Uses a token up. Tokens from before Redis lost its data may have been used: they are not accepted. KEYS: service,
 * spent. ARGV: life, iat, milliseconds to remember it. Answers: 1, 0 if it was used before, -1 if that is unknown.
 */
export const spendScript = grantScript(`
if tonumber(ARGV[2]) < tonumber(redis.call('HGET', KEYS[1], 'validFrom')) then return {1, -1} end
return {1, redis.call('SET', KEYS[2], 1, 'NX', 'PX', ARGV[3]) and 1 or 0}
`);
