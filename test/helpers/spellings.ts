const json = (text: string) => JSON.stringify(text).slice(1, -1);
const numbers = (text: string) =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, '0'))
    .map((digits) => `\\u${digits}`)
    .join('');
const percents = (text: string) => Buffer.from(text).toString('hex').replace(/../g, '%$&');

const ways: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  JSON: json,
  'JSON, each character a number': numbers,
  'JSON, each character a number in capitals': (text) =>
    numbers(text).replace(/[a-f]/g, (x) => x.toUpperCase()),
  'JSON with \\/': (text) => json(text).replaceAll('/', '\\/'),
  'JSON in JSON': (text) => json(json(text)),
  'URL-encoded': (text) => encodeURIComponent(text.toWellFormed()),
  'URL-encoded in lower case': percents,
  'URL-encoded in capitals': (text) => percents(text).toUpperCase(),
  'a form': (text) => new URLSearchParams([['', text]]).toString().slice(1),
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex in capitals': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'JSON in base64': (text) => Buffer.from(json(text)).toString('base64'),
  'JSON in base64url': (text) => Buffer.from(json(text)).toString('base64url'),
  'JSON in hex': (text) => Buffer.from(json(text)).toString('hex'),
  Basic: (text) => Buffer.from(`user:${text}`).toString('base64'),
};

/** Texts that were written last, in every way: a long one takes its time. */
const written = new Map<string, Map<string, string>>();
const mostWritten = 8;

/** How services, libraries and logs write a text. */
export const spellings = Object.fromEntries(
  Object.entries(ways).map(([name, write]) => [
    name,
    (text: string): string => {
      const known = written.get(text) ?? new Map<string, string>();
      written.delete(text);
      written.set(text, known);
      const [oldest = ''] = written.keys();
      if (written.size > mostWritten) written.delete(oldest);
      const found = known.get(name) ?? write(text);
      known.set(name, found);
      return found;
    },
  ]),
);

/** The names of the spellings of a secret that are in a text. */
export function spellingsIn(text: string, secret: string): string[] {
  return Object.entries(spellings).flatMap(([name, write]) => {
    const written = write(secret);
    // Base64 shares its first and last characters with what stands beside it.
    const part = written.length < 32 ? written : written.slice(8, 60);
    return text.includes(part) ? [name] : [];
  });
}
