import type { Axis, PictureSpan } from '../../view-data.ts';
import { themeColors } from './colors.ts';
import { drawPicture, type PictureView } from './draw.ts';
import { paintSoon } from './painting.ts';
import { gutter, pictureHeight, placeTimeText } from './places.ts';

/** Room after the end, for the names of events there. */
const margin = 72;
const mostPxPerMs = 4;
/** The window that a live stream shows at first. */
const liveWindowMs = 30_000;
/** A live axis grows in steps of this, because each step causes a layout. */
const growthMs = 1_000;

/** A time axis that can be scrolled and zoomed, with its picture. */
export interface Scroller {
  /** Draws in the next frame: once, however often it is requested. */
  draw(): void;
  /** Zooms by a factor around a time; 0 shows everything. */
  zoom(factor: number, aroundMs?: number): void;
  /** Makes a time visible. */
  reveal(ms: number): void;
  /** Pixels from the left end of the axis. */
  place(ms: number): number;
  /** The time under a pointer. */
  msAt(event: { clientX: number }): number;
  /** The distance of two times, in pixels. */
  distance(ms: number, otherMs: number): number;
  /** The time in the middle. */
  centre(): number;
  /** Follows the newest audio again, in a live stream. */
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
  peaks: PictureView['peaks'];
  unheard?: () => readonly PictureSpan[];
  names?: PictureView['names'];
  isLive: boolean;
  onDrawn?: () => void;
}

export function createScroller(options: ScrollerOptions): Scroller {
  const { frame, extent, canvas, axis, peaks, isLive, onDrawn, unheard = () => [] } = options;
  const { names = { out: 'You', in: 'AI' } } = options;
  let pxPerMs: number | undefined;
  let follows = isLive;
  let isClosed = false;
  /** Kept, because reading it in the middle of a change would cause a layout. */
  let scrolledPx = 0;

  /** 0 until it is laid out, and while it is hidden. */
  let framePx = 0;
  const width = () => framePx;
  const room = () => Math.max(40, width() - gutter - margin);
  const duration = () => Math.max(1, axis().durationMs);
  const wholeScale = () => room() / duration();
  const scale = () => pxPerMs ?? (isLive ? room() / Math.max(liveWindowMs, 1) : wholeScale());
  const place = (ms: number) => gutter + ms * scale();
  // While it follows, the picture moves between two steps of the frame too.
  const left = () => (follows ? Math.max(0, place(duration()) + margin - width()) : scrolledPx);
  const scrollTo = (px: number) => {
    frame.scrollLeft = px;
    scrolledPx = frame.scrollLeft;
  };
  let extentPx = 0;
  const setExtent = () => {
    const ms = isLive ? Math.floor(duration() / growthMs) * growthMs : duration();
    const wanted = Math.ceil(Math.max(width(), place(ms) + margin));
    if (wanted === extentPx) return;
    extentPx = wanted;
    extent.style.width = `${wanted}px`;
    if (follows) scrollTo(wanted);
  };
  const paint = () => {
    if (isClosed || framePx === 0) return;
    const ratio = window.devicePixelRatio;
    setExtent();
    if (canvas.width !== Math.round(width() * ratio) || canvas.height !== pictureHeight * ratio) {
      canvas.width = Math.round(width() * ratio);
      canvas.height = pictureHeight * ratio;
      canvas.style.width = `${width()}px`;
      canvas.style.height = `${pictureHeight}px`;
    }
    const context = canvas.getContext('2d');
    if (context === null) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const view = { axis: axis(), width: width(), start: left() / scale(), pxPerMs: scale() };
    drawPicture(context, { ...view, colors: themeColors(), peaks, names, unheard: unheard() });
    onDrawn?.();
  };
  const draw = () => paintSoon(paint);
  const zoomTo = (next: number, aroundMs: number) => {
    const px = place(aroundMs) - left();
    const least = Math.min(wholeScale(), room() / liveWindowMs);
    pxPerMs = Math.min(mostPxPerMs, Math.max(isLive ? least : wholeScale(), next));
    setExtent();
    scrollTo(place(aroundMs) - px);
    draw();
  };
  const onScroll = () => {
    scrolledPx = frame.scrollLeft;
    // A frame that has grown moves its content, although nobody has scrolled.
    const isOfNow = Math.abs(frame.clientWidth - framePx) < 1;
    if (isLive && isOfNow) follows = scrolledPx + width() >= extentPx - 24;
    draw();
  };
  const centre = () => (left() + width() / 2 - gutter) / scale();
  const msAt = ({ clientX }: { clientX: number }) => {
    const px = clientX - frame.getBoundingClientRect().left - gutter + left();
    return Math.min(duration(), Math.max(0, px / scale()));
  };
  const onWheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoomTo(scale() * 1.002 ** -event.deltaY, msAt(event));
  };
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const resized = new ResizeObserver(([entry]) => {
    framePx = Math.round(entry?.contentRect.width ?? 0);
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
        scrollTo(0);
        draw();
      }
    },
    reveal(ms) {
      const at = place(ms);
      const inView = at > left() + gutter && at < left() + width();
      if (!inView) scrollTo(at - width() / 2);
    },
    follow() {
      follows = isLive;
      pxPerMs = undefined;
      setExtent();
      scrollTo(extentPx);
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

/** A time, and who speaks at it. */
export function describeMoment({ turns }: Axis, ms: number): string {
  const speaking = turns.filter(({ startMs, endMs }) => startMs <= ms && ms <= endMs);
  const who = speaking.map(({ voice }) => (voice === 'out' ? 'you speak' : 'the AI speaks'));
  return [placeTimeText(ms), ...who].join(', ');
}

/** Everything at a point of the picture. */
export function describePoint(axis: Axis, ms: number, { distance }: Pick<Scroller, 'distance'>): string {
  const near = axis.marks.filter(({ t }) => distance(t, ms) < 6);
  const gap = axis.gaps.find(({ startMs, endMs }) => startMs <= ms && ms <= endMs);
  const texts = [describeMoment(axis, ms), ...near.map(({ text }) => text)];
  if (gap !== undefined) texts.push(`gap of ${Math.round(gap.endMs - gap.startMs)} ms`);
  return texts.join('   ');
}
