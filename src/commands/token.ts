import { connectionOptions } from '../config/options.ts';
import { defineCommand } from './command.ts';

export const tokenCommand = defineCommand({
  name: 'token',
  summary: 'ask for one token and print it',
  options: [...connectionOptions, 'decode', 'curl'],
  examples: [
    'TOKEN=$(voicectl token --device d1 --local)',
    'voicectl token --device d1 --decode',
    'voicectl token --device d1 --curl',
  ],
  async run(context) {
    const { settings, io, json, verbose, quiet, signal, note } = context;
    const { apiVersion, retries, curl, decode, baseUrl, device, ca } = settings;
    const { serviceUrl, tokenPath } = await import('../protocol/paths.ts');
    const { defaultDevice } = await import('../config/target.ts');
    if (curl) {
      const { curlCommand } = await import('../report/curl.ts');
      const url = serviceUrl(baseUrl, tokenPath(apiVersion));
      const trust = ca === undefined || !url.startsWith('https:') ? undefined : { file: ca };
      await io.stdout.write(`${curlCommand({ url, device: device ?? defaultDevice(), trust })}\n`);
      return 0;
    }
    const { openTarget } = await import('./local-emulator.ts');
    const { requestToken } = await import('../client/token.ts');
    const { systemClock } = await import('../clock.ts');
    const { readToken } = await import('../session/token-claims.ts');
    const { tokenLines, tokenObject } = await import('../report/token-report.ts');
    const { escapeText, jsonLine, jsonLines } = await import('../escape.ts');

    const target = await openTarget(context);
    try {
      const grant = await requestToken({
        baseUrl: target.baseUrl,
        apiKey: target.apiKey,
        deviceId: target.device,
        ca: target.ca,
        apiVersion,
        retries,
        clock: systemClock,
        signal,
        onRetry: ({ delayMs, error }) =>
          void note(`${error.message}; again in ${(delayMs / 1000).toFixed(1)} s`),
      });
      const decoded = readToken(grant.token);
      if (json) await io.stdout.write(jsonLine(tokenObject(grant, decoded)));
      else if (decode) await io.stdout.write(jsonLines(decoded ?? null));
      // No token has a character that would be escaped; what a hostile service sends in its place may.
      else await io.stdout.write(`${escapeText(grant.token)}\n`);
      if (!json && !quiet && (verbose || io.stdout.isTTY)) {
        for (const line of tokenLines(grant, decoded)) await note(line);
      }
      return 0;
    } finally {
      await target.close();
    }
  },
});
