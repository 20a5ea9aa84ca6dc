const names = ['ink', 'muted', 'line', 'panel', 'you', 'ai', 'good', 'bad', 'note'];
const dark = matchMedia('(prefers-color-scheme: dark)');
let known: Record<string, string> | undefined;
dark.addEventListener('change', () => {
  known = undefined;
});

/** The colours of the theme, kept until it changes: reading them makes the browser compute all styles. */
export function themeColors(): Record<string, string> {
  if (known !== undefined) return known;
  const style = getComputedStyle(document.documentElement);
  known = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  return known;
}
