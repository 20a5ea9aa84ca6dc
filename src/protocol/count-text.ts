/** `1 frame`, `50 frames` */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `once`, `3 times` */
export function timesText(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** `16,000`. Without Intl, which takes 17 ms or more to load its data on first use. */
export function groupDigits(value: number): string {
  const [whole = '', ...fraction] = String(value).split('.');
  const groups: string[] = [];
  for (let end = whole.length; end > 0; end -= 3) groups.unshift(whole.slice(Math.max(0, end - 3), end));
  return [groups.join(','), ...fraction].join('.');
}
