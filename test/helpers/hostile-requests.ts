/** Headers that a browser sends for the page itself. */
export const ofPage = (port: number) => ({
  Origin: `http://127.0.0.1:${port}`,
  'Sec-Fetch-Site': 'same-origin',
});

type Headers = (port: number) => Record<string, string | undefined>;
/** Who asks without being the page of this start, and with which headers. */
export const hostileRequests = (token: string): readonly [who: string, headers: Headers][] => {
  const json = { 'Content-Type': 'application/json' };
  const withToken = { ...json, 'X-Voicectl-Token': token };
  return [
    ['the page without the token', (port) => ({ ...json, ...ofPage(port) })],
    ['the page with another token', (port) => ({ ...withToken, ...ofPage(port), 'X-Voicectl-Token': 'x' })],
    [
      'another port of this machine',
      () => ({ ...json, Origin: 'http://localhost:3000', 'Sec-Fetch-Site': 'same-site' }),
    ],
    ['another port, without Fetch Metadata', () => ({ ...json, Origin: 'http://127.0.0.1:3000' })],
    ['another port that has the token', () => ({ ...withToken, Origin: 'http://127.0.0.1:3000' })],
    [
      'another port that has the token and says it is ours',
      () => ({ ...withToken, Origin: 'http://127.0.0.1:3000', 'Sec-Fetch-Site': 'same-origin' }),
    ],
    [
      'another port, where our origin has none: its Origin begins like ours',
      () => ({ ...withToken, Host: '127.0.0.1', Origin: 'http://127.0.0.1:3000' }),
    ],
    [
      'another name of this machine that begins like ours',
      () => ({ ...withToken, Host: 'localhost', Origin: 'http://localhost.other.localhost' }),
    ],
    ['another scheme of this origin', (port) => ({ ...withToken, Origin: `https://127.0.0.1:${port}` })],
    [
      'another site',
      () => ({ ...withToken, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }),
    ],
    ['an opaque page', () => ({ ...withToken, Origin: 'null', 'Sec-Fetch-Site': 'cross-site' })],
    [
      'a link or an image of another site',
      () => ({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }),
    ],
    ['an address that is typed', () => ({ 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'navigate' })],
    [
      'a name that means this machine today',
      (port) => ({ ...withToken, ...ofPage(port), Host: `evil.example:${port}` }),
    ],
    [
      'a name that means this machine today, as its own page',
      (port) => ({
        ...withToken,
        Host: `evil.example:${port}`,
        Origin: `http://evil.example:${port}`,
        'Sec-Fetch-Site': 'same-origin',
      }),
    ],
  ];
};
