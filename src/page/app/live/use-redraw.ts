import { useSignalEffect } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { redrawCount } from './store.ts';

/**
 * Calls `onRedraw` with each redraw, or with one in `every`, while the element is visible. `turn`: which of them, so that many
 * elements are not painted at once.
 */
export function useRedraw(
  element: RefObject<Element | null>,
  onRedraw: () => void,
  every = 1,
  turn = 0,
): void {
  const isSeen = useRef(true);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver((entries) => {
      isSeen.current = entries.at(-1)?.isIntersecting ?? true;
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  useSignalEffect(() => {
    if ((redrawCount.value + turn) % every === 0 && isSeen.current) onRedraw();
  });
}
