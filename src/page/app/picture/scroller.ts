import type { Axis, Span } from '../../view-data.ts';
import { themeColors } from './colors.ts';
import { drawPicture, type View } from './draw.ts';
import { gutter, pictureHeight } from './places.ts';

/** Room behind the end, for the names of what happens there. */
const margin = 72;
const mostPxPerMs = 4;
/** What a session that goes on shows at first. */
const liveWindowMs = 30_000;

/** A time axis that can be scrolled and zoomed, with the picture of what stands on it. */
export interface Scroller {
  /** Draws with the next frame, however often it is asked for. */
  draw(): void;
  /** Zooms by a factor around a time; 0 shows everything. */
  zoom(factor: number, aroundMs?: number): void;
  /** Makes a time visible. */
  reveal(ms: number): void;
  /** Pixels from the left end of the axis. */
  place(ms: number): number;
  /** The time under a pointer. */
  msAt(event: { clientX: number }): number;
  /** How near, in pixels. */
  distance(ms: number, otherMs: number): number;
  /** The time in the middle. */
  centre(): number;
  /** Goes on with the newest, where the session goes on. */
  follow(): void;
  close(): void;
}

export interface ScrollerOptions {
  /** Scrolls; contains the extent. */
  frame: HTMLElement;
  /** As wide as the whole axis; contains the canvas. */
  extent: HTMLElement;
  canvas: HTMLCanvasElement;
  axis: () => Axis;
  peaks: View['peaks'];
  unheard?: () => readonly Span[];
  names?: View['names'];
  isLive: boolean;
  onDrawn?: () => void;
}

export function createScroller(options: ScrollerOptions): Scroller {
  const { frame, extent, canvas, axis, peaks, isLive, onDrawn, unheard = () => [] } = options;
  const { names = { out: 'You', in: 'AI' } } = options;
  let pxPerMs: number | undefined;
  let follows = isLive;
  let isDue = false;
  let isClosed = false;

  // Asked for once for each size: in the middle of a change it would lay the page out.
  let framePx = frame.clientWidth;
  const width = () => framePx;
  const room = () => Math.max(40, width() - gutter - margin);
  const duration = () => Math.max(1, axis().durationMs);
  const wholeScale = () => room() / duration();
  const scale = () => pxPerMs ?? (isLive ? room() / Math.max(liveWindowMs, 1) : wholeScale());
  const place = (ms: number) => gutter + ms * scale();
  let extentPx = 0;
  const setExtent = () => {
    const wanted = Math.ceil(Math.max(width(), place(duration()) + margin));
    if (wanted !== extentPx) extent.style.width = `${wanted}px`;
    extentPx = wanted;
  };
  const scrollToEnd = () => {
    frame.scrollLeft = place(duration()) + margin - width();
  };
  const paint = () => {
    isDue = false;
    if (isClosed) return;
    const ratio = window.devicePixelRatio;
    setExtent();
    if (follows) scrollToEnd();
    if (canvas.width !== Math.round(width() * ratio) || canvas.height !== pictureHeight * ratio) {
      canvas.width = Math.round(width() * ratio);
      canvas.height = pictureHeight * ratio;
      canvas.style.width = `${width()}px`;
      canvas.style.height = `${pictureHeight}px`;
    }
    const context = canvas.getContext('2d');
    if (context === null) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const view = { axis: axis(), width: width(), start: frame.scrollLeft / scale(), pxPerMs: scale() };
    drawPicture(context, { ...view, colors: themeColors(), peaks, names, unheard: unheard() });
    onDrawn?.();
  };
  const draw = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(paint);
  };
  const zoomTo = (next: number, aroundMs: number) => {
    const px = place(aroundMs) - frame.scrollLeft;
    const least = Math.min(wholeScale(), room() / liveWindowMs);
    pxPerMs = Math.min(mostPxPerMs, Math.max(isLive ? least : wholeScale(), next));
    setExtent();
    frame.scrollLeft = place(aroundMs) - px;
    draw();
  };
  const onScroll = () => {
    if (isLive) follows = frame.scrollLeft + width() >= place(duration()) + margin - 24;
    draw();
  };
  const centre = () => (frame.scrollLeft + width() / 2 - gutter) / scale();
  const msAt = ({ clientX }: { clientX: number }) => {
    const px = clientX - frame.getBoundingClientRect().left - gutter + frame.scrollLeft;
    return Math.min(duration(), Math.max(0, px / scale()));
  };
  const onWheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoomTo(scale() * 1.002 ** -event.deltaY, msAt(event));
  };
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const resized = new ResizeObserver(() => {
    framePx = frame.clientWidth;
    draw();
  });
  frame.addEventListener('scroll', onScroll);
  frame.addEventListener('wheel', onWheel, { passive: false });
  dark.addEventListener('change', draw);
  resized.observe(frame);

  return {
    draw,
    place,
    msAt,
    centre,
    distance: (ms, otherMs) => Math.abs(ms - otherMs) * scale(),
    zoom(factor, aroundMs = centre()) {
      if (factor !== 0) zoomTo(scale() * factor, aroundMs);
      else {
        pxPerMs = isLive ? wholeScale() : undefined;
        setExtent();
        frame.scrollLeft = 0;
        draw();
      }
    },
    reveal(ms) {
      const at = place(ms);
      const inView = at > frame.scrollLeft + gutter && at < frame.scrollLeft + width();
      if (!inView) frame.scrollLeft = at - width() / 2;
    },
    follow() {
      follows = isLive;
      pxPerMs = undefined;
      draw();
    },
    close() {
      isClosed = true;
      resized.disconnect();
      dark.removeEventListener('change', draw);
      frame.removeEventListener('scroll', onScroll);
      frame.removeEventListener('wheel', onWheel);
    },
  };
}
