/** `1 frame`, `50 frames` */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `once`, `3 times` */
export function timesText(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
