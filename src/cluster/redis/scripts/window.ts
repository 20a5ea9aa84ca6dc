import { freeScript, grantScript, script } from './script.ts';

/**
 * The windows of `state/windows.ts`, in Lua: a count, and times in milliseconds of the service. `first-request` and
 * `calendar-minute` keep the start of the window, `sliding` each request, `token-bucket` when the count was last updated.
 */
const windows = `
local function load(key)
  local text = redis.call('GET', key)
  if not text then return {count = 0, times = {}} end
  return cmsgpack.unpack(text)
end
local function save(key, w)
  redis.call('SET', key, cmsgpack.pack(w), 'PX', 120000)
end
local function update(w, kind, limit, windowMs, now)
  if kind == 'sliding' then
    local kept = {}
    for _, time in ipairs(w.times) do
      if time + windowMs > now then kept[#kept + 1] = time end
    end
    w.times = kept
    w.count = #kept
  elseif kind == 'token-bucket' then
    local passed = now - (w.times[1] or now)
    w.count = math.max(0, w.count - passed * limit / windowMs)
    w.times = {now}
  elseif w.count > 0 and w.times[1] + windowMs <= now then
    w.count = 0
    w.times = {}
  end
end
local function add(w, kind, limit, windowMs, now)
  if kind == 'token-bucket' then
    w.count = math.min(limit, w.count + 1)
    return
  end
  w.count = w.count + 1
  if kind == 'sliding' then
    w.times[#w.times + 1] = now
    if #w.times > math.max(1, limit) then table.remove(w.times, 1) end
  elseif #w.times == 0 then
    w.times[1] = kind == 'calendar-minute' and now - now % windowMs or now
  end
end
local function answer(w, allowed, now)
  return {1, allowed and 1 or 0, string.format('%.17g', w.count), math.floor(w.times[1] or now), now}
end
`;

/**
 * KEYS: service, window, devices. ARGV: life, kind, limit, window ms, `accepted`, `all` or `none` (which requests
 * count), device. Answers: allowed, count, first time, now.
 */
export const countScript = grantScript(`${windows}
local kind, limit, windowMs, counts = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local w = load(KEYS[2])
update(w, kind, limit, windowMs, now)
local allowed = w.count + 1 <= limit + 0.000001
if counts == 'none' then return answer(w, allowed, now) end
if allowed or counts == 'all' then add(w, kind, limit, windowMs, now) end
if w.count > 0 then
  save(KEYS[2], w)
  redis.call('ZADD', KEYS[3], real + 120000, ARGV[6])
end
return answer(w, allowed, now)
`);

/**
 * Gives back what an emulator knows of a device's window, after Redis lost it. KEYS: service, window, devices. ARGV: life,
 * kind, limit, window ms, device, count, times… What several emulators know is merged.
 */
export const restoreWindowScript = script(`${windows}
local kind, limit, windowMs = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local known = {count = tonumber(ARGV[6]), times = {}}
for i = 7, #ARGV do known.times[#known.times + 1] = tonumber(ARGV[i]) end
local w = load(KEYS[2])
if kind == 'sliding' then
  for _, time in ipairs(known.times) do w.times[#w.times + 1] = time end
  table.sort(w.times)
  while #w.times > math.max(1, limit) do table.remove(w.times, 1) end
else
  update(w, kind, limit, windowMs, now)
  update(known, kind, limit, windowMs, now)
  if known.count >= w.count then w = known end
end
update(w, kind, limit, windowMs, now)
if w.count > 0 then
  save(KEYS[2], w)
  redis.call('ZADD', KEYS[3], real + 120000, ARGV[5])
end
return {1}
`);

/**
 * Everything that the service shows. KEYS: service, devices, issued. ARGV: life, kind, limit, window ms, most devices,
 * most tokens, prefix. Answers JSON: windows, connections, tokens, and the number of foreign entries that were left out.
 */
export const surveyScript = script(`${windows}
local kind, limit, windowMs, prefix = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[7]
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', real)
local devices = {}
local foreign = 0
for _, device in ipairs(redis.call('ZREVRANGE', KEYS[2], 0, ARGV[5] - 1)) do
  local ours, w = pcall(load, prefix .. '{' .. device .. '}:window')
  if ours then ours = pcall(update, w, kind, limit, windowMs, now) end
  local connections = redis.pcall('ZCOUNT', prefix .. '{' .. device .. '}:slots', real, '+inf')
  if not ours or type(connections) ~= 'number' then
    foreign = foreign + 1
  elseif w.count > 0 or connections > 0 then
    devices[#devices + 1] = {device, string.format('%.17g', w.count), math.floor(w.times[1] or now), connections}
  end
end
local tokens = {}
for _, text in ipairs(redis.call('LRANGE', KEYS[3], -ARGV[6], -1)) do
  local ours, token = pcall(cjson.decode, text)
  if not ours or type(token) ~= 'table' or type(token.exp) ~= 'number' or type(token.sub) ~= 'string'
    or type(token.jti) ~= 'string' then
    foreign = foreign + 1
  elseif token.exp * 1000 > now then
    local used = redis.call('EXISTS', prefix .. '{' .. token.sub .. '}:spent:' .. token.jti)
    tokens[#tokens + 1] = {text, used}
  end
end
return {1, cjson.encode({devices = devices, tokens = tokens, foreign = foreign}), now}
`);

/** Forgets windows, issued tokens and the journal. KEYS: service, devices, issued, journal. ARGV: life, prefix. */
export const forgetScript = script(`
for _, device in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  redis.call('DEL', ARGV[2] .. '{' .. device .. '}:window')
end
redis.call('DEL', KEYS[3], KEYS[4])
redis.call('HSET', KEYS[1], 'journalBytes', 0)
return {1}
`);

/** The time of Redis, milliseconds. */
export const timeScript = freeScript(`
local t = redis.call('TIME')
return {1, t[1] * 1000 + math.floor(t[2] / 1000)}
`);
