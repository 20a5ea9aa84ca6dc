import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 8 });

/**
 * A token of the service for this device; a constant where the target is a floor, which takes anything.
 *
 * @param {{ port: number, needsToken: boolean }} target
 * @param {string} deviceId
 * @returns {Promise<string>}
 */
export function fetchToken({ port, needsToken }, deviceId) {
  if (!needsToken) return Promise.resolve('token');
  return new Promise((resolve, reject) => {
    const call = request(
      {
        agent,
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/api/websocket-voice/token',
        headers: { 'Content-Type': 'application/json' },
      },
      async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        if (response.statusCode === 200) resolve(JSON.parse(text).token);
        else reject(new Error(`no token: ${response.statusCode} ${text}`));
      },
    );
    call.on('error', reject);
    call.end(JSON.stringify({ apiKey: 'bench', deviceId }));
  });
}
