import { useSignalEffect } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { beat } from './store.ts';

/**
 * Draws with the next frame after each beat of the feed, or after each so many, while the element can be seen. `turn`: which of so
 * many, so that many elements do not draw at once.
 */
export function useBeat(element: RefObject<Element | null>, draw: () => void, every = 1, turn = 0): void {
  const isSeen = useRef(true);
  const isDue = useRef(false);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver((entries) => {
      isSeen.current = entries.at(-1)?.isIntersecting ?? true;
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  useSignalEffect(() => {
    if ((beat.value + turn) % every !== 0 || isDue.current || !isSeen.current) return;
    isDue.current = true;
    requestAnimationFrame(() => {
      isDue.current = false;
      draw();
    });
  });
}
