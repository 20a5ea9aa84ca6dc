/** `1 frame`, `50 frames` */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `once`, `3 times` */
export function timesText(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** `42 %` of a share of 0.42. */
export function percentText(share: number, digits = 0): string {
  return `${(share * 100).toFixed(digits)} %`;
}

/** `16,000`. Without Intl, which takes 17 ms or more to load its data on first use. */
export function groupDigits(value: number): string {
  const [whole = '', ...fraction] = String(value).split('.');
  const groups: string[] = [];
  for (let end = whole.length; end > 0; end -= 3) groups.unshift(whole.slice(Math.max(0, end - 3), end));
  return [groups.join(','), ...fraction].join('.');
}
