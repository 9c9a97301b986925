/** Messages that are inflated beside the main thread. */
import { constants, deflateRawSync } from 'node:zlib';
import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HEADROOM_BYTES, type Inflater, type InflaterHandler } from '../../server/io/io.ts';
import { openInflater } from '../../server/io/real-inflater.ts';

class Recorder implements InflaterHandler {
  text = '';
  takenTimes = 0;
  failure = '';
  /** Answers false after so many calls, each time. */
  stopsAfter = Number.POSITIVE_INFINITY;
  calls = 0;

  inflated(buffer: Buffer, start: number, end: number): boolean {
    if (start < HEADROOM_BYTES) throw new Error('no headroom');
    this.text += buffer.toString('latin1', start, end);
    // Nobody may rely on the bytes, nor on the room in front of them.
    buffer.fill(0xdd, start - HEADROOM_BYTES, end);
    return ++this.calls % this.stopsAfter !== 0;
  }

  taken(): void {
    this.takenTimes++;
  }

  failed(error: Error): void {
    this.failure = error.message;
  }
}

/** As RFC 7692 has it; `ends`: it says that it is the end of the stream, too. */
function deflated(text: string, ends = false): Buffer {
  const finishFlush = ends ? constants.Z_FINISH : constants.Z_SYNC_FLUSH;
  const bytes = deflateRawSync(Buffer.from(text, 'latin1'), { finishFlush });
  return ends ? bytes : bytes.subarray(0, -4);
}

/** Resolves when it has been taken, or has failed. */
async function write(inflater: Inflater, to: Recorder, bytes: Buffer, isLast = true): Promise<void> {
  const before = to.takenTimes;
  inflater.write(bytes, isLast);
  if (to.takenTimes !== before) throw new Error('told inside the call');
  while (to.takenTimes === before && to.failure === '') await setImmediate();
}

describe('an inflater', () => {
  it('takes message after message, in pieces of any length', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            text: fc.string({ maxLength: 3000 }),
            pieces: fc.integer({ min: 1, max: 9 }),
            ends: fc.boolean(),
          }),
        ),
        async (messages) => {
          const recorder = new Recorder();
          const inflater = openInflater(recorder);
          for (const { text, pieces, ends } of messages) {
            const latin = Buffer.from(text, 'utf8').toString('latin1');
            const bytes = deflated(latin, ends);
            const length = Math.ceil(bytes.length / pieces);
            recorder.text = '';
            for (let i = 0; i < pieces; i++) {
              await write(inflater, recorder, bytes.subarray(i * length, (i + 1) * length), i === pieces - 1);
            }
            expect(recorder).toMatchObject({ text: latin, failure: '' });
          }
          inflater.close();
        },
      ),
      { numRuns: 30 },
    );
  });

  it('hands over nothing more when it is stopped, until it is to go on', async () => {
    const recorder = new Recorder();
    recorder.stopsAfter = 1;
    const inflater = openInflater(recorder);
    const text = 'abcdefgh'.repeat(20_000);
    inflater.write(deflated(text), true);
    for (let calls = 1; recorder.takenTimes === 0; calls++) {
      while (recorder.calls < calls && recorder.takenTimes === 0) await setImmediate();
      for (let turn = 0; turn < 5; turn++) await setImmediate();
      expect(recorder.calls).toBeLessThanOrEqual(calls);
      inflater.resume();
    }
    expect(recorder.calls).toBeGreaterThan(5);
    expect(recorder.text).toBe(text);
    inflater.close();
  });

  it('says what is wrong with bytes that are none, once', async () => {
    const recorder = new Recorder();
    const inflater = openInflater(recorder);
    await write(inflater, recorder, Buffer.from([0xff, 0xff, 0xff]));
    expect(recorder).toMatchObject({ failure: 'invalid block type', text: '' });
  });

  it.each([0, 1, 2])(
    'takes a message that ends its stream and has a zero byte behind it, %d bytes by itself',
    async (n) => {
      const recorder = new Recorder();
      const inflater = openInflater(recorder);
      const bytes = Buffer.concat([deflated('abc', true), Buffer.from([0])]);
      await write(inflater, recorder, bytes.subarray(0, bytes.length - n), n === 0);
      if (n > 0) await write(inflater, recorder, bytes.subarray(bytes.length - n));
      await write(inflater, recorder, deflated('def'));
      expect(recorder).toMatchObject({ text: 'abcdef', failure: '' });
      inflater.close();
    },
  );

  it('calls nobody after it is closed', async () => {
    const recorder = new Recorder();
    const inflater = openInflater(recorder);
    inflater.write(deflated('x'.repeat(1_000_000)), true);
    inflater.close();
    const other = new Recorder();
    await write(openInflater(other), other, deflated('y'.repeat(1_000_000)));
    expect(recorder).toMatchObject({ text: '', takenTimes: 0, failure: '' });
  });
});
