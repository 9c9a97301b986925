/**
 * The place of JetStream in a server: it is there from the start or not at all, and a reload turns it on or off.
 *
 *     empty ──loads the room, claims the store, recovers──► taken
 *       ▲ └── fails: the log says why; the next reload tries again
 *       └──────────── closes, with everything on the disk ◄──┘
 *
 * What is stored stays where it is, and comes back; what was kept in memory alone is gone. One change at a time: what is
 * asked for while one is on its way waits for it, and is looked at then.
 */

import { strict as assert } from 'node:assert';
import type { JetStream } from '../jetstream/api/jetstream.ts';
import type { LeafNodes } from '../leafnode/leaf-nodes.ts';
import type { ServerOptions } from './config/options.ts';
import type { Log } from './io/log.ts';
import type { JetStreamView } from './monitor/monitor-source.ts';
import type { ServerInfo } from './protocol/server-info.ts';
import { type JetStreamRoom, loadJetStream } from './rooms.ts';
import { StartError } from './start-error.ts';

type StartSite = Parameters<JetStreamRoom['makeJetStream']>[0];

/** The server, which shows what is here to others. */
interface Site extends StartSite {
  readonly log: Log;
  readonly options: ServerOptions;
  readonly leafNodes: LeafNodes;
  readonly info: ServerInfo;
  jetstream: JetStream | null;
  jetStreamView: JetStreamView | null;
  /** JetStream has come or gone. */
  jetStreamChanged(): void;
}

export class JetStreamSlot {
  /** It is being turned on or off. */
  isChanging = false;
  private readonly site: Site;
  private room: JetStreamRoom | null;
  private isClosed = false;
  /** Who waits for the end of what is on its way. */
  private readonly waiting: (() => void)[] = [];

  /** Claims the store if JetStream is on. Throws a `StartError` when that is not possible. */
  constructor(site: Site, room: JetStreamRoom | null) {
    assert(room !== null || !site.options.jetstream.isEnabled, 'the rooms for these options are loaded');
    this.site = site;
    this.room = room;
    if (room !== null) this.fill(room);
  }

  private fill(room: JetStreamRoom): JetStream {
    const jetstream = room.makeJetStream(this.site);
    this.site.jetstream = jetstream;
    this.site.jetStreamView = room.viewOf(jetstream);
    return jetstream;
  }

  /** Brings back what is stored, if JetStream is on; `done` when every stream can be used. */
  start(done: () => void): void {
    const { jetstream } = this.site;
    if (jetstream === null || this.room === null) done();
    else this.room.startJetStream(this.site, jetstream, done);
  }

  /** Turns JetStream on or off if the options say something else than is then; `done` when that is through. */
  follow(done: () => void): void {
    if (this.isChanging) {
      this.waiting.push(() => this.follow(done));
      return;
    }
    const { jetstream, options } = this.site;
    if (this.isClosed || options.jetstream.isEnabled === (jetstream !== null)) {
      done();
      return;
    }
    this.isChanging = true;
    const changed = (): void => {
      this.isChanging = false;
      this.site.jetStreamChanged();
      done();
      for (const each of this.waiting.splice(0)) each();
    };
    if (jetstream === null) this.turnOn(changed);
    else this.turnOff(jetstream, changed);
  }

  private turnOn(done: () => void): void {
    this.site.log.notice('Restarting JetStream');
    const { room } = this;
    if (room !== null) {
      this.begin(room, done);
      return;
    }
    loadJetStream().then(
      (loaded) => {
        this.room = loaded;
        this.begin(loaded, done);
      },
      (error: unknown) => this.failed(String(error), done),
    );
  }

  private begin(room: JetStreamRoom, done: () => void): void {
    const { site } = this;
    // Whoever has turned it off again meanwhile finds nothing to turn off.
    if (this.isClosed || !site.options.jetstream.isEnabled) {
      done();
      return;
    }
    let jetstream: JetStream;
    try {
      jetstream = this.fill(room);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      this.failed(error.message, done);
      return;
    }
    room.startJetStream(site, jetstream, () => {
      site.info.jetstream = true;
      done();
    });
  }

  /** Links do without what needs JetStream. */
  private failed(why: string, done: () => void): void {
    this.site.log.warn(why);
    this.site.leafNodes.loseSpools();
    done();
  }

  private turnOff(jetstream: JetStream, done: () => void): void {
    const { site } = this;
    site.log.notice('Initiating JetStream Shutdown...');
    site.leafNodes.loseSpools();
    site.jetstream = null;
    site.jetStreamView = null;
    delete site.info.jetstream;
    jetstream.stopConsumers();
    jetstream.close(() => {
      site.log.notice('JetStream Shutdown');
      done();
    });
  }

  /** For good, after what is on its way; `done` when everything is on the disk. */
  close(done: () => void): void {
    this.isClosed = true;
    if (this.isChanging) this.waiting.push(() => this.close(done));
    else if (this.site.jetstream === null) done();
    else this.site.jetstream.close(done);
  }
}
