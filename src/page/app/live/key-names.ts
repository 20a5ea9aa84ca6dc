const names: Record<string, string> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  PageUp: 'pageup',
  PageDown: 'pagedown',
  Home: 'home',
  End: 'end',
  Enter: 'enter',
  Escape: 'escape',
};

/** The name that a key of the keyboard has on the screens. */
export function keyName({ key }: KeyboardEvent): string {
  return names[key] ?? key;
}

/** A key that the browser or the focused control has a use for itself. */
export function isTaken({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true;
  if (!(target instanceof Element)) return false;
  // Until the next frame the focus stays in a dialog that was just closed.
  if (target.closest('dialog[open]') !== null && key !== '?') return true;
  if (target.closest('input, select, textarea') !== null) return key !== 'Escape';
  const isPlain = key === 'Enter' || key === ' ';
  if (target.closest('button, a, summary, label') !== null) return isPlain;
  const scrolls = ['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End'];
  return target.closest('.timeline, pre, .scroll') !== null && scrolls.includes(key);
}
