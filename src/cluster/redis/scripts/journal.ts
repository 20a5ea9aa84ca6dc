import { keepAlive, script } from './script.ts';

/** Bounds of the journal: beyond either one the oldest events are dropped. */
const maxEntries = 10_000;
const maxBytes = 8 * 1024 * 1024;
/** The journal is cut when it has this many entries too many. */
const slack = 500;

/**
 * Appends a batch of events to the journal unless it is the last one that the emulator wrote, and publishes the number of
 * the first event, then the events, one per line. KEYS: service, journal, issued, batch, devices. ARGV: life, channel, most issued
 * tokens, number of the batch, number of issued tokens, issued tokens…, events… Answers: whether a key was replaced, because
 * it held something else.
 */
export const appendScript = script(`
if redis.pcall('GET', KEYS[4]) == ARGV[4] then return {1, 0} end
redis.call('SET', KEYS[4], ARGV[4])
local issued, foreign = tonumber(ARGV[5]), 0
-- Data of another program must not cost us ours.
local function orAnew(key, ...)
  local done = redis.pcall(...)
  if type(done) == 'table' and done.err then
    foreign = 1
    redis.call('DEL', key)
    redis.call(...)
    return true
  end
end
if issued > 0 then
  orAnew(KEYS[3], 'RPUSH', KEYS[3], unpack(ARGV, 6, 5 + issued))
  redis.call('LTRIM', KEYS[3], -ARGV[3], -1)
end
local count = #ARGV - 5 - issued
if count == 0 then
  ${keepAlive}
  return {1, foreign}
end
local first = redis.call('HINCRBY', KEYS[1], 'seq', count) - count + 1
local bytes = 0
for i = 1, count do
  local event = ARGV[5 + issued + i]
  if orAnew(KEYS[2], 'XADD', KEYS[2], (first + i - 1) .. '-1', 'e', event) then
    redis.call('HSET', KEYS[1], 'journalBytes', 0)
  end
  bytes = bytes + #event
end
local total = redis.call('HINCRBY', KEYS[1], 'journalBytes', bytes)
local length = redis.call('XLEN', KEYS[2])
while length > 1 and (total > ${maxBytes} or length > ${maxEntries + slack}) do
  local oldest = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', math.min(${slack}, length - 1))
  local last
  for _, entry in ipairs(oldest) do
    total = total - #entry[2][2]
    last = entry[1]
    if total <= ${maxBytes} * 0.75 and length <= ${maxEntries} then break end
    length = length - 1
  end
  redis.call('XTRIM', KEYS[2], 'MINID', last)
  redis.call('XDEL', KEYS[2], last)
  length = redis.call('XLEN', KEYS[2])
  total = redis.call('HINCRBY', KEYS[1], 'journalBytes', total - redis.call('HGET', KEYS[1], 'journalBytes'))
end
redis.call('PUBLISH', ARGV[2], first .. '\\n' .. table.concat(ARGV, '\\n', 6 + issued))
${keepAlive}
return {1, foreign}
`);

/** Clears the journal. KEYS: service, journal. ARGV: life. */
export const clearJournalScript = script(`
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[1], 'journalBytes', 0)
return {1}
`);
