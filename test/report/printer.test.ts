import { describe, expect, test } from 'vitest';
import type { OutputStream } from '../../src/kernel/output-stream.ts';
import { createPrinter } from '../../src/report/printer.ts';

/** A stream whose writes wait until they are let go. */
function heldStream() {
  const written: string[] = [];
  const waiting: { resolve: () => void; reject: (thrown: unknown) => void }[] = [];
  const stream: OutputStream = {
    isTTY: false,
    write: (data) =>
      new Promise((resolve, reject) => {
        written.push(String(data));
        waiting.push({ resolve, reject });
      }),
  };
  return {
    stream,
    written,
    release: () => waiting.splice(0).forEach(({ resolve }) => void resolve()),
    waiting,
  };
}

const lost = (count: number) => `${count} lost\n`;

describe('a printer', () => {
  test('writes lines in order, and reports when all are written', async () => {
    const { stream, written, release } = heldStream();
    const printer = createPrinter(stream, lost);
    printer.print('a\n');
    printer.print('b\n');
    let isFlushed = false;
    const flushed = printer.flush().then(() => {
      isFlushed = true;
    });
    expect(written).toEqual(['a\n', 'b\n']);
    await Promise.resolve();
    expect(isFlushed).toBe(false);
    release();
    await flushed;
  });

  test('drops lines if nobody reads, counts them, and says so when it continues', async () => {
    const { stream, written, release } = heldStream();
    const printer = createPrinter(stream, lost);
    const line = `${'x'.repeat(1024 * 1024)}\n`;
    for (let count = 0; count < 20; count += 1) printer.print(line);
    expect(written).toHaveLength(8);
    release();
    await new Promise(setImmediate);
    printer.print('again\n');
    expect(written.slice(8)).toEqual(['12 lost\n', 'again\n']);
  });

  test('counts at the end the lines that were left out last', () => {
    const { stream, written } = heldStream();
    const printer = createPrinter(stream, lost);
    for (let count = 0; count < 10; count += 1) printer.print('x'.repeat(2 * 1024 * 1024));
    void printer.flush();
    expect(written.slice(5)).toEqual(['5 lost\n']);
  });

  test('stops at the first failure, reports it at once, and throws it at the end', async () => {
    const { stream, written, waiting } = heldStream();
    const printer = createPrinter(stream, lost);
    const failure = new Error('closed');
    printer.print('a\n');
    waiting[0]?.reject(failure);
    expect(await printer.failed).toBe(failure);
    printer.print('b\n');
    expect(written).toEqual(['a\n']);
    await expect(printer.flush()).rejects.toBe(failure);
  });
});
