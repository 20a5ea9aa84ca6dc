import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { createBlockJoiner } from '../../audio/blocks.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { newSecret } from '../../kernel/new-secret.ts';
import { version } from '../../kernel/version.ts';
import { controlOperations, pageAssets, pageData } from '../../protocol/control.ts';
import { faultCatalogue, faultNames, schemaOfFault } from '../../protocol/faults.ts';
import { createSchemaPlaces } from '../../protocol/schema-places.ts';
import { readTimeline } from '../../recording/timeline.ts';
import { countEvent, noCounters } from '../../report/serve-counters.ts';
import type { CreatePage, PageHandler, PageHost, PageRequest } from '../../service/control/page-handler.ts';
import { sendJson, uncachedHeaders } from '../../wire/server/http-answer.ts';
import { readRequestBody } from '../../wire/server/http-request.ts';
import type { FaultField, FaultForm } from '../messages.ts';
import { packVoices, recordingView } from '../recording-view.ts';
import { sendAsset, sendDocument } from './assets.ts';
import { createFeed, type Feed } from './feed.ts';
import { recordingPage } from './recording-page.ts';
import { createRecordings, type PageRecordings } from './recordings.ts';

/** What the page shows about the emulator, known once it listens. */
export interface PageFacts {
  baseUrl: string;
  wsUrl: string;
  /** Whether the command line finds the emulator without `--base-url`. */
  isDefault: boolean;
  /** A command that requests a token. */
  curl: string;
  /** The service behind a proxy. */
  target?: { baseUrl: string; wsUrl: string };
}

export interface PageOptions {
  /** The secret of this start. */
  token?: string;
  /** The folder of the recording that the emulator replays. */
  replayed?: string | undefined;
}

/** Makes the page of an emulator or a proxy. `facts` is called once it listens. */
export function createPage(
  facts: () => PageFacts,
  { token = newSecret(), replayed }: PageOptions = {},
): CreatePage {
  return (stage) => openPage({ stage, facts, token, replayed });
}

const paths = Object.fromEntries(Object.entries(controlOperations).map(([name, { path }]) => [name, path]));

interface OpenedPage {
  stage: PageHost;
  facts: () => PageFacts;
  token: string;
  replayed: string | undefined;
}

function openPage({ stage, facts, token, replayed }: OpenedPage): PageHandler {
  const service = () => {
    const { target, baseUrl, wsUrl } = facts();
    return target === undefined ? { baseUrl, wsUrl, what: 'emulator' } : { ...target, what: 'proxy' };
  };
  let counters = noCounters;
  stage.subscribe((event) => {
    counters = countEvent(counters, event);
  });
  const recordings = createRecordings({ stage, service, replayed });
  const feed = createFeed({
    stage,
    recordings: recordings.list,
    counters: () => counters,
    hello() {
      const { baseUrl, isDefault, curl, target } = facts();
      const hello = { type: 'hello', version, curl, paths, faults: faultForms() } as const;
      const where = { baseUrl: isDefault ? undefined : baseUrl, target: target?.baseUrl };
      return { ...hello, ...where, instance: stage.instance?.() };
    },
  });
  return {
    token,
    answer: (asked) => answer(asked, { stage, feed, recordings }),
    async close() {
      feed.close();
      await recordings.close();
    },
  };
}

interface Parts {
  stage: PageHost;
  feed: Feed;
  recordings: PageRecordings;
}

async function answer(asked: PageRequest, parts: Parts): Promise<boolean> {
  const { request, response, path, isTrusted } = asked;
  const isGet = request.method === 'GET';
  if (isGet && path === '/') {
    sendDocument(response);
    return true;
  }
  if (isGet && path.startsWith(pageAssets)) return sendAsset(response, path.slice(pageAssets.length));
  if (!path.startsWith(pageData) || !isTrusted) return false;
  return isGet ? show(asked, parts) : act(asked, parts);
}

/** Answers the requests that only read. */
async function show({ response, path, query }: PageRequest, parts: Parts): Promise<boolean> {
  const { stage, feed, recordings } = parts;
  if (path === `${pageData}live`) {
    await feed.open(response, numberOf(query.since ?? '0'));
    return true;
  }
  if (path === `${pageData}listen`) {
    sendVoices(response, stage, numberOf(query.stream));
    return true;
  }
  const [, id, form] = /^recordings\/(\d+)\.(json|html|tar)$/.exec(path.slice(pageData.length)) ?? [];
  if (id === undefined) return false;
  if (form === 'tar') {
    const { name, bytes } = await recordings.archive(Number(id));
    sendFile(response, bytes, 'application/x-tar', `${name}.tar`);
    return true;
  }
  const recording = await recordings.read(Number(id));
  const timeline = readTimeline(recording);
  if (form === 'html') {
    const page = await recordingPage(recording, timeline);
    sendFile(response, Buffer.from(page), 'text/html; charset=utf-8', `recording-${id}.html`);
  } else sendJson(response, { view: recordingView(recording, timeline), voices: packVoices(recording) });
  return true;
}

