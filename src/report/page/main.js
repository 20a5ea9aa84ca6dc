import { drawPicture, gutter, pictureHeight, timeText } from './draw.js';
import { createPeaks, decodePcm, makeWav } from './wave.js';

const find = (id) => document.getElementById(id);
const data = JSON.parse(find('data').textContent);
const voices = {
  out: await decodePcm(find('pcm-out').textContent),
  in: await decodePcm(find('pcm-in').textContent),
};
const peaks = { out: createPeaks(voices.out), in: createPeaks(voices.in) };
const [timeline, extent, playhead, hint] = ['timeline', 'extent', 'playhead', 'hint'].map(find);
const canvas = extent.querySelector('canvas');
const audio = new Audio();
audio.preload = 'auto';
/** 1: all of it fits the window. */
let zoom = 1;
const mostPxPerMs = 4;
/** Room behind the end, for the names of what happens there. */
const margin = 72;

const durationMs = Math.max(1, data.durationMs);
const width = () => timeline.clientWidth;
const pxPerMs = () => ((width() - gutter - margin) / durationMs) * zoom;
const seconds = () => audio.currentTime * 1000;

function colors() {
  const style = getComputedStyle(document.documentElement);
  const names = ['ink', 'muted', 'line', 'panel', 'you', 'ai', 'good', 'bad', 'note'];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

let isDue = false;
/** Draws once with the next frame, however often it is asked for. */
function draw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    const ratio = window.devicePixelRatio;
    extent.style.width = `${gutter + durationMs * pxPerMs() + margin}px`;
    canvas.width = width() * ratio;
    canvas.height = pictureHeight * ratio;
    canvas.style.width = `${width()}px`;
    canvas.style.height = `${pictureHeight}px`;
    const context = canvas.getContext('2d');
    context.scale(ratio, ratio);
    const start = timeline.scrollLeft / pxPerMs();
    drawPicture(context, { width: width(), start, pxPerMs: pxPerMs(), colors: colors(), data, peaks });
    movePlayhead();
  });
}

function movePlayhead() {
  const at = gutter + seconds() * pxPerMs();
  playhead.style.transform = `translateX(${at}px)`;
  playhead.hidden = at - timeline.scrollLeft < gutter;
  find('now').textContent = timeText(seconds());
  timeline.setAttribute('aria-valuenow', String(Math.round(seconds())));
  timeline.setAttribute('aria-valuetext', describe(seconds()));
  markRow();
}

/** The row of the event that came last is marked. */
function markRow() {
  const rows = [...document.querySelectorAll('#events tr[data-t]')];
  const last = rows.findLast((row) => Number(row.dataset.t) <= seconds() + 1);
  for (const row of rows) row.classList.toggle('now', row === last && seconds() > 0);
}

function describe(ms) {
  const speaking = data.turns.filter(({ startMs, endMs }) => startMs <= ms && ms <= endMs);
  const who = speaking.map(({ voice }) => (voice === 'out' ? 'you speak' : 'the AI speaks'));
  return [timeText(ms), ...who].join(', ');
}

function seek(ms, { reveal = true } = {}) {
  audio.currentTime = Math.min(durationMs, Math.max(0, ms)) / 1000;
  const at = gutter + seconds() * pxPerMs();
  const inView = at > timeline.scrollLeft + gutter && at < timeline.scrollLeft + width();
  if (reveal && !inView) timeline.scrollLeft = at - width() / 2;
  movePlayhead();
}

function zoomTo(next, aroundMs) {
  const px = aroundMs * pxPerMs() - timeline.scrollLeft;
  const most = (mostPxPerMs * durationMs) / Math.max(1, width() - gutter - margin);
  zoom = Math.min(Math.max(1, most), Math.max(1, next));
  extent.style.width = `${gutter + durationMs * pxPerMs() + margin}px`;
  timeline.scrollLeft = aroundMs * pxPerMs() - px;
  draw();
}

/** The voices that are wanted become the sound of the page; it goes on where it was. */
function hear(which) {
  const [at, wasPlaying] = [audio.currentTime, !audio.paused];
  URL.revokeObjectURL(audio.src);
  audio.src = URL.createObjectURL(makeWav(voices, data.sampleRate, which));
  audio.currentTime = at;
  audio.playbackRate = Number(find('speed').value);
  if (wasPlaying) void audio.play();
}

