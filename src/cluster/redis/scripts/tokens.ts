import { grantScript } from './script.ts';

/**
 * Uses a token up. Tokens from before Redis lost its data may have been used: they are not accepted. KEYS: service,
 * spent. ARGV: life, iat, milliseconds to remember it. Answers: 1, 0 if it was used before, -1 if that is not known.
 */
export const spendScript = grantScript(`
if tonumber(ARGV[2]) < tonumber(redis.call('HGET', KEYS[1], 'validFrom')) then return {1, -1} end
return {1, redis.call('SET', KEYS[2], 1, 'NX', 'PX', ARGV[3]) and 1 or 0}
`);
