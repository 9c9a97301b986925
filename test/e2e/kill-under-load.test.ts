/**
 * kill -9 of the built binary, again and again, under mixed load: nothing acknowledged is lost, nothing whose
 * acknowledgement was confirmed comes back, on any kind of stream; nothing of a deleted stream is in the one that was made
 * again under its name; no id is stored twice; order is kept; removed messages stay removed.
 *
 *     life:  start ─► read all streams, compare ─► everybody works, at least so much ─► kill -9 at a random moment
 *
 * KILLS in the environment asks for more lives, SEED for those of an earlier run, as far as choices of ours go. MINUTES
 * asks for a soak: longer lives, for so long, and half of the ends are orderly.
 */
import { expect, it, onTestFinished } from 'vitest';
import { MixedLoad } from '../helpers/mixed-load.ts';
import { until } from '../helpers/until.ts';
import { builtPetiole } from './built-binary.ts';
import { startGateway } from './gateway.ts';
import { KilledSite } from './killed-site.ts';

const KILLS = Number(process.env['KILLS'] ?? 8);
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const PROGRESS_MIN = 20;
const PROGRESS_MS = 60_000;
const MINUTES = Number(process.env['MINUTES'] ?? 0);
const MS_PER_MINUTE = 60_000;
/** A life ends within so long after everybody has got on. */
const END_WITHIN_MS = MINUTES > 0 ? 20_000 : 400;
const STOP_CHANCE = MINUTES > 0 ? 0.5 : 0;
/** What was left over from a long soak takes long to be worked off. */
const WORKED_OFF_MS = PROGRESS_MS * Math.max(1, MINUTES);
const SETTLE_MS = 1500;
const MS_PER_KILL = 30_000;
const FAULTS_SHOWN = 10;

it(
  `loses nothing and brings nothing back through ${MINUTES > 0 ? `${MINUTES} minutes` : `${KILLS} kills`}`,
  async () => {
    console.info(`SEED=${SEED} KILLS=${KILLS} MINUTES=${MINUTES}`);
    const gateway = await startGateway({ target: builtPetiole() });
    const site = new KilledSite(gateway, SEED);
    onTestFinished(() => site.close());
    const load = new MixedLoad({
      publishers: 2,
      workers: 2,
      pullBatchMax: 200,
      inFlightMax: 16,
      pauseMsMax: 200,
      ttlChance: 0.05,
      ackWaitMs: 1000,
      keptMessages: 500,
    });
    const faults = (): readonly string[] => load.faults.slice(0, FAULTS_SHOWN);
    let life = await site.life();
    await site.whenDone((done) => load.setUp(life, done), 'the streams to be made');

    const soaksUntil = performance.now() + MINUTES * MS_PER_MINUTE;
    while (MINUTES > 0 ? performance.now() < soaksUntil : site.ends < KILLS) {
      load.begin(life);
      const enough = load.progress + PROGRESS_MIN;
      await until(() => load.progress >= enough || load.faults.length > 0, 'everybody to get on', PROGRESS_MS);
      await site.end(END_WITHIN_MS, STOP_CHANCE);
      load.restarted();
      const next = await site.life();
      await site.whenDone((done) => load.audit(next, false, done), 'the streams to be read');
      expect(faults()).toEqual([]);
      life = next;
    }

    load.begin(life);
    load.finish(life);
    await until(() => load.isDone || load.faults.length > 0, 'everything to be worked off', WORKED_OFF_MS);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    await site.whenDone((done) => load.audit(life, true, done), 'the streams to be read');
    load.checkAllSeen(life);
    expect(faults()).toEqual([]);
    console.info(`${site.ends} lives: ${load.summary}`);
  },
  MS_PER_KILL * (KILLS + 2) + MINUTES * 3 * MS_PER_MINUTE,
);