function toggle() {
  if (audio.paused) void audio.play();
  else audio.pause();
}

function followPlay() {
  const at = gutter + seconds() * pxPerMs();
  if (at > timeline.scrollLeft + width() - 40) timeline.scrollLeft = at - gutter - 60;
  movePlayhead();
  if (!audio.paused) requestAnimationFrame(followPlay);
}

const msAt = (event) => {
  const px = event.clientX - timeline.getBoundingClientRect().left - gutter + timeline.scrollLeft;
  return Math.min(durationMs, Math.max(0, px / pxPerMs()));
};

function tell(event) {
  const ms = msAt(event);
  const near = data.marks.filter(({ t }) => Math.abs(t - ms) * pxPerMs() < 6);
  const gap = data.gaps.find(({ startMs, endMs }) => startMs <= ms && ms <= endMs);
  const texts = [describe(ms), ...near.map(({ text }) => text)];
  if (gap !== undefined) texts.push(`gap of ${Math.round(gap.endMs - gap.startMs)} ms`);
  hint.textContent = texts.join('   ');
}

const centre = () => (timeline.scrollLeft + width() / 2 - gutter) / pxPerMs();
const nextMark = (direction) => {
  const times = data.marks.map(({ t }) => t);
  const later = times.find((t) => t > seconds() + 1);
  const earlier = times.findLast((t) => t < seconds() - 1);
  return (direction > 0 ? later : earlier) ?? seconds();
};

const keys = {
  ' ': () => toggle(),
  ArrowLeft: (event) => seek(seconds() - (event.shiftKey ? 5_000 : 500)),
  ArrowRight: (event) => seek(seconds() + (event.shiftKey ? 5_000 : 500)),
  Home: () => seek(0),
  End: () => seek(durationMs),
  n: () => seek(nextMark(1)),
  p: () => seek(nextMark(-1)),
  '+': () => zoomTo(zoom * 1.6, seconds() || centre()),
  '=': () => zoomTo(zoom * 1.6, seconds() || centre()),
  '-': () => zoomTo(zoom / 1.6, seconds() || centre()),
  0: () => zoomTo(1, 0),
};

/** A key that the focused control has a use for itself. */
function isOwnKey({ key, target }) {
  const control = target.closest('select, input, button');
  if (control === null) return false;
  return (
    key === ' ' || control.tagName === 'SELECT' || (control.tagName === 'INPUT' && key.startsWith('Arrow'))
  );
}

document.addEventListener('keydown', (event) => {
  const act = keys[event.key];
  if (act === undefined || event.ctrlKey || event.metaKey || event.altKey || isOwnKey(event)) return;
  event.preventDefault();
  act(event);
});

timeline.addEventListener('pointerdown', (event) => {
  if (event.offsetY > timeline.clientHeight) return;
  seek(msAt(event), { reveal: false });
});
timeline.addEventListener('pointermove', tell);
timeline.addEventListener('scroll', draw);
timeline.addEventListener(
  'wheel',
  (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoomTo(zoom * 1.002 ** -event.deltaY, msAt(event));
  },
  { passive: false },
);
find('play').addEventListener('click', toggle);
find('zoom-in').addEventListener('click', () => zoomTo(zoom * 1.6, centre()));
find('zoom-out').addEventListener('click', () => zoomTo(zoom / 1.6, centre()));
find('zoom-fit').addEventListener('click', () => zoomTo(1, 0));
find('speed').addEventListener('change', () => {
  audio.playbackRate = Number(find('speed').value);
});
for (const choice of document.querySelectorAll('input[name=hear]'))
  choice.addEventListener('change', () => hear(choice.value));
for (const button of document.querySelectorAll('button.seek'))
  button.addEventListener('click', () => seek(Number(button.dataset.t)));
for (const type of ['play', 'pause', 'ended']) {
  audio.addEventListener(type, () => {
    find('play').textContent = audio.paused ? '▶ Play' : '❚❚ Pause';
    if (type === 'play') followPlay();
  });
}
audio.addEventListener('seeked', movePlayhead);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
new ResizeObserver(draw).observe(timeline);
find('end').textContent = timeText(durationMs);
hear('both');
draw();
