/**
 * What every account may ask the system account about itself:
 *
 *     in account A                        in the system account
 *     $SYS.REQ.ACCOUNT.PING.CONNZ   ►     $SYS.REQ.ACCOUNT.A.CONNZ
 *     $SYS.REQ.SERVER.PING.CONNZ    ►     the same
 *     $SYS.REQ.ACCOUNT.PING.STATZ   ►     $SYS.REQ.ACCOUNT.A.STATZ
 *
 * Every server that has the system account may answer, so that there can be several answers to one request. Links of the
 * importing account are not told of it: whoever asks at the other end means the servers there.
 */

import type { Account } from '../account/account.ts';
import { ServiceExport } from '../account/service-export.ts';
import { ServiceImport } from '../account/service-import.ts';
import type { Io } from '../io/io.ts';
import { bytesOfText } from '../protocol/go-json-reader.ts';

/** So long answers are awaited after the last one. */
const THRESHOLD_MS = 120_000;

const IMPORTED: readonly (readonly [subject: string, kind: 'CONNZ' | 'STATZ'])[] = [
  ['$SYS.REQ.ACCOUNT.PING.CONNZ', 'CONNZ'],
  ['$SYS.REQ.SERVER.PING.CONNZ', 'CONNZ'],
  ['$SYS.REQ.ACCOUNT.PING.STATZ', 'STATZ'],
];

class SystemImport extends ServiceImport {
  readonly servesOwnClients = true;
}

export class SystemImports {
  private readonly io: Io;
  private readonly system: Account;
  private readonly services: Readonly<Record<'CONNZ' | 'STATZ', ServiceExport>>;

  constructor(io: Io, system: Account) {
    this.io = io;
    this.system = system;
    const service = (): ServiceExport =>
      new ServiceExport(system, { responseType: 'stream', responseThresholdMs: THRESHOLD_MS }, io);
    this.services = { CONNZ: service(), STATZ: service() };
  }

  /** Lets the account ask from now on; the system account asks without this. */
  addTo(importer: Account): void {
    if (importer === this.system) return;
    for (const [from, kind] of IMPORTED) {
      const to = `$SYS.REQ.ACCOUNT.${bytesOfText(importer.name)}.${kind}`;
      const options = { importer, service: this.services[kind], from, to, outward: null, isShared: false };
      importer.subscribe(new SystemImport(options, this.io.random).subscription);
    }
  }
}
