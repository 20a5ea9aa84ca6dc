import { commandOf, type KeyCommand } from '../../../ui/keys.ts';
import type { ScreenStart } from '../../../ui/port.ts';

/** Lets keys have the effect that they have on the screen, unless the browser needs them. Call the result to stop. */
export function listenToKeys(
  screen: () => Pick<ScreenStart, 'screen' | 'can'>,
  effectOf: (command: KeyCommand) => (() => void) | undefined,
): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (isTaken(event)) return;
    const command = commandOf(names[event.key] ?? event.key, screen());
    const effect = command && effectOf(command);
    if (effect === undefined) return;
    event.preventDefault();
    effect();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

/** What a key of the keyboard is called on the screens. */
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

/** Whether the browser or the focused control needs the key itself. */
function isTaken({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true;
  if (!(target instanceof Element)) return false;
  // The focus stays in a dialog that was just closed until the next frame.
  if (target.closest('dialog[open]') !== null && key !== '?') return true;
  if (target.closest('input, select, textarea') !== null) return key !== 'Escape';
  const isPlain = key === 'Enter' || key === ' ';
  if (target.closest('button, a, summary, label') !== null) return isPlain;
  const scrolls = ['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End'];
  return target.closest('.timeline, pre, .scroll') !== null && scrolls.includes(key);
}
