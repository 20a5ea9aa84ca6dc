import { createHash } from 'node:crypto';

/** A Lua script that Redis runs as one atomic step. */
export interface Script {
  readonly lua: string;
  /** Its name in Redis: the SHA-1 of its text. */
  readonly sha: string;
}

/** The first number of each answer. */
export const answers = { lost: 0, done: 1, closed: 2 } as const;

/**
 * If no emulator has reported for this long, Redis itself was stopped, and leases may have expired although their
 * emulators run. Each emulator reports every 5 s.
 */
export const frozenAfterMs = 9_000;
/** How long nothing is granted after Redis was away or lost its data: meanwhile each emulator registers what it knows. */
export const graceMs = 500;

/** Redis deletes the keys of a service an hour after its last emulator has stopped. */
export const keepAlive = `
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, 3600000) end
`;

/**
 * `KEYS[1]` is the hash of the service, `ARGV[1]` the life of the service that the emulator knows: after a loss of data it is
 * another one, and the answer is `lost`. `real` is the time of Redis in milliseconds, `now` the time of the service, which
 * can be moved ahead.
 */
const begin = `
local t = redis.call('TIME')
local real = t[1] * 1000 + math.floor(t[2] / 1000)
local meta = redis.call('HMGET', KEYS[1], 'life', 'offset', 'opensAt', 'tick')
if meta[1] ~= ARGV[1] then return {${answers.lost}} end
local now = real + tonumber(meta[2])
local opensAt = tonumber(meta[3])
if real - tonumber(meta[4]) > ${frozenAfterMs} then
  opensAt = real + ${graceMs}
  redis.call('HSET', KEYS[1], 'opensAt', opensAt, 'tick', real)
end
local isOpen = real >= opensAt
`;

/** A step that is possible in the life that the emulator knows. */
export function script(lua: string): Script {
  const text = begin + lua;
  return { lua: text, sha: createHash('sha1').update(text).digest('hex') };
}

/** A step that grants something. It answers `closed` while the emulators register what they know. */
export function grantScript(lua: string): Script {
  return script(`if not isOpen then return {${answers.closed}} end\n${lua}`);
}

/** A step that does not check the life. */
export function freeScript(lua: string): Script {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}