/** The actions of the page that the control API does not have. */
async function act({ request, response, path }: PageRequest, { recordings }: Parts): Promise<boolean> {
  if (request.method !== 'POST') return false;
  if (path === `${pageData}recordings/start`) {
    sendJson(response, await recordings.start(numberOf((await readFields(request)).stream)));
    return true;
  }
  if (path === `${pageData}recordings/stop`) {
    sendJson(response, await recordings.stop(numberOf((await readFields(request)).id)));
    return true;
  }
  return false;
}

async function readFields(request: IncomingMessage): Promise<Record<string, unknown>> {
  const body = await readRequestBody(request, 1_024);
  try {
    return Object(JSON.parse(String(body)));
  } catch {
    throw new VoicectlError('usage', 'The body is not valid JSON');
  }
}

/** Throws `usage` for anything but a whole number. */
function numberOf(value: unknown): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number;
  throw new VoicectlError('usage', 'Expected a number');
}

function sendFile(response: ServerResponse, bytes: Buffer, mediaType: string, name: string): void {
  response.writeHead(200, {
    'Content-Type': mediaType,
    'Content-Length': bytes.length,
    ...uncachedHeaders,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
  });
  response.end(bytes);
}

let forms: FaultForm[] | undefined;

/** All faults from the catalogue with their parameters, made on demand: reading the schemas takes as long as starting the emulator. */
function faultForms(): readonly FaultForm[] {
  forms ??= readForms();
  return forms;
}

function readForms(): FaultForm[] {
  return faultNames.map((name) => {
    const { at, summary } = faultCatalogue[name];
    const schema = schemaOfFault(name);
    const { isDuration } = createSchemaPlaces(schema);
    const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    const fields = Object.entries(properties)
      .filter(([key]) => key !== 'name')
      .map(([key, property]) => fieldOf(key, property as Property, isDuration([key])));
    return { name, at, summary, fields };
  });
}

interface Property {
  type?: string;
  enum?: string[];
  default?: unknown;
  description?: string;
}

function fieldOf(name: string, property: Property, isDuration: boolean): FaultField {
  const { enum: choices, type, default: fallback = '', description: help = '' } = property;
  const field = { name, help, fallback: String(fallback) };
  if (choices !== undefined) return { ...field, kind: 'choice', choices };
  if (isDuration) return { ...field, kind: 'duration' };
  return { ...field, kind: type === 'number' || type === 'integer' ? 'number' : 'text' };
}

/** A listener that does not keep up loses audio. This much waits for it: a few seconds of both voices. */
const maxUnreadBytes = 256 * 1024;

/**
 * Sends both voices of a stream live: chunks of one byte for the voice (0 the device, 1 the service), two
 * for the length, little-endian, and that many bytes of 16 kHz s16le mono. Ends with the stream.
 */
function sendVoices(response: ServerResponse, stage: PageHost, stream: number): void {
  response.writeHead(200, { 'Content-Type': 'application/octet-stream', ...uncachedHeaders });
  response.flushHeaders();
  let isOpen = false;
  const stop = stage.observe((opened) => {
    if (opened !== stream) return undefined;
    isOpen = true;
    // A message may end within a sample, and may be left out.
    const samples = { device: createBlockJoiner(), service: createBlockJoiner() };
    return {
      message(message) {
        if (!('data' in message)) return;
        const whole = samples[message.from].push(message.data);
        if (response.writableLength > maxUnreadBytes) return;
        for (const part of partsOf(whole))
          response.write(Buffer.concat([header(message.from === 'device' ? 0 : 1, part.length), part]));
      },
      closed: () => void response.end(),
    };
  });
  response.on('close', stop);
  if (!isOpen) response.end();
}

const maxPartBytes = 32_000;

function partsOf(pcm: Buffer): Buffer[] {
  const count = Math.ceil(pcm.length / maxPartBytes);
  return Array.from({ length: count }, (_, at) => pcm.subarray(at * maxPartBytes, (at + 1) * maxPartBytes));
}

function header(voice: number, bytes: number): Buffer {
  return Buffer.from([voice, bytes & 0xff, bytes >> 8]);
}
